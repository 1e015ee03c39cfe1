//! The tool `list_dir`.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use ply_agent::v2;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Access, Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;
use crate::workspace::{Error, Inner, Kind, Show, Spot, Walk, Walked, label};

/// Entries shown.
const ENTRIES_MAX: usize = 500;
/// How deep a call may ask to look.
const DEPTH_MAX: usize = 16;

/// Lists a directory.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListDir;

impl Tool for ListDir {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "list_dir".to_owned(),
            description: "Lists a directory, sorted by name, without `.git` and files that git ignores. Directories \
                end with `/`; with depth, their contents follow, indented. Symbolic links end with `@` and are not \
                followed. Returns up to 500 entries; use glob to find files by name and grep to find them by \
                content."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "The directory, relative to the working directory or absolute. Default: the working directory."
                    },
                    "depth": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": DEPTH_MAX,
                        "description": "How many levels to show. Default: 1."
                    }
                }
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Read
    }

    fn prepare<'t>(&'t self, arguments: Value, context: ToolContext<'t>) -> Preparing<'t> {
        Box::pin(async move {
            let arguments = Arguments::new(arguments)?;
            let path = arguments.optional_text("path")?.unwrap_or(".".to_owned());
            let depth = arguments.count("depth")?.unwrap_or(1).clamp(1, DEPTH_MAX);
            let spot = context.workspace.spot_to_read(&path).await;
            let spot = spot.map_err(|error| error.refuse("list", &path))?;
            let label = context.workspace.label(&spot);
            let title = format!("List `{label}`");
            let (shown, real) = (spot.shown.clone(), spot.real.clone());
            Ok(Prepared::new(title, v2::ToolKind::Read, async move {
                let listed = context
                    .workspace
                    .blocking(move |inner| list(inner, &spot, depth))
                    .await;
                listed.map_or_else(|error| error.refuse("list", &label), Outcome::done)
            })
            .touches(shown, None)
            .needs(Access::Read(real)))
        })
    }
}

fn list(inner: &Inner, spot: &Spot, depth: usize) -> Result<String, Error> {
    match spot.kind {
        Kind::Directory => {}
        Kind::Missing => return Err(Error::NotFound),
        _ => return Err(Error::NotADirectory),
    }
    let mut out = String::new();
    let mut count = 0;
    // Bounded by how many entries are looked at and shown, so nobody needs to stop it.
    let stop = AtomicBool::new(false);
    let walk = Walk {
        show: Show::Kept,
        depth,
        contents_first: false,
        stop: &stop,
    };
    let walked = inner.walk(spot, walk, &mut |entry| {
        if count == ENTRIES_MAX {
            return Ok(ControlFlow::Break(()));
        }
        count += 1;
        let indent = entry.path.components().count().saturating_sub(1) * 2;
        let name = entry.path.file_name().unwrap_or_default();
        let mark = match entry.kind {
            Kind::Directory => "/",
            Kind::Link => "@",
            _ => "",
        };
        let name = label(name.as_ref());
        out.push_str(&format!("{:indent$}{name}{mark}\n", ""));
        Ok(ControlFlow::Continue(()))
    })?;
    match walked {
        Walked::Whole if out.is_empty() => {
            out.push_str("[The directory is empty, or git ignores all that is in it.]");
        }
        Walked::Whole => {}
        Walked::Cut | Walked::Stopped => out.push_str(
            "[There is more. List a directory further down, use less depth, or use glob.]",
        ),
    }
    Ok(out)
}
