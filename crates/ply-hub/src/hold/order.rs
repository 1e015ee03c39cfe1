//! What a holder is told when it starts: by a pipe, since arguments and files can be read by others and kept.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ending::{Grace, Linger};

/// Longest order taken. The system takes arguments and environments of 2 MiB, and a byte becomes four characters at most.
pub(super) const ORDER_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// An agent to start behind a holder.
#[derive(Clone, Serialize, Deserialize)]
#[must_use = "an order does nothing until a holder is started with it"]
pub struct Order {
    /// The name of the holder's files, unlike that of any other; letters, digits, `-` and `_`.
    pub(super) id: String,
    pub(super) agent: String,
    pub(super) store: String,
    pub(super) directory: OsString,
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) cwd: OsString,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) grace: Grace,
    pub(super) linger: Linger,
}

impl Order {
    /// Returns the order to run `program` in `cwd`, without arguments and with an empty environment.
    ///
    /// `id` names the holder; it must be new, of at most 64 letters, digits, `-` and `_`.
    pub fn new(id: &str, program: impl AsRef<OsStr>, cwd: impl AsRef<Path>) -> Self {
        Self {
            id: id.to_owned(),
            agent: String::new(),
            store: String::new(),
            directory: OsString::new(),
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            cwd: cwd.as_ref().as_os_str().to_owned(),
            env: Vec::new(),
            grace: Grace::default(),
            linger: Linger::default(),
        }
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
        self.args.extend(args);
        self
    }

    /// Adds environment variables. The agent has no others but one of Ply's own.
    pub fn envs(
        mut self,
        envs: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> Self {
        let envs = envs
            .into_iter()
            .map(|(name, value)| (name.as_ref().to_owned(), value.as_ref().to_owned()));
        self.env.extend(envs);
        self
    }

    /// Names the agent and the store of the hub's sessions, for whoever [finds](super::find) the holder.
    pub fn about(mut self, agent: &str, store: &str) -> Self {
        agent.clone_into(&mut self.agent);
        store.clone_into(&mut self.store);
        self
    }

    /// Sets how long the agent may take to end.
    pub fn grace(mut self, grace: Grace) -> Self {
        self.grace = grace;
        self
    }

    /// Sets how long the agent goes on without a hub.
    pub fn linger(mut self, linger: Linger) -> Self {
        self.linger = linger;
        self
    }
}

impl fmt::Debug for Order {
    /// Leaves out arguments and values of variables, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Order")
            .field("id", &self.id)
            .field("agent", &self.agent)
            .field("store", &self.store)
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("env", &self.env.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn an_order_keeps_bytes_that_are_no_text() {
        let odd = OsStr::from_bytes(b"\xff\xfe\n\"");
        let order = Order::new("id", odd, "/").args([odd]).envs([("NAME", odd)]);
        let text = serde_json::to_vec(&order).unwrap();
        let read: Order = serde_json::from_slice(&text).unwrap();
        assert_eq!(read.program, odd);
        assert_eq!(read.args, [odd]);
        assert_eq!(read.env, [(OsString::from("NAME"), odd.to_owned())]);
    }

    #[test]
    fn no_secret_is_shown() {
        let order = Order::new("id", "agent", "/")
            .args(["--key=hidden"])
            .envs([("KEY", "hidden")]);
        assert!(!format!("{order:?}").contains("hidden"));
    }
}
