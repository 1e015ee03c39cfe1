//! The tool `move_file`.

use ply_agent::v2;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::delete::check_saved;
use super::{Access, Order, Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;
use crate::workspace::{Doomed, Error, Kind, Leaf, Spot};

/// Moves a file or a directory, or gives it another name.
#[derive(Debug, Clone, Copy, Default)]
pub struct MoveFile;

impl Tool for MoveFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "move_file".to_owned(),
            description: "Moves or renames a file, a symbolic link or a directory of up to 1000 entries. Parent \
                directories of the new path are created. Nothing is overwritten: the new path must be free."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "from": {
                        "type": "string",
                        "description": "What to move, relative to the working directory or absolute."
                    },
                    "to": {
                        "type": "string",
                        "description": "The new path, including the name; not the directory to move it into."
                    }
                },
                "required": ["from", "to"]
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Move
    }

    fn tidies_up(&self) -> bool {
        true
    }

    fn prepare<'t>(&'t self, arguments: Value, context: ToolContext<'t>) -> Preparing<'t> {
        Box::pin(async move {
            let arguments = Arguments::new(arguments)?;
            let (from_path, to_path) = (arguments.text("from")?, arguments.text("to")?);
            let from = source(context, &from_path).await;
            let from = from.map_err(|error| error.refuse("move", &from_path))?;
            let to = target(context, &from, &to_path).await;
            let to = to.map_err(|error| error.refuse("move to", &to_path))?;
            let moved = context.workspace.doomed(&from).await;
            let moved = moved.map_err(|error| error.refuse("move", &from_path))?;
            let from_label = context.workspace.label(&from);
            let to_label = context.workspace.label(&to);
            Ok(Prepared {
                title: format!("Move `{from_label}` to `{to_label}`"),
                kind: v2::ToolKind::Move,
                locations: vec![(from.shown.clone(), None), (to.shown.clone(), None)],
                changes: Vec::new(),
                access: access(&from, &to, &moved),
                order: match from.kind {
                    Kind::Directory => Order::Alone,
                    _ => Order::Paths(vec![from.real.clone(), to.real.clone()]),
                },
                work: Box::pin(async move {
                    match work(context, &from, &to, &moved).await {
                        Ok(()) => Outcome::done(format!("Moved `{from_label}` to `{to_label}`.")),
                        Err(error) => error.refuse("move", &from_label),
                    }
                }),
            })
        })
    }
}

async fn source(context: ToolContext<'_>, path: &str) -> Result<Spot, Error> {
    let spot = context.workspace.spot(path, Leaf::Keep).await?;
    match spot.kind {
        Kind::Missing => Err(Error::NotFound),
        Kind::Special => Err(Error::Special),
        Kind::File | Kind::Directory | Kind::Link => Ok(spot),
    }
}

async fn target(context: ToolContext<'_>, from: &Spot, path: &str) -> Result<Spot, Error> {
    let spot = context.workspace.spot(path, Leaf::Keep).await?;
    if spot.kind != Kind::Missing {
        return Err(Error::Exists);
    }
    if spot.real.starts_with(&from.real) {
        return Err(Error::NotADirectory);
    }
    check_saved(context, from).await?;
    Ok(spot)
}

/// Returns what a move needs: for everything that goes, all that it would take to do it by hand. What is
/// moved can be read and changed under its new name, where rules about the old one say nothing.
fn access(from: &Spot, to: &Spot, moved: &[Doomed]) -> Vec<Access> {
    // The place itself comes last, and is what the question is about.
    let entries = moved.iter().rev();
    entries
        .flat_map(|entry| {
            let (old, new) = (entry.beneath(&from.real), entry.beneath(&to.real));
            [
                Access::Delete(old.clone()),
                Access::Read(old),
                Access::Write(new),
            ]
        })
        .collect()
}

async fn work(
    context: ToolContext<'_>,
    from: &Spot,
    to: &Spot,
    announced: &[Doomed],
) -> Result<(), Error> {
    let _changing = context.workspace.change().await;
    check_saved(context, from).await?;
    // Something else may have been put in since it was allowed.
    if context.workspace.doomed(from).await? != announced {
        return Err(Error::Moved);
    }
    context.workspace.rename(from, to).await
}
