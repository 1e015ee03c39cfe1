//! `ply hub doctor`: whether everything is there that the hub needs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ply_client::text::{self, Line};
use ply_hub::Place;
use ply_hub::ask::{Ask, Status, Told};
use ply_journal::{Filter, Journal as _, Sqlite};

use super::{config, place};
use crate::program::error::FAILED;
use crate::program::{Error, home, output, store};

/// What was found out about one thing.
enum Finding {
    Good(String),
    /// What is wrong, and what to do about it.
    Bad(String),
}
use Finding::{Bad, Good};

/// Looks at everything in turn, and says what it finds.
pub(crate) async fn run(given: Option<PathBuf>) -> Result<ExitCode, Error> {
    let path = store::path(given.clone(), home::variable)?;
    let path = std::path::absolute(&path).map_err(Error::Start)?;
    let findings = [
        directory(),
        hub(given, &path).await,
        kept(&path).await,
        notify(),
    ];
    let mut is_well = true;
    for finding in findings {
        match finding {
            Good(words) => output::line(&format!("ok     {words}")),
            Bad(words) => {
                is_well = false;
                output::line(&format!("wrong  {words}"));
            }
        }
    }
    Ok(if is_well {
        ExitCode::SUCCESS
    } else {
        FAILED.into()
    })
}

fn directory() -> Finding {
    let Some(path) = place::directory(home::variable) else {
        return Bad("there is no directory for the socket: set HOME or XDG_RUNTIME_DIR".to_owned());
    };
    if !path.exists() {
        return Good(format!("{}: made by the first hub", text::path(&path)));
    }
    match Place::at(&path) {
        Ok(place) => Good(format!(
            "{}: only you can enter it",
            text::path(place.path())
        )),
        Err(error) => Bad(error.to_string()),
    }
}

async fn hub(given: Option<PathBuf>, store: &Path) -> Finding {
    let is_known = place::directory(home::variable).is_some_and(|path| path.exists());
    let told = match is_known {
        true => place::ask(given, Ask::Status).await,
        false => Ok(None),
    };
    match told {
        Ok(Some(Told::Status(status))) => answer(&status, store),
        Ok(_) => Good("no hub runs; `ply attach` starts one".to_owned()),
        Err(error) => Bad(format!(
            "{error}; `ply hub logs` names its log, and `ply hub stop --now` ends it"
        )),
    }
}

fn answer(status: &Status, store: &Path) -> Finding {
    let Status { pid, version, .. } = status;
    if version != env!("CARGO_PKG_VERSION") {
        return Bad(format!(
            "the hub (process {pid}) is version {version}, and this program is {}; `ply hub stop` ends it once its turns are \
             done, and the next client starts the new one",
            env!("CARGO_PKG_VERSION")
        ));
    }
    if status.store != store {
        return Bad(format!(
            "the hub (process {pid}) keeps its sessions in {}, and yours are in {}; set PLY_STORE alike for both",
            text::path(&status.store),
            text::path(store)
        ));
    }
    Good(format!("the hub runs: process {pid}, version {version}"))
}

fn notify() -> Finding {
    match config::notify() {
        Ok(command) => match command.first() {
            Some(program) => Good(format!("questions that wait are told to `{}`", Line(program))),
            None => Good("questions that wait are told to nobody; `[hub] notify` in config.toml names a command".to_owned()),
        },
        Err(error) => Bad(error.to_string()),
    }
}

async fn kept(store: &Path) -> Finding {
    if !store.exists() {
        return Good(format!(
            "{}: made with the first session",
            text::path(store)
        ));
    }
    let journal = Sqlite::new(store);
    let listed = journal.list(Filter::new(1)).await;
    // Nothing was written that could be lost.
    drop(journal.close().await);
    match listed {
        Ok(_) => Good(format!("{}: sessions can be read", text::path(store))),
        Err(error) => Bad(format!("{}: {error}", text::path(store))),
    }
}
