//! What the agent tells the helper, as arguments.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

const APART: &str = "--apart";
const WRITE: &str = "--write";
const SHOW: &str = "--show";
const PRIVATE: &str = "--private";
const PROTECT: &str = "--protect";
const HIDE: &str = "--hide";
const DISCREET: &str = "--discreet";
const NO_NETWORK: &str = "--no-network";
const GATE: &str = "--gate";
const PROCESSES: &str = "--processes";
const MEMORY: &str = "--memory";
const FILE: &str = "--file";
const FREE: &str = "--free";
const REPORT: &str = "--report";
const END: &str = "--";

/// What the helper is told.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(in crate::shell::sandbox) struct Order {
    /// Whether the command gets namespaces of its own. Without them there are only Landlock and seccomp.
    pub(in crate::shell::sandbox) apart: bool,
    /// Directories that may be written to.
    pub(in crate::shell::sandbox) writable: Vec<PathBuf>,
    /// Directories that may be read, whatever lies over them.
    pub(in crate::shell::sandbox) shown: Vec<PathBuf>,
    /// Directories that are replaced by others, which may be written to.
    pub(in crate::shell::sandbox) private: Vec<(PathBuf, PathBuf)>,
    /// What lies in a writable directory and may only be read.
    pub(in crate::shell::sandbox) protected: Vec<PathBuf>,
    /// What is replaced by nothing.
    pub(in crate::shell::sandbox) hidden: Vec<PathBuf>,
    /// Whether repositories among `protected` show no passwords: of their settings, and of files by git.
    pub(in crate::shell::sandbox) discreet: bool,
    /// Whether the network is out of reach.
    pub(in crate::shell::sandbox) no_network: bool,
    /// The socket of the agent that gets the door to the network, if there is one.
    pub(in crate::shell::sandbox) gate: Option<PathBuf>,
    /// How many processes and threads there may be.
    pub(in crate::shell::sandbox) processes: Option<u64>,
    /// How much memory they may use in all, in bytes.
    pub(in crate::shell::sandbox) memory: Option<u64>,
    /// How long a file may get, in bytes.
    pub(in crate::shell::sandbox) file: Option<u64>,
    /// How much room must stay free where they may write, in bytes.
    pub(in crate::shell::sandbox) free: Option<u64>,
    /// Whether the program is told what the sandbox can do.
    pub(in crate::shell::sandbox) report: bool,
}

impl Order {
    /// Returns the arguments that say so; the program and its own follow.
    pub(in crate::shell::sandbox) fn arguments(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        let flags = [
            (APART, self.apart),
            (DISCREET, self.discreet),
            (NO_NETWORK, self.no_network),
            (REPORT, self.report),
        ];
        let flags = flags.into_iter().filter(|(_, set)| *set);
        words.extend(flags.map(|(word, _)| word.into()));
        let lists = [
            (WRITE, &self.writable),
            (SHOW, &self.shown),
            (PROTECT, &self.protected),
            (HIDE, &self.hidden),
        ];
        for (word, paths) in lists {
            words.extend(paths.iter().flat_map(|path| [word.into(), path.into()]));
        }
        for (place, source) in &self.private {
            words.extend([PRIVATE.into(), place.into(), source.into()]);
        }
        if let Some(gate) = &self.gate {
            words.extend([GATE.into(), gate.into()]);
        }
        let bounds = [
            (PROCESSES, self.processes),
            (MEMORY, self.memory),
            (FILE, self.file),
            (FREE, self.free),
        ];
        for (word, bound) in bounds {
            let bound = bound.map(|bound| [word.into(), bound.to_string().into()]);
            words.extend(bound.into_iter().flatten());
        }
        words.push(END.into());
        words
    }

    /// Reads the arguments, with the program and its own.
    pub(super) fn read(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Option<(Self, OsString, Vec<OsString>)> {
        let mut order = Self::default();
        let mut words = arguments.into_iter();
        loop {
            let word = words.next()?;
            let mut path = || words.next().map(PathBuf::from);
            match word.to_str()? {
                APART => order.apart = true,
                DISCREET => order.discreet = true,
                NO_NETWORK => order.no_network = true,
                REPORT => order.report = true,
                WRITE => order.writable.push(path()?),
                SHOW => order.shown.push(path()?),
                PROTECT => order.protected.push(path()?),
                HIDE => order.hidden.push(path()?),
                PRIVATE => order.private.push((path()?, path()?)),
                GATE => order.gate = Some(path()?),
                PROCESSES => order.processes = Some(number(path()?.as_os_str())?),
                MEMORY => order.memory = Some(number(path()?.as_os_str())?),
                FILE => order.file = Some(number(path()?.as_os_str())?),
                FREE => order.free = Some(number(path()?.as_os_str())?),
                END => break,
                _ => return None,
            }
        }
        let program = words.next()?;
        Some((order, program, words.collect()))
    }
}

fn number(word: &OsStr) -> Option<u64> {
    word.to_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_given() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let order = Order {
            apart: true,
            writable: paths(&["/a", "/b"]),
            shown: paths(&["/c"]),
            private: vec![("/tmp".into(), "/x/0".into())],
            protected: paths(&["/a/.git"]),
            hidden: paths(&["--", "--write"]),
            discreet: true,
            no_network: true,
            gate: Some("/x/gate".into()),
            processes: Some(7),
            memory: Some(1 << 40),
            file: Some(0),
            free: Some(9),
            report: true,
        };
        let mut words = order.arguments();
        words.extend(["sh", "-c", "--", "--write"].map(OsString::from));
        let (read, program, arguments) = Order::read(words).unwrap();
        assert_eq!(read, order);
        assert_eq!(program, "sh");
        assert_eq!(arguments, ["-c", "--", "--write"]);
        let empty = Order::default().arguments();
        assert_eq!(empty, ["--"]);
    }
}
