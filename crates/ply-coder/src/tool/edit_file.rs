//! The tool `edit_file`.

use ply_agent::v2;
use serde_json::{Value, json};

use self::apply::{Applied, apply};
use self::ladder::Edit;
use super::arguments::Arguments;
use super::lines::{line_at, snippet};
use super::{Access, Change, Order, Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;
use crate::workspace::{Error, Landed, Loaded, READ_BYTES_MAX, Spot, Text};

pub(super) mod apply;
pub(super) mod ladder;
pub(super) mod words;

#[cfg(test)]
mod tests;

/// Edits of one call.
const EDITS_MAX: usize = 100;

/// Changes parts of a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct EditFile;

impl Tool for EditFile {
    fn spec(&self) -> ToolSpec {
        let old = json!({
            "type": "string",
            "description": "The text to replace, exactly as it is in the file, with its indentation and without line numbers. It must occur exactly once, so include enough lines around it."
        });
        let new = json!({"type": "string", "description": "The text to put in its place."});
        let replace_all = json!({
            "type": "boolean",
            "description": "Whether to replace every occurrence of old. Default: false."
        });
        ToolSpec {
            name: "edit_file".to_owned(),
            description: "Replaces text in a file that you have read with read_file. Edits are applied in order, each \
                to the result of the one before; if one fails, none is applied. To create a file, give one edit \
                with an empty old. Use write_file to replace a whole file."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "The file, relative to the working directory or absolute."
                    },
                    "edits": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": EDITS_MAX,
                        "items": {
                            "type": "object",
                            "properties": {"old": old, "new": new, "replace_all": replace_all},
                            "required": ["old", "new"]
                        }
                    }
                },
                "required": ["path", "edits"]
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
            let edits = edits(&arguments)?;
            let spot = context.workspace.file(&path).await;
            let spot = spot.map_err(|error| error.refuse("edit", &path))?;
            let label = context.workspace.label(&spot);
            let draft = Draft::new(context, &spot, &label, &edits).await?;
            let verb = if draft.old.is_some() {
                "Edit"
            } else {
                "Create"
            };
            Ok(Prepared {
                title: format!("{verb} `{label}`"),
                kind: v2::ToolKind::Edit,
                locations: vec![(spot.shown.clone(), Some(draft.first_line()))],
                changes: vec![draft.change(&spot)],
                access: vec![Access::Write(spot.real.clone())],
                order: Order::Paths(vec![spot.real.clone()]),
                work: Box::pin(async move {
                    let worked = work(context, &spot, &label, &edits, &draft).await;
                    worked.unwrap_or_else(|refusal| refusal)
                }),
            })
        })
    }
}

fn edits(arguments: &Arguments) -> Result<Vec<Edit>, Outcome> {
    let edit = |arguments: &Arguments| {
        Ok(Edit {
            old: arguments.text("old")?,
            new: arguments.text("new")?,
            replace_all: arguments.switch("replace_all")?,
        })
    };
    // A single edit may stand at the top, which is what many models do whatever the schema says.
    let edits = match arguments.list("edits")? {
        Some(list) => list.iter().map(edit).collect::<Result<Vec<_>, _>>()?,
        None => vec![edit(arguments)?],
    };
    match edits.len() {
        0 => Err(arguments.wrong("edits", "is empty; give at least one edit")),
        1..=EDITS_MAX => Ok(edits),
        _ => Err(arguments.wrong("edits", "is too long; give at most 100 edits in a call")),
    }
}

/// What a call would do to the file as it is.
#[derive(Debug)]
struct Draft {
    old: Option<Loaded>,
    applied: Applied,
}

impl Draft {
    async fn new(
        context: ToolContext<'_>,
        spot: &Spot,
        label: &str,
        edits: &[Edit],
    ) -> Result<Self, Outcome> {
        let refuse = |error: Error| error.refuse("edit", label);
        let loaded = context.workspace.load(spot, context.surface).await;
        let old = loaded.map_err(refuse)?;
        let text = old.as_ref().map_or("", |old| old.text.text.as_str());
        let creates = text.is_empty() && edits.first().is_some_and(|edit| edit.old.is_empty());
        match &old {
            _ if creates => {}
            None => return Err(refuse(Error::NotFound)),
            // Before anything of the file is told.
            Some(old) => context.workspace.check_seen(spot, old).map_err(refuse)?,
        }
        let applied = apply(text, edits).map_err(|failed| {
            let words = words::explain(&failed, edits);
            Outcome::failed(format!("Cannot edit `{label}`. {words}"))
        })?;
        let bytes = u64::try_from(applied.text.len()).unwrap_or(u64::MAX);
        if bytes > READ_BYTES_MAX {
            return Err(refuse(Error::TooLarge { bytes }));
        }
        Ok(Self { old, applied })
    }

    fn text(&self) -> Text {
        Text {
            bom: self.old.as_ref().is_some_and(|old| old.text.bom),
            text: self.applied.text.clone(),
        }
    }

    fn first_line(&self) -> u32 {
        let start = self.applied.regions.first().map_or(0, |first| first.start);
        u32::try_from(line_at(&self.applied.text, start)).unwrap_or(u32::MAX)
    }

    fn change(&self, spot: &Spot) -> Change {
        Change {
            path: spot.shown.clone(),
            old: self.old.as_ref().map(|old| old.text.whole()),
            new: Some(self.text().whole()),
        }
    }
}

async fn work(
    context: ToolContext<'_>,
    spot: &Spot,
    label: &str,
    edits: &[Edit],
    announced: &Draft,
) -> Result<Outcome, Outcome> {
    let _changing = context.workspace.change().await;
    let draft = Draft::new(context, spot, label, edits).await?;
    // Another call of the same turn may have changed other parts of the file since. What was agreed to
    // is what comes out and what goes in, so that has to be the same.
    if draft.applied.replaced != announced.applied.replaced {
        return Err(Error::Stale.refuse("edit", label));
    }
    let text = draft.text();
    let stored = context
        .workspace
        .store(spot, draft.old.as_ref(), text.clone(), context.surface)
        .await;
    let landed = stored.map_err(|error| error.refuse("edit", label))?;
    let verb = if draft.old.is_some() {
        "Edited"
    } else {
        "Created"
    };
    let mut outcome = told(label, verb, &text, &draft.applied.regions, &landed);
    let change = Change {
        new: Some(landed.text.whole()),
        ..draft.change(spot)
    };
    if change != announced.change(spot) {
        outcome.changes = Some(vec![change]);
    }
    Ok(outcome)
}

/// Returns what a model is told of a change: the lines around it, and whether something else landed.
pub(super) fn told(
    label: &str,
    verb: &str,
    wanted: &Text,
    regions: &[std::ops::Range<usize>],
    landed: &Landed,
) -> Outcome {
    let mut text = format!("{verb} `{label}`.");
    if landed.unsaved {
        text.push_str(" The user's editor holds the change and has not saved it to disk yet.");
    }
    let shown = match landed.text == *wanted {
        true => snippet(&landed.text.text, regions),
        false => {
            text.push_str(
                " The user's editor formatted it while saving, so the file is not exactly as written.",
            );
            let region = difference(&wanted.text, &landed.text.text);
            snippet(&landed.text.text, &[region])
        }
    };
    if !shown.is_empty() {
        text.push_str(" It now reads:\n");
        text.push_str(&shown);
    }
    // The card shows the change itself.
    Outcome::done(text).shown("")
}

/// Returns the part of `new` that is not at the beginning or the end of `old`.
fn difference(old: &str, new: &str) -> std::ops::Range<usize> {
    let same = |(old, new): &(u8, u8)| old == new;
    let start = old.bytes().zip(new.bytes()).take_while(same).count();
    let rest = old.len().min(new.len()) - start;
    let pairs = old.bytes().rev().zip(new.bytes().rev());
    let end = pairs.take(rest).take_while(same).count();
    start..new.len() - end
}
