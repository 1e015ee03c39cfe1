//! Plays a scene on a real terminal and keeps what could be seen.
#![expect(
    clippy::disallowed_methods,
    reason = "how long something was on the screen is part of what is recorded"
)]

use std::cell::RefCell;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::pictures::Frame;
use crate::{Screen as _, Shot, Terminal};

use super::Result;
use super::scene::{Scene, Step};

/// How long a typed character stands before the next.
const KEY: Duration = Duration::from_millis(60);
/// What was on the screen for less than this is half a drawing, and nobody saw it.
const SEEN_MIN: Duration = Duration::from_millis(15);
/// A picture does not stand still for longer because the machine was slow.
const WAIT_MAX: Duration = Duration::from_millis(800);
/// How often the usual time is waited for something that takes long.
const LONG_TRIES: usize = 9;
/// How long a file may take to change, and how often it is looked at.
const FILE_TIME_MAX: Duration = Duration::from_secs(60);
const FILE_LOOK: Duration = Duration::from_millis(20);
/// How many pictures one wait may add; the rest of a flood is not shown.
const WAIT_FRAMES_MAX: usize = 200;

/// What was recorded.
#[derive(Debug)]
pub struct Recording {
    /// What was on the screen, and for how long.
    pub frames: Vec<Frame>,
    /// Still pictures by name.
    pub pictures: Vec<(&'static str, Shot)>,
}

/// Plays a scene.
///
/// # Errors
///
/// The program does not start, or something that was waited for did not come; the error has the whole screen.
pub fn record(scene: &Scene) -> Result<Recording> {
    let terminal = Terminal::spawn(&scene.launch)?;
    let mut recording = Recording {
        frames: Vec::new(),
        pictures: Vec::new(),
    };
    for step in &scene.steps {
        match step {
            Step::Type(text) => {
                for char in text.chars() {
                    recording.type_char(&terminal, char)?;
                }
            }
            Step::Press(key) => terminal.press(*key),
            Step::WaitFor(text) => recording.wait_for(&terminal, text)?,
            Step::WaitLong(text, rows) => wait_long(&terminal, text, *rows)?,
            Step::WaitForFile(path, text) => wait_for_file(path, text)?,
            Step::Hold(time) => recording.show(terminal.shot(), *time),
            Step::Picture(name) => recording.pictures.push((name, terminal.shot())),
        }
    }
    Ok(recording)
}

fn wait_long(terminal: &Terminal, text: &str, rows: usize) -> Result<()> {
    let seen = |shot: &Shot| {
        let found = (0..shot.rows()).filter(|row| shot.row(*row).contains(text));
        found.count() >= rows
    };
    for _ in 1..LONG_TRIES {
        if terminal.try_wait_for(&seen, text).is_ok() {
            return Ok(());
        }
    }
    terminal.try_wait_for(&seen, &format!("{text:?}"))?;
    Ok(())
}

fn wait_for_file(path: &Path, text: &str) -> Result<()> {
    let start = Instant::now();
    while !std::fs::read_to_string(path)?.contains(text) {
        if start.elapsed() > FILE_TIME_MAX {
            return Err(format!("{text:?} did not come into {}", path.display()).into());
        }
        std::thread::sleep(FILE_LOOK);
    }
    Ok(())
}

impl Recording {
    fn type_char(&mut self, terminal: &Terminal, char: char) -> Result<()> {
        let before = terminal.shot();
        terminal.type_text(char.encode_utf8(&mut [0; 4]));
        let typed =
            terminal.try_wait_for(&|shot| *shot != before, &format!("{char:?} on the screen"))?;
        self.show(typed, KEY);
        Ok(())
    }

    fn wait_for(&mut self, terminal: &Terminal, text: &str) -> Result<()> {
        let seen = RefCell::new(vec![(Instant::now(), terminal.shot())]);
        let last = terminal.try_wait_for(
            &|shot| {
                let mut seen = seen.borrow_mut();
                let is_new = seen.last().is_none_or(|(_, last)| last != shot);
                if is_new && seen.len() < WAIT_FRAMES_MAX {
                    seen.push((Instant::now(), shot.clone()));
                }
                shot.contains(text)
            },
            &format!("{text:?}"),
        )?;
        let seen = seen.into_inner();
        let ends = seen.iter().skip(1).map(|(start, _)| *start);
        for ((start, shot), end) in seen.iter().zip(ends) {
            let shown = end.duration_since(*start);
            if shown >= SEEN_MIN {
                self.show(shot.clone(), shown.min(WAIT_MAX));
            }
        }
        self.show(last, SEEN_MIN);
        Ok(())
    }

    /// Adds a picture, or shows the last one for longer if it is the same.
    fn show(&mut self, shot: Shot, shown: Duration) {
        match self.frames.last_mut() {
            Some(frame) if frame.shot == shot => frame.shown += shown,
            _ => self.frames.push(Frame { shot, shown }),
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]
mod tests {
    use super::*;
    use crate::pictures::{Palette, moving_svg, png};
    use crate::scenes::Kept;
    use crate::{Key, Launch};

    fn scene(steps: Vec<Step>) -> Scene {
        Scene {
            name: "test",
            title: "A shell.",
            launch: Launch::new("sh").arg("-i").env("PS1", "$ ").size(40, 8),
            steps,
            kept: Kept::MovingPicture,
        }
    }

    #[test]
    fn a_scene_is_typed_waited_for_and_kept() {
        let recording = record(&scene(vec![
            Step::wait_for("$"),
            Step::type_text("echo $((6*7))"),
            Step::Hold(Duration::from_millis(300)),
            Step::Press(Key::Enter),
            Step::wait_for("42"),
            Step::Picture("answer"),
            Step::Hold(Duration::from_secs(1)),
        ]))
        .unwrap();
        let rows: Vec<_> = recording
            .frames
            .iter()
            .map(|frame| frame.shot.row(0))
            .collect();
        let typed = "$ echo $((6*7))";
        // A blank changes the screen by its cursor alone.
        for end in 3..=typed.len() {
            assert!(
                rows.iter().any(|row| row == typed[..end].trim_end()),
                "{rows:?}"
            );
        }
        let pause = recording
            .frames
            .iter()
            .find(|frame| frame.shot.row(0) == typed)
            .unwrap();
        assert!(
            pause.shown >= Duration::from_millis(360),
            "{:?}",
            pause.shown
        );
        let [("answer", shot)] = &recording.pictures[..] else {
            panic!("one picture");
        };
        assert!(shot.contains("42"));
        assert!(!png(shot, &Palette::dark()).unwrap().is_empty());
        assert!(moving_svg(&recording.frames, "A shell.", &Palette::dark()).contains("@keyframes"));
    }

    #[test]
    fn what_changes_while_it_is_waited_for_is_in_the_picture() {
        let steps = vec![
            Step::wait_for("$"),
            Step::type_text("for i in 1 2; do sleep 0.1; echo $i; done; sleep 0.1; echo $((6*7))"),
            Step::Press(Key::Enter),
            Step::wait_for("42"),
        ];
        let mut scene = scene(steps);
        scene.launch = scene.launch.size(80, 8);
        let recording = record(&scene).unwrap();
        let is_second = |frame: &Frame| frame.shot.row(2) == "2" && frame.shot.row(3).is_empty();
        let second = recording.frames.iter().find(|frame| is_second(frame));
        assert!(second.is_some_and(|frame| frame.shown >= Duration::from_millis(50)));
    }

    #[test]
    fn what_does_not_come_is_an_error_with_the_screen() {
        let mut scene = scene(vec![Step::wait_for("never")]);
        scene.launch = Launch::new("sh").args(["-c", "echo something else"]);
        let error = record(&scene).err().unwrap().to_string();
        assert!(error.contains("| something else"), "{error}");
    }
}
