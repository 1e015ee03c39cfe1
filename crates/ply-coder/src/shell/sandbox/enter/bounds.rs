//! How much of the machine a command may use.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Resource, Rlimit};
use rustix::thread::{NanosleepRelativeResult, Timespec, nanosleep};

use super::order::Order;

/// The first version of Linux whose process namespaces have a highest process id of their own. Before it,
/// changing that changes it for the whole system.
const OWN_HIGHEST_ID: (u32, u32) = (6, 14);
/// The least that a namespace can have as its highest process id.
const HIGHEST_ID_MIN: u64 = 301;
/// How often it is looked at what is in use.
const WATCH_TIME: Duration = Duration::from_millis(200);

/// Bounds this process and all that it starts. It must be in a namespace for processes if the order says
/// so. Returns whether there is a bound for the number of processes.
pub(super) fn set(order: &Order) -> io::Result<bool> {
    limit(Resource::Core, 0)?;
    if let Some(file) = order.file {
        limit(Resource::Fsize, file)?;
    }
    let Some(processes) = order.processes else {
        return Ok(true);
    };
    if !order.apart {
        // The limit would count all processes of the user.
        return Ok(false);
    }
    limit(Resource::Nproc, processes)?;
    if is_at_least(OWN_HIGHEST_ID) {
        let highest = processes.max(HIGHEST_ID_MIN).to_string();
        std::fs::write("/proc/sys/kernel/pid_max", highest)?;
        return Ok(true);
    }
    // Root is not bound by the limit.
    Ok(!rustix::process::getuid().is_root())
}

/// Lowers a limit, for good.
fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let now = rustix::process::getrlimit(resource);
    let most = now.maximum.map_or(most, |maximum| maximum.min(most));
    let limit = Rlimit {
        current: Some(now.current.map_or(most, |current| current.min(most))),
        maximum: Some(most),
    };
    rustix::process::setrlimit(resource, limit)?;
    Ok(())
}

fn is_at_least(wanted: (u32, u32)) -> bool {
    let release = rustix::system::uname();
    let release = release.release().to_string_lossy();
    version(&release).is_some_and(|version| version >= wanted)
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|char: char| !char.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Asks the system to take this process and all that it starts first if memory runs out.
pub(super) fn offer_first() {
    // Where it cannot be said, the system chooses as it does without.
    drop(std::fs::write("/proc/self/oom_score_adj", "1000"));
}

/// What a command uses together with all that it started, looked at from time to time: nothing tells that
/// memory was used, or a disk.
pub(super) struct Watch {
    /// How much memory they may use, in bytes.
    memory: Option<u64>,
    /// How much of the system's memory was in files and shared, in bytes.
    shared: u64,
    /// Directories on disks that have room, and how much of it must stay, in bytes.
    disks: Vec<(PathBuf, u64)>,
}

impl Watch {
    /// Begins to watch; none if there is nothing to watch for.
    pub(super) fn new(order: &Order) -> Option<Self> {
        let private = order.private.iter().map(|(place, _)| place);
        let places = order.writable.iter().chain(private);
        let disks = order.free.map_or_else(Vec::new, |least| {
            let has_room = |place: &&PathBuf| room(place).is_some_and(|room| room > least);
            let watched = places.filter(has_room);
            watched.map(|place| (place.clone(), least)).collect()
        });
        let watch = Self {
            memory: order.memory,
            shared: shared_memory(),
            disks,
        };
        (watch.memory.is_some() || !watch.disks.is_empty()).then_some(watch)
    }

    /// Waits until one of the bounds is passed, and says which.
    pub(super) fn passed(&self) -> String {
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: WATCH_TIME.subsec_nanos().into(),
        };
        loop {
            if let Some(words) = self.look() {
                return words;
            }
            if let NanosleepRelativeResult::Err(error) = nanosleep(&pause) {
                return format!("nobody watches what it uses any more ({error})");
            }
        }
    }

    fn look(&self) -> Option<String> {
        let page = rustix::param::page_size() as u64;
        // Files in memory belong to no process, and are not always mapped by one. What the system has more
        // of than at the beginning is taken for the command's.
        let grown = shared_memory().saturating_sub(self.shared);
        let used = in_use().saturating_mul(page).saturating_add(grown);
        if let Some(most) = self.memory.filter(|most| used > *most) {
            let most = most >> 20;
            return Some(format!("it used more than {most} MiB of memory"));
        }
        let full = |(place, least): &&(PathBuf, u64)| room(place).is_some_and(|it| it < *least);
        let (place, least) = self.disks.iter().find(full)?;
        let (place, least) = (place.display(), least >> 20);
        Some(format!("less than {least} MiB are free at {place}"))
    }
}

/// Returns how much room there is on the disk of a directory, in bytes.
fn room(place: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(place).ok()?;
    Some(about.f_bavail.saturating_mul(about.f_frsize))
}

/// Returns how much of the system's memory is in files and shared, in bytes.
fn shared_memory() -> u64 {
    let table = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kibibytes = table.lines().find_map(|line| {
        let size = line.strip_prefix("Shmem:")?.trim().strip_suffix("kB")?;
        size.trim().parse::<u64>().ok()
    });
    kibibytes.unwrap_or_default() << 10
}

/// Returns how many pages the processes have for themselves.
fn in_use() -> u64 {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return 0;
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let pages = names.filter_map(|name| {
        let pid: u32 = name.to_str()?.parse().ok()?;
        let sizes = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        own_pages(&sizes)
    });
    pages.sum()
}

/// Returns the pages that are in memory and not shared with a file, of those that a process has.
fn own_pages(sizes: &str) -> Option<u64> {
    let mut sizes = sizes.split(' ').skip(1);
    let resident: u64 = sizes.next()?.parse().ok()?;
    let shared: u64 = sizes.next()?.parse().ok()?;
    Some(resident.saturating_sub(shared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_kernel_are_read() {
        assert_eq!(version("6.18.44-fc-v445"), Some((6, 18)));
        assert_eq!(version("6.8-rc1"), Some((6, 8)));
        assert_eq!(version("odd"), None);
        assert!(version("10.1") > version("6.14"));
    }

    #[test]
    fn memory_that_is_shared_with_files_does_not_count() {
        assert_eq!(own_pages("2000 500 200 10 0 300 0\n"), Some(300));
        assert_eq!(own_pages("2000 500 700 10"), Some(0));
        assert_eq!(own_pages(""), None);
        assert!(in_use() > 0);
    }

    #[test]
    fn a_disk_without_room_is_not_watched_and_one_that_fills_up_is_named() {
        let place = tempfile::tempdir().unwrap();
        let order = |free| Order {
            writable: vec![place.path().to_owned()],
            free,
            ..Order::default()
        };
        assert!(Watch::new(&order(None)).is_none());
        assert!(Watch::new(&order(Some(u64::MAX))).is_none());
        let mut watch = Watch::new(&order(Some(0))).unwrap();
        assert_eq!(watch.look(), None);
        watch.disks[0].1 = u64::MAX;
        let words = watch.look().unwrap();
        assert!(words.contains(place.path().to_str().unwrap()), "{words}");
    }
}
