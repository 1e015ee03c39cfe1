//! A trace that was read to be judged.

use std::io;
use std::time::Duration;

use ply_client::Direction as Sent;
use ply_wire::negotiate::Version;

use super::{Judgement, Passive, feed, rules};
use crate::findings::Findings;
use crate::recording::Recording;
use crate::rule::Side;
use crate::selection::Selection;
use crate::trace::{Direction, Entry, Event};

/// A trace that was read to be judged: what it shows, and its frames for evidence.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recorded {
    /// The version that both sides agreed on, if they did.
    pub version: Option<u64>,
    /// How long the recording is.
    pub took: Duration,
    /// How many lines of either side there are.
    pub frames: u64,
    /// How many entries the recording says it lost.
    pub lost: u64,
    judged: Judgement,
    recording: Recording,
}

impl Recorded {
    /// Reads the entries of a trace.
    ///
    /// # Errors
    ///
    /// An entry cannot be read.
    pub fn read(entries: impl Iterator<Item = io::Result<Entry>>) -> io::Result<Self> {
        let recording = Recording::new("the trace");
        let mut passive = Passive::new();
        let mut took = Duration::ZERO;
        let (mut frames, mut lost) = (0, 0);
        for entry in entries {
            let entry = entry?;
            passive.observe(&entry);
            took = Duration::try_from_secs_f64(entry.t).unwrap_or(took);
            let (dir, line) = match &entry.event {
                Event::Frame { dir, frame } => (dir, frame.get().as_bytes()),
                Event::Text { dir, text } => (dir, text.as_bytes()),
                Event::Bytes { dir, bytes } => (dir, bytes.as_slice()),
                Event::Lost(gap) => {
                    // A gap whose entries cannot be counted is one all the same.
                    lost += gap.entries.max(1);
                    continue;
                }
                _ => continue,
            };
            frames += 1;
            let dir = match dir {
                Direction::ToAgent => Sent::ToAgent,
                Direction::ToClient => Sent::ToClient,
            };
            recording.add(took, dir, line);
        }
        Ok(Self {
            version: passive.version(),
            took,
            frames,
            lost,
            judged: passive.finish(),
            recording,
        })
    }

    /// Returns what was found about the rules of a side in a version, as far as they are wanted.
    #[must_use]
    pub fn findings(&self, side: Side, version: Version, selection: &Selection) -> Findings {
        let rules = rules::rules().filter(|rule| rule.side == side && rule.holds_in(version));
        let mut findings = Findings::new(rules.filter(|rule| selection.takes(rule)));
        findings.recordings.push(self.recording.clone());
        feed::add(self.judged.clone(), 0, side, &mut findings);
        findings.settle();
        findings
    }
}
