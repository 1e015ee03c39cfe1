//! `ply sessions rm`.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::ExitCode;

use ply_journal::{Head, Journal as _};
use serde::Serialize;

use super::Store;
use crate::program::arguments::Rm;
use crate::program::{Error, json, output};
use ply_client::text::{self, Line};

/// What came of it, as JSON. The names are promised to scripts.
#[derive(Debug, Default, Serialize)]
struct Outcome {
    deleted: Vec<String>,
    failed: Vec<Failure>,
    #[serde(skip)]
    exit_code: u8,
}

#[derive(Debug, Serialize)]
struct Failure {
    id: String,
    error: String,
}

impl Outcome {
    fn failed(&mut self, id: &str, error: &Error) {
        error.tell();
        self.failed.push(Failure {
            id: id.to_owned(),
            error: error.to_string(),
        });
        // The first failure gives the code.
        if self.exit_code == 0 {
            self.exit_code = error.exit_code();
        }
    }
}

pub(super) async fn run(store: &Store, arguments: Rm) -> Result<ExitCode, Error> {
    let mut outcome = Outcome::default();
    let mut found: Vec<Head> = Vec::new();
    let mut seen = BTreeSet::new();
    for id in &arguments.ids {
        match store.find(id).await {
            Ok((head, _)) if seen.insert(head.id.clone()) => found.push(head),
            Ok(_) => {}
            Err(error) => outcome.failed(id, &error.of_store(&store.path)),
        }
    }
    let is_agreed = arguments.yes || found.is_empty() || !output::can_ask() || ask(&found)?;
    if !is_agreed {
        output::tell("nothing was deleted");
        return Ok(ExitCode::from(outcome.exit_code));
    }
    for head in found {
        match store.journal.delete(&head.id).await {
            Ok(true) => {
                output::tell(&format!("deleted {}", Line(&head.id)));
                outcome.deleted.push(head.id);
            }
            // Somebody else was faster.
            Ok(false) => outcome.failed(&head.id, &ply_journal::Error::Deleted.into()),
            Err(error) => {
                let error = Error::from(error).of_store(&store.path);
                outcome.failed(&head.id, &error);
            }
        }
    }
    if arguments.json {
        let mut out = output::stdout();
        let written = json::write(&mut out, &outcome);
        written.and_then(|()| out.flush()).map_err(Error::Output)?;
    }
    Ok(ExitCode::from(outcome.exit_code))
}

fn ask(found: &[Head]) -> Result<bool, Error> {
    for head in found {
        let title = Line(head.title.as_deref().unwrap_or("-"));
        output::tell(&format!(
            "{}  {title}  {}",
            Line(&head.id),
            text::path(&head.cwd)
        ));
    }
    let question = match found.len() {
        1 => "delete this session permanently?".to_owned(),
        count => format!("delete these {count} sessions permanently?"),
    };
    output::ask(&question).map_err(Error::Input)
}
