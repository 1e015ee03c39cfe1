//! The user's own commands, each in a process group of its own and with a thread that reads what it prints.

use std::io::{self, PipeReader, Read as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::mpsc;

use super::sessions::Note;
use crate::app::Event;
use crate::app::shell::{ShellEnd, ShellId, ShellNews};

/// Bytes of a command's output that are shown.
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// The command that runs, if one does. Dropped, it is ended.
#[derive(Debug, Default)]
pub(super) struct Shell {
    /// The leader of the command's process group, until it is reaped: then the number may be somebody else's.
    running: Arc<Mutex<Option<Pid>>>,
}

impl Shell {
    /// Starts a command and tells what it prints and how it ends.
    pub(super) fn start(
        &self,
        id: ShellId,
        shell: &[String],
        line: &str,
        cwd: &Path,
        notes: mpsc::Sender<Note>,
    ) {
        let tell = move |news| {
            // A client that is gone wants no news.
            notes
                .blocking_send(Note::App(Event::Shell(id, news)))
                .is_ok()
        };
        let running = Arc::clone(&self.running);
        let started = spawn(shell, line, cwd);
        if let Ok((child, _)) = &started {
            *lock(&running) = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        }
        let reading = move || match started {
            Ok((child, output)) => {
                read(output, &tell);
                tell(ShellNews::Ended(end(child, &running)));
            }
            Err(error) => {
                tell(ShellNews::Ended(ShellEnd::Failed(error.to_string())));
            }
        };
        let thread = std::thread::Builder::new().name("shell".to_owned());
        // Without a thread nobody would end the command.
        if thread.spawn(reading).is_err() {
            self.stop(true);
        }
    }

    /// Asks the command and all that it started to end, or ends them.
    pub(super) fn stop(&self, is_forced: bool) {
        let signal = if is_forced {
            Signal::KILL
        } else {
            Signal::TERM
        };
        if let Some(group) = *lock(&self.running) {
            // Fails only if it has ended.
            kill_process_group(group, signal).ok();
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.stop(true);
    }
}

fn lock(running: &Mutex<Option<Pid>>) -> std::sync::MutexGuard<'_, Option<Pid>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spawn(shell: &[String], line: &str, cwd: &Path) -> io::Result<(Child, PipeReader)> {
    let (program, arguments) = shell
        .split_first()
        .ok_or_else(|| io::Error::other("no shell is set; set SHELL"))?;
    let (reader, writer) = io::pipe()?;
    let child = Command::new(program)
        .args(arguments)
        .arg(line)
        .current_dir(cwd)
        // It has no terminal: nothing may ask, page or colour.
        .env("TERM", "dumb")
        .env("NO_COLOR", "1")
        .env("PAGER", "cat")
        .env("GIT_PAGER", "cat")
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .spawn()?;
    Ok((child, reader))
}

/// Passes on what a command prints until it prints no more, of which only the beginning is kept.
fn read(mut output: PipeReader, tell: &impl Fn(ShellNews) -> bool) {
    let mut left = OUTPUT_BYTES_MAX;
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let count = match output.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let kept = buffer.get(..count.min(left)).unwrap_or_default();
        let was_left = left > 0;
        left -= kept.len();
        if !kept.is_empty() && !tell(ShellNews::Output(kept.to_vec())) {
            return;
        }
        if was_left && left == 0 && !tell(ShellNews::Truncated) {
            return;
        }
    }
}

/// Waits for a command and says how it ended.
fn end(mut child: Child, running: &Mutex<Option<Pid>>) -> ShellEnd {
    let group = *lock(running);
    if let Some(group) = group {
        // It can be stopped until here. Once it is reaped, its number is free.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let interrupted = rustix::io::Errno::INTR;
        while waitid(WaitId::Pid(group), options).is_err_and(|error| error == interrupted) {}
        *lock(running) = None;
    }
    match child.wait() {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => ShellEnd::Exit(code),
            (None, signal) => ShellEnd::Signal(signal.unwrap_or_default()),
        },
        Err(error) => ShellEnd::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str, look: impl Fn(&Shell, &ShellNews)) -> Vec<ShellNews> {
        let (notes, mut inbox) = mpsc::channel(8);
        let shell = Shell::default();
        let words = ["sh", "-c"].map(str::to_owned);
        shell.start(ShellId(1), &words, line, Path::new("/"), notes);
        let mut all = Vec::new();
        while let Some(note) = inbox.blocking_recv() {
            let Note::App(Event::Shell(ShellId(1), news)) = note else {
                panic!("something else");
            };
            look(&shell, &news);
            all.push(news);
        }
        all
    }

    #[test]
    fn both_streams_are_told_in_order_and_then_the_end() {
        let all = run("echo a; echo b >&2; pwd; exit 3", |_, _| {});
        let printed: Vec<u8> = all
            .iter()
            .filter_map(|news| match news {
                ShellNews::Output(bytes) => Some(bytes.clone()),
                _ => None,
            })
            .flatten()
            .collect();
        assert_eq!(String::from_utf8(printed).unwrap(), "a\nb\n/\n");
        assert_eq!(all.last(), Some(&ShellNews::Ended(ShellEnd::Exit(3))));
    }

    #[test]
    fn a_command_is_stopped_with_all_that_it_started() {
        let all = run("sleep 1000 & echo on; wait", |shell, news| {
            if matches!(news, ShellNews::Output(_)) {
                shell.stop(false);
            }
        });
        assert_eq!(all.last(), Some(&ShellNews::Ended(ShellEnd::Signal(15))));
    }

    #[test]
    fn output_is_bounded_and_a_shell_that_is_not_there_is_told() {
        let all = run("head -c 3000000 /dev/zero", |_, _| {});
        let bytes: usize = all
            .iter()
            .map(|news| match news {
                ShellNews::Output(bytes) => bytes.len(),
                _ => 0,
            })
            .sum();
        assert_eq!(bytes, OUTPUT_BYTES_MAX);
        assert!(all.contains(&ShellNews::Truncated));
        let (notes, mut inbox) = mpsc::channel(8);
        let words = ["/no/such/shell".to_owned()];
        Shell::default().start(ShellId(1), &words, "x", Path::new("/"), notes);
        let told = inbox.blocking_recv();
        assert!(matches!(
            told,
            Some(Note::App(Event::Shell(
                _,
                ShellNews::Ended(ShellEnd::Failed(_))
            )))
        ));
    }
}
