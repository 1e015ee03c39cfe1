//! The scenes.

use std::path::Path;
use std::time::Duration;

use super::sample::Sample;
use super::scene::{Kept, Scene, Step};
use crate::{Key, Launch};

const PROMPT: &str = "~/teapot $ ";
/// How a row with it begins.
const PROMPT_AGAIN: &str = "~/teapot $";

/// Returns the scenes of a program, which live in this sample.
#[must_use]
pub fn scenes(program: &Path, sample: &Sample) -> Vec<Scene> {
    vec![
        demo(program, sample),
        start(program, sample),
        hub(program, sample),
        check(program, sample),
    ]
}

/// A shell, as a reader would have it.
fn shell(program: &Path, sample: &Sample) -> Launch {
    let programs = program.parent().unwrap_or(Path::new("/"));
    Launch::new("sh")
        .arg("-i")
        .size(100, 36)
        .cwd(sample.project())
        .env("HOME", sample.home())
        .env("XDG_RUNTIME_DIR", sample.home().join("run"))
        .env("LANG", "C.UTF-8")
        .env("COLORTERM", "truecolor")
        .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
        .env("PS1", PROMPT)
}

fn hold(milliseconds: u64) -> Step {
    Step::Hold(Duration::from_millis(milliseconds))
}

/// A line that is typed and sent.
fn line(text: &str) -> [Step; 3] {
    [Step::type_text(text), hold(500), Step::Press(Key::Enter)]
}

/// `ply run` explains the repository, and the terminal client changes it.
fn demo(program: &Path, sample: &Sample) -> Scene {
    let mut steps = vec![Step::wait_for("$")];
    steps.extend(line("ply run \"explain this repository\""));
    steps.extend([
        Step::wait_for("completed ·"),
        Step::wait_long(PROMPT_AGAIN, 2),
        Step::Picture("run"),
        hold(3500),
    ]);
    steps.extend(line("clear; ply"));
    steps.extend([Step::wait_for("· ready"), hold(700)]);
    steps.extend(line(
        "search POUR_AT in src, then replace 60 with 95 in src/kettle.rs",
    ));
    steps.extend([
        Step::wait_for("1–9 answer"),
        Step::wait_for("needs you (1)"),
        Step::Picture("permission"),
        hold(3000),
        Step::type_text("1"),
        Step::wait_for("· ready"),
        Step::Picture("chat"),
        hold(5000),
    ]);
    Scene {
        name: "demo",
        title: "In a terminal, ply run explains a repository; then the terminal client is asked to change a number, shows the \
                change as a diff, is allowed to make it, and makes it.",
        launch: shell(program, sample),
        steps,
        kept: Kept::MovingPicture,
    }
}

/// The terminal client before anything is said, where something was said before.
fn start(program: &Path, sample: &Sample) -> Scene {
    let mut steps = vec![Step::wait_for("$")];
    steps.extend(line("clear; ply"));
    steps.extend([
        Step::wait_for("· ready"),
        Step::wait_for("Recent"),
        Step::Picture("start"),
    ]);
    Scene {
        name: "start",
        title: "The start screen of the terminal client: agent, model, directory, prompts to try, recent sessions.",
        launch: shell(program, sample),
        steps,
        kept: Kept::StillPictures,
    }
}

/// A client leaves while its agent asks, and a shell answers.
fn hub(program: &Path, sample: &Sample) -> Scene {
    let mut steps = vec![Step::wait_for("$")];
    steps.extend(line("ply chat -- ply attach"));
    steps.extend([Step::wait_for("· ready"), hold(700)]);
    steps.extend(line("replace four with six in README.md"));
    steps.push(Step::wait_for("needs you (1)"));
    steps.extend(line("/quit"));
    steps.push(Step::wait_long(PROMPT_AGAIN, 2));
    steps.extend(line("ply permits ls"));
    steps.push(Step::wait_long(PROMPT_AGAIN, 3));
    steps.extend(line("ply permits allow"));
    steps.push(Step::wait_long(PROMPT_AGAIN, 4));
    let changed = sample.project().join("README.md");
    steps.push(Step::WaitForFile(changed, "six cups"));
    steps.extend(line("tail -1 README.md"));
    steps.push(Step::wait_long(PROMPT_AGAIN, 5));
    steps.push(Step::Picture("hub"));
    steps.extend(line("clear; ply hub stop"));
    steps.push(Step::wait_for("the hub is stopping"));
    Scene {
        name: "hub",
        title: "In a terminal, ply permits ls shows a question whose client has gone, ply permits allow answers it, and the file is \
                changed.",
        launch: shell(program, sample).size(110, 14),
        steps,
        kept: Kept::StillPictures,
    }
}

/// The agent in the program is checked.
fn check(program: &Path, sample: &Sample) -> Scene {
    let mut steps = vec![Step::wait_for("$")];
    steps.extend(line("ply check agent -- ply agent"));
    steps.push(Step::wait_long(PROMPT_AGAIN, 2));
    steps.extend(line(
        "ply check agent --version 1 --only CANCEL --all -- ply agent",
    ));
    steps.extend([Step::wait_long(PROMPT_AGAIN, 3), Step::Picture("check")]);
    Scene {
        name: "check",
        title: "In a terminal, ply check agent starts the agent in the program many times and finds no broken rule.",
        // Most rules are one line then.
        launch: shell(program, sample).size(124, 24),
        steps,
        kept: Kept::StillPictures,
    }
}
