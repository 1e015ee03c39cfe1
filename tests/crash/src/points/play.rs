//! A life of fixed turns.

use std::collections::HashSet;

use super::Length;
use crate::failure::{Failure, Result};
use crate::fault::Fault;
use crate::life::{Asked, Heard, Life};
use crate::script::{Choice, Script, Step, Tag};
use crate::wire::Stop;

/// The sessions of the life.
const SESSIONS: [u32; 2] = [1, 2];
/// Turns that are sent at the same time, with their sessions.
type SideBySide = &'static [(u32, &'static [Step])];

/// The turns of the short life.
const SHORT: &[SideBySide] = &[
    &[(
        1,
        &[Step::Say(3), Step::Tool(2), Step::Rest(25), Step::Plan(2)],
    )],
    &[
        (
            2,
            &[
                Step::Think(2),
                Step::Ask(Choice::Allow),
                Step::Long(48),
                Step::Say(2),
            ],
        ),
        (1, &[Step::Say(20), Step::Ask(Choice::Reject), Step::Edit]),
    ],
    &[(2, &[Step::Tool(1), Step::Rest(25), Step::Say(2)])],
];
/// The turns that the long life has before them. Their output is more than the log may hold before it is moved.
const LONG: &[SideBySide] = &[
    &[(1, &[Step::Long(1500)]), (2, &[Step::Long(1500)])],
    &[(1, &[Step::Long(1500)])],
];

/// What is done when a turn failed.
const AGAIN: &[Step] = &[Step::Say(2), Step::Tool(1)];

/// A life of fixed turns. A disk that fails is healed when an error was told, and the life goes on.
pub(super) struct Play<'l, 'a> {
    life: &'l mut Life<'a>,
    length: Length,
    fault: Option<Fault>,
    errors: u64,
    is_healed: bool,
    /// Turns that were begun while the disk was known to fail.
    probes: HashSet<Tag>,
    /// Turns that were begun when the disk worked again.
    after: HashSet<Tag>,
}

/// How far a life came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Still {
    There,
    Gone,
}

impl<'l, 'a> Play<'l, 'a> {
    pub(super) fn new(life: &'l mut Life<'a>, length: Length, fault: Option<Fault>) -> Self {
        Self {
            life,
            length,
            fault,
            errors: 0,
            is_healed: false,
            probes: HashSet::new(),
            after: HashSet::new(),
        }
    }

    /// Lives the life to its end, and returns how many errors were told.
    pub(super) fn run(mut self) -> Result<u64> {
        let still = self.turns()?;
        let dies = self.fault.is_some_and(|fault| fault.effect.is_kill());
        match (still, dies) {
            (Still::There, true) => {
                // It may be killed while it ends, too.
                self.life.hang_up();
                self.life.hear_out()?;
            }
            (Still::There, false) => self.life.end()?,
            (Still::Gone, true) => self.life.hear_out()?,
            (Still::Gone, false) => return Err(Failure::other("the agent died by itself")),
        }
        Ok(self.errors)
    }

    fn turns(&mut self) -> Result<Still> {
        if self.until(|heard| matches!(heard, Heard::Ready))?.is_none() {
            return Ok(Still::Gone);
        }
        for session in SESSIONS {
            if self.make(session)? == Still::Gone {
                return Ok(Still::Gone);
            }
        }
        let before = match self.length {
            Length::Short => &[],
            Length::Long => LONG,
        };
        for side_by_side in before.iter().chain(SHORT) {
            for (session, steps) in *side_by_side {
                self.prompt(*session, steps)?;
            }
            if self.settle()? == Still::Gone {
                return Ok(Still::Gone);
            }
        }
        Ok(Still::There)
    }

    /// Makes a session, again if the disk is in the way.
    fn make(&mut self, session: u32) -> Result<Still> {
        let mut refused = String::new();
        for _ in 0..2 {
            self.life.make_session();
            let is =
                |heard: &Heard| matches!(heard, Heard::Made(_) | Heard::Refused(Asked::New, _));
            match self.until(is)? {
                None => return Ok(Still::Gone),
                Some(Heard::Refused(_, words)) => {
                    self.note(&words)?;
                    self.heal()?;
                    refused = words;
                }
                Some(_) => return Ok(Still::There),
            }
        }
        let words =
            format!("the disk works again, but session {session} cannot be made: {refused}");
        Err(Failure::other(words))
    }

    fn prompt(&mut self, session: u32, steps: &[Step]) -> Result<Tag> {
        let tag = self.life.told.session(session)?.next();
        self.life.prompt(Script::new(tag, steps))?;
        Ok(tag)
    }

    /// Waits until all turns have ended, those that failed and those after them too.
    fn settle(&mut self) -> Result<Still> {
        while SESSIONS
            .iter()
            .any(|session| self.life.running(*session).next().is_some())
        {
            match self.until(|heard| matches!(heard, Heard::Ended(..)))? {
                None => return Ok(Still::Gone),
                Some(Heard::Ended(tag, stop)) => self.ended(tag, stop)?,
                Some(_) => {}
            }
        }
        Ok(Still::There)
    }

    fn ended(&mut self, tag: Tag, stop: Stop) -> Result<()> {
        let was_probe = self.probes.remove(&tag);
        if let Stop::Failed(words) = &stop {
            self.note(words)?;
            if self.after.contains(&tag) {
                let words = format!("the disk works again, but {tag} failed: {words}");
                return Err(Failure::other(words));
            }
            // What the agent said up to then is kept while it lives.
            let turn = self.life.told.turn(tag)?;
            turn.floor = turn.floor.max(turn.seen);
        }
        let lasts = self.fault.is_some_and(|fault| fault.effect.lasts());
        match (stop, was_probe) {
            (Stop::Done(_), false) => return Ok(()),
            (Stop::Failed(_), false) if lasts && !self.is_healed => {
                let probe = self.prompt(tag.session, AGAIN)?;
                self.probes.insert(probe);
                return Ok(());
            }
            _ => self.heal()?,
        }
        let after = self.prompt(tag.session, AGAIN)?;
        self.after.insert(after);
        Ok(())
    }

    /// Notes an error, which must say what is wrong.
    fn note(&mut self, words: &str) -> Result<()> {
        self.errors += 1;
        let says = ["journal", "disk"].iter().any(|word| words.contains(word));
        match says && self.fault.is_some_and(|fault| !fault.effect.is_kill()) {
            true => Ok(()),
            false => Err(Failure::other(format!(
                "an error that says nothing of the disk: {words}"
            ))),
        }
    }

    fn heal(&mut self) -> Result<()> {
        self.is_healed = true;
        self.life.board().heal()
    }

    /// Hears on until it is what is waited for; none if the agent is gone.
    fn until(&mut self, is: impl Fn(&Heard) -> bool) -> Result<Option<Heard>> {
        loop {
            match self.life.hear()? {
                Heard::Gone => return Ok(None),
                heard if is(&heard) => return Ok(Some(heard)),
                Heard::Refused(asked, words) => {
                    return Err(Failure::other(format!("{asked:?} was refused: {words}")));
                }
                _ => {}
            }
        }
    }
}
