//! How much of the machine a command may use.

/// Processes and threads that every machine can bear.
const PROCESSES_BASE: u64 = 1024;
/// How many more for each processor: compilers and linkers start several for each.
const PROCESSES_EACH: u64 = 64;
/// How long a file may get, in bytes.
const FILE_BYTES: u64 = 16 << 30;
/// How much room stays free on a disk, in bytes. A command that writes 1 GiB/s is ended before it is used up.
const FREE_BYTES: u64 = 512 << 20;

/// How much of the machine one command may use, with everything it starts. What is not said is chosen by
/// the size of the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// How many processes and threads it may have at once.
    pub processes: Option<u64>,
    /// How much memory it may use, in bytes.
    pub memory: Option<u64>,
    /// How long a file that it writes may get, in bytes.
    pub file: Option<u64>,
    /// How much room must stay free on the disks that it writes to, in bytes. A disk that has less when it
    /// starts is not watched.
    pub free: Option<u64>,
}

impl Bounds {
    /// Returns the bounds with those that were not said.
    pub(super) fn or_by_machine(self) -> Self {
        let processors = std::thread::available_parallelism();
        let processors = processors.map_or(1, std::num::NonZero::get) as u64;
        let memory = || {
            let table = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
            // A quarter stays for everything else.
            Some(total_memory(&table)? / 4 * 3)
        };
        let processes = PROCESSES_BASE + PROCESSES_EACH * processors;
        Self {
            processes: self.processes.or(Some(processes)),
            memory: self.memory.or_else(memory),
            file: self.file.or(Some(FILE_BYTES)),
            free: self.free.or(Some(FREE_BYTES)),
        }
    }
}

/// Reads how much memory there is, in bytes.
fn total_memory(table: &str) -> Option<u64> {
    let line = table
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_chosen_by_the_machine() {
        let table = "MemTotal:       24682416 kB\nMemFree: 1 kB\n";
        assert_eq!(total_memory(table), Some(24_682_416 << 10));
        assert_eq!(total_memory("odd"), None);
        let bounds = Bounds {
            processes: Some(7),
            ..Bounds::default()
        };
        let bounds = bounds.or_by_machine();
        assert_eq!(bounds.processes, Some(7));
        assert!(bounds.memory.is_some() && bounds.file == Some(FILE_BYTES));
    }
}
