//! What is written down of an agent besides its connection, so that another hub can go on with it and nobody has to come for it.

use std::path::PathBuf;

use ply_wire::negotiate::Version;
use ply_wire::v2;
use serde::{Deserialize, Serialize};

use super::link::Hello;

/// What another hub has to know of an agent. The environment is not among it: it may hold secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Kept {
    /// What starts the agent.
    pub command: Vec<String>,
    /// The directory that it is started in.
    pub cwd: PathBuf,
    /// The version of the protocol that it speaks.
    pub version: u16,
    /// What prompts may hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<v2::PromptCapabilities>,
}

impl Kept {
    pub(super) fn new(command: Vec<String>, cwd: PathBuf, hello: &Hello) -> Self {
        let session = hello.capabilities.session.as_ref();
        Self {
            command,
            cwd,
            version: if hello.version == Version::V1 { 1 } else { 2 },
            prompt: session.and_then(|session| session.prompt.clone()),
        }
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let kept = serde_json::from_str(text);
        kept.inspect_err(|error| tracing::debug!(%error, "nobody knows what an agent is"))
            .ok()
    }

    pub(super) fn to_json(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// Returns what is known of the agent without asking it.
    pub(super) fn hello(&self) -> Hello {
        let mut hello = Hello::unknown();
        if self.version != 1 {
            hello.version = Version::V2;
        }
        let session = v2::SessionCapabilities::new().prompt(self.prompt.clone());
        hello.capabilities = v2::AgentCapabilities::new().session(session);
        hello
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_says_which_prompts_the_agent_takes() {
        let prompt = v2::PromptCapabilities::new().image(v2::PromptImageCapabilities::new());
        let session = v2::SessionCapabilities::new().prompt(prompt);
        let mut hello = Hello::unknown();
        hello.version = Version::V2;
        hello.capabilities = v2::AgentCapabilities::new().session(session);
        let kept = Kept::new(vec!["a b".into(), "--c".into()], "/d".into(), &hello);
        let read = Kept::read(&kept.to_json().unwrap()).unwrap();
        assert_eq!(read, kept);
        assert_eq!(read.hello().capabilities, hello.capabilities);
        assert_eq!(read.hello().version, Version::V2);
        assert_eq!(Kept::read("{}"), None);
    }
}
