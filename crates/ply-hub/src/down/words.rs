//! What users read about agents that stopped.

use ply_wire::v2;

use crate::pipe::Exit;

/// Lines and characters of standard error that are shown.
const STDERR_LINES_MAX: usize = 8;
const STDERR_CHARS_MAX: usize = 1024;

/// What is between the end of a process and its last words.
const LAST_WORDS: &str = ". Its last words:\n";

/// Says how a process ended.
pub(super) fn exit(exit: Option<&Exit>) -> String {
    let Some(exit) = exit else {
        return "the connection to the agent was lost".to_owned();
    };
    let how = match (exit.code, exit.signal) {
        (_, Some(signal)) => format!("killed by signal {signal}{}", name(signal)),
        (Some(code), None) => format!("exit status {code}"),
        (None, None) => "nobody knows how".to_owned(),
    };
    let last = last_lines(&exit.stderr);
    if last.is_empty() {
        return format!("the agent stopped ({how}) and wrote nothing to standard error");
    }
    format!("the agent stopped ({how}){LAST_WORDS}{last}")
}

/// Returns what clients are shown when an agent stopped between turns.
pub(super) fn notice(exit: &str) -> v2::SessionUpdate {
    let (how, last) = match exit.split_once(LAST_WORDS) {
        Some((how, last)) => (how, format!("Its last words:\n{last}\n\n")),
        None => (exit, String::new()),
    };
    let mut letters = how.chars();
    let title: String = match letters.next() {
        Some(letter) => letter.to_uppercase().chain(letters).collect(),
        None => String::new(),
    };
    let description = format!("{last}The next prompt starts it again.");
    let notice = v2::Notice::new(v2::NoticeSeverity::Warning, title).description(description);
    v2::SessionUpdate::Notice(notice)
}

fn name(signal: i32) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        6 => " (SIGABRT)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

/// Returns the end of what a process wrote, without what a terminal would obey.
fn last_lines(stderr: &str) -> String {
    let plain: String = stderr
        .chars()
        .filter(|char| *char == '\n' || !char.is_control())
        .collect();
    let lines: Vec<&str> = plain
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let from = lines.len().saturating_sub(STDERR_LINES_MAX);
    let last = lines.get(from..).unwrap_or_default().join("\n");
    let chars = last.chars().count();
    last.chars()
        .skip(chars.saturating_sub(STDERR_CHARS_MAX))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: Option<i32>, signal: Option<i32>, stderr: &str, expected: &str) {
        let stderr = stderr.to_owned();
        let ended = Exit {
            code,
            signal,
            stderr,
            ..Exit::default()
        };
        assert_eq!(exit(Some(&ended)), expected);
    }

    #[test]
    fn an_end_is_told_in_words() {
        check(
            Some(3),
            None,
            "",
            "the agent stopped (exit status 3) and wrote nothing to standard error",
        );
        check(
            None,
            Some(9),
            "one\n\ntw\u{1b}[1mo\n",
            "the agent stopped (killed by signal 9 (SIGKILL)). Its last words:\none\ntw[1mo",
        );
        assert_eq!(exit(None), "the connection to the agent was lost");
    }

    #[test]
    fn an_end_between_turns_is_told_with_what_comes_next() {
        let told = |words| {
            let update = serde_json::to_value(notice(words)).unwrap();
            ["title", "description"].map(|member| update[member].as_str().unwrap().to_owned())
        };
        let words = "the agent stopped (exit status 3). Its last words:\nout of plums";
        let next = "The next prompt starts it again.";
        assert_eq!(
            told(words),
            [
                "The agent stopped (exit status 3)".to_owned(),
                format!("Its last words:\nout of plums\n\n{next}"),
            ]
        );
        let lost = ["The connection to the agent was lost", next];
        assert_eq!(told("the connection to the agent was lost"), lost);
    }

    #[test]
    fn only_the_last_of_standard_error_is_told() {
        let many: String = (0..100).map(|line| format!("line {line}\n")).collect();
        let last = last_lines(&many);
        assert!(last.starts_with("line 92\n") && last.ends_with("line 99"));
        assert_eq!(last_lines(&"x".repeat(5000)).len(), STDERR_CHARS_MAX);
    }
}
