//! `ply serve --install`: the hub as a service of the user's systemd.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ply_client::text;

use crate::program::{Error, home, output};

const NAME: &str = "ply-hub.service";

/// Writes the unit.
pub(super) fn install(store: Option<&Path>) -> Result<ExitCode, Error> {
    let program = std::env::current_exe().map_err(Error::Start)?;
    let store = store
        .map(std::path::absolute)
        .transpose()
        .map_err(Error::Start)?;
    let directory = directory(home::variable).ok_or(Error::NoStore)?;
    let path = directory.join(NAME);
    let written = std::fs::create_dir_all(&directory)
        .and_then(|()| std::fs::write(&path, unit(&program, store.as_deref())));
    written.map_err(|error| Error::Hub(format!("{}: {error}", text::path(&path))))?;
    output::line(&format!("wrote {}", text::path(&path)));
    output::line("enable it with: systemctl --user enable --now ply-hub");
    Ok(ExitCode::SUCCESS)
}

/// Returns where systemd looks for units of the user, by the XDG Base Directory Specification.
fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|it| it.is_absolute())
    };
    let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    config.map(|config| config.join("systemd/user"))
}

/// Returns the unit. Only the hub ends with it: agents go on behind their holders, and the next hub takes them over.
fn unit(program: &Path, store: Option<&Path>) -> String {
    let store = store.map(|store| format!(" --store {}", quoted(store)));
    format!(
        "[Unit]\n\
         Description=Ply hub: agent sessions that outlive their editors\n\n\
         [Service]\n\
         ExecStart={} serve{}\n\
         Restart=on-failure\n\
         TimeoutStopSec=90\n\
         KillMode=process\n\n\
         [Install]\n\
         WantedBy=default.target\n",
        quoted(program),
        store.unwrap_or_default()
    )
}

/// Writes a path as one word of a unit file.
fn quoted(path: &Path) -> String {
    let mut word = String::from("\"");
    for letter in path.to_string_lossy().chars() {
        match letter {
            '"' | '\\' => word.extend(['\\', letter]),
            // Specifiers and variables begin with these.
            '%' | '$' => word.extend([letter, letter]),
            letter => word.push(letter),
        }
    }
    word.push('"');
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_starts_this_program_and_leaves_agents_alone() {
        let unit = unit(
            Path::new("/opt/100% \"mine\"/ply"),
            Some(Path::new("/a b.db")),
        );
        let start = r#"ExecStart="/opt/100%% \"mine\"/ply" serve --store "/a b.db""#;
        assert!(unit.lines().any(|line| line == start), "{unit}");
        assert!(
            unit.lines().any(|line| line == "KillMode=process"),
            "{unit}"
        );
    }
}
