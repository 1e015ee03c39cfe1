//! The agent that is checked, and what is said to it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The agent that is checked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Subject {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Further environment variables.
    pub env: Vec<(OsString, OsString)>,
    /// A directory in which sessions may do what they like. It is there, and absolute.
    pub cwd: PathBuf,
    /// How long an answer may take that needs no model.
    pub patience: Duration,
    /// How long a turn may take.
    pub turn_patience: Duration,
    /// What is said to it.
    pub prompts: Prompts,
    /// The way to log in that may be tried, out of those it offers. Without one nobody is logged in or out.
    pub login: Option<String>,
}

impl Subject {
    /// Returns an agent that is started by a command, for sessions in `cwd`.
    #[must_use]
    pub fn new(command: Vec<OsString>, cwd: PathBuf) -> Self {
        Self {
            command,
            env: Vec::new(),
            cwd,
            patience: Duration::from_secs(5),
            turn_patience: Duration::from_secs(20),
            prompts: Prompts::default(),
            login: None,
        }
    }
}

/// What is said to an agent to make it do something. Those that may be left out are for what few agents do when asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompts {
    /// Gets a short answer.
    pub short: String,
    /// Makes it work for 10 seconds or longer, so that it can be cancelled. A question for permission on the way is allowed.
    pub long: String,
    /// Makes it use a tool that only looks.
    pub look: String,
    /// Makes it ask for permission. If a file comes of it, it is a new one in the session's directory.
    pub change: String,
    /// Makes it read a file, through the client where the client offers that.
    pub read: String,
    /// Makes it write a new file in the session's directory, through the client where the client offers that.
    pub write: String,
    /// Makes it run a short command, in a terminal of the client where the client offers that.
    pub run: String,
    /// Makes it write a plan.
    pub plan: String,
    /// Makes it ask the user in a form, if the client has forms.
    pub form: Option<String>,
    /// Makes it send the user to a page, if the client can open pages.
    pub visit: Option<String>,
    /// Makes it send a notice.
    pub notice: Option<String>,
    /// Makes it report its usage.
    pub usage: Option<String>,
    /// Makes it shorten the conversation.
    pub compact: Option<String>,
    /// Makes it refuse.
    pub refuse: Option<String>,
    /// Makes it meet its limit of tokens.
    pub tokens: Option<String>,
    /// Makes it meet its limit of requests to the model.
    pub requests: Option<String>,
    /// Makes the turn fail.
    pub fail: Option<String>,
}

impl Default for Prompts {
    fn default() -> Self {
        let look = "Read README.md".to_owned();
        let change = "Write checked.txt: checked".to_owned();
        Self {
            short: "Reply with the one word: ready".to_owned(),
            long: "Run `sleep 20`".to_owned(),
            read: look.clone(),
            look,
            write: change.clone(),
            change,
            run: "Run `echo checked`".to_owned(),
            plan: "Plan these steps: read the README, list the files, sum up".to_owned(),
            form: Some("Ask me in a form what my name is".to_owned()),
            visit: None,
            notice: None,
            usage: None,
            compact: None,
            refuse: None,
            tokens: None,
            requests: None,
            fail: None,
        }
    }
}
