//! Agents that are killed as soon as a tool of theirs has done something (D22).

use crate::Version;
use crate::check::{self, Ending};
use crate::failure::{Failure, Result};
use crate::life::{Heard, Life};
use crate::scratch::Scratch;
use crate::script::{Script, Step, Token, tokens_in};
use crate::tally::Tally;
use crate::told::Told;
use crate::tools::Tools;

/// What the agent is to do: it has much time left when its tool is done.
const STEPS: [Step; 2] = [Step::Tool(1), Step::Rest(5_000)];
/// The place among its atoms of what comes after the tool's effect.
const AFTER_EFFECT: usize = 2;

/// Kills so many agents, one after the other, and checks after each. What a tool did must be known to its session.
#[must_use]
pub fn run(times: u64) -> Tally {
    let mut tally = Tally::default();
    let versions = [Version::V1, Version::V2].into_iter().cycle();
    for (_, version) in (0..times).zip(versions) {
        let mut told = Told::default();
        let ran = Scratch::with(|scratch| one(scratch, version, &mut told, &mut tally));
        let again = "cargo test -p crash-tests d22".to_owned();
        tally.add(&told, &again);
        tally
            .failures
            .extend(ran.err().map(|failure| (failure, again)));
    }
    tally
}

fn one(scratch: &Scratch, version: Version, told: &mut Told, tally: &mut Tally) -> Result<()> {
    let tools = Tools::find()?;
    let mut life = Life::start(&tools, scratch, version, None, told)?;
    check::until(&mut life, |heard| matches!(heard, Heard::Ready))?;
    life.make_session();
    check::until(&mut life, |heard| matches!(heard, Heard::Made(_)))?;
    let tag = life.told.session(1)?.next();
    life.prompt(Script::new(tag, STEPS))?;
    while life.told.turn(tag)?.seen <= AFTER_EFFECT {
        check::until(&mut life, |heard| matches!(heard, Heard::Something))?;
    }
    life.kill()?;
    tally.count("killed when a tool was done");
    let effects = std::fs::read_to_string(scratch.effects())?;
    if !tokens_in(&effects).eq([Token { tag, atom: 0 }]) {
        return Err(Failure::other(format!("the tool did {effects:?}")));
    }
    drop(life);
    check::check(&tools, scratch, version, Ending::HungUp, told, tally)
}
