//! What the scripted agent found, as a file between two processes.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ply_client::Direction;
use serde::{Deserialize, Serialize};

use crate::findings::{Findings, Found};
use crate::recording::Recording;
use crate::verdict::Evidence;

/// Bytes kept of a line in a report.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// Agents that a client may start in one scene.
const AGENTS_MAX: usize = 32;

/// What was found about a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Kept,
    Broken,
    NotOffered,
    Unclear,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    rule: String,
    what: What,
    saw: String,
    frames: Vec<usize>,
}

impl Note {
    pub(crate) fn new(rule: &str, found: Found, frames: &[usize], saw: impl Into<String>) -> Self {
        let what = match found {
            Found::Kept => What::Kept,
            Found::Broken => What::Broken,
            Found::NotOffered => What::NotOffered,
            Found::Unclear => What::Unclear,
        };
        Self {
            rule: rule.to_owned(),
            what,
            saw: saw.into(),
            frames: frames.to_vec(),
        }
    }

    pub(crate) fn found(&self) -> Found {
        match self.what {
            What::Kept => Found::Kept,
            What::Broken => Found::Broken,
            What::NotOffered => Found::NotOffered,
            What::Unclear => Found::Unclear,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    at_us: u64,
    to_client: bool,
    text: String,
}

/// What one process of the scripted agent found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) scene: String,
    /// The version that was spoken.
    pub(crate) version: u64,
    /// The scene is over; the connection may go on.
    pub(crate) is_over: bool,
    /// The client closed the connection, or ended the process.
    pub(crate) has_ended: bool,
    /// The client does not speak the version that the scene is about.
    pub(crate) is_other_version: bool,
    /// Why the scene could not be played to its end.
    pub(crate) stopped: Option<String>,
    /// A process that a terminal of the client runs, with the frame that shows it.
    pub(crate) left_running: Option<(u32, usize)>,
    pub(crate) notes: Vec<Note>,
    pub(super) lines: Vec<Line>,
}

impl Report {
    /// Takes in what went over the connection.
    pub(crate) fn show(&mut self, recording: &Recording) {
        let line = |frame: &crate::recording::Frame| {
            let bytes = frame.bytes.get(..LINE_BYTES_MAX).unwrap_or(&frame.bytes);
            Line {
                at_us: u64::try_from(frame.at.as_micros()).unwrap_or(u64::MAX),
                to_client: frame.direction == Direction::ToClient,
                text: String::from_utf8_lossy(bytes).into_owned(),
            }
        };
        self.lines = recording.with_frames(|frames| frames.iter().map(line).collect());
    }

    /// Puts everything but what could not be found out into findings, and returns that.
    pub(crate) fn pour(&self, findings: &mut Findings, scene: &'static str) -> Vec<Note> {
        let recording = Recording::new(scene);
        for line in &self.lines {
            let direction = match line.to_client {
                true => Direction::ToClient,
                false => Direction::ToAgent,
            };
            let at = Duration::from_micros(line.at_us);
            recording.add(at, direction, line.text.as_bytes());
        }
        let place = findings.recordings.len();
        findings.recordings.push(recording);
        let mut unclear = Vec::new();
        for note in &self.notes {
            if note.what == What::Unclear {
                unclear.push(note.clone());
                continue;
            }
            let evidence = Evidence {
                recording: place,
                frames: note.frames.clone(),
            };
            let saw = note.saw.clone();
            findings.add(&note.rule, note.found(), saw, evidence, Some(scene));
        }
        unclear
    }

    /// Writes it as a whole, so that nobody reads a half of it.
    pub(crate) fn write(&self, file: &Path) -> io::Result<()> {
        let part = beside(file, "part");
        fs::write(&part, serde_json::to_vec(self)?)?;
        fs::rename(&part, file)
    }

    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(file)?)?)
    }
}

/// Notes that could not be found out are told of rules that nothing else is known about.
pub(crate) fn unclear(findings: &mut Findings, rule: &str, why: &str, scene: &'static str) {
    let recording = findings.recordings.len().saturating_sub(1);
    findings.add_unclear(rule, why, recording, scene);
}

impl Note {
    pub(crate) fn rule(&self) -> &str {
        &self.rule
    }

    pub(crate) fn saw(&self) -> &str {
        &self.saw
    }

    pub(crate) fn frames(&self) -> &[usize] {
        &self.frames
    }

    pub(crate) fn is_unclear(&self) -> bool {
        self.what == What::Unclear
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.what == What::Broken
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.what == What::Kept
    }
}

/// The ending of the file beside a report that says that the client gets on.
pub(crate) const PROGRESS: &str = "progress";

/// Returns a file beside another.
pub(crate) fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// Returns the file of the n-th agent of a scene, from 0.
pub(crate) fn of_agent(out: &Path, number: usize) -> PathBuf {
    match number {
        0 => out.to_owned(),
        number => beside(out, &number.to_string()),
    }
}

/// Claims a file for one more agent, and returns it with its number.
pub(crate) fn claim(out: &Path) -> io::Result<(PathBuf, usize)> {
    for number in 0..AGENTS_MAX {
        let file = of_agent(out, number);
        let claimed = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(beside(&file, "claim"));
        match claimed {
            Ok(mut claim) => {
                write!(claim, "{}", std::process::id())?;
                return Ok((file, number));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("the client started too many agents"))
}

/// Returns whether the n-th agent of a scene still runs.
pub(crate) fn is_running(out: &Path, number: usize) -> bool {
    let claim = fs::read_to_string(beside(&of_agent(out, number), "claim"));
    let process = claim.ok().and_then(|claim| claim.parse().ok());
    process.is_some_and(lives)
}

/// Returns whether a process lives; one that has ended and is not buried does not.
pub(crate) fn lives(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
    !state.is_empty() && !state.starts_with(['Z', 'X'])
}

/// Returns the reports of all agents that a client started in a scene, in order.
pub(crate) fn all(out: &Path) -> Vec<Report> {
    let files = (0..AGENTS_MAX).map(|number| of_agent(out, number));
    files
        .map_while(|file| match beside(&file, "claim").exists() {
            true => Some(Report::read(&file).unwrap_or_default()),
            false => None,
        })
        .collect()
}
