//! The files that a command sees: everything read-only but where it may write, and nothing of what is none
//! of its business.
//!
//! All of it happens in a mount namespace of the command's own and ends with it.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change,
    move_mount, open_tree,
};

use super::order::Order;
use super::rules::{DEVICES, open_directory};
use crate::permission;
use crate::shell::Error;

/// Where processes that serve the user have their sockets.
const RUN: &str = "/run";
/// What commands need of it: the programs of some systems, and how hosts are looked up.
const KEPT_OF_RUN: [&str; 7] = [
    "/run/current-system",
    "/run/booted-system",
    "/run/opengl-driver",
    "/run/systemd/resolve/resolv.conf",
    "/run/systemd/resolve/stub-resolv.conf",
    "/run/resolvconf/resolv.conf",
    "/run/NetworkManager/resolv.conf",
];
/// Names in `/dev` that lead elsewhere.
const DEVICE_LINKS: [(&str, &str); 5] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/ptmx", "pts/ptmx"),
];
/// What lies over hidden directories and files: an empty directory and an empty file.
const NOTHING: [&str; 2] = ["/dev/.nothing", "/dev/.empty"];
/// What lies over files that commands are to see differently, with its kind and a number at its end.
const COVER: &str = "/dev/.cover";
/// Attributes by which git does not show the content of files that look like secrets.
pub(in crate::shell::sandbox) const ATTRIBUTES: &str = "/dev/.attributes";
/// How much is copied of what lies beside the attributes of repositories, in bytes.
const ATTRIBUTES_BYTES_MAX: u64 = 1024 * 1024;
/// Files of a repository that may have passwords for others in them.
const SETTINGS: [&str; 3] = ["config", "config.worktree", "FETCH_HEAD"];

/// Arranges the files for a command, and goes to the directory again that it is to run in.
pub(super) fn arrange(order: &Order, sockets: &[PathBuf]) -> Result<(), Error> {
    let failed =
        |error: io::Error| Error::NotApart(format!("its files cannot be arranged ({error})"));
    let cwd = std::env::current_dir().map_err(failed)?;
    let quiet = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", quiet).map_err(|error| failed(error.into()))?;
    let writable = Attached::open_all(order)?;
    replace_system_places(&writable).map_err(failed)?;
    std::fs::write(ATTRIBUTES, permission::git_attributes()).map_err(failed)?;
    let links = Covers::of_links(order).map_err(failed)?;
    let settings = Covers::of_settings(order).map_err(failed)?;
    let attributes = Covers::of_attributes(order).map_err(failed)?;
    let root = open("/", OFlags::empty()).map_err(|error| failed(error.into()))?;
    ply_sys::apart::make_read_only(&root).map_err(failed)?;
    add_own_devices().map_err(failed)?;
    for place in &writable {
        place.attach().map_err(|source| Error::Writable {
            path: place.path.clone(),
            source,
        })?;
    }
    let mut pins = Pins {
        order,
        held: Vec::new(),
    };
    hide(order, sockets, &mut pins).map_err(failed)?;
    links.put(&mut pins).map_err(failed)?;
    protect(order, &mut pins).map_err(failed)?;
    settings.put(&mut pins).map_err(failed)?;
    attributes.put(&mut pins).map_err(failed)?;
    std::env::set_current_dir(&cwd).map_err(|source| Error::Writable { path: cwd, source })
}

/// A copy of a mount that is put where a command may write, or read although something else lies there.
struct Attached {
    path: PathBuf,
    mount: OwnedFd,
}

impl Attached {
    /// Copies what is to be writable before everything becomes read-only.
    ///
    /// What replaces another place comes first: the workspace may lie there.
    fn open_all(order: &Order) -> Result<Vec<Self>, Error> {
        let private = order.private.iter().map(|(path, from)| (path, from, false));
        let writable = order.writable.iter().map(|path| (path, path, false));
        let shown = order.shown.iter().map(|path| (path, path, true));
        let mut all = Vec::new();
        for (path, from, read_only) in private.chain(writable).chain(shown) {
            let copied = || -> io::Result<Option<OwnedFd>> {
                let found = open_directory(from)?;
                let mount = found.map(|found| copy(&found)).transpose()?;
                if let Some(mount) = mount.as_ref().filter(|_| read_only) {
                    ply_sys::apart::make_read_only(mount)?;
                }
                Ok(mount)
            };
            let mount = copied().map_err(|source| Error::Writable {
                path: path.clone(),
                source,
            })?;
            let path = path.clone();
            all.extend(mount.map(|mount| Self { path, mount }));
        }
        Ok(all)
    }

    fn attach(&self) -> io::Result<()> {
        let target = match open_directory(&self.path)? {
            Some(target) => target,
            None => {
                // It lies in a place that was replaced.
                std::fs::create_dir_all(&self.path)?;
                open_directory(&self.path)?.ok_or(Errno::NOENT)?
            }
        };
        put(&self.mount, &target)
    }
}

/// Replaces what is not the command's: devices, other processes, sockets of the system.
fn replace_system_places(writable: &[Attached]) -> io::Result<()> {
    let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let copied = |path: &str| {
        open(path, OFlags::empty())
            .and_then(|found| copy(&found))
            .ok()
    };
    let devices = DEVICES.map(|path| (path, copied(path)));
    let kept = KEPT_OF_RUN.map(|path| (path, copied(path)));
    mount(
        "tmpfs",
        "/dev",
        "tmpfs",
        MountFlags::NOSUID | MountFlags::NOEXEC,
        Some(c"mode=755,size=4m"),
    )?;
    for (path, device) in devices {
        if let Some(device) = device {
            std::fs::File::create(path)?;
            put(&device, &open(path, OFlags::empty())?)?;
        }
    }
    for (path, target) in DEVICE_LINKS {
        symlink(target, path)?;
    }
    let [directory, file] = NOTHING;
    for directory in ["/dev/pts", "/dev/shm", directory] {
        std::fs::create_dir(directory)?;
    }
    std::fs::File::create(file)?;
    mount("proc", "/proc", "proc", plain, None::<&std::ffi::CStr>)?;
    if Path::new(RUN).is_dir() {
        mount("tmpfs", RUN, "tmpfs", plain, Some(c"mode=755,size=64k"))?;
        for (path, mount) in kept {
            if let Some(mount) = mount {
                put_anew(&mount, Path::new(path))?;
            }
        }
        let below = writable.iter().filter(|place| place.path.starts_with(RUN));
        for place in below {
            std::fs::create_dir_all(&place.path)?;
        }
    }
    Ok(())
}

/// Makes terminals and shared memory for the command alone.
fn add_own_devices() -> io::Result<()> {
    let plain = MountFlags::NOSUID | MountFlags::NOEXEC;
    let terminals = c"newinstance,ptmxmode=0666,mode=620";
    mount("devpts", "/dev/pts", "devpts", plain, Some(terminals))?;
    let flags = plain | MountFlags::NODEV;
    mount(
        "tmpfs",
        "/dev/shm",
        "tmpfs",
        flags,
        Some(c"mode=1777,size=1g"),
    )?;
    Ok(())
}

/// Puts nothing over what the command must not read, as far as it is there.
fn hide(order: &Order, sockets: &[PathBuf], pins: &mut Pins<'_>) -> io::Result<()> {
    let [directory, file] = NOTHING.map(|path| open(path, OFlags::empty()));
    let (directory, file) = (directory?, file?);
    let hidden = order.hidden.iter().map(|path| (path, false));
    let sockets = sockets.iter().map(|path| (path, true));
    for (path, is_socket) in hidden.chain(sockets) {
        // One that cannot be opened cannot be read either.
        let Ok(found) = open(path, OFlags::empty()) else {
            continue;
        };
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&found)?.st_mode);
        // The table of sockets has those of containers too, by paths that mean something else here.
        if is_socket && kind != FileType::Socket {
            continue;
        }
        let real = std::fs::read_link(name_of(&found))?;
        // The user opened a directory in there.
        let mut opened = order.writable.iter().chain(&order.shown);
        if opened.any(|path| path.starts_with(&real)) {
            continue;
        }
        pins.hold(&real)?;
        let found = open(&real, OFlags::empty())?;
        let is_directory = kind == FileType::Directory;
        let nothing = if is_directory { &directory } else { &file };
        put(&copy(nothing)?, &found)?;
    }
    Ok(())
}

/// Files that lie over others. They are written while that can be done, and put there later.
#[derive(Default)]
struct Covers(Vec<(PathBuf, PathBuf)>);

impl Covers {
    /// Covers links to repositories. They cannot be made read-only, since nothing in them is looked up; so a
    /// file lies over each by which git finds the same repository, and which stays where it is.
    fn of_links(order: &Order) -> io::Result<Self> {
        let mut covers = Self::default();
        for link in order.protected.iter().filter(|path| path.is_symlink()) {
            // What is not there cannot be changed either.
            let Ok(real) = link.canonicalize() else {
                continue;
            };
            let mut text = b"gitdir: ".to_vec();
            text.extend_from_slice(real.as_os_str().as_encoded_bytes());
            text.push(b'\n');
            covers.write("link", link, &text)?;
        }
        Ok(covers)
    }

    /// Covers settings that have passwords in them by the same without.
    fn of_settings(order: &Order) -> io::Result<Self> {
        let mut covers = Self::default();
        let repositories = order.protected.iter().filter(|_| order.discreet);
        for file in repositories.flat_map(|repository| SETTINGS.map(|name| repository.join(name))) {
            if let Some(text) = permission::without_credentials(&file) {
                covers.write("settings", &file, text.as_bytes())?;
            }
        }
        Ok(covers)
    }

    /// Covers the attributes of repositories by the same with ours behind them. Those go before whatever files of
    /// the project, settings and variables say; only a repository without a place for them is left to these.
    fn of_attributes(order: &Order) -> io::Result<Self> {
        let mut covers = Self::default();
        let mut left = ATTRIBUTES_BYTES_MAX;
        for repository in order.protected.iter().filter(|_| order.discreet) {
            let place = repository.join("info");
            let Some(files) = files_of(&place, &mut left) else {
                continue;
            };
            let own = covers.name("info");
            std::fs::create_dir(&own)?;
            let mut attributes = Vec::new();
            for (name, content) in files {
                match name == "attributes" {
                    true => attributes = content,
                    false => std::fs::write(own.join(name), content)?,
                }
            }
            attributes.push(b'\n');
            attributes.extend_from_slice(permission::git_attributes().as_bytes());
            std::fs::write(own.join("attributes"), attributes)?;
            covers.0.push((place, own));
        }
        Ok(covers)
    }

    fn write(&mut self, kind: &str, place: &Path, text: &[u8]) -> io::Result<()> {
        let file = self.name(kind);
        std::fs::write(&file, text)?;
        self.0.push((place.to_owned(), file));
        Ok(())
    }

    fn name(&self, kind: &str) -> PathBuf {
        PathBuf::from(format!("{COVER}-{kind}-{}", self.0.len()))
    }

    /// Puts them over their places.
    fn put(&self, pins: &mut Pins<'_>) -> io::Result<()> {
        for (place, file) in &self.0 {
            pins.hold(place)?;
            let file = open(file, OFlags::NOFOLLOW)?;
            put(&copy(&file)?, &open(place, OFlags::NOFOLLOW)?)?;
        }
        Ok(())
    }
}

/// Returns the files in a directory, if there is one and they are not too long.
fn files_of(directory: &Path, left: &mut u64) -> Option<Vec<(OsString, Vec<u8>)>> {
    if !directory.symlink_metadata().ok()?.is_dir() {
        return None;
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).ok()? {
        let entry = entry.ok()?;
        let about = entry.metadata().ok()?;
        if about.is_file() {
            *left = left.checked_sub(about.len())?;
            files.push((entry.file_name(), std::fs::read(entry.path()).ok()?));
        }
    }
    Some(files)
}

/// Makes read-only what lies in a writable directory and is not for commands to change.
fn protect(order: &Order, pins: &mut Pins<'_>) -> io::Result<()> {
    for path in &order.protected {
        // Over links lies something already.
        if path.is_symlink() || open(path, OFlags::NOFOLLOW).is_err() {
            continue;
        }
        pins.hold(path)?;
        let found = open(path, OFlags::NOFOLLOW)?;
        let mount = copy(&found)?;
        ply_sys::apart::make_read_only(&mount)?;
        put(&mount, &found)?;
    }
    Ok(())
}

/// Directories that a command may write to and must not move away, because something lies in there that
/// the next command would find by another name. What something is mounted on stays where it is.
struct Pins<'o> {
    order: &'o Order,
    held: Vec<PathBuf>,
}

impl Pins<'_> {
    /// Holds the directories between a writable one and something in it.
    fn hold(&mut self, path: &Path) -> io::Result<()> {
        let writable = self.order.writable.iter();
        let Some(writable) = writable.filter(|writable| path.starts_with(writable)).max() else {
            return Ok(());
        };
        let between = path.ancestors().skip(1);
        let between = between.take_while(|between| *between != writable);
        let between: Vec<_> = between.map(Path::to_owned).collect();
        // From above, so that each lies in what was put over the one before.
        for directory in between.into_iter().rev() {
            if self.held.contains(&directory) {
                continue;
            }
            // A link leads elsewhere, and what is there is not for this path to hold.
            if let Ok(Some(found)) = open_directory(&directory) {
                put(&copy(&found)?, &found)?;
            }
            self.held.push(directory);
        }
        Ok(())
    }
}

fn open(path: impl rustix::path::Arg, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, path, flags, Mode::empty())
}

/// Returns where the process table has the path behind a descriptor.
fn name_of(file: &impl AsFd) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()))
}

/// Returns a copy of what is mounted at a place, with all that is mounted below it.
fn copy(place: &impl AsFd) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(place.as_fd(), c"", flags)
}

/// Puts a mount over a place.
fn put(mount: &OwnedFd, place: &impl AsFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    let place: BorrowedFd<'_> = place.as_fd();
    Ok(move_mount(mount, c"", place, c"", flags)?)
}

/// Puts a mount where nothing is yet.
fn put_anew(mount: &OwnedFd, path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let stat = rustix::fs::fstat(mount)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => std::fs::create_dir(path)?,
        _ => drop(std::fs::File::create(path)?),
    }
    put(mount, &open(path, OFlags::NOFOLLOW)?)
}
