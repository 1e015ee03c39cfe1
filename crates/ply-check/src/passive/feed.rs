//! Feeds the recordings of a run to the passive rules.

use ply_client::Direction as Sent;

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
/// This is the last step of every check, of an agent or of a client: its rules come from [`super::with_passive`], and then this is
/// called with the run's own recordings. Recordings in which our side broke rules on purpose are left out: what follows such a
/// message is for its probe alone to judge.
pub fn judge(recordings: &[Recording], side: Side, findings: &mut Findings) {
    for (place, recording) in recordings.iter().enumerate() {
        if recording.is_foul() {
            continue;
        }
        add(judged(recording), place, side, findings);
    }
}

/// Judges by the schema alone, also where our side broke rules on purpose: an answer to anything still has to be one.
pub(crate) fn judge_schema(recordings: &[Recording], side: Side, findings: &mut Findings) {
    for (place, recording) in recordings.iter().enumerate() {
        let mut judged = judged(recording);
        let is_schema = |rule: &str| rule.ends_with("-SCHEMA-01");
        judged.findings.retain(|finding| is_schema(finding.rule));
        judged.looked_at.retain(|(rule, _)| is_schema(rule));
        add(judged, place, side, findings);
    }
}

fn judged(recording: &Recording) -> Judgement {
    let mut passive = Passive::new();
    recording.with_frames(|frames| {
        for frame in frames {
            passive.observe(&entry(frame));
        }
    });
    passive.finish()
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
