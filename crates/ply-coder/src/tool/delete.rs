//! The tool `delete`.

use std::path::PathBuf;

use ply_agent::v2;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Access, Change, Order, Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;
use crate::permission::is_secret;
use crate::workspace::{Doomed, Error, Kind, Leaf, Spot, label};

/// Files whose content is shown before they are deleted.
const CHANGES_MAX: usize = 20;
/// Bytes shown of all of them.
const CHANGES_BYTES_MAX: usize = 256 * 1024;
/// Deleted entries named in the result.
const NAMED_MAX: usize = 50;

/// Deletes a file or a directory.
#[derive(Debug, Clone, Copy, Default)]
pub struct Delete;

impl Tool for Delete {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "delete".to_owned(),
            description: "Deletes a file, a symbolic link (not its target) or an empty directory; with recursive = true, \
                a directory and everything in it, up to 1000 entries. This cannot be undone."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "What to delete, relative to the working directory or absolute."
                    },
                    "recursive": {
                        "type": "boolean",
                        "description": "Whether to delete a directory with everything in it. Default: false."
                    }
                },
                "required": ["path"]
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Delete
    }

    fn tidies_up(&self) -> bool {
        true
    }

    fn prepare<'t>(&'t self, arguments: Value, context: ToolContext<'t>) -> Preparing<'t> {
        Box::pin(async move {
            let arguments = Arguments::new(arguments)?;
            let path = arguments.text("path")?;
            let recursive = arguments.switch("recursive")?;
            let found = find(context, &path, recursive).await;
            let (spot, doomed) = found.map_err(|error| error.refuse("delete", &path))?;
            let label = context.workspace.label(&spot);
            let whole = doomed.len() > 1;
            Ok(Prepared {
                title: match whole {
                    true => format!("Delete `{label}` and {} entries in it", doomed.len() - 1),
                    false => format!("Delete `{label}`"),
                },
                kind: v2::ToolKind::Delete,
                locations: vec![(spot.shown.clone(), None)],
                changes: changes(context, &spot, &doomed).await,
                // Each of them, so that rules about what is inside are heard.
                access: doomed
                    .iter()
                    .map(|doomed| Access::Delete(doomed.beneath(&spot.real)))
                    .collect(),
                order: match spot.kind {
                    Kind::Directory => Order::Alone,
                    _ => Order::Paths(vec![spot.real.clone()]),
                },
                work: Box::pin(async move {
                    let done = told(&label, &doomed);
                    match work(context, &spot, doomed).await {
                        Ok(()) => Outcome::done(done),
                        Err(error) => error.refuse("delete", &label),
                    }
                }),
            })
        })
    }
}

async fn find(
    context: ToolContext<'_>,
    path: &str,
    recursive: bool,
) -> Result<(Spot, Vec<Doomed>), Error> {
    let spot = context.workspace.spot(path, Leaf::Keep).await?;
    let doomed = context.workspace.doomed(&spot).await?;
    if doomed.len() > 1 && !recursive {
        return Err(Error::NotEmpty);
    }
    check_saved(context, &spot).await?;
    Ok((spot, doomed))
}

/// Refuses a file with unsaved changes, which nobody could bring back.
pub(super) async fn check_saved(context: ToolContext<'_>, spot: &Spot) -> Result<(), Error> {
    if spot.kind != Kind::File {
        return Ok(());
    }
    match context.workspace.load(spot, context.surface).await {
        Ok(Some(loaded)) if loaded.unsaved => Err(Error::Unsaved),
        // A file that is no text has no buffer.
        _ => Ok(()),
    }
}

/// Returns the content of the first text files among what goes.
async fn changes(context: ToolContext<'_>, spot: &Spot, doomed: &[Doomed]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut bytes = 0;
    let files = doomed.iter().filter(|doomed| doomed.kind == Kind::File);
    for file in files.take(CHANGES_MAX) {
        let at = |place: &PathBuf| file.beneath(place);
        let spot = Spot {
            real: at(&spot.real),
            shown: at(&spot.shown),
            kind: Kind::File,
        };
        // It would be shown, and kept with the session, before anybody was asked. The question names it.
        if is_secret(&spot.real) || is_secret(&spot.shown) {
            continue;
        }
        let loaded = context.workspace.load(&spot, context.surface).await;
        let Ok(Some(loaded)) = loaded else {
            continue;
        };
        bytes += loaded.text.text.len();
        if bytes > CHANGES_BYTES_MAX {
            break;
        }
        changes.push(Change {
            path: spot.shown,
            old: Some(loaded.text.whole()),
            new: None,
        });
    }
    changes
}

async fn work(context: ToolContext<'_>, spot: &Spot, doomed: Vec<Doomed>) -> Result<(), Error> {
    let _changing = context.workspace.change().await;
    check_saved(context, spot).await?;
    context.workspace.remove(spot, doomed).await
}

fn told(name: &str, doomed: &[Doomed]) -> String {
    let mut text = format!("Deleted `{name}`.");
    let inside: Vec<_> = doomed
        .iter()
        .filter(|doomed| !doomed.path.as_os_str().is_empty())
        .collect();
    if inside.is_empty() {
        return text;
    }
    text.push_str(&format!(" With it went {} entries:\n", inside.len()));
    for doomed in inside.iter().take(NAMED_MAX) {
        text.push_str(&format!("{}\n", label(&doomed.path)));
    }
    if inside.len() > NAMED_MAX {
        text.push_str(&format!("[and {} more]\n", inside.len() - NAMED_MAX));
    }
    text
}
