//! Feeds the recordings of a run to the passive rules.

use std::collections::BTreeSet;

use ply_client::Direction as Sent;
use ply_wire::negotiate::Version;

use super::message::is_absolute;
use super::{Judgement, Passive};
use crate::findings::{Findings, Found};
use crate::recording::{Frame, Recording};
use crate::rule::Side;
use crate::trace::{Direction, Entry, Event, Lost};
use crate::verdict::Evidence;

/// What stands for the probe in these verdicts.
const PROBE: &str = "everything that was said";

/// Judges the recordings of a run by the passive rules of a side, and adds what they show.
///
/// This is the last step of every check, of an agent or of a client, with the run's own recordings. Where our side broke rules on purpose only lines and answers as such are judged: what
/// else follows is for its probe alone.
pub fn judge(recordings: &[Recording], side: Side, findings: &mut Findings) {
    // Sessions outlive connections, and so does the place of one that was made where none may be.
    let misplaced: BTreeSet<String> = recordings.iter().flat_map(relative).collect();
    for (place, recording) in recordings.iter().enumerate() {
        let mut passive = match recording.is_foul() {
            true => Passive::of_lines(),
            false => Passive::new(),
        };
        passive.link.misplaced.clone_from(&misplaced);
        let judged = observed(passive, recording).finish();
        add(judged, place, side, findings);
    }
}

/// Returns the relative directories in which our side asked for sessions.
fn relative(recording: &Recording) -> Vec<String> {
    recording.with_frames(|frames| {
        let ours = frames.iter().filter(|it| it.direction == Sent::ToAgent);
        let places = ours.filter_map(|frame| frame.params()?.get("cwd")?.as_str());
        let relative = places.filter(|cwd| !is_absolute(cwd));
        relative.map(str::to_owned).collect()
    })
}

/// Judges a recording by all passive rules, and by those of a version if the sides agreed on none.
pub(crate) fn judged(recording: &Recording, version: Version) -> Judgement {
    let mut passive = observed(Passive::new(), recording);
    if passive.version().is_none() {
        passive.report.settle(version);
    }
    passive.finish()
}

fn observed(mut passive: Passive, recording: &Recording) -> Passive {
    recording.with_frames(|frames| {
        for frame in frames {
            passive.observe(&entry(frame));
        }
    });
    passive
}

/// Adds what a recording shows of a side.
pub(super) fn add(judged: Judgement, place: usize, side: Side, findings: &mut Findings) {
    for finding in judged.findings {
        if finding.side == side {
            // A recording counts its frames from 0.
            let frames = finding.frames.iter().map(|frame| frame.saturating_sub(1));
            let evidence = Evidence {
                recording: place,
                frames: frames.collect(),
            };
            let (rule, what) = (finding.rule, finding.what);
            findings.add(rule, Found::Broken, what, evidence, Some(PROBE));
        }
    }
    for (rule, _) in judged.looked_at.into_iter().filter(|(_, who)| *who == side) {
        let evidence = Evidence {
            recording: place,
            frames: Vec::new(),
        };
        // What was broken, here or before, outweighs it.
        findings.add(rule, Found::Kept, "", evidence, Some(PROBE));
    }
}

/// Returns a frame as an entry of a trace.
fn entry(frame: &Frame) -> Entry {
    let t = frame.at.as_secs_f64();
    if frame.is_cut {
        return Entry::new(t, Event::Lost(Lost::new(1, 0, "the recording was full")));
    }
    let dir = match frame.direction {
        Sent::ToAgent => Direction::ToAgent,
        Sent::ToClient => Direction::ToClient,
    };
    Entry::line(t, dir, &frame.bytes)
}
