//! Questions to whoever sits at the terminal.

use std::io;

use ply_agent::transcript::{ToolCall, Transcript};
use ply_client::text::{self, Line};
use ply_client::v2;
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::mpsc;

use super::paint::{Look, Paint};
use super::subject::Subject;
use super::text::diff_lines;

/// Lines of a diff that are shown with a question; all of it would push the question off the screen.
const DIFF_LINES_MAX: usize = 200;
/// Lines of what else the call says that are shown with a question.
const TEXT_LINES_MAX: usize = 40;
/// The longest answer, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// The lines that are typed at the terminal, read by a thread of its own so that nothing else waits.
#[derive(Debug)]
pub(super) struct Typed {
    wanted: mpsc::Sender<()>,
    lines: mpsc::Receiver<Option<String>>,
    is_reading: bool,
}

impl Typed {
    pub(super) fn start() -> Self {
        let (wanted, mut asked) = mpsc::channel(1);
        let (sender, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            while asked.blocking_recv().is_some() {
                if sender.blocking_send(read_line()).is_err() {
                    return;
                }
            }
        });
        Self {
            wanted,
            lines,
            is_reading: false,
        }
    }

    /// Forgets what was typed before the question was there to be read.
    pub(super) fn forget(&mut self) {
        while self.lines.try_recv().is_ok() {
            self.is_reading = false;
        }
        // If it cannot be done, it is no terminal, and nothing was typed.
        tcflush(io::stdin(), QueueSelector::IFlush).unwrap_or_default();
    }

    /// Waits for the next line; none at the end of the input.
    ///
    /// # Cancel safety
    ///
    /// A line that comes later is for the next who asks.
    pub(super) async fn line(&mut self) -> Option<String> {
        if !self.is_reading {
            self.wanted.send(()).await.ok()?;
            self.is_reading = true;
        }
        let line = self.lines.recv().await.flatten();
        self.is_reading = false;
        line
    }
}

fn read_line() -> Option<String> {
    use std::io::{BufRead as _, Read as _};
    let mut line = Vec::new();
    let read = io::stdin()
        .lock()
        .take(ANSWER_BYTES_MAX)
        .read_until(b'\n', &mut line);
    match read {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(String::from_utf8_lossy(&line).trim().to_owned()),
    }
}

/// Stands before every line of the agent's, so that none of it can pass for the question itself.
const AGENTS: &str = "  │ ";

/// Returns the words before the fields of a form.
pub(super) fn form(message: &str) -> String {
    let lines = text::lines(message).map(|line| format!("{AGENTS}{line}\n"));
    format!(
        "\n? The agent asks for a form to be filled in; Ctrl-D declines\n{}",
        lines.collect::<String>()
    )
}

/// Returns the words of a permission request.
pub(super) fn permission(
    request: &v2::RequestPermissionRequest,
    subject: &Subject,
    transcript: &Transcript,
    paint: Paint,
) -> String {
    let mut said = format!(
        "\n? {}\n",
        paint.paint(Look::Bold, &Line(&request.title).to_string())
    );
    let mut add = |line: &str| {
        said.push_str(AGENTS);
        said.push_str(line);
        said.push('\n');
    };
    let about = request.description.iter();
    about.for_each(|about| text::lines(about).for_each(|line| add(&line)));
    if let Some(command) = &subject.command {
        // All of it: what is cut off could be what matters.
        for (place, line) in text::lines(command).enumerate() {
            let mark = if place == 0 { "$" } else { " " };
            add(&paint.paint(Look::Bold, &format!("{mark} {line}")));
        }
    }
    if let Some(cwd) = &subject.cwd {
        add(&paint.paint(Look::Dim, &format!("in {}", text::path(cwd))));
    }
    let paths: Vec<_> = subject.paths.iter().map(|path| text::path(path)).collect();
    add(&paint.paint(
        Look::Dim,
        format!("{} {}", Line(&subject.kind), paths.join(" ")).trim_end(),
    ));
    // Agents of version 1 have no other place for the command that they would run.
    let said_of_it: Vec<String> = text::lines(&texts(request, transcript)).collect();
    said_of_it
        .iter()
        .take(TEXT_LINES_MAX)
        .for_each(|line| add(line));
    if said_of_it.len() > TEXT_LINES_MAX {
        add(&format!(
            "… {} more lines",
            said_of_it.len() - TEXT_LINES_MAX
        ));
    }
    for diff in diffs(request, transcript) {
        let lines = diff_lines(diff);
        for (line, look) in lines.iter().take(DIFF_LINES_MAX) {
            add(&look.map_or_else(|| line.clone(), |look| paint.paint(look, line)));
        }
        if lines.len() > DIFF_LINES_MAX {
            add(&format!("… {} more lines", lines.len() - DIFF_LINES_MAX));
        }
    }
    if subject.is_odd() {
        said.push_str("  There is more in this request that cannot be shown.\n");
    }
    for (place, option) in request.options.iter().enumerate() {
        let kind = kind(&option.kind);
        said.push_str(&format!(
            "  {}) {kind}: {}\n",
            place + 1,
            Line(&option.name)
        ));
    }
    said
}

/// Says what an option does, whatever the agent calls it.
fn kind(kind: &v2::PermissionOptionKind) -> &'static str {
    use v2::PermissionOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    match kind {
        AllowOnce => "yes, once",
        AllowAlways => "yes, always",
        RejectOnce => "no, once",
        RejectAlways => "no, always",
        _ => "of a kind not known here",
    }
}

/// Returns the call that a request is about.
fn call<'a>(
    request: &v2::RequestPermissionRequest,
    transcript: &'a Transcript,
) -> Option<&'a ToolCall> {
    match &request.subject {
        Some(v2::RequestPermissionSubject::ToolCall(about)) => {
            transcript.tool_call(&about.tool_call.tool_call_id)
        }
        _ => None,
    }
}

/// Returns what the call of a request says in words.
fn texts(request: &v2::RequestPermissionRequest, transcript: &Transcript) -> String {
    let call = call(request, transcript);
    call.map(ToolCall::text).unwrap_or_default()
}

/// Returns what the call of a request would change.
fn diffs<'a>(
    request: &v2::RequestPermissionRequest,
    transcript: &'a Transcript,
) -> impl Iterator<Item = &'a v2::Diff> {
    let call = call(request, transcript);
    let items = call.map(|call| call.content.as_slice()).unwrap_or_default();
    items.iter().filter_map(|item| match item {
        v2::ToolCallContent::Diff(diff) => Some(diff),
        _ => None,
    })
}

/// Returns the option that an answer names by its number.
pub(super) fn chosen(
    answer: &str,
    options: &[v2::PermissionOption],
) -> Option<v2::PermissionOption> {
    let place: usize = answer.parse().ok()?;
    options.get(place.checked_sub(1)?).cloned()
}

#[cfg(test)]
mod tests {
    use v2::PermissionOptionKind::{AllowOnce, RejectOnce};

    use super::*;

    fn request() -> v2::RequestPermissionRequest {
        let options = vec![
            v2::PermissionOption::new("a", "Yes\x1b[2J", AllowOnce),
            v2::PermissionOption::new("b", "No", RejectOnce),
        ];
        let subject = v2::CommandPermissionSubject::new("make\n\u{202e}all", "/w");
        v2::RequestPermissionRequest::new("s", "Run\nit?", options)
            .description("Because.\n? Fake question\n1) Fake".to_owned())
            .subject(v2::RequestPermissionSubject::Command(subject))
    }

    #[test]
    fn j2_nothing_of_the_agent_can_pass_for_the_question() {
        let request = request();
        let transcript = Transcript::new();
        let subject = Subject::of(&request, &transcript);
        let said = permission(&request, &subject, &transcript, Paint { is_on: false });
        assert_eq!(
            said,
            "\n? Run\\nit?\n  │ Because.\n  │ ? Fake question\n  │ 1) Fake\n  │ $ make\n  │   \\u{202e}all\n  │ in /w\n  \
             │ execute\n  1) yes, once: Yes\\u{1b}[2J\n  2) no, once: No\n"
        );
    }

    #[test]
    fn j2_a_form_cannot_ask_in_our_name() {
        assert_eq!(
            form("Who?\n1) Fake"),
            "\n? The agent asks for a form to be filled in; Ctrl-D declines\n  │ Who?\n  │ 1) Fake\n"
        );
    }

    #[test]
    fn an_answer_is_the_number_of_an_option() {
        let options = request().options;
        assert_eq!(chosen("2", &options).unwrap().name, "No");
        for wrong in ["", "0", "3", "y", "1 2", "-1", "99999999999999999999"] {
            assert_eq!(chosen(wrong, &options), None, "{wrong}");
        }
    }
}
