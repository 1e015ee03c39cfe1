//! The check after a life: the file is read, and a new agent shows what is there and goes on with it.

use crate::Version;
use crate::failure::{Breach, Failure, Result};
use crate::life::{Asked, Heard, Life};
use crate::scratch::Scratch;
use crate::script::{Choice, Script, Step};
use crate::store;
use crate::tally::Tally;
use crate::told::{Fate, Told};
use crate::tools::Tools;
use crate::wire::Stop;

/// How an agent that is checked ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It is killed while it does nothing.
    Killed,
    /// It is told that nothing more will come.
    HungUp,
}

/// Checks a store against what was told about it.
pub(crate) fn check(
    tools: &Tools,
    scratch: &Scratch,
    version: Version,
    ending: Ending,
    told: &mut Told,
    tally: &mut Tally,
) -> Result<()> {
    tally.records += store::audit(scratch, told)? as u64;
    let mut life = Life::start(tools, scratch, version, None, told)?;
    show(&mut life)?;
    list(&mut life)?;
    go_on(&mut life)?;
    tally.compared += life.compared as u64;
    match ending {
        Ending::Killed => life.kill(),
        Ending::HungUp => life.end(),
    }
}

/// Has every session shown, which compares it.
fn show(life: &mut Life<'_>) -> Result<()> {
    loop {
        match life.hear()? {
            Heard::Ready => break,
            heard => unexpected(&heard)?,
        }
    }
    let known = life.told.sessions.iter().map(|session| session.number);
    let known: Vec<u32> = known.collect();
    for number in &known {
        life.load(*number)?;
    }
    for _ in &known {
        match until(life, |heard| {
            matches!(heard, Heard::Shown(_) | Heard::Refused(Asked::Load(_), _))
        })? {
            Heard::Shown(number) => {
                let session = life.told.session(number)?;
                match session.fate {
                    Fate::Gone | Fate::Forgotten => {
                        return Err(Failure::other(format!(
                            "session {number} was gone and is there"
                        )));
                    }
                    Fate::New | Fate::There | Fate::Leaving => session.fate = Fate::There,
                }
            }
            Heard::Refused(Asked::Load(number), words) => {
                let session = life.told.session(number)?;
                if !session.miss() {
                    let words = format!("session {number} cannot be opened: {words}");
                    return Err(Failure::new(Breach::Lost, words));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Makes sure that the sessions are listed, and no others but those that were asked for.
fn list(life: &mut Life<'_>) -> Result<()> {
    life.list();
    let Heard::Listed(listed) = until(life, |heard| matches!(heard, Heard::Listed(_)))? else {
        return Ok(());
    };
    let known: Vec<_> = life
        .told
        .sessions
        .iter()
        .filter(|session| session.is_there())
        .map(|session| &session.id)
        .collect();
    let missing = known.iter().filter(|id| !listed.contains(id)).count();
    let more = listed.iter().filter(|id| !known.contains(id)).count();
    if missing > 0 {
        return Err(Failure::new(
            Breach::Lost,
            format!("{missing} sessions are not listed"),
        ));
    }
    match more > life.told.strays {
        true => Err(Failure::other(format!(
            "{more} sessions are listed that nobody knows"
        ))),
        false => Ok(()),
    }
}

/// Makes sure that every session takes its next prompt.
fn go_on(life: &mut Life<'_>) -> Result<()> {
    let there = life
        .told
        .sessions
        .iter()
        .filter(|session| session.is_there());
    let next: Vec<_> = there.map(crate::told::Session::next).collect();
    for tag in &next {
        life.prompt(Script::new(*tag, [Step::Say(2), Step::Ask(Choice::Allow)]))?;
    }
    for _ in next {
        if let Heard::Ended(tag, stop) = until(life, |heard| matches!(heard, Heard::Ended(..)))?
            && stop != Stop::Done("end_turn".to_owned())
        {
            return Err(Failure::other(format!(
                "the next prompt {tag} ended with {stop:?}"
            )));
        }
    }
    Ok(())
}

/// Hears on until it is what is waited for.
pub(crate) fn until(life: &mut Life<'_>, is: impl Fn(&Heard) -> bool) -> Result<Heard> {
    loop {
        let heard = life.hear()?;
        if is(&heard) {
            return Ok(heard);
        }
        unexpected(&heard)?;
    }
}

fn unexpected(heard: &Heard) -> Result<()> {
    match heard {
        Heard::Gone => Err(Failure::other("the agent died by itself")),
        Heard::Refused(asked, words) => {
            Err(Failure::other(format!("{asked:?} was refused: {words}")))
        }
        _ => Ok(()),
    }
}
