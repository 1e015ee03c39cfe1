//! The program on a terminal is a process like any other, and none outlives its terminal.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use terminal_tests::{
    Ended, Key, Launch, Screen, Terminal, Tmux, WAIT_MAX, on_every_screen, tmux_is_missing,
};

fn sh(script: &str) -> Launch {
    Launch::new("sh").args(["-c", script])
}

fn spawn(script: &str) -> Terminal {
    Terminal::spawn(&sh(script)).unwrap()
}

/// The number after a word on the screen.
fn number(screen: &dyn Screen, word: &str) -> u32 {
    let after = |text: &str| {
        let (_, rest) = text.split_once(word)?;
        let (digits, _) = rest.split_once('.')?;
        digits.parse().ok()
    };
    let shot = screen.wait_for(&|shot| after(&shot.text()).is_some(), word);
    after(&shot.text()).unwrap()
}

/// A process that is not ours to wait for.
struct Stranger(OwnedFd);

impl Stranger {
    /// Takes hold of a process that is alive.
    fn new(pid: u32) -> Self {
        let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
        Stranger(pidfd_open(pid, PidfdFlags::empty()).unwrap())
    }

    fn has_ended_within(&self, limit: Duration) -> bool {
        let limit = Timespec::try_from(limit).unwrap();
        poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&limit)).unwrap() == 1
    }

    #[track_caller]
    fn wait_for_end(&self) {
        assert!(
            self.has_ended_within(WAIT_MAX),
            "the process is still alive"
        );
    }
}

#[test]
fn exit_codes_are_told_also_inside_tmux() {
    on_every_screen(
        || sh("exit 7"),
        |screen| {
            assert_eq!(screen.ended(), Ended::Code(7));
            assert_eq!(screen.ended(), Ended::Code(7));
        },
    );
}

#[test]
fn the_signal_that_ended_a_program_is_told() {
    let terminal = spawn("echo ready; kill -TERM $$; sleep 1000");
    assert_eq!(terminal.ended(), Ended::Signal(15));
    let terminal = spawn("echo ready; sleep 1000");
    terminal.wait_for_text("ready");
    terminal.signal(rustix::process::Signal::HUP);
    assert_eq!(terminal.ended(), Ended::Signal(1));
}

#[test]
fn all_output_is_on_the_screen_when_the_end_is_told() {
    on_every_screen(
        || sh("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; printf last"),
        |screen| {
            assert_eq!(screen.ended(), Ended::Code(0));
            screen.wait_for_text("last");
        },
    );
    let terminal = spawn("yes | head -c 300000; printf last");
    assert_eq!(terminal.ended(), Ended::Code(0));
    assert!(terminal.shot().contains("last"));
    assert!(terminal.output().ends_with(b"last"));
}

// The sleeps are short, because one that is about to start when the signal comes does not hear of it.
#[test]
fn control_c_interrupts_the_program_in_front() {
    on_every_screen(
        || sh("trap 'echo interrupted; exit 3' INT; echo ready; while :; do sleep 0.1; done"),
        |screen| {
            screen.wait_for_text("ready");
            screen.press(Key::Ctrl('c'));
            screen.wait_for_text("interrupted");
            assert_eq!(screen.ended(), Ended::Code(3));
        },
    );
}

#[test]
fn the_terminal_is_the_controlling_one() {
    let terminal = spawn(
        "echo from /dev/tty >/dev/tty; tty; test -t 0 && test -t 1 && test -t 2 && echo all three",
    );
    assert_eq!(terminal.ended(), Ended::Code(0));
    let text = terminal.shot().text();
    let lines: Vec<_> = text.lines().collect();
    assert!(
        matches!(lines[..], ["from /dev/tty", tty, "all three"] if tty.starts_with("/dev/pts/")),
        "{text}"
    );
}

#[test]
fn the_environment_is_what_was_given() {
    let launch = Launch::new("env").env("GIVEN", "yes").env("GIVEN", "still");
    let terminal = Terminal::spawn(&launch).unwrap();
    assert_eq!(terminal.ended(), Ended::Code(0));
    assert_eq!(terminal.shot().text(), "GIVEN=still\nTERM=xterm-256color");
}

#[test]
fn a_command_becomes_a_launch() {
    let mut command = Command::new("sh");
    command
        .args(["-c", "pwd; echo $GIVEN"])
        .env("GIVEN", "yes")
        .current_dir("/");
    let terminal = Terminal::spawn(&Launch::from(&command)).unwrap();
    assert_eq!(terminal.ended(), Ended::Code(0));
    assert_eq!(terminal.shot().text(), "/\nyes");
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let error = Terminal::spawn(&Launch::new("/no/such/program"))
        .err()
        .unwrap();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn nothing_outlives_its_terminal() {
    // One in the background that ignores everything, one in a session of its own, and the shell itself.
    let terminal = spawn(
        "trap '' HUP INT TERM; sleep 1000 & echo background=$!.; \
         setsid sh -c 'trap \"\" HUP TERM; echo session=$$.; sleep 1000' & echo shell=$$.; wait",
    );
    let words = ["background=", "session=", "shell="];
    let processes = words.map(|word| Stranger::new(number(&terminal, word)));
    assert!(
        processes
            .iter()
            .all(|process| !process.has_ended_within(Duration::ZERO))
    );
    drop(terminal);
    processes.iter().for_each(Stranger::wait_for_end);
}

#[test]
fn what_was_left_in_the_background_ends_with_the_terminal() {
    let terminal = spawn("trap '' HUP; sleep 1000 & echo background=$!.; exit 0");
    let process = Stranger::new(number(&terminal, "background="));
    assert_eq!(terminal.ended(), Ended::Code(0));
    drop(terminal);
    process.wait_for_end();
}

#[test]
fn a_tmux_server_ends_with_its_screen() {
    if tmux_is_missing() {
        return;
    }
    let script = "server=${TMUX#*,}; echo shell=$$.; echo server=${server%,*}.; echo socket=${TMUX%%,*}; sleep 1000";
    let tmux = Tmux::spawn(&sh(script)).unwrap();
    let processes = ["shell=", "server="].map(|word| Stranger::new(number(&tmux, word)));
    let text = tmux.wait_for_text("socket=").text();
    assert_eq!(tmux.capture(), text);
    let socket = text.split("socket=").nth(1).unwrap();
    assert!(Path::new(socket).exists(), "{text}");
    drop(tmux);
    processes.iter().for_each(Stranger::wait_for_end);
    assert!(!Path::new(socket).exists());
}
