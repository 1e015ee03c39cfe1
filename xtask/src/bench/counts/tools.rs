//! The programs that count: `strace`, `perf` where the machine has counters, else `valgrind`.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Tool {
    Strace,
    Perf,
    Callgrind,
}

/// Which of the two processes a tool is put around.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    Client,
    Agent,
}

impl Tool {
    pub(super) fn for_system_calls(scratch: &Scratch) -> std::result::Result<Tool, String> {
        Tool::Strace.probe(scratch).map(|()| Tool::Strace)
    }

    /// Counters cost nothing and disturb nothing, so they come first; virtual machines often have none.
    pub(super) fn for_instructions(scratch: &Scratch) -> std::result::Result<Tool, String> {
        let Err(no_perf) = Tool::Perf.probe(scratch) else {
            return Ok(Tool::Perf);
        };
        match Tool::Callgrind.probe(scratch) {
            Ok(()) => Ok(Tool::Callgrind),
            Err(no_valgrind) => Err(format!("{no_perf}, {no_valgrind}")),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::Strace => "strace",
            Tool::Perf => "perf",
            Tool::Callgrind => "callgrind",
        }
    }

    /// The words to put before a command so that its count ends up in `file`.
    pub(super) fn command(self, file: &Path, side: Side) -> Vec<OsString> {
        let file = file.as_os_str();
        let mut words: Vec<OsString> = Vec::new();
        match self {
            Tool::Strace => {
                words.extend(["strace", "-f", "-c", "-o"].map(OsString::from));
                words.push(file.to_owned());
                if side == Side::Client {
                    // Follows threads but lets go of the agent, which has a tracer of its own.
                    words.extend(["-b", "execve"].map(OsString::from));
                }
            }
            Tool::Perf => {
                words.extend(
                    ["perf", "stat", "-x,", "-e", "instructions:u", "-o"].map(OsString::from),
                );
                words.push(file.to_owned());
            }
            Tool::Callgrind => {
                // One thread runs at a time here; without fairness a busy one could starve the rest.
                words.extend(
                    [
                        "valgrind",
                        "--quiet",
                        "--tool=callgrind",
                        "--fair-sched=try",
                    ]
                    .map(OsString::from),
                );
                // It complains at length about system calls younger than itself, which then work without it.
                words.push("--log-file=/dev/null".into());
                let mut out = OsString::from("--callgrind-out-file=");
                out.push(file);
                words.push(out);
            }
        }
        words
    }

    /// Reads the count that the tool wrote.
    pub(super) fn total(self, file: &Path) -> Result<f64> {
        let text = std::fs::read_to_string(file)?;
        self.parse(&text)
            .ok_or_else(|| format!("{} left no count", self.name()).into())
    }

    fn parse(self, text: &str) -> Option<f64> {
        match self {
            // `100.00    0.012345           3      4096        12 total`: the fourth column, whatever follows.
            Tool::Strace => {
                let line = text
                    .lines()
                    .find(|line| line.trim_end().ends_with(" total"))?;
                line.split_whitespace().nth(3)?.parse().ok()
            }
            // `123456,,instructions:u,…`, or `<not supported>,…` in the place of the number.
            Tool::Perf => {
                let line = text.lines().find(|line| line.contains("instructions"))?;
                line.split(',').next()?.trim().parse().ok()
            }
            // `totals: 123456`.
            Tool::Callgrind => {
                let line = text.lines().find_map(|line| line.strip_prefix("totals:"))?;
                line.split_whitespace().next()?.parse().ok()
            }
        }
    }

    /// The client's share: `perf` counts a process with all it starts, the agent included.
    pub(super) fn client_alone(self, client: f64, agent: f64) -> f64 {
        match self {
            Tool::Perf => client - agent,
            Tool::Strace | Tool::Callgrind => client,
        }
    }

    /// Counts the program `true` to see whether the tool is here and allowed to work.
    fn probe(self, scratch: &Scratch) -> std::result::Result<(), String> {
        let file = scratch.client_file();
        let words = self.command(&file, Side::Agent);
        let (program, arguments) = words.split_first().ok_or("no command")?;
        let status = Command::new(program)
            .args(arguments)
            .arg("true")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let name = program.to_string_lossy();
        match status {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(format!("no {name}")),
            Err(error) => Err(format!("{name} does not start: {error}")),
            Ok(_) if self.total(&file).is_ok() => Ok(()),
            Ok(_) => Err(format!("{name} counts nothing here")),
        }
    }
}

/// A directory for the tools' output, removed in the end.
pub(super) struct Scratch {
    directory: PathBuf,
}

impl Scratch {
    pub(super) fn new() -> Result<Self> {
        let name = format!("ply-bench-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory)?;
        Ok(Scratch { directory })
    }

    pub(super) fn client_file(&self) -> PathBuf {
        self.directory.join("client")
    }

    pub(super) fn agent_file(&self) -> PathBuf {
        self.directory.join("agent")
    }

    /// Removes old output, so that a tool that wrote nothing is noticed.
    pub(super) fn clear(&self) -> Result<()> {
        for file in [self.client_file(), self.agent_file()] {
            match std::fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left in the temporary directory is a few kilobytes; there is nobody to tell.
        std::fs::remove_dir_all(&self.directory).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_in_what_the_tools_write() {
        let strace = "% time     seconds  usecs/call     calls    errors syscall\n\
                      ------ ----------- ----------- --------- --------- --------\n \
                      90.00    0.001000           1       900           write\n\
                      ------ ----------- ----------- --------- --------- --------\n\
                      100.00    0.001111           1      1000        12 total\n";
        assert_eq!(Tool::Strace.parse(strace), Some(1000.0));
        let perf = "# started on some day\n\n123456,,instructions:u,1000,100.00,,\n";
        assert_eq!(Tool::Perf.parse(perf), Some(123_456.0));
        let no_counters = "<not supported>,,instructions:u,0,100.00,,\n";
        assert_eq!(Tool::Perf.parse(no_counters), None);
        assert_eq!(
            Tool::Callgrind.parse("events: Ir\nfn=main\ntotals: 42\n"),
            Some(42.0)
        );
    }
}
