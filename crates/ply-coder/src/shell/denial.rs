//! What the sandbox denied a command, as far as its output tells.

use super::Exit;
use super::sandbox::{Network, Sandboxed};

/// How much of the end of an output is looked at; what went wrong stands there.
const LOOKED_AT_BYTES: usize = 16 * 1024;

/// What programs say when they write where everything is read-only. Nothing else is read-only, so it counts
/// whatever came of the command, also of one that others were piped into.
const READ_ONLY: [&str; 2] = ["read-only file system", "erofs"];

/// What programs say when the kernel denies them something, for whatever reason.
const DENIED: [&str; 5] = [
    "permission denied",
    "operation not permitted",
    "no new privileges",
    "eacces",
    "eperm",
];

/// What programs say when there is no network. Commands without one can mean nothing else by it.
const UNREACHABLE: [&str; 12] = [
    "could not resolve host",
    "couldn't resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "network is unreachable",
    "no address associated with hostname",
    "nodename nor servname provided",
    "failed to lookup address",
    "enotfound",
    "eai_again",
    "enetunreach",
    "dial tcp: lookup",
];

/// What the sandbox denied.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// Why the command was denied something, in words for people.
    pub reason: String,
    /// Whether it is certain, and not only likely.
    pub certain: bool,
}

/// Finds out whether the sandbox kept a command from something, by what it put out.
pub(super) fn find(output: &str, exit: Exit, sandboxed: &Sandboxed) -> Option<Denial> {
    let start = output.ceil_char_boundary(output.len().saturating_sub(LOOKED_AT_BYTES));
    let text = output.get(start..).unwrap_or_default().to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let refused = sandboxed.take_refused();
    if !refused.is_empty() {
        return Some(Denial {
            reason: format!("it does not allow connections to {}", refused.join(", ")),
            certain: true,
        });
    }
    if sandboxed.network() != Network::Shared && says(&UNREACHABLE) {
        return Some(Denial {
            reason: "it has no network".to_owned(),
            certain: true,
        });
    }
    let read_only = says(&READ_ONLY);
    if !read_only && (exit.is_success() || !says(&DENIED)) {
        return None;
    }
    let writable = sandboxed.writable().iter();
    let writable: Vec<_> = writable.map(|path| path.display().to_string()).collect();
    let git = match text.contains(".git") && read_only {
        true => ", and `.git` is read-only",
        false => "",
    };
    Some(Denial {
        reason: format!("only these are writable: {}{git}", writable.join(", ")),
        certain: read_only,
    })
}

impl Denial {
    /// Returns what the model and the user are told.
    pub(super) fn note(&self) -> String {
        let may = if self.certain {
            "denied"
        } else {
            "may have denied"
        };
        format!(
            "[the sandbox {may} this: {}; if it is needed, call `shell` again with the same command and \
             `outside_sandbox`, and say why: the user is asked; they can also change `[sandbox]` in Ply's \
             configuration]",
            self.reason
        )
    }
}
