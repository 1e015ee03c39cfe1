//! The sessions that a user's clients ran, for agents that can open an old session and keep no list.

mod file;

use std::io;
use std::path::{Path, PathBuf};

use ply_wire::transcript::{Message, MessageKind};
use serde::{Deserialize, Serialize};

use crate::Session;
use crate::limits::{RECENT_SESSIONS_MAX, RECENT_TITLE_CHARS_MAX};

/// The list of sessions that a user's clients ran, in one file that all of them share.
///
/// It is bounded, the oldest sessions are forgotten. A file that cannot be read counts as empty: what it held can still be opened
/// by its id.
///
/// ```no_run
/// # async fn example(session: ply_client::Session) -> std::io::Result<()> {
/// use ply_client::Recent;
///
/// let recent = Recent::at("/home/me/.local/share/editor/recent.json");
/// recent.note("gemini", &session).await?;
/// let latest = recent.latest("gemini", session.cwd()).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Recent {
    path: PathBuf,
}

/// A session that was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RecentSession {
    /// The agent, as the client calls it.
    pub agent: String,
    /// The agent's id for the session.
    pub id: String,
    /// The directory in which it works.
    pub cwd: PathBuf,
    /// What it is about, if that is known.
    pub title: Option<String>,
    /// When it was last used (RFC 3339, UTC).
    pub updated_at: String,
}

impl Recent {
    /// Returns the list in the file at `path`, which need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns all sessions, the latest first.
    ///
    /// # Cancel safety
    ///
    /// Nothing is changed by it.
    pub async fn list(&self) -> Vec<RecentSession> {
        let path = self.path.clone();
        let read = tokio::task::spawn_blocking(move || file::read(&path)).await;
        match read.map_err(io::Error::other).flatten() {
            Ok(sessions) => sessions,
            Err(error) => {
                tracing::debug!(%error, "the list of recent sessions cannot be read");
                Vec::new()
            }
        }
    }

    /// Returns the session of an agent and a directory that was used last.
    ///
    /// # Cancel safety
    ///
    /// Nothing is changed by it.
    pub async fn latest(&self, agent: &str, cwd: &Path) -> Option<RecentSession> {
        let mut sessions = self.list().await.into_iter();
        sessions.find(|it| it.agent == agent && it.cwd == cwd)
    }

    /// Returns the session of an agent with an id, or else those whose ids begin so.
    ///
    /// # Cancel safety
    ///
    /// Nothing is changed by it.
    pub async fn find(&self, agent: &str, id: &str) -> Vec<RecentSession> {
        let mut sessions = self.list().await;
        sessions.retain(|it| it.agent == agent && it.id.starts_with(id));
        match sessions.iter().position(|it| it.id == id) {
            Some(exact) => vec![sessions.swap_remove(exact)],
            None => sessions,
        }
    }

    /// Puts a session first in the list, as one of `agent`. It is called by its title, or else by its first prompt.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or another process keeps it locked.
    ///
    /// # Cancel safety
    ///
    /// The list is the old one or the new one.
    pub async fn note(&self, agent: &str, session: &Session) -> io::Result<()> {
        let (title, prompt) = session.with_transcript(|transcript| {
            let mut messages = transcript.messages();
            let prompt = messages.find(|message| message.kind == MessageKind::User);
            (transcript.info().title.clone(), prompt.map(Message::text))
        });
        let noted = RecentSession {
            agent: agent.to_owned(),
            id: session.id().0.to_string(),
            cwd: session.cwd().to_owned(),
            title,
            updated_at: jiff::Timestamp::now().to_string(),
        };
        self.change(move |sessions| add(sessions, noted, prompt.as_deref()))
            .await
    }

    /// Takes a session off the list, such as one that its agent no longer has.
    ///
    /// # Errors
    ///
    /// As for [`Recent::note`].
    ///
    /// # Cancel safety
    ///
    /// As for [`Recent::note`].
    pub async fn forget(&self, agent: &str, id: &str) -> io::Result<()> {
        let (agent, id) = (agent.to_owned(), id.to_owned());
        self.change(move |sessions| sessions.retain(|it| it.agent != agent || it.id != id))
            .await
    }

    async fn change(
        &self,
        change: impl FnOnce(&mut Vec<RecentSession>) + Send + 'static,
    ) -> io::Result<()> {
        let lock = file::lock(&self.path).await?;
        let path = self.path.clone();
        let work = move || {
            let done = file::change(&path, change);
            drop(lock);
            done
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(io::Error::other)?
    }
}

/// Puts a session first. Without a title it keeps the one it has, since the first prompt that is known may be a later one.
fn add(sessions: &mut Vec<RecentSession>, mut noted: RecentSession, prompt: Option<&str>) {
    let same = |it: &RecentSession| it.agent == noted.agent && it.id == noted.id;
    let known = sessions.iter().position(same);
    let known = known.map(|place| sessions.remove(place));
    let kept = known.and_then(|known| known.title);
    let line = || prompt?.lines().map(str::trim).find(|line| !line.is_empty());
    let title = noted.title.or(kept).or_else(|| line().map(str::to_owned));
    noted.title = title.map(|title| title.chars().take(RECENT_TITLE_CHARS_MAX).collect());
    sessions.insert(0, noted);
    sessions.truncate(RECENT_SESSIONS_MAX);
}

#[cfg(test)]
mod tests;
