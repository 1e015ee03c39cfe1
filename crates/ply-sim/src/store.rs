//! A journal as lines, of which the last may be lost with the process.

use ply_session::{Event, coalesce};

use crate::choice::Choices;
use crate::ledger::Broken;

/// The lines of one session's journal.
#[derive(Debug, Default)]
pub(crate) struct Store {
    lines: Vec<String>,
    /// How many of them no crash takes away.
    synced: usize,
    /// The durable events that somebody acted on, in order.
    acknowledged: Vec<String>,
}

impl Store {
    /// Adds an event, which a crash may still lose, and returns its line.
    pub(crate) fn write(&mut self, event: &Event) -> Result<&str, Broken> {
        let line = serde_json::to_string(event).map_err(|error| error.to_string())?;
        self.lines.push(line);
        Ok(self.lines.last().map_or("", String::as_str))
    }

    pub(crate) fn sync(&mut self) {
        self.synced = self.lines.len();
    }

    /// Notes that somebody was told of a durable event.
    pub(crate) fn acknowledge(&mut self, event: &Event) -> Result<(), Broken> {
        if event.is_durable() {
            let line = serde_json::to_string(event).map_err(|error| error.to_string())?;
            self.acknowledged.push(line);
        }
        Ok(())
    }

    /// Loses some of what was not synced.
    pub(crate) fn crash(&mut self, choices: &mut Choices<'_>) {
        let unsynced = (self.lines.len() - self.synced) as u64;
        let kept = usize::try_from(choices.below(unsynced + 1)).unwrap_or(0);
        self.lines.truncate(self.synced + kept);
        self.sync();
    }

    /// Returns whether something with this id is in the journal.
    pub(crate) fn holds(&self, id: &str) -> bool {
        let id = format!("\"{id}\"");
        self.lines.iter().any(|line| line.contains(&id))
    }

    /// Reads the journal, after writing it shorter if `shorter`.
    ///
    /// Fails if an event does not read as it was written, or one that somebody was told of is gone.
    pub(crate) fn read(&mut self, shorter: bool) -> Result<Vec<Event>, Broken> {
        let mut events = Vec::with_capacity(self.lines.len());
        for line in &self.lines {
            let event: Event = serde_json::from_str(line)
                .map_err(|error| format!("a line of the journal does not read: {error}"))?;
            let again = serde_json::to_string(&event).map_err(|error| error.to_string())?;
            if again != *line {
                return Err(format!("a line of the journal reads otherwise: {line}"));
            }
            events.push(event);
        }
        if shorter {
            events = coalesce(&events);
            let lines = events.iter().map(serde_json::to_string);
            let lines: Result<Vec<String>, _> = lines.collect();
            self.lines = lines.map_err(|error| error.to_string())?;
            self.sync();
        }
        // What is kept may be more than what anybody was told of.
        let mut kept = self.lines.iter();
        for line in &self.acknowledged {
            if !kept.any(|kept| kept == line) {
                return Err(format!("acknowledged, and lost in a crash: {line}"));
            }
        }
        Ok(events)
    }
}
