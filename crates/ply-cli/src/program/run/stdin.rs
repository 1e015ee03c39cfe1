//! What comes on standard input: the prompt, or something to go with it.

use std::io::{self, IsTerminal as _, Read};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};

use super::attach::fenced;
use super::failure::Failure;

/// The most that is read.
const STDIN_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How long a pipe that nobody asked for has to begin.
const SILENCE_TIME_MAX: Duration = Duration::from_secs(2);

/// What standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Terminal,
    /// A pipe or a file.
    Data,
    /// Nothing to be read unasked: a device, a socket, or closed.
    Other,
}

impl Kind {
    pub(super) fn of_stdin() -> Self {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return Self::Terminal;
        }
        let kind = fstat(&stdin).map(|stat| FileType::from_raw_mode(stat.st_mode));
        match kind {
            Ok(FileType::Fifo | FileType::RegularFile) => Self::Data,
            _ => Self::Other,
        }
    }
}

/// How long the first byte is waited for. What has begun is read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    Short,
    Endless,
}

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stdin {
    Text(String),
    /// It ended without a word.
    Nothing,
    /// It did not even begin.
    Silent,
}

/// Reads standard input on a thread of its own, so that whoever writes it is not waited for in vain.
///
/// # Cancel safety
///
/// What was read is lost; the thread ends with the program.
pub(super) async fn stdin_text(patience: Patience) -> Result<Stdin, Failure> {
    let (sender, read) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // Nobody may wait for it any more.
        drop(sender.send(wait_and_read(patience)));
    });
    let lost = || Failure::usage("standard input cannot be read");
    read.await.unwrap_or_else(|_| Err(lost()))
}

fn wait_and_read(patience: Patience) -> Result<Stdin, Failure> {
    let stdin = io::stdin();
    if patience == Patience::Short {
        let until = Timespec {
            tv_sec: SILENCE_TIME_MAX.as_secs().try_into().unwrap_or(2),
            tv_nsec: 0,
        };
        let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
        // An error shows again when it is read.
        if poll(&mut watched, Some(&until)) == Ok(0) {
            return Ok(Stdin::Silent);
        }
    }
    text_of(stdin.lock())
}

fn text_of(stdin: impl Read) -> Result<Stdin, Failure> {
    let mut bytes = Vec::new();
    let read = stdin.take(STDIN_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
    if bytes.len() as u64 > STDIN_BYTES_MAX {
        let limit = STDIN_BYTES_MAX >> 20;
        let detail = format!("standard input is longer than {limit} MiB");
        return Err(
            Failure::usage(detail).hint("give a part of it, or let the agent read the file")
        );
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => Ok(Stdin::Nothing),
        Ok(text) => Ok(Stdin::Text(text)),
        Err(_) => {
            let detail = "standard input is not UTF-8 text";
            Err(Failure::usage(detail).hint("`--image FILE` adds pictures"))
        }
    }
}

/// Returns a prompt with what came on standard input.
pub(super) fn with_stdin(prompt: &str, text: &str) -> String {
    format!("{prompt}\n\nStandard input:\n\n{}", fenced(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_from_nothing_and_from_what_is_no_text() {
        let text = Stdin::Text("hello\n".to_owned());
        assert_eq!(text_of(&b"hello\n"[..]).unwrap(), text);
        for nothing in [&b""[..], b" \n"] {
            assert_eq!(text_of(nothing).unwrap(), Stdin::Nothing);
        }
        assert_eq!(text_of(&b"\xff\xfe"[..]).unwrap_err().exit, 2);
        assert!(text_of(io::repeat(b'x')).is_err());
    }

    #[test]
    fn what_is_added_cannot_end_its_own_fence() {
        let prompt = with_stdin("review this", "```\nx");
        let expected = "review this\n\nStandard input:\n\n````\n```\nx\n````\n";
        assert_eq!(prompt, expected);
    }
}
