//! `ply sessions export`.

mod file;
pub(in crate::program) mod markdown;
mod ndjson;

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use ply_agent::read_history;
use ply_journal::{Head, Records};

use self::file::NewFile;
use super::{Store, tell_damaged};
use crate::program::arguments::{Export, Format};
use crate::program::json::Harmless;
use crate::program::{Error, output};

pub(super) async fn run(store: &Store, arguments: Export) -> Result<(), Error> {
    let Export {
        id,
        format,
        output,
        force,
    } = arguments;
    // Looked at before a long session is read in vain, and again when the file is put in its place.
    let target = output.as_deref().map(|path| file::target(path, force));
    let target = target.transpose()?;
    let (head, records) = store.find(&id).await?;
    let damaged = match target {
        Some(path) => to_file(&path, force, format, &head, &*records).await?,
        None => to_stdout(format, &head, &*records).await?,
    };
    tell_damaged(damaged);
    Ok(())
}

async fn to_stdout(format: Format, head: &Head, records: &dyn Records) -> Result<u64, Error> {
    let mut out = output::stdout();
    let damaged = match format {
        // Exactly what is stored, unless it would reach a terminal.
        Format::Ndjson if io::stdout().is_terminal() => {
            write(&mut Harmless(&mut out), format, head, records).await?
        }
        _ => write(&mut out, format, head, records).await?,
    };
    out.flush().map_err(Error::Output)?;
    Ok(damaged)
}

async fn to_file(
    path: &Path,
    force: bool,
    format: Format,
    head: &Head,
    records: &dyn Records,
) -> Result<u64, Error> {
    let failed = |source| Error::File {
        path: path.to_owned(),
        source,
    };
    let mut file = NewFile::create(path).map_err(failed)?;
    let written = write(file.writer(), format, head, records).await;
    let damaged = written.map_err(|error| match error {
        Error::Output(source) => failed(source),
        error => error,
    })?;
    match file.put(force) {
        Ok(()) => Ok(damaged),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Error::Exists(path.to_owned()))
        }
        Err(error) => Err(failed(error)),
    }
}

/// Writes a session and returns how many records cannot be read.
async fn write(
    out: &mut impl Write,
    format: Format,
    head: &Head,
    records: &dyn Records,
) -> Result<u64, Error> {
    match format {
        Format::Ndjson => ndjson::write(out, head, records).await,
        Format::Md => {
            let (history, damaged) = read_history(records).await?;
            let heading = markdown::Heading {
                title: head.title.as_deref(),
                id: &head.id,
                cwd: &head.cwd,
                times: Some((head.created_ms, head.updated_ms)),
                damaged,
            };
            let is_refused = |place| history.is_refused(place);
            let written = markdown::write(out, &heading, history.transcript(), &is_refused);
            written.map_err(Error::Output)?;
            Ok(damaged)
        }
    }
}
