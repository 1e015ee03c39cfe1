//! The class of machine the numbers were taken on.

use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Machine {
    cores: usize,
    cpu: String,
    kernel: String,
    memory_mib: u64,
    /// The load when the benchmark began: above about 0.2 the numbers are noise.
    load_1min: f64,
    rustc: String,
}

impl Machine {
    pub(super) fn read() -> Self {
        let cpuinfo = read("/proc/cpuinfo");
        let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
        let meminfo = read("/proc/meminfo");
        let total = meminfo.lines().find(|line| line.starts_with("MemTotal"));
        Machine {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            cpu: after_colon(model).unwrap_or_else(|| "unknown CPU".to_owned()),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            memory_mib: first_number(after_colon(total)).unwrap_or(0) / 1024,
            load_1min: first_number(Some(read("/proc/loadavg"))).unwrap_or(0.0),
            rustc: rustc_version().unwrap_or_else(|| "unknown rustc".to_owned()),
        }
    }

    pub(super) fn text(&self) -> String {
        format!(
            "{} cores, {}, {} MiB, Linux {}, {}, load {:.2} at the start",
            self.cores, self.cpu, self.memory_mib, self.kernel, self.rustc, self.load_1min
        )
    }
}

/// A file that is not there leaves its field unknown; it must not fail the benchmark.
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn after_colon(line: Option<&str>) -> Option<String> {
    let (_, value) = line?.split_once(':')?;
    Some(value.trim().to_owned())
}

fn first_number<T: std::str::FromStr>(text: Option<String>) -> Option<T> {
    text?.split_whitespace().next()?.parse().ok()
}

fn rustc_version() -> Option<String> {
    let output = std::process::Command::new("rustc")
        .arg("-V")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut words = text.split_whitespace();
    Some(format!("{} {}", words.next()?, words.next()?))
}
