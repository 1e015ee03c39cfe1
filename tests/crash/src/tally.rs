//! What a run of a rig adds up to.

use std::collections::BTreeMap;
use std::fmt;

use crate::failure::{Breach, Failure};
use crate::told::{Fate, Kept, Told};
use crate::wire::Stop;

/// Counts of what was done, what was checked, and what was found.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    /// Agents that were killed or met a fault, by how.
    pub ends: BTreeMap<String, u64>,
    /// Faults that were asked for and never played, since there were not so many calls.
    pub unplayed: u64,
    /// Things that were told and looked for afterwards.
    pub acknowledged: Acknowledged,
    /// Times that a turn was compared with what a new process showed of it.
    pub compared: u64,
    /// Records that were read from files.
    pub records: u64,
    /// Errors that the agent told because of its disk.
    pub errors: u64,
    /// What tools did that the session does not know of (D22), and how to see it again.
    pub unknown: Vec<(String, String)>,
    /// What was broken, and how to see it again.
    pub failures: Vec<(Failure, String)>,
}

/// Things that were told and looked for afterwards.
#[derive(Debug, Default, Clone, Copy)]
pub struct Acknowledged {
    /// Sessions whose id was told.
    pub sessions: u64,
    /// Prompts whose acceptance was told.
    pub prompts: u64,
    /// Answers of the user that the agent acted upon.
    pub answers: u64,
    /// Ends of turns.
    pub ends: u64,
    /// Sessions that were deleted.
    pub deletions: u64,
    /// Pieces of what the agent said and did.
    pub atoms: u64,
    /// Turns that a crash cut off.
    pub cut_off: u64,
}

impl Tally {
    pub(crate) fn count(&mut self, how: impl Into<String>) {
        *self.ends.entry(how.into()).or_default() += 1;
    }

    /// Adds all that was told about a store, and how to see it again.
    pub(crate) fn add(&mut self, told: &Told, again: &str) {
        let unknown = told.unknown.iter().map(ToString::to_string);
        self.unknown
            .extend(unknown.map(|effect| (effect, again.to_owned())));
        let all = &mut self.acknowledged;
        for session in &told.sessions {
            all.sessions += u64::from(session.fate != Fate::Forgotten);
            all.deletions += u64::from(session.fate == Fate::Gone);
            for turn in &session.turns {
                all.prompts += u64::from(turn.accepted);
                all.answers += turn.acted.len() as u64;
                all.ends += u64::from(matches!(turn.end, Some(Stop::Done(_))));
                all.atoms += turn.floor as u64;
                let most = match turn.kept {
                    Some(Kept::There { most, .. }) => most,
                    _ => turn.total,
                };
                all.cut_off += u64::from(most < turn.total);
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (how, count) in other.ends {
            *self.ends.entry(how).or_default() += count;
        }
        let (all, more) = (&mut self.acknowledged, other.acknowledged);
        all.sessions += more.sessions;
        all.prompts += more.prompts;
        all.answers += more.answers;
        all.ends += more.ends;
        all.deletions += more.deletions;
        all.atoms += more.atoms;
        all.cut_off += more.cut_off;
        self.unplayed += other.unplayed;
        self.compared += other.compared;
        self.records += other.records;
        self.errors += other.errors;
        self.unknown.extend(other.unknown);
        self.failures.extend(other.failures);
    }

    /// Returns whether nothing was broken.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.failures.is_empty() && self.unknown.is_empty()
    }

    /// Returns how often a promise was broken.
    #[must_use]
    pub fn broken(&self, breach: Breach) -> usize {
        let failures = self.failures.iter();
        failures
            .filter(|(failure, _)| failure.breach == breach)
            .count()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = &self.acknowledged;
        for (how, count) in &self.ends {
            writeln!(f, "  {count:>6}  {how}")?;
        }
        if self.unplayed > 0 {
            writeln!(
                f,
                "  {:>6}  of these never came to their call",
                self.unplayed
            )?;
        }
        writeln!(
            f,
            "told and found: {} sessions, {} prompts, {} answers, {} ends of turns, {} deletions, {} atoms; {} turns cut off",
            all.sessions, all.prompts, all.answers, all.ends, all.deletions, all.atoms, all.cut_off
        )?;
        writeln!(
            f,
            "read: {} turns shown again, {} records; {} errors told",
            self.compared, self.records, self.errors
        )?;
        write!(
            f,
            "lost {}, gaps {}, duplicates {}, effects unknown {}, otherwise broken {}",
            self.broken(Breach::Lost),
            self.broken(Breach::Gap),
            self.broken(Breach::Duplicate),
            self.unknown.len(),
            self.broken(Breach::Other)
        )
    }
}
