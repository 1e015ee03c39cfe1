//! The frames that show something, as they can be shown.

use ply_client::Direction;

use crate::findings::Findings;
use crate::verdict::Verdict;

/// Frames shown for one verdict.
const FRAMES_MAX: usize = 8;
/// Characters shown of a frame.
const FRAME_CHARS_MAX: usize = 400;

/// A frame as it can be shown: harmless, on one line, and cut.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    pub(super) number: usize,
    pub(super) direction: Direction,
    pub(super) at_s: f64,
    pub(super) line: String,
}

impl Shown {
    /// Returns an arrow: to the agent, or to the client.
    pub(super) fn arrow(&self) -> &'static str {
        match self.direction {
            Direction::ToAgent => "→",
            Direction::ToClient => "←",
        }
    }

    /// Returns the name of its direction in data.
    pub(super) fn direction(&self) -> &'static str {
        match self.direction {
            Direction::ToAgent => "to_agent",
            Direction::ToClient => "to_client",
        }
    }
}

/// Returns the frames of a verdict.
pub(super) fn of(findings: &Findings, verdict: &Verdict) -> Vec<Shown> {
    let evidence = &verdict.evidence;
    let Some(recording) = findings.recordings.get(evidence.recording) else {
        return Vec::new();
    };
    recording.with_frames(|frames| {
        let numbers = evidence.frames.iter().take(FRAMES_MAX);
        let frames = numbers.filter_map(|number| frames.get(*number));
        frames
            .map(|frame| Shown {
                number: frame.number,
                direction: frame.direction,
                at_s: frame.at.as_secs_f64(),
                line: ply_rpc::clean::for_display(&frame.bytes, FRAME_CHARS_MAX),
            })
            .collect()
    })
}
