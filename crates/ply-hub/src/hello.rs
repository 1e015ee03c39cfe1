//! What a client and the hub say to each other before they speak ACP: one line each.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};

use crate::ask::{Ask, Told};

/// The number of this form of greeting. A hub serves clients with the same number, whatever their versions.
pub const PROTOCOL: u32 = 1;
/// How long a greeting may be: it carries an environment.
const HELLO_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Who a client is and which agent it wants.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The number of the greeting.
    pub protocol: u32,
    /// The version of the client's program.
    pub version: String,
    /// Where its user keeps sessions: a hub serves one place.
    pub store: PathBuf,
    /// The agent whose sessions it is about; none if it is about all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Wanted>,
    /// What it wants to know, if it does not want to speak ACP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<Ask>,
    /// Who acts, where one user has several clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
}

/// An agent that a client wants.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wanted {
    /// What it is called on screens.
    pub name: String,
    /// What it is remembered by: a name, or all words of a command.
    pub key: String,
    /// What starts it; nothing for the agent in the program itself.
    #[serde(default)]
    pub command: Vec<String>,
    /// The environment of the client, which the agent runs with. It is never kept.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The directory in which the client was started.
    pub cwd: PathBuf,
}

/// What a hub says to a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Welcome {
    /// It serves the client from here on.
    Ready {
        /// The version of the hub's program.
        version: String,
        /// Its process.
        pid: u32,
    },
    /// It answers what it was asked, and nothing follows.
    Told(Told),
    /// It does not serve it.
    Refused {
        /// Why, and what to do.
        reason: String,
    },
}

/// Around a greeting, so that it cannot be taken for a message of ACP.
#[derive(Serialize, Deserialize)]
struct Line<T> {
    ply: T,
}

/// Why there was no greeting.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HelloError {
    /// The connection broke.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The other side ended the connection.
    #[error("the other side ended the connection before it said who it is")]
    Ended,
    /// It said something else.
    #[error("the other side does not speak as a hub or its clients do")]
    Other,
}

// The environment holds keys, which no log may show.
impl std::fmt::Debug for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wanted")
            .field("name", &self.name)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Hello {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hello")
            .field("protocol", &self.protocol)
            .field("version", &self.version)
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

/// Sends a greeting.
///
/// # Errors
///
/// The connection broke.
///
/// # Cancel safety
///
/// Dropped before it is done, part of the greeting may have been sent.
pub async fn say<T: Serialize>(
    to: &mut (impl AsyncWrite + Unpin),
    greeting: &T,
) -> Result<(), HelloError> {
    let mut line = serde_json::to_vec(&Line { ply: greeting }).map_err(std::io::Error::from)?;
    line.push(b'\n');
    to.write_all(&line).await?;
    to.flush().await?;
    Ok(())
}

/// Reads a greeting, and nothing that follows it.
///
/// # Errors
///
/// The connection broke or ended, or something else came.
///
/// # Cancel safety
///
/// Dropped before it is done, part of the greeting may be lost.
pub async fn hear<T: for<'de> Deserialize<'de>>(
    from: &mut (impl AsyncBufRead + Unpin),
) -> Result<T, HelloError> {
    let mut line = Vec::new();
    from.take(HELLO_BYTES_MAX)
        .read_until(b'\n', &mut line)
        .await?;
    if line.is_empty() {
        return Err(HelloError::Ended);
    }
    let line: Line<T> = serde_json::from_slice(&line).map_err(|_| HelloError::Other)?;
    Ok(line.ply)
}
