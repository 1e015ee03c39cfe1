//! Whose conversation a loop holds: the agent's, which the user follows, or that of a sub-agent, of which
//! the user sees the calls and only the agent hears the words.

use std::sync::{Mutex, PoisonError};

use ply_agent::{Result, v2};

use super::TurnLoop;
use super::surface::Live;
use crate::context::conversation;
use crate::model::{Content, Facts};
use crate::permission::text::shown;
use crate::text;
use crate::tool::Surface as _;
use crate::tool::task::{Delegated, TaskAccess};

/// How many requests a sub-agent may make, unless the limit of a turn is lower.
pub(super) const SUB_AGENT_REQUESTS_MAX: u32 = 50;
/// Bytes of what a sub-agent says that are kept.
const WORDS_BYTES_MAX: usize = 64 * 1024;
/// Characters of a line that says what a sub-agent does.
const PROGRESS_CHARS_MAX: usize = 160;

/// Whose conversation it is.
#[derive(Debug)]
pub(super) enum Voice<'t> {
    Agent,
    SubAgent(SubAgent<'t>),
}

/// A sub-agent, and the call that it works for.
#[derive(Debug)]
pub(super) struct SubAgent<'t> {
    pub(super) task: Delegated,
    parent: &'t Live<'t>,
    /// What it said since the model was last asked for something new.
    words: Mutex<String>,
}

impl<'t> SubAgent<'t> {
    pub(super) fn new(task: Delegated, parent: &'t Live<'t>) -> Self {
        Self {
            task,
            parent,
            words: Mutex::default(),
        }
    }

    /// Returns what it said last.
    pub(super) fn take_words(&self) -> String {
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *words)
    }

    /// Keeps what it says. Returns the last line, if that is complete.
    fn heard(&self, more: &str) -> Option<String> {
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        if words.len() < WORDS_BYTES_MAX {
            words.push_str(more);
        }
        let complete = more.contains('\n').then(|| words.rsplit_once('\n'));
        let line = complete??.0.lines().next_back()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    async fn shows(&self, line: &str) {
        self.parent
            .progress(&text::short(line, PROGRESS_CHARS_MAX))
            .await;
    }

    fn named(&self) -> String {
        format!("sub-agent: {}", shown(&self.task.description))
    }
}

impl TurnLoop<'_> {
    pub(super) async fn say(&self, words: String) -> Result<()> {
        match &self.voice {
            Voice::Agent => self.turn.say(words).await,
            Voice::SubAgent(sub) => {
                if let Some(line) = sub.heard(&words) {
                    sub.shows(&line).await;
                }
                Ok(())
            }
        }
    }

    pub(super) async fn think(&self, words: String) -> Result<()> {
        match &self.voice {
            Voice::Agent => self.turn.think(words).await,
            Voice::SubAgent(_) => Ok(()),
        }
    }

    /// Shows what a call does, where its card belongs to another call.
    pub(super) async fn does(&self, title: &str) {
        if let Voice::SubAgent(sub) = &self.voice {
            sub.shows(title).await;
        }
    }

    /// Tells the user something that is not part of the conversation.
    pub(super) async fn notice(&self, words: String) -> Result<()> {
        let words = match &self.voice {
            Voice::Agent => words,
            Voice::SubAgent(sub) => format!("{words} ({})", sub.named()),
        };
        let session = self.turn.session();
        session.notice(v2::NoticeSeverity::Warning, words).await
    }

    /// Returns the title of a question to the user, who must know whose call it is about.
    pub(super) fn question(&self, title: String) -> String {
        match &self.voice {
            Voice::Agent => title,
            Voice::SubAgent(sub) => format!("{title} ({})", sub.named()),
        }
    }

    /// Returns the metadata of a call that a request makes.
    pub(super) fn call_meta(&self, step: u64) -> v2::Meta {
        match &self.voice {
            Voice::Agent => conversation::step_meta(step),
            Voice::SubAgent(sub) => conversation::child_meta(step, sub.parent.call()),
        }
    }

    /// Returns what the conversation is about: the user's prompt, or the task.
    pub(super) fn prompted(&self, facts: &Facts) -> Vec<Content> {
        match &self.voice {
            Voice::Agent => self.prompt(facts),
            Voice::SubAgent(sub) => vec![Content::Text(sub.task.prompt.clone())],
        }
    }

    /// Says whether this is the conversation that the session keeps.
    pub(super) fn is_kept(&self) -> bool {
        matches!(self.voice, Voice::Agent)
    }

    /// Says whether the conversation has the tools of MCP servers: whether these only read is not known.
    pub(super) fn has_foreign_tools(&self) -> bool {
        match &self.voice {
            Voice::Agent => true,
            Voice::SubAgent(sub) => sub.task.access == TaskAccess::Write,
        }
    }

    pub(super) fn requests_max(&self) -> u32 {
        let of_turn = self.config.turn_requests_max;
        match self.voice {
            Voice::Agent => of_turn,
            Voice::SubAgent(_) => of_turn.min(SUB_AGENT_REQUESTS_MAX),
        }
    }

    /// Names the conversation, for services that keep what requests begin with.
    pub(super) fn cache_key(&self) -> String {
        let session = &self.turn.session().id().0;
        match &self.voice {
            Voice::Agent => session.to_string(),
            Voice::SubAgent(sub) => format!("{session}/{}", sub.parent.call().0),
        }
    }

    /// Returns what a sub-agent is told besides what the agent is.
    pub(super) fn role(&self) -> Option<String> {
        let Voice::SubAgent(sub) = &self.voice else {
            return None;
        };
        let access = match sub.task.access {
            TaskAccess::Read => {
                "You can read and search, and neither change files nor run commands."
            }
            TaskAccess::Write => "Change only what the task is about.",
        };
        Some(format!(
            "\nYou are a sub-agent: another agent gave you one task, and its prompt follows. Nobody can answer \
             questions, and there is no plan to keep. {access} Your final message is all that the agent gets from \
             you, so it must stand alone: give the result, with paths and lines where they matter, and say what you \
             could not find or do.\n"
        ))
    }

    /// Begins with what the sub-agent says next, if this is one.
    pub(super) fn begin_step(&self) {
        if let Voice::SubAgent(sub) = &self.voice {
            sub.take_words();
        }
    }
}
