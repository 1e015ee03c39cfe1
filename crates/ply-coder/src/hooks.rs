//! Hooks: commands of the user's own that are told what the agent does, and may object.
//!
//! They are in the user's configuration alone. Those of a project are not read: opening a repository must not run
//! code that somebody else put there.

use std::path::Path;
use std::time::Duration;

use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;

use crate::shell::{Ended, Processes};
use crate::text;

/// How long a hook may run unless it says so.
pub const TIME_DEFAULT: Duration = Duration::from_secs(60);
/// How long a hook may run at most.
pub const TIME_MAX: Duration = Duration::from_secs(600);
/// How often hooks may have a turn go on that would have ended.
pub const CONTINUED_MAX: u32 = 3;
/// The exit code by which a hook objects.
pub const OBJECTS: i32 = 2;

/// Bytes of a hook's words that the model is told.
const WORDS_BYTES_MAX: usize = 16 * 1024;
/// Characters of a hook's words, and of its command line, in a notice.
const NOTICE_CHARS_MAX: usize = 200;

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Before a tool is used and the user is asked about it. The hook may block the call.
    BeforeTool,
    /// After a tool was used. The hook may add to the result.
    AfterTool,
    /// When the model has nothing more to do. The hook may have it go on.
    TurnEnd,
}

impl Event {
    /// The events, by the names that the configuration and hooks know them by.
    pub const ALL: [(&'static str, Self); 3] = [
        ("before-tool", Self::BeforeTool),
        ("after-tool", Self::AfterTool),
        ("turn-end", Self::TurnEnd),
    ];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BeforeTool => "before-tool",
            Self::AfterTool => "after-tool",
            Self::TurnEnd => "turn-end",
        }
    }
}

/// A command of the user's own that is run when something happens.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Hook {
    /// When it runs.
    pub event: Event,
    /// What `sh` is given.
    pub command: String,
    /// How long it may run, up to [`TIME_MAX`].
    pub time: Duration,
    /// Which tools it is about; all if none.
    tools: Option<GlobMatcher>,
}

impl Hook {
    /// Returns a hook for all tools.
    #[must_use]
    pub fn new(event: Event, command: impl Into<String>) -> Self {
        Self {
            event,
            command: command.into(),
            time: TIME_DEFAULT,
            tools: None,
        }
    }

    /// Confines it to tools whose names match a pattern, such as `edit_*`.
    ///
    /// # Errors
    ///
    /// The pattern is not understood; the words say why.
    pub fn for_tools(mut self, pattern: &str) -> Result<Self, String> {
        let glob = GlobBuilder::new(pattern).build();
        let glob = glob.map_err(|error| error.kind().to_string())?;
        self.tools = Some(glob.compile_matcher());
        Ok(self)
    }

    /// Says whether it is to run.
    #[must_use]
    pub fn is_for(&self, event: Event, tool: Option<&str>) -> bool {
        let is_about = |tools: &GlobMatcher| tool.is_some_and(|tool| tools.is_match(tool));
        self.event == event && self.tools.as_ref().is_none_or(is_about)
    }

    /// Runs it in a directory and tells it something.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it kills the command and everything it started.
    pub(crate) async fn run(&self, processes: &Processes, cwd: &Path, told: &Value) -> Answer {
        let input = told.to_string();
        let time = self.time.min(TIME_MAX);
        let ended = processes.run_own(&self.command, cwd, input.as_bytes(), time);
        let Ended { exit, words } = match ended.await {
            Ok(ended) => ended,
            Err(error) => return self.trouble(&error.to_string()),
        };
        let words = words.trim();
        let Some(exit) = exit else {
            let seconds = time.as_secs();
            return self.trouble(&format!("it was ended after {seconds} s"));
        };
        match exit.code() {
            Some(0) => Answer::Fine,
            Some(OBJECTS) => Answer::Objects(text::middle_cut(words, WORDS_BYTES_MAX)),
            _ if words.is_empty() => self.trouble(&exit.to_string()),
            _ => self.trouble(&format!("{exit}: {words}")),
        }
    }

    fn trouble(&self, what: &str) -> Answer {
        let command = text::first_line(&self.command, NOTICE_CHARS_MAX);
        let what = text::first_line(what, NOTICE_CHARS_MAX);
        Answer::Trouble(format!(
            "The {} hook `{command}` failed and was ignored: {what}",
            self.event.name()
        ))
    }
}

/// What came of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It has no objection.
    Fine,
    /// It objects, in these words.
    Objects(String),
    /// It failed; the words are for the user.
    Trouble(String),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hook_is_about_the_tools_that_it_names() {
        let hook = Hook::new(Event::BeforeTool, "true");
        assert!(hook.is_for(Event::BeforeTool, Some("shell")));
        assert!(!hook.is_for(Event::AfterTool, Some("shell")));
        let hook = hook.for_tools("{edit,write}_*").unwrap();
        assert!(hook.is_for(Event::BeforeTool, Some("edit_file")));
        assert!(!hook.is_for(Event::BeforeTool, Some("read_file")));
        assert!(Hook::new(Event::TurnEnd, "true").is_for(Event::TurnEnd, None));
        assert!(Hook::new(Event::TurnEnd, "true").for_tools("[").is_err());
    }

    async fn answer(command: &str) -> Answer {
        let mut hook = Hook::new(Event::TurnEnd, command);
        hook.time = Duration::from_secs(20);
        let told = json!({ "event": "turn-end", "filler": "x".repeat(2 << 20) });
        hook.run(&Processes::default(), Path::new("/"), &told).await
    }

    #[tokio::test]
    async fn a_hook_answers_with_its_exit_code() {
        let objects = |words: &str| Answer::Objects(words.to_owned());
        assert_eq!(answer("true").await, Answer::Fine);
        assert_eq!(answer("echo no >&2; exit 2").await, objects("no"));
        assert_eq!(answer("grep -q turn-end && exit 2").await, objects(""));
        // It need not read what it is told, and what it says elsewhere is not for the model.
        assert_eq!(
            answer("exec <&-; yes | head -c 1000000").await,
            Answer::Fine
        );
        let Answer::Trouble(words) = answer("echo broken >&2; exit 1").await else {
            panic!("that is no answer");
        };
        assert!(words.ends_with("ignored: exit code 1: broken"), "{words}");
        assert!(matches!(answer("kill -9 $$").await, Answer::Trouble(_)));
    }

    #[tokio::test]
    async fn a_hook_that_takes_too_long_is_ended() {
        let mut hook = Hook::new(Event::TurnEnd, "sleep 1000");
        hook.time = Duration::from_millis(100);
        let (processes, told) = (Processes::default(), json!({}));
        let answer = hook.run(&processes, Path::new("/"), &told).await;
        assert!(matches!(answer, Answer::Trouble(_)), "{answer:?}");
    }

    #[tokio::test]
    async fn what_a_hook_leaves_behind_does_not_hold_up_the_turn() {
        assert_eq!(answer("sleep 1000 & exit 0").await, Answer::Fine);
    }
}
