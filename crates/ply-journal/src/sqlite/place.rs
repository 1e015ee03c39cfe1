//! The files of a store: where they may be, how they are made, and whether they are still there.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::io::Errno;

use super::trouble::Trouble;

/// File systems that several machines share, by the number that `statfs` gives: AFS, Ceph, CIFS,
/// Coda, NFS, SMB, SMB2, 9P.
const NETWORK_MAGICS: [(u32, &str); 8] = [
    (0x5346_414f, "AFS"),
    (0x00c3_6400, "Ceph"),
    (0xff53_4d42, "CIFS"),
    (0x7375_7245, "Coda"),
    (0x0000_6969, "NFS"),
    (0x0000_517b, "SMB"),
    (0xfe53_4d42, "SMB"),
    (0x0102_1997, "9P"),
];
/// What `statfs` gives for everything that a user's program serves, near or far.
const FUSE_MAGIC: u32 = 0x6573_5546;
/// Those of them that are far, by the name that the mount table gives.
const NETWORK_FUSES: [&str; 9] = [
    "fuse.ceph",
    "fuse.davfs",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.grpcfuse",
    "fuse.osxfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.sshfs",
];

/// Returns whether there is a file.
pub(super) fn exists(path: &Path) -> Result<bool, Trouble> {
    match fs::metadata(path) {
        Ok(about) if about.is_file() => Ok(true),
        Ok(_) => Err(Trouble::io(
            io::ErrorKind::InvalidInput,
            format!("{} is not a file", path.display()),
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Trouble::system("looking at", path, &error)),
    }
}

/// Makes the file, empty, and its directory, for nobody but their owner.
pub(super) fn make(path: &Path) -> Result<(), Trouble> {
    let directory = directory(path);
    make_directory(directory)
        .map_err(|error| Trouble::system("making the directory", directory, &error))?;
    // Made without opening it: to close a file again would take the locks away that SQLite holds
    // on it elsewhere in this process. SQLite gives its other files the mode of this one.
    match mknodat(CWD, path, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(Trouble::system("making", path, &error.into())),
    }
}

fn make_directory(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    if let Some(parent) = directory.parent() {
        make_directory(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(directory) {
        // Somebody else was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        Err(error) => Err(error),
        // A new directory is safe only when the one above it is.
        Ok(()) => match directory.parent() {
            Some(parent) => File::open(parent)?.sync_all(),
            None => Ok(()),
        },
    }
}

fn directory(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// Refuses file systems on which processes of several machines could write at once (F10): the
/// shared memory that they agree through does not reach beyond one.
pub(super) fn check_file_system(path: &Path) -> Result<(), Trouble> {
    let directory = directory(path);
    let Ok(stats) = rustix::fs::statfs(directory) else {
        // Whatever is wrong with it shows when the file is opened.
        return Ok(());
    };
    // The width of the number differs between machines; the kernel uses 32 bits.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number has 32 bits"
    )]
    let magic = stats.f_type as u32;
    match network(magic, || mount_type(directory)) {
        Some(kind) => Err(Trouble::Network(kind)),
        None => Ok(()),
    }
}

/// Returns what kind of network file system it is, if it is one.
fn network(magic: u32, mount_type: impl FnOnce() -> Option<String>) -> Option<String> {
    if magic == FUSE_MAGIC {
        return mount_type().filter(|name| NETWORK_FUSES.contains(&name.as_str()));
    }
    let known = NETWORK_MAGICS.iter().find(|(known, _)| *known == magic);
    known.map(|(_, name)| (*name).to_owned())
}

/// Returns the type that the mount table gives for the file system of a directory.
fn mount_type(directory: &Path) -> Option<String> {
    let device = fs::metadata(directory).ok()?.dev();
    let device = format!(
        "{}:{}",
        rustix::fs::major(device),
        rustix::fs::minor(device)
    );
    let table = fs::read_to_string("/proc/self/mountinfo").ok()?;
    type_in(&table, &device)
}

/// Finds a device in a mount table: "36 35 98:0 /root /point options - type source options".
fn type_in(table: &str, device: &str) -> Option<String> {
    let line = table
        .lines()
        .find(|line| line.split(' ').nth(2) == Some(device))?;
    let (_, after) = line.split_once(" - ")?;
    after.split(' ').next().map(str::to_owned)
}

/// Which file it is, whatever its name; none if there is none.
pub(super) type Identity = Option<(u64, u64)>;

/// The files of an open store, to notice that they are gone or others (F13).
#[derive(Debug)]
pub(super) struct Files {
    files: Vec<(PathBuf, Identity)>,
}

impl Files {
    /// Remembers the files of a store that is open.
    pub(super) fn new(path: &Path) -> Self {
        let named = ["", "-wal", "-shm"].map(|ending| {
            let mut name = OsString::from(path);
            name.push(ending);
            PathBuf::from(name)
        });
        let files = named.into_iter().map(|path| {
            let identity = identity(&path);
            (path, identity)
        });
        Self {
            files: files.collect(),
        }
    }

    /// Returns whether they are all still the ones that were opened.
    pub(super) fn are_in_place(&self) -> bool {
        self.files
            .iter()
            .all(|(path, known)| known.is_some() && identity(path) == *known)
    }

    /// Returns how large the write-ahead log is on disk.
    pub(super) fn log_bytes(&self) -> u64 {
        let log = self.files.get(1).and_then(|(path, _)| path.metadata().ok());
        log.map_or(0, |about| about.len())
    }
}

/// Returns which file a path leads to.
pub(super) fn identity(path: &Path) -> Identity {
    let about = fs::metadata(path).ok()?;
    Some((about.dev(), about.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(magic: u32, mount: &str) -> Option<String> {
        network(magic, || Some(mount.to_owned()))
    }

    #[test]
    fn f10_network_file_systems_are_told_from_local_ones() {
        for (magic, name) in [(0x6969, "NFS"), (0xff53_4d42, "CIFS"), (0x0102_1997, "9P")] {
            assert_eq!(judge(magic, "ext4").as_deref(), Some(name));
        }
        for local in [0xef53, 0x0102_1994, 0x9123_683e, 0x794c_7630, 0x5846_5342] {
            assert_eq!(judge(local, "fuse.sshfs"), None, "{local:x}");
        }
        assert_eq!(
            judge(FUSE_MAGIC, "fuse.sshfs").as_deref(),
            Some("fuse.sshfs")
        );
        assert_eq!(judge(FUSE_MAGIC, "fuse.gocryptfs"), None);
        assert_eq!(network(FUSE_MAGIC, || None), None);
    }

    #[test]
    fn f10_the_mount_table_tells_what_a_user_program_serves() {
        let table = "22 1 254:1 / / rw shared:1 - ext4 /dev/root rw\n\
                     40 22 0:52 / /home/me/far rw,nosuid shared:9 master:1 - fuse.sshfs me@host:/ rw\n";
        assert_eq!(type_in(table, "0:52").as_deref(), Some("fuse.sshfs"));
        assert_eq!(type_in(table, "254:1").as_deref(), Some("ext4"));
        assert_eq!(type_in(table, "254:2"), None);
        assert_eq!(type_in("nonsense", "254:1"), None);
    }

    #[test]
    fn the_directory_of_the_tests_is_on_a_file_system_that_serves() {
        check_file_system(&std::env::temp_dir().join("x.db")).unwrap();
    }
}
