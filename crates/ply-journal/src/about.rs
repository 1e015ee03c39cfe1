//! What is known of a session without reading its records.

use std::path::PathBuf;

/// What is known of a session without reading its records.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Head {
    /// Its id.
    pub id: String,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its title.
    pub title: Option<String>,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When something last happened in it, in milliseconds since 1970.
    pub updated_ms: i64,
    /// Whether something was left to do: a turn, a queued prompt or a question.
    pub unfinished: bool,
    /// Whether the user put it away: it stays as it is, and default listings leave it out.
    pub archived: bool,
    /// What the session's host wants to remember of it, in the host's own words.
    pub host: Option<String>,
}

impl Head {
    /// Returns the head of a session that begins now.
    #[must_use]
    pub fn new(id: impl Into<String>, cwd: impl Into<PathBuf>, now_ms: i64) -> Self {
        Self {
            id: id.into(),
            cwd: cwd.into(),
            title: None,
            created_ms: now_ms,
            updated_ms: now_ms,
            unfinished: false,
            archived: false,
            host: None,
        }
    }

    /// Changes what a description changes, for those who implement a journal.
    pub fn describe(&mut self, change: Description) {
        if let Some(title) = change.title {
            self.title = title;
        }
        if let Some(updated_ms) = change.updated_ms {
            self.updated_ms = updated_ms;
        }
        if let Some(unfinished) = change.unfinished {
            self.unfinished = unfinished;
        }
        if let Some(archived) = change.archived {
            self.archived = archived;
        }
        if let Some(host) = change.host {
            self.host = host;
        }
    }
}

/// A change of what is known of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Description {
    /// A new title; `Some(None)` clears it.
    pub title: Option<Option<String>>,
    /// When something last happened.
    pub updated_ms: Option<i64>,
    /// Whether something is left to do.
    pub unfinished: Option<bool>,
    /// Whether the user put it away.
    pub archived: Option<bool>,
    /// What the session's host wants to remember; `Some(None)` clears it.
    pub host: Option<Option<String>>,
}

impl Description {
    /// Returns the change that only notes when something last happened.
    #[must_use]
    pub fn updated(now_ms: i64) -> Self {
        Self {
            updated_ms: Some(now_ms),
            ..Self::default()
        }
    }

    /// Also changes the title.
    #[must_use]
    pub fn title(mut self, title: Option<String>) -> Self {
        self.title = Some(title);
        self
    }

    /// Also changes whether something is left to do.
    #[must_use]
    pub fn unfinished(mut self, unfinished: bool) -> Self {
        self.unfinished = Some(unfinished);
        self
    }

    /// Also changes whether the session is archived.
    #[must_use]
    pub fn archived(mut self, archived: bool) -> Self {
        self.archived = Some(archived);
        self
    }

    /// Also changes what the session's host wants to remember.
    #[must_use]
    pub fn host(mut self, host: Option<String>) -> Self {
        self.host = Some(host);
        self
    }
}

/// Which sessions a listing is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Only those with exactly this working directory.
    pub cwd: Option<PathBuf>,
    /// Only those in which something is left to do, or only those in which nothing is.
    pub unfinished: Option<bool>,
    /// Only those that are archived, or only those that are not.
    pub archived: Option<bool>,
    /// Where the page before this one ended.
    pub cursor: Option<String>,
    /// How many at most.
    pub limit: usize,
}

impl Filter {
    /// Returns the filter for the first page of everything.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            cwd: None,
            unfinished: None,
            archived: None,
            cursor: None,
            limit,
        }
    }
}

/// One page of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Page {
    /// The sessions.
    pub sessions: Vec<Head>,
    /// Where the next page begins, if there is more.
    pub next: Option<String>,
}
