//! A life in which everything happens at once.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use ply_sim::Choices;

use super::kill::Kill;
use super::mix;
use crate::failure::{Failure, Result};
use crate::life::{Asked, Heard, Life};
use crate::script::{Script, Tag};

/// Sessions in one store.
const SESSIONS_MAX: u64 = 3;
/// Turns of one session in one life.
const TURNS_MAX: u64 = 3;
/// How long to listen at a time while the moment of a kill comes near.
const LISTEN_TIME: Duration = Duration::from_micros(250);

/// A life in which everything happens at once, until it is cut off.
pub(super) struct Chaos<'l, 'a> {
    life: &'l mut Life<'a>,
    seed: u64,
    kill: Kill,
    /// Turns to come, by session.
    turns: HashMap<u32, u64>,
    /// Turns that are cancelled once so many of their atoms were seen.
    cancels: HashMap<Tag, usize>,
    /// Turns that wait for an answer that never comes.
    stuck: HashSet<Tag>,
}

impl<'l, 'a> Chaos<'l, 'a> {
    pub(super) fn new(life: &'l mut Life<'a>, seed: u64, kill: Kill) -> Self {
        Self {
            life,
            seed,
            kill,
            turns: HashMap::new(),
            cancels: HashMap::new(),
            stuck: HashSet::new(),
        }
    }

    /// Returns the choices that are made about a session or a turn, whenever it comes.
    fn choices(&self, session: u32, turn: u32) -> Choices<'static> {
        Choices::from_seed(mix(&[self.seed, session.into(), turn.into()]))
    }

    /// Runs until the agent is dead, and returns how it died.
    pub(super) fn run(mut self) -> Result<String> {
        loop {
            if let Kill::After { lines, micros } = self.kill
                && self.life.lines >= lines
            {
                return self.kill_in(Duration::from_micros(micros));
            }
            match self.life.hear()? {
                Heard::Gone => {
                    return match self.kill {
                        Kill::At(fault) => {
                            self.life.hear_out()?;
                            Ok(fault.name())
                        }
                        Kill::After { .. } => Err(Failure::other("the agent died by itself")),
                    };
                }
                heard => self.react(&heard)?,
            }
            if self.is_done() {
                self.life.kill()?;
                return Ok("killed when all was done, or waited for an answer".to_owned());
            }
        }
    }

    /// Goes on for a while, then kills.
    fn kill_in(&mut self, time: Duration) -> Result<String> {
        let mut left = time;
        while !left.is_zero() {
            let step = left.min(LISTEN_TIME);
            let heard = self.life.hear_within(step)?;
            if matches!(heard, Heard::Gone) {
                return Err(Failure::other("the agent died by itself"));
            }
            self.react(&heard)?;
            left = left.saturating_sub(step);
        }
        self.life.kill()?;
        Ok("killed at some instant".to_owned())
    }

    fn react(&mut self, heard: &Heard) -> Result<()> {
        match heard {
            Heard::Ready => self.begin(),
            Heard::Made(session) | Heard::Shown(session) => self.opened(*session),
            Heard::Ended(tag, _) => self.next(tag.session),
            Heard::Something => self.cancel(),
            Heard::Ignored(tag) => {
                self.stuck.insert(*tag);
                self.cancel()
            }
            Heard::Refused(Asked::Load(number), words) => {
                match self.life.told.session(*number)?.miss() {
                    true => Ok(()),
                    false => Err(Failure::other(format!(
                        "session {number} was refused: {words}"
                    ))),
                }
            }
            Heard::Refused(asked, words) => {
                Err(Failure::other(format!("{asked:?} was refused: {words}")))
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self) -> Result<()> {
        let there = self.life.told.sessions.iter();
        let there = there.filter(|session| session.is_there());
        let there: Vec<u32> = there.map(|session| session.number).collect();
        let wanted = 1 + usize::try_from(self.choices(0, 0).below(SESSIONS_MAX)).unwrap_or(0);
        for _ in there.len()..wanted {
            self.life.make_session();
        }
        for session in there {
            self.life.load(session)?;
        }
        Ok(())
    }

    fn opened(&mut self, session: u32) -> Result<()> {
        let mut choices = self.choices(session, 0);
        if choices.percent(4) {
            return self.life.delete(session);
        }
        self.turns.insert(session, 1 + choices.below(TURNS_MAX));
        self.next(session)
    }

    /// Sends the next prompt of a session, sometimes two at once.
    fn next(&mut self, session: u32) -> Result<()> {
        let tag = self.life.told.session(session)?.next();
        let two = self.choices(session, tag.turn).percent(15);
        self.prompt(session)?;
        match two {
            true => self.prompt(session),
            false => Ok(()),
        }
    }

    fn prompt(&mut self, session: u32) -> Result<()> {
        let left = self.turns.entry(session).or_default();
        if *left == 0 {
            return Ok(());
        }
        *left -= 1;
        let tag = self.life.told.session(session)?.next();
        let mut choices = self.choices(session, tag.turn);
        let script = Script::random(tag, &mut choices);
        if choices.percent(10) {
            self.life.ignored.insert(tag);
        }
        if choices.percent(10) {
            let at = usize::try_from(choices.below(script.atoms().len() as u64));
            self.cancels.insert(tag, at.unwrap_or(0));
        }
        self.life.prompt(script)
    }

    /// Cancels turns that have come so far.
    fn cancel(&mut self) -> Result<()> {
        for (tag, at) in &self.cancels {
            let turn = self.life.told.turn(*tag)?;
            // What becomes of prompts that are held is another matter.
            if turn.accepted && turn.seen >= *at && self.life.running(tag.session).eq([*tag]) {
                let tag = *tag;
                self.cancels.remove(&tag);
                return self.life.cancel(tag);
            }
        }
        Ok(())
    }

    /// Returns whether nothing more will come.
    fn is_done(&self) -> bool {
        let goes_on = |session: &u32| {
            let first = self.life.running(*session).next();
            first.is_some_and(|tag| !self.stuck.contains(&tag))
        };
        !self.life.awaits() && !self.turns.keys().any(goes_on)
    }
}
