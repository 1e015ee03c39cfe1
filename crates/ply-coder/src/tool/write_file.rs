//! The tool `write_file`.

use ply_agent::v2;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::edit_file::told;
use super::{Access, Change, Order, Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;
use crate::workspace::{Error, Loaded, READ_BYTES_MAX, Spot, Text};

/// Makes a file, or replaces all of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct WriteFile;

impl Tool for WriteFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write_file".to_owned(),
            description: "Creates a file with the given content, and its parent directories, or replaces the whole \
                content of a file that you have read with read_file. Use edit_file to change part of a file."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "The file, relative to the working directory or absolute."
                    },
                    "content": {"type": "string", "description": "The whole content."}
                },
                "required": ["path", "content"]
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Edit
    }

    fn tidies_up(&self) -> bool {
        true
    }

    fn prepare<'t>(&'t self, arguments: Value, context: ToolContext<'t>) -> Preparing<'t> {
        Box::pin(async move {
            let arguments = Arguments::new(arguments)?;
            let path = arguments.text("path")?;
            let content = arguments.text("content")?;
            let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
            if bytes > READ_BYTES_MAX {
                return Err(Error::TooLarge { bytes }.refuse("write", &path));
            }
            let spot = context.workspace.file(&path).await;
            let spot = spot.map_err(|error| error.refuse("write", &path))?;
            let label = context.workspace.label(&spot);
            let old = current(context, &spot).await;
            let old = old.map_err(|error| error.refuse("write", &label))?;
            let new = Text::new(content);
            let verb = if old.is_some() { "Overwrite" } else { "Create" };
            Ok(Prepared {
                title: format!("{verb} `{label}`"),
                kind: v2::ToolKind::Edit,
                locations: vec![(spot.shown.clone(), None)],
                changes: vec![change(&spot, old.as_ref(), &new)],
                access: vec![Access::Write(spot.real.clone())],
                order: Order::Paths(vec![spot.real.clone()]),
                work: Box::pin(async move {
                    let worked = work(context, &spot, &label, old.as_ref(), new).await;
                    worked.unwrap_or_else(|error| error.refuse("write", &label))
                }),
            })
        })
    }
}

/// Returns the file as it is, which the model must know if there is anything in it.
async fn current(context: ToolContext<'_>, spot: &Spot) -> Result<Option<Loaded>, Error> {
    let loaded = context.workspace.load(spot, context.surface).await?;
    if let Some(loaded) = &loaded
        && !loaded.text.text.is_empty()
    {
        context.workspace.check_seen(spot, loaded)?;
    }
    Ok(loaded)
}

fn change(spot: &Spot, old: Option<&Loaded>, new: &Text) -> Change {
    Change {
        path: spot.shown.clone(),
        old: old.map(|old| old.text.whole()),
        new: Some(new.whole()),
    }
}

async fn work(
    context: ToolContext<'_>,
    spot: &Spot,
    label: &str,
    announced: Option<&Loaded>,
    new: Text,
) -> Result<Outcome, Error> {
    let _changing = context.workspace.change().await;
    // The user agreed to lose what was announced, and nothing else.
    let landed = context
        .workspace
        .store(spot, announced, new.clone(), context.surface)
        .await?;
    let verb = if announced.is_some() {
        "Overwrote"
    } else {
        "Created"
    };
    // The model knows what it wrote, so only what is not as it wrote it is told.
    let mut outcome = told(label, verb, &new, &[], &landed);
    if landed.text != new {
        outcome.changes = Some(vec![change(spot, announced, &landed.text)]);
    }
    Ok(outcome)
}
