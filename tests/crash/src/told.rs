//! What an agent has told its witness, over all of its lives.

use std::collections::{BTreeSet, HashMap};

use crate::failure::{Breach, Failure, Result};
use crate::script::{Script, Shape, Tag, Token, tags_in, tokens_in};
use crate::wire::Stop;

/// All that was told about one store.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) sessions: Vec<Session>,
    /// Sessions that were asked for and not told of. They may be there.
    pub(crate) strays: usize,
    /// What tools did that the file did not know of when their agent was dead.
    pub(crate) unknown: BTreeSet<Token>,
}

/// A session whose id was told.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) number: u32,
    pub(crate) id: String,
    pub(crate) turns: Vec<Turn>,
    pub(crate) fate: Fate,
    /// Ids of messages and tool calls, and the turns that they were first seen in.
    ids: HashMap<String, Tag>,
}

/// What must become of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing was said in it: it may be gone with the process that made it.
    New,
    /// It must be there.
    There,
    /// Its deletion was asked for; nobody knows.
    Leaving,
    /// It was deleted, and must not be there.
    Gone,
    /// It was new, and is not there. It must not come back.
    Forgotten,
}

/// A turn whose prompt was sent.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) script: Script,
    /// How many atoms it has.
    pub(crate) total: usize,
    /// Its prompt is known to be safe.
    pub(crate) accepted: bool,
    /// Atoms that were shown.
    pub(crate) seen: usize,
    /// Atoms that must be there, whatever happens.
    pub(crate) floor: usize,
    /// The witness wanted it to stop.
    pub(crate) cancelled: bool,
    /// Questions that were answered.
    pub(crate) answered: Vec<usize>,
    /// Those of them whose answer the agent acted upon.
    pub(crate) acted: Vec<usize>,
    pub(crate) end: Option<Stop>,
    pub(crate) kept: Option<Kept>,
}

/// A turn as a life after its own has shown it. It stays like this for ever.
#[derive(Debug, Clone)]
pub(crate) enum Kept {
    /// It is not there.
    Absent,
    /// It is there, with at least and at most so many of its atoms.
    There {
        shape: Shape,
        least: usize,
        most: usize,
    },
}

impl Told {
    pub(crate) fn made(&mut self, id: String) -> u32 {
        let number = u32::try_from(self.sessions.len()).unwrap_or(u32::MAX) + 1;
        self.sessions.push(Session {
            number,
            id,
            turns: Vec::new(),
            fate: Fate::New,
            ids: HashMap::new(),
        });
        number
    }

    pub(crate) fn session(&mut self, number: u32) -> Result<&mut Session> {
        let place = usize::try_from(number).unwrap_or(0).wrapping_sub(1);
        let unknown = || Failure::other(format!("nobody asked for session {number}"));
        self.sessions.get_mut(place).ok_or_else(unknown)
    }

    pub(crate) fn by_id(&self, id: &str) -> Option<u32> {
        let session = self.sessions.iter().find(|session| session.id == id);
        session.map(|session| session.number)
    }

    pub(crate) fn turn(&mut self, tag: Tag) -> Result<&mut Turn> {
        let turns = self.session(tag.session)?.turns.iter_mut();
        let unknown = || Failure::other(format!("nobody asked for turn {tag}"));
        turns
            .rev()
            .find(|turn| turn.script.tag == tag)
            .ok_or_else(unknown)
    }

    /// Notes a prompt that is sent.
    pub(crate) fn sent(&mut self, script: Script) -> Result<()> {
        let turn = Turn {
            total: script.atoms().len(),
            script,
            accepted: false,
            seen: 0,
            floor: 0,
            cancelled: false,
            answered: Vec::new(),
            acted: Vec::new(),
            end: None,
            kept: None,
        };
        let session = self.session(turn.script.tag.session)?;
        session.turns.push(turn);
        Ok(())
    }

    /// Notes that a prompt is safe, and its session with it.
    fn accepted(&mut self, tag: Tag) -> Result<&mut Turn> {
        self.session(tag.session)?.keep();
        let turn = self.turn(tag)?;
        turn.accepted = true;
        Ok(turn)
    }

    /// Notes what is told of a turn while it runs: its prompt is safe, and so is every answer that it acts upon.
    pub(crate) fn live(&mut self, text: &str) -> Result<()> {
        for tag in tags_in(text) {
            self.accepted(tag)?;
        }
        for Token { tag, atom } in tokens_in(text) {
            let turn = self.accepted(tag)?;
            turn.seen = turn.seen.max(atom + 1);
            let (acted, waits) = turn.answered.iter().partition(|ask| **ask < atom);
            turn.answered = waits;
            turn.floor = turn
                .acted
                .iter()
                .chain(&acted)
                .map(|ask| ask + 1)
                .fold(turn.floor, usize::max);
            turn.acted.extend::<Vec<usize>>(acted);
        }
        Ok(())
    }

    /// Notes what a new process shows of earlier lives: all of that is on the disk.
    pub(crate) fn shown(&mut self, text: &str) -> Result<()> {
        for tag in tags_in(text) {
            self.accepted(tag)?;
        }
        for Token { tag, atom } in tokens_in(text) {
            let turn = self.accepted(tag)?;
            turn.floor = turn.floor.max(atom + 1);
        }
        Ok(())
    }

    /// Notes the end of a turn.
    pub(crate) fn ended(&mut self, tag: Tag, stop: Stop) -> Result<()> {
        if let Stop::Done(_) = &stop {
            self.accepted(tag)?;
        }
        let turn = self.turn(tag)?;
        if let Stop::Done(reason) = &stop {
            let last = turn.last_token();
            match reason.as_str() {
                "end_turn" if turn.seen <= last.unwrap_or(0) && last.is_some() => {
                    let words = format!(
                        "{tag} ended, but only {} of {} atoms were shown",
                        turn.seen, turn.total
                    );
                    return Err(Failure::new(Breach::Gap, words));
                }
                "end_turn" => turn.floor = turn.total,
                _ => turn.floor = turn.seen,
            }
        }
        turn.end = Some(stop);
        Ok(())
    }
}

impl Turn {
    /// Returns the places of the atoms that can be seen in a text.
    pub(crate) fn tokens(&self) -> Vec<usize> {
        let atoms = self.script.atoms();
        let texts = atoms.iter().map(|atom| format!("{atom:?}")).enumerate();
        let texts = texts.filter(|(_, text)| tokens_in(text).next().is_some());
        texts.map(|(place, _)| place).collect()
    }

    fn last_token(&self) -> Option<usize> {
        self.tokens().last().copied()
    }

    /// Returns how many atoms there may be. After its end nothing is there that was not shown.
    pub(crate) fn ceiling(&self) -> usize {
        match &self.end {
            Some(Stop::Done(_)) => {
                let next = self.tokens().into_iter().find(|place| *place >= self.seen);
                next.unwrap_or(self.total)
            }
            _ => self.total,
        }
    }
}

impl Session {
    /// Notes that it must be there from now on.
    pub(crate) fn keep(&mut self) {
        if self.fate == Fate::New {
            self.fate = Fate::There;
        }
    }

    /// Notes that it is not there, which may not be; returns whether it may.
    pub(crate) fn miss(&mut self) -> bool {
        self.fate = match self.fate {
            Fate::There => return false,
            Fate::New | Fate::Forgotten => Fate::Forgotten,
            Fate::Leaving | Fate::Gone => Fate::Gone,
        };
        true
    }

    /// Returns whether it is there as far as anybody knows.
    pub(crate) fn is_there(&self) -> bool {
        matches!(self.fate, Fate::New | Fate::There)
    }

    /// Returns the tag of the next turn.
    pub(crate) fn next(&self) -> Tag {
        let turn = u32::try_from(self.turns.len()).unwrap_or(u32::MAX) + 1;
        let session = self.number;
        Tag { session, turn }
    }

    /// Notes whose message or tool call an id is: no other turn may use it, in whatever life.
    pub(crate) fn note_id(&mut self, id: &str, text: &str) -> Result<()> {
        let mut tags = tags_in(text).chain(tokens_in(text).map(|token| token.tag));
        let Some(tag) = tags.next() else {
            return Ok(());
        };
        let first = *self.ids.entry(id.to_owned()).or_insert(tag);
        match first == tag {
            true => Ok(()),
            false => {
                let words = format!("the id {id} of {first} is used again in {tag}");
                Err(Failure::new(Breach::Duplicate, words))
            }
        }
    }
}
