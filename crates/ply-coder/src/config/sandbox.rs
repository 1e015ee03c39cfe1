//! `[sandbox]`: how commands are to be confined.

use std::path::{Path, PathBuf};

use super::ConfigError;
use super::credentials;
use super::table::Table;
use crate::shell::{Bounds, Host, Sandbox};

/// The most that can be said of a number of processes.
const PROCESSES_MAX: u64 = 1 << 22;
/// The most that can be said of memory and files, in MiB.
const MEBIBYTES_MAX: u64 = 1 << 30;

/// What the file says of the sandbox.
#[derive(Debug, Default)]
pub(super) struct SandboxLines {
    enabled: Option<bool>,
    required: Option<bool>,
    network: Option<bool>,
    hosts: Vec<Host>,
    bounds: Bounds,
    /// As they are written, each with its line.
    writable: Vec<(usize, String)>,
    hidden: Vec<(usize, String)>,
    readable: Vec<(usize, String)>,
}

/// Reads the section, if there is one.
pub(super) fn read(table: &mut Table<'_>) -> Result<SandboxLines, ConfigError> {
    let Some((text, sandbox)) = table.table("sandbox")? else {
        return Ok(SandboxLines::default());
    };
    let mut sandbox = Table::new(text, "[sandbox]", sandbox);
    let mut bounds = Bounds::default();
    let enabled = sandbox.flag("enabled")?;
    let read = SandboxLines {
        enabled,
        required: sandbox.flag("required")?,
        network: sandbox.flag("network")?,
        hosts: hosts(sandbox.strings("hosts")?)?,
        writable: sandbox.strings("writable")?,
        hidden: sandbox.strings("hidden")?,
        readable: sandbox.strings("readable")?,
        bounds: {
            let mebibytes = |number: Option<u64>| number.map(|number| number << 20);
            bounds.processes = sandbox.number("max_processes", PROCESSES_MAX)?;
            bounds.memory = mebibytes(sandbox.number("max_memory_mib", MEBIBYTES_MAX)?);
            bounds.file = mebibytes(sandbox.number("max_file_mib", MEBIBYTES_MAX)?);
            bounds.free = mebibytes(sandbox.number("min_free_mib", MEBIBYTES_MAX)?);
            bounds
        },
    };
    sandbox.end()?;
    Ok(read)
}

fn hosts(lines: Vec<(usize, String)>) -> Result<Vec<Host>, ConfigError> {
    let host = |(line, text): (usize, String)| {
        let host = text.parse();
        host.map_err(|what: String| ConfigError::Line {
            line,
            what: format!("in `hosts`, {what}"),
        })
    };
    lines.into_iter().map(host).collect()
}

impl SandboxLines {
    /// Returns a sandbox with what the file says.
    pub(super) fn apply(
        &self,
        sandbox: Sandbox,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Sandbox, ConfigError> {
        let home = env("HOME");
        let paths = |lines: &[(usize, String)], key: &str| -> Result<Vec<_>, _> {
            lines
                .iter()
                .map(|line| path(line, key, home.as_deref()))
                .collect()
        };
        let readable: Vec<PathBuf> = paths(&self.readable, "readable")?;
        let mut hidden = credentials::places(env);
        hidden.extend(paths(&self.hidden, "hidden")?);
        hidden.retain(|place| !readable.contains(place));
        let mut sandbox = Sandbox {
            enabled: self.enabled.unwrap_or(sandbox.enabled),
            required: self.required,
            network: self.network,
            hosts: self.hosts.clone(),
            bounds: self.bounds,
            writable: paths(&self.writable, "writable")?,
            hidden,
            readable,
            home: home.clone().map(PathBuf::from),
            ..sandbox
        };
        // The first one is where commands are pointed to, and where there is room for what they put there.
        let own = env("TMPDIR").map(PathBuf::from);
        sandbox.temporary.splice(0..0, own);
        Ok(sandbox)
    }
}

/// Reads a path. `~/` stands for the home directory.
fn path(
    (line, text): &(usize, String),
    key: &str,
    home: Option<&str>,
) -> Result<PathBuf, ConfigError> {
    let below_home = match text.as_str() {
        "~" => Some(""),
        text => text.strip_prefix("~/"),
    };
    let path = match (below_home, home) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        _ => PathBuf::from(text),
    };
    match path.is_absolute() {
        true => Ok(path),
        false => Err(ConfigError::Line {
            line: *line,
            what: format!("`{text}` in `{key}` must be an absolute path, or begin with `~/`"),
        }),
    }
}
