//! Opening a session on a process: a new one, or one that an earlier process had.
//!
//! What agents say of themselves is not believed here: some advertise `session/resume` and do not know it, others the reverse.
//! So both ways are tried, and an agent that knows neither is never given a new session in silence.

use std::path::PathBuf;

use ply_wire::transcript::{Entry, MessageKind, Transcript};
use ply_wire::v2;

use super::link::{Done, How, Opening, Wish};
use super::process::{Process, Trouble};

/// What a session is opened with.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) cwd: PathBuf,
    pub(super) additional_directories: Vec<PathBuf>,
    pub(super) mcp_servers: Vec<v2::McpServer>,
}

impl Setup {
    /// Has the agent make a session, and returns its id.
    pub(super) async fn make(
        &self,
        process: &Process,
        prefix: &str,
    ) -> Result<v2::SessionId, Trouble> {
        let opening = self.opening(How::New, None, prefix);
        let reply = process.ask("session/new", opening).await?;
        match reply.outcome {
            Ok(Done::Opened(id)) => Ok(id),
            _ => Err(Trouble::Late {
                method: "session/new",
            }),
        }
    }

    /// Has the agent go on with a session. Returns what it told of the past, if it told that.
    pub(super) async fn go_on(
        &self,
        process: &Process,
        session: &v2::SessionId,
        prefix: &str,
    ) -> Result<Option<Transcript>, Trouble> {
        let resume = self.opening(How::Resume, Some(session), prefix);
        let resumed = process.ask("session/resume", resume).await;
        let trouble = match resumed {
            Ok(_) => return Ok(None),
            Err(trouble) if trouble.wants_login() || process.is_gone() => return Err(trouble),
            Err(trouble) => trouble,
        };
        tracing::debug!(%trouble, "a session is loaded, since it cannot be resumed");
        let load = self.opening(How::Load, Some(session), prefix);
        let loaded = process.ask("session/load", load).await?;
        Ok(Some(loaded.replay))
    }

    fn opening(&self, how: How, session: Option<&v2::SessionId>, prefix: &str) -> Wish {
        Wish::Open(Box::new(Opening {
            how,
            session: session.cloned(),
            cwd: self.cwd.clone(),
            additional_directories: self.additional_directories.clone(),
            prefix: prefix.to_owned(),
            mcp_servers: self.mcp_servers.clone(),
        }))
    }
}

/// Returns the words for a session that its agent does not have any more.
pub(super) fn read_only(trouble: Option<&Trouble>) -> String {
    let why = match trouble {
        Some(trouble) => format!("The agent cannot go on with this session: {trouble}."),
        None => "The agent does not know this session.".to_owned(),
    };
    format!(
        "{why} Its history can be read, but not continued. To go on, make a new session and give it what it needs \
         from this one."
    )
}

/// Compares what the agent remembers with what is shown, and says in words how they differ.
pub(super) fn differs(replay: &Transcript, shown: &Transcript) -> Option<String> {
    let (told, shown) = (prompts(replay), prompts(shown));
    if told == shown {
        return None;
    }
    if told.is_empty() {
        return Some(
            "The agent opened the session again but told nothing of its past. It may not remember what is shown here."
                .to_owned(),
        );
    }
    Some(format!(
        "The agent opened the session again, but remembers other prompts than those shown here: it told of {}, and {} \
         are shown.",
        told.len(),
        shown.len()
    ))
}

/// Returns the texts of what the user said.
fn prompts(transcript: &Transcript) -> Vec<String> {
    let messages = transcript.entries().filter_map(|entry| match entry {
        Entry::Message(message) if message.kind == MessageKind::User => Some(message),
        _ => None,
    });
    let texts = messages.map(|message| {
        let texts = message.content.iter().filter_map(|block| match block {
            v2::ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<String>().trim().to_owned()
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(prompts: &[&str]) -> Transcript {
        let mut transcript = Transcript::new();
        for (number, prompt) in prompts.iter().enumerate() {
            let message = v2::UserMessage::new(format!("m{number}"));
            let message = message.content(vec![v2::ContentBlock::from(*prompt)]);
            transcript.apply(&v2::SessionUpdate::UserMessage(message));
        }
        transcript
    }

    #[test]
    fn what_the_agent_remembers_is_compared_with_what_is_shown() {
        assert_eq!(differs(&said(&["a", "b "]), &said(&["a", "b"])), None);
        let nothing = differs(&said(&[]), &said(&["a"])).unwrap();
        assert!(nothing.contains("told nothing"), "{nothing}");
        let less = differs(&said(&["a"]), &said(&["a", "b"])).unwrap();
        assert!(less.contains("told of 1, and 2"), "{less}");
    }
}
