//! `ply hub logs`: the end of the log.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::ExitCode;

use ply_client::text::{self, Line};

use super::place;
use crate::program::{Error, output};

/// Lines that are shown.
const LINES_MAX: usize = 200;
/// Bytes from the end of the log that are read for them.
const BYTES_MAX: u64 = 256 * 1024;

/// Shows the last lines, and on standard error where the rest is.
pub(super) fn run() -> Result<ExitCode, Error> {
    let path = place::find()?.log();
    let shown = text::path(&path);
    let text = match tail(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            output::tell(&format!(
                "no log yet: {shown} does not exist; a hub that runs in the foreground or under systemd logs to its standard error"
            ));
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => return Err(Error::Hub(format!("{shown}: {error}"))),
    };
    output::tell(&shown);
    let mut out = output::stdout();
    let written = last(&text).try_for_each(|line| writeln!(out, "{}", Line(line)));
    written.and_then(|()| out.flush()).map_err(Error::Output)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the end of a file, from the beginning of a line on.
fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let skipped = file.metadata()?.len().saturating_sub(BYTES_MAX);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(match text.split_once('\n') {
        Some((_, whole)) if skipped > 0 => whole.to_owned(),
        _ => text,
    })
}

/// Returns the last lines.
fn last(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().count();
    text.lines().skip(lines.saturating_sub(LINES_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_log_is_shown_in_whole_lines() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hub.log");
        let log: String = (0..40_000).map(|line| format!("line {line}\n")).collect();
        std::fs::write(&path, log).unwrap();
        let text = tail(&path).unwrap();
        assert!(text.starts_with("line "), "{}", &text[..20]);
        let shown: Vec<&str> = last(&text).collect();
        assert_eq!(shown.len(), LINES_MAX);
        assert_eq!(shown.last(), Some(&"line 39999"));
        std::fs::write(&path, "one\ntwo").unwrap();
        let text = tail(&path).unwrap();
        assert_eq!(last(&text).collect::<Vec<_>>(), ["one", "two"]);
    }
}
