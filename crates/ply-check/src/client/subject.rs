//! The client that is checked, and how it is started.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::time::Duration;

/// What stands for the agent's command in the client's.
pub const AGENT: &str = "{agent}";

/// The client that is checked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Subject {
    /// The program and its arguments. One of them is or holds [`AGENT`]; the client is to make a session and to send one prompt.
    pub command: Vec<OsString>,
    /// Further environment variables.
    pub env: Vec<(OsString, OsString)>,
    /// The first words of the command that serves as the agent; `--scene`, `--version` and `--out` follow with their values.
    pub serve: Vec<OsString>,
    /// A directory in which scratch directories may be made. It is there, and absolute.
    pub scratch: PathBuf,
    /// How long the client may take for one scene, beyond what the scene itself takes.
    pub patience: Duration,
}

impl Subject {
    /// Returns a client that is started by a command, with an agent that is started by `serve`.
    #[must_use]
    pub fn new(command: Vec<OsString>, serve: Vec<OsString>, scratch: PathBuf) -> Self {
        Self {
            command,
            env: Vec::new(),
            serve,
            scratch,
            patience: Duration::from_secs(30),
        }
    }

    /// Returns whether the command says where the agent goes.
    #[must_use]
    pub fn names_the_agent(&self) -> bool {
        let holds = |word: &OsString| find(word.as_bytes(), AGENT.as_bytes()).is_some();
        self.command.iter().any(holds)
    }

    /// Returns the command with the agent's in its place: as words of their own where it is a word, quoted for a shell inside
    /// of one.
    pub(super) fn command_with(&self, agent: &[OsString]) -> Vec<OsString> {
        let mut words = Vec::new();
        for word in &self.command {
            if word == AGENT {
                words.extend_from_slice(agent);
                continue;
            }
            words.push(filled(word, agent));
        }
        words
    }
}

fn filled(word: &OsStr, agent: &[OsString]) -> OsString {
    let quoted: Vec<_> = agent.iter().map(|word| quoted(word)).collect();
    let quoted = quoted.join(&b' ');
    let mut rest = word.as_bytes();
    let mut whole = Vec::new();
    while let Some(place) = find(rest, AGENT.as_bytes()) {
        let (head, tail) = rest.split_at(place);
        whole.extend_from_slice(head);
        whole.extend_from_slice(&quoted);
        rest = tail.get(AGENT.len()..).unwrap_or_default();
    }
    whole.extend_from_slice(rest);
    OsString::from_vec(whole)
}

/// Returns a word as a POSIX shell reads it back.
fn quoted(word: &OsStr) -> Vec<u8> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./=:,@%+".contains(byte);
    let bytes = word.as_bytes();
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return bytes.to_vec();
    }
    let mut quoted = vec![b'\''];
    for byte in bytes {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|part| part == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    fn command(command: &[&str], agent: &[&str]) -> Vec<OsString> {
        let subject = Subject::new(words(command), Vec::new(), PathBuf::from("/tmp"));
        subject.command_with(&words(agent))
    }

    #[test]
    fn a_word_of_its_own_becomes_several() {
        let made = command(&["client", "--", "{agent}"], &["ply", "a b"]);
        assert_eq!(made, words(&["client", "--", "ply", "a b"]));
    }

    #[test]
    fn inside_a_word_the_command_is_quoted() {
        let made = command(&["client", "--agent={agent}!"], &["ply", "a b", "it's", ""]);
        assert_eq!(made, words(&["client", "--agent=ply 'a b' 'it'\\''s' ''!"]));
    }

    #[test]
    fn a_command_that_names_no_agent_is_noticed() {
        let subject = Subject::new(words(&["client"]), Vec::new(), PathBuf::from("/tmp"));
        assert!(!subject.names_the_agent());
    }
}
