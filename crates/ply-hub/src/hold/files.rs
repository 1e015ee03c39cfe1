//! The files of holders: `ID.sock` to connect to, and `ID.json` that tells whose it is.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ply_rpc::transport::tree;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::message::PROTOCOL;

/// Longest id of a holder.
const ID_BYTES_MAX: usize = 64;
/// Longest description of a holder that is read.
const ABOUT_BYTES_MAX: u64 = 64 * 1024;
/// What a socket's name ends with until it listens.
const UNFINISHED: &str = "new";
/// How long a holder may take to finish its socket. One that takes longer was killed.
const UNFINISHED_TIME_MAX: Duration = Duration::from_secs(60);

/// A holder, as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct About {
    /// The name of its files.
    #[serde(skip)]
    pub id: String,
    /// The version of what it speaks.
    pub protocol: u32,
    /// Its process id.
    pub pid: u32,
    /// When it was started, in ticks after boot.
    pub started: u64,
    /// The boot in which it was started.
    pub boot: String,
    /// The agent's name.
    pub agent: String,
    /// The store of the hub that started it; which session the agent serves is in there.
    pub store: String,
}

impl About {
    /// Describes this process.
    pub(super) fn own(id: &str, agent: &str, store: &str) -> io::Result<Self> {
        let pid = std::process::id();
        let started = tree::started(pid).ok_or_else(|| io::Error::other("/proc is not mounted"))?;
        Ok(Self {
            id: id.to_owned(),
            protocol: PROTOCOL,
            pid,
            started,
            boot: boot()?,
            agent: agent.to_owned(),
            store: store.to_owned(),
        })
    }

    /// Returns whether the process that this describes runs.
    fn is_running(&self, boot: &str) -> bool {
        self.boot == boot && tree::started(self.pid) == Some(self.started)
    }
}

fn boot() -> io::Result<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(boot.trim_end().to_owned())
}

/// The directory of the files, which only this user can look into.
#[derive(Debug)]
pub(super) struct Directory {
    handle: OwnedFd,
}

impl Directory {
    /// Opens the directory, which is made if it is missing.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let made = std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path);
        made.map_err(|error| in_words(path, &error))?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|error| in_words(path, &error.into()))?;
        let directory = Self { handle };
        let status = std::fs::metadata(directory.path())?;
        if status.uid() != rustix::process::geteuid().as_raw() || status.mode() & 0o077 != 0 {
            let problem = "others may enter it; run `chmod 700` on it, or choose another directory";
            return Err(in_words(path, &io::Error::other(problem)));
        }
        Ok(directory)
    }

    /// Returns a short path, however deep the directory lies: addresses of sockets have 107 bytes.
    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.handle.as_raw_fd()))
    }

    /// Returns the path of a holder's socket, which is valid in this process as long as this directory is open.
    pub(super) fn socket(&self, id: &str) -> io::Result<PathBuf> {
        check(id)?;
        Ok(self.path().join(format!("{id}.sock")))
    }

    fn description(&self, id: &str) -> PathBuf {
        self.path().join(format!("{id}.json"))
    }

    /// Writes a holder's files. The socket comes first, so that whoever finds the description can connect.
    pub(super) fn publish(&self, about: &About) -> io::Result<UnixListener> {
        let socket = self.socket(&about.id)?;
        // A socket that does not listen yet is what dead holders leave, and would be removed.
        let unfinished = socket.with_extension(UNFINISHED);
        // Nobody may connect between the making of the socket and a change of its mode.
        let before = rustix::process::umask(Mode::from_raw_mode(0o177));
        let listener = UnixListener::bind(&unfinished);
        rustix::process::umask(before);
        let listener = listener?;
        listener.set_nonblocking(true)?;
        std::fs::rename(unfinished, socket)?;
        let text = serde_json::to_vec(about)?;
        let mut options = std::fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600);
        let written = file
            .open(self.description(&about.id))
            .and_then(|mut file| io::Write::write_all(&mut file, &text));
        if let Err(error) = written {
            self.remove(&about.id);
            return Err(error);
        }
        Ok(listener)
    }

    /// Removes a holder's files.
    pub(super) fn remove(&self, id: &str) {
        let Ok(socket) = self.socket(id) else {
            return;
        };
        for path in [self.description(id), socket] {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::warn!(%error, "a file of a holder cannot be removed");
                }
                _ => {}
            }
        }
    }

    /// Returns the holders that run, and removes the files of others.
    pub(super) fn list(&self) -> io::Result<Vec<About>> {
        let boot = boot()?;
        self.remove_unfinished()?;
        let mut running = Vec::new();
        for id in self.ids()? {
            match self.read(&id) {
                Some(about) if about.is_running(&boot) => running.push(about),
                Some(_) => self.remove(&id),
                // It is being written, or its writer was killed.
                None if self.is_listening(&id) => {}
                None => self.remove(&id),
            }
        }
        Ok(running)
    }

    /// Removes sockets that were never finished.
    fn remove_unfinished(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(self.path())? {
            let entry = entry?;
            let name = entry.file_name();
            let is_unfinished = Path::new(&name).extension() == Some(OsStr::new(UNFINISHED));
            // One that cannot be looked at has just been finished.
            let made = entry.metadata().and_then(|status| status.modified());
            let age = made.ok().and_then(|made| made.elapsed().ok());
            if is_unfinished
                && age.is_some_and(|age| age > UNFINISHED_TIME_MAX)
                && let Err(error) = std::fs::remove_file(self.path().join(&name))
            {
                tracing::warn!(%error, "what a holder left cannot be removed");
            }
        }
        Ok(())
    }

    /// Returns what is described here, whether it runs or not.
    pub(super) fn described(&self) -> io::Result<Vec<About>> {
        let ids = self.ids()?;
        Ok(ids.iter().filter_map(|id| self.read(id)).collect())
    }

    fn ids(&self) -> io::Result<Vec<String>> {
        let mut ids = Vec::new();
        for entry in std::fs::read_dir(self.path())? {
            let name = entry?.file_name();
            let name = Path::new(&name);
            let known = [OsStr::new("json"), OsStr::new("sock")];
            let is_ours = name.extension().is_some_and(|it| known.contains(&it));
            let id = name.file_stem().and_then(OsStr::to_str);
            if let Some(id) = id.filter(|id| is_ours && check(id).is_ok()) {
                ids.push(id.to_owned());
            }
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    fn read(&self, id: &str) -> Option<About> {
        let file = std::fs::File::open(self.description(id)).ok()?;
        let mut text = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(file, ABOUT_BYTES_MAX), &mut text).ok()?;
        let about: About = serde_json::from_slice(&text).ok()?;
        Some(About {
            id: id.to_owned(),
            ..about
        })
    }

    fn is_listening(&self, id: &str) -> bool {
        let connected = self.socket(id).map(std::os::unix::net::UnixStream::connect);
        matches!(connected, Ok(Ok(_)))
    }
}

fn check(id: &str) -> io::Result<()> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if (1..=ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(fits) {
        return Ok(());
    }
    let problem = "the id of a holder must be 1 to 64 letters, digits, `-` and `_`";
    Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
}

fn in_words(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

    use super::*;

    fn ids(directory: &Directory) -> Vec<String> {
        let running = directory.list().unwrap();
        running.into_iter().map(|about| about.id).collect()
    }

    #[test]
    fn only_holders_that_run_are_found_and_files_of_others_go() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("deep").join("holders");
        let directory = Directory::open(&path).unwrap();
        let own = About::own("own", "agent", "session").unwrap();
        let listener = directory.publish(&own).unwrap();
        for (id, about) in [
            (
                "reused",
                About {
                    started: own.started + 1,
                    ..own.clone()
                },
            ),
            (
                "rebooted",
                About {
                    boot: "another".to_owned(),
                    ..own.clone()
                },
            ),
        ] {
            let about = About {
                id: id.to_owned(),
                ..about
            };
            drop(directory.publish(&about).unwrap());
        }
        std::fs::write(path.join("torn.json"), "{").unwrap();
        std::fs::write(path.join("stale.sock"), "").unwrap();
        std::fs::write(path.join("not ours.txt"), "").unwrap();
        assert_eq!(ids(&directory), ["own"]);
        let mut left: Vec<_> = std::fs::read_dir(&path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["not ours.txt", "own.json", "own.sock"]);

        std::fs::write(path.join("own.json"), "").unwrap();
        assert!(ids(&directory).is_empty());
        assert!(
            path.join("own.sock").exists(),
            "it listens, so it will be described"
        );
        drop(listener);
        assert!(ids(&directory).is_empty());
        assert!(!path.join("own.sock").exists());
    }

    #[test]
    fn whoever_looks_while_a_holder_begins_leaves_its_socket_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("holders");
        let directory = Directory::open(&path).unwrap();
        // Made and not listening yet, as long as it takes.
        for name in ["begins.new", "dead.sock"] {
            let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
            let socket = rustix::net::socket(family, kind, None).unwrap();
            let address = SocketAddrUnix::new(path.join(name)).unwrap();
            rustix::net::bind(&socket, &address).unwrap();
        }
        assert!(ids(&directory).is_empty());
        assert!(path.join("begins.new").exists());
        assert!(!path.join("dead.sock").exists());
        let own = About::own("own", "", "").unwrap();
        let made = directory.publish(&own).unwrap().local_addr().unwrap();
        let name = made.as_pathname().and_then(Path::extension);
        assert_eq!(name, Some(OsStr::new(UNFINISHED)), "it was made as such");
        assert!(path.join("own.sock").exists());
    }

    #[test]
    fn files_are_for_their_owner_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("holders");
        let directory = Directory::open(&path).unwrap();
        let _listener = directory.publish(&About::own("own", "", "").unwrap());
        for (name, mode) in [
            ("", 0o40700),
            ("own.sock", 0o140600),
            ("own.json", 0o100600),
        ] {
            assert_eq!(
                std::fs::metadata(path.join(name)).unwrap().mode(),
                mode,
                "{name}"
            );
        }
        rustix::fs::chmod(&path, Mode::from_raw_mode(0o750)).unwrap();
        let error = Directory::open(&path).unwrap_err();
        assert!(error.to_string().contains("chmod 700"), "{error}");
    }

    #[test]
    fn an_id_is_no_path() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(&place.path().join("holders")).unwrap();
        for id in ["", "..", "a/b", "a.b", "\u{fc}", &"x".repeat(65)] {
            assert!(directory.socket(id).is_err(), "{id}");
        }
    }
}
