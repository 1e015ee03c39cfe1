//! The connections of a check, saved as traces.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use ply_check::report::Run;
use ply_check::trace::Header;

use crate::program::error::Error;

/// Characters of the name of a probe that are part of the name of a file.
const NAME_CHARS_MAX: usize = 40;

/// Where the connections of a check are saved, if anywhere.
#[derive(Debug)]
pub(crate) struct Records {
    directory: Option<PathBuf>,
    header: Header,
}

impl Records {
    /// Makes the directory, or takes one that is empty: files of an earlier check would be taken for this one's.
    pub(crate) fn open(directory: Option<&Path>, command: &[OsString]) -> Result<Self, Error> {
        if let Some(directory) = directory {
            let failed = |source| Error::File {
                path: directory.to_owned(),
                source,
            };
            std::fs::create_dir_all(directory).map_err(failed)?;
            if std::fs::read_dir(directory)
                .map_err(failed)?
                .next()
                .is_some()
            {
                let path = ply_client::text::path(directory);
                let what =
                    format!("{path} is not empty; `--record` takes a new or empty directory");
                return Err(Error::Check(what));
            }
        }
        let words = command.iter().map(|word| word.to_string_lossy());
        let started = jiff::Timestamp::now();
        Ok(Self {
            directory: directory.map(Path::to_owned),
            header: Header::new(format!("{started:.3}"), words, true),
        })
    }

    /// Saves what a run recorded, and notes the files in it.
    pub(crate) fn save(&self, mut run: Run) -> Result<Run, Error> {
        let Some(directory) = &self.directory else {
            return Ok(run);
        };
        let mut traces = Vec::new();
        for (place, recording) in run.findings.recordings.iter().enumerate() {
            if recording.is_empty() {
                traces.push(None);
                continue;
            }
            let name = file_name(run.number(), place, &recording.name());
            let path = directory.join(name);
            let written = create(&path).and_then(|file| recording.write_trace(file, &self.header));
            written.map_err(|source| Error::File {
                path: path.clone(),
                source,
            })?;
            traces.push(Some(path.to_string_lossy().into_owned()));
        }
        run.traces = traces;
        Ok(run)
    }
}

/// Returns the name of a file: the version, the place of the connection in the check, and what it was for.
fn file_name(version: u8, place: usize, probe: &str) -> String {
    let words = probe.split(|char: char| !char.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let name: String = words.join("-").chars().take(NAME_CHARS_MAX).collect();
    let name = name.trim_end_matches('-');
    format!("v{version}-{:03}-{name}.ndjson", place + 1)
}

/// Makes a file that only its owner can read, as every trace.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_by_what_it_is_about() {
        assert_eq!(
            file_name(1, 2, "an `MCP` server, with a variable that is named twice"),
            "v1-003-an-MCP-server-with-a-variable-that-is-na.ndjson"
        );
        assert_eq!(file_name(2, 0, "plain"), "v2-001-plain.ndjson");
    }
}
