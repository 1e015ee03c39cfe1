//! How much of the machine a command may use.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit};
use rustix::thread::{NanosleepRelativeResult, Timespec, nanosleep};

use super::order::Order;

/// The first version of Linux whose process namespaces have a highest process id of their own. Before it,
/// changing that changes it for the whole system.
const OWN_HIGHEST_ID: (u32, u32) = (6, 14);
/// The least that a namespace can have as its highest process id.
const HIGHEST_ID_MIN: u64 = 301;
/// How often the memory in use is added up.
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

/// Waits until all processes that are in sight use more memory than `most`, in bytes.
pub(super) fn exceeded(most: u64) {
    let page = rustix::param::page_size() as u64;
    let pause = Timespec {
        tv_sec: 0,
        tv_nsec: WATCH_TIME.subsec_nanos().into(),
    };
    // Nothing tells that memory was used, so it is looked at from time to time.
    while in_use().saturating_mul(page) <= most {
        if let NanosleepRelativeResult::Err(_) = nanosleep(&pause) {
            return;
        }
    }
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
}
