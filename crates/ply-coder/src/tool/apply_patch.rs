//! The tool `apply_patch`: changes of several files in one text, for models that are trained to write it.

mod parse;
mod place;

use ply_agent::v2;
use serde_json::{Value, json};

use self::parse::{Hunk, Section};
use super::arguments::Arguments;
use super::delete::check_saved;
use super::edit_file::apply::Applied;
use super::edit_file::told;
use super::lines::line_at;
use super::{Access, Change, Order, Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;
use crate::permission::is_secret;
use crate::workspace::{Doomed, Error, Kind, Leaf, Loaded, READ_BYTES_MAX, Spot, Text};

/// The tool's name.
pub const NAME: &str = "apply_patch";
/// The tools that it takes the place of.
pub const REPLACED: [&str; 2] = ["edit_file", "write_file"];

const DESCRIPTION: &str = "\
Creates, changes, moves and deletes files. Read a file with read_file before you change it. The patch is:

*** Begin Patch
*** Add File: path/new.txt
+each line of the new file
*** Update File: path/old.txt
*** Move to: path/renamed.txt
@@ fn name()
 a line before the change
-a line that goes
+a line that comes
 a line after the change
*** Delete File: path/gone.txt
*** End Patch

Give three lines of context before and after each change. If they do not say where it is, put a line that comes before it, such \
as the head of its function, behind @@. `*** Move to` is optional, and `*** End of File` after a change says that it is at the end. \
If one part does not fit, nothing is changed.";

/// Changes files as a patch says.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApplyPatch;

impl Tool for ApplyPatch {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: DESCRIPTION.to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "input": {"type": "string", "description": "The whole patch."}
                },
                "required": ["input"]
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
            let sections = parse::parse(&arguments.text("input")?)
                .map_err(|what| Outcome::failed(format!("The patch is not understood. {what}")))?;
            let steps = steps(context, &sections).await?;
            let paths = steps.iter().flat_map(Step::places).cloned().collect();
            Ok(Prepared {
                title: title(&steps),
                kind: v2::ToolKind::Edit,
                locations: steps.iter().map(Step::location).collect(),
                changes: steps.iter().flat_map(Step::changes).collect(),
                access: steps.iter().flat_map(Step::access).collect(),
                order: Order::Paths(paths),
                work: Box::pin(async move {
                    let worked = work(context, &sections, &steps).await;
                    worked.unwrap_or_else(|refusal| refusal)
                }),
            })
        })
    }
}

/// What becomes of one file.
#[derive(Debug)]
struct Step {
    label: String,
    spot: Spot,
    what: What,
}

#[derive(Debug)]
enum What {
    Add(Text),
    Delete(Vec<Doomed>, Option<Loaded>),
    Update {
        old: Loaded,
        applied: Applied,
        /// Where it goes, and what goes there.
        moved: Option<(Spot, String, Vec<Doomed>)>,
    },
}

impl Step {
    fn places(&self) -> impl Iterator<Item = &std::path::PathBuf> {
        let moved = match &self.what {
            What::Update {
                moved: Some((to, ..)),
                ..
            } => Some(&to.real),
            _ => None,
        };
        std::iter::once(&self.spot.real).chain(moved)
    }

    fn location(&self) -> (std::path::PathBuf, Option<u32>) {
        let What::Update { applied, moved, .. } = &self.what else {
            return (self.spot.shown.clone(), None);
        };
        let start = applied.regions.first().map_or(0, |first| first.start);
        let line = u32::try_from(line_at(&applied.text, start)).ok();
        let spot = moved.as_ref().map_or(&self.spot, |(to, ..)| to);
        (spot.shown.clone(), line)
    }

    fn access(&self) -> Vec<Access> {
        let real = &self.spot.real;
        match &self.what {
            What::Add(_) => vec![Access::Write(real.clone())],
            What::Delete(..) => vec![Access::Delete(real.clone())],
            What::Update { moved: None, .. } => vec![Access::Write(real.clone())],
            // As for a move by itself, and the change besides.
            What::Update {
                moved: Some((to, ..)),
                ..
            } => vec![
                Access::Write(real.clone()),
                Access::Delete(real.clone()),
                Access::Read(real.clone()),
                Access::Write(to.real.clone()),
            ],
        }
    }

    fn changes(&self) -> Vec<Change> {
        let shown = |spot: &Spot| spot.shown.clone();
        match &self.what {
            What::Add(text) => vec![Change {
                path: shown(&self.spot),
                old: None,
                new: Some(text.whole()),
            }],
            // It would be shown, and kept with the session, before anybody was asked. The question names it.
            What::Delete(..) if is_secret(&self.spot.real) || is_secret(&self.spot.shown) => {
                Vec::new()
            }
            What::Delete(_, old) => old
                .iter()
                .map(|old| Change {
                    path: shown(&self.spot),
                    old: Some(old.text.whole()),
                    new: None,
                })
                .collect(),
            What::Update { old, moved, .. } => {
                let (old, new) = (old.text.whole(), self.text().map(|text| text.whole()));
                match moved {
                    None => vec![Change {
                        path: shown(&self.spot),
                        old: Some(old),
                        new,
                    }],
                    Some((to, ..)) => vec![
                        Change {
                            path: shown(&self.spot),
                            old: Some(old),
                            new: None,
                        },
                        Change {
                            path: shown(to),
                            old: None,
                            new,
                        },
                    ],
                }
            }
        }
    }

    /// Returns what the file is to hold.
    fn text(&self) -> Option<Text> {
        match &self.what {
            What::Add(text) => Some(text.clone()),
            What::Delete(..) => None,
            What::Update { old, applied, .. } => Some(Text {
                bom: old.text.bom,
                text: applied.text.clone(),
            }),
        }
    }

    /// Says whether it is what was announced. Other calls may have changed other parts of the file since.
    fn is_same(&self, announced: &Self) -> bool {
        let what = match (&self.what, &announced.what) {
            (What::Add(new), What::Add(old)) => new == old,
            (What::Delete(new, _), What::Delete(old, _)) => new == old,
            (
                What::Update { applied, moved, .. },
                What::Update {
                    applied: agreed,
                    moved: to,
                    ..
                },
            ) => {
                let place = |moved: &Option<(Spot, String, Vec<Doomed>)>| {
                    moved
                        .as_ref()
                        .map(|(to, _, doomed)| (to.real.clone(), doomed.clone()))
                };
                applied.replaced == agreed.replaced && place(moved) == place(to)
            }
            _ => false,
        };
        what && self.spot.real == announced.spot.real
    }
}

fn title(steps: &[Step]) -> String {
    match steps {
        [step] => {
            let label = &step.label;
            match &step.what {
                What::Add(_) => format!("Create `{label}`"),
                What::Delete(..) => format!("Delete `{label}`"),
                What::Update { moved: None, .. } => format!("Edit `{label}`"),
                What::Update {
                    moved: Some((_, to, _)),
                    ..
                } => format!("Move `{label}` to `{to}` and edit it"),
            }
        }
        steps => {
            let first = steps.first().map_or("", |step| step.label.as_str());
            format!("Patch `{first}` and {} more", steps.len().saturating_sub(1))
        }
    }
}

/// Finds out what a patch would do to the files as they are.
async fn steps(context: ToolContext<'_>, sections: &[Section]) -> Result<Vec<Step>, Outcome> {
    let mut steps: Vec<Step> = Vec::new();
    for section in sections {
        let step = match section {
            Section::Add { path, content } => add(context, path, content).await?,
            Section::Delete { path } => delete(context, path).await?,
            Section::Update {
                path,
                move_to,
                hunks,
            } => update(context, path, move_to.as_deref(), hunks).await?,
        };
        let is_named = |other: &Step| {
            other
                .places()
                .any(|place| step.places().any(|it| it == place))
        };
        if steps.iter().any(is_named) {
            let label = &step.label;
            return Err(Outcome::failed(format!(
                "The patch names `{label}` twice. Put all that changes in a file into one part. Nothing was changed."
            )));
        }
        steps.push(step);
    }
    Ok(steps)
}

async fn add(context: ToolContext<'_>, path: &str, content: &str) -> Result<Step, Outcome> {
    let refuse = |error: Error| error.refuse("create", path);
    let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
    if bytes > READ_BYTES_MAX {
        return Err(refuse(Error::TooLarge { bytes }));
    }
    let spot = context.workspace.file(path).await.map_err(refuse)?;
    let old = context.workspace.load(&spot, context.surface).await;
    if old.map_err(refuse)?.is_some() {
        return Err(refuse(Error::Exists));
    }
    Ok(Step {
        label: context.workspace.label(&spot),
        spot,
        what: What::Add(Text::new(content)),
    })
}

async fn delete(context: ToolContext<'_>, path: &str) -> Result<Step, Outcome> {
    let refuse = |error: Error| error.refuse("delete", path);
    let spot = context.workspace.spot(path, Leaf::Keep).await;
    let spot = spot.map_err(refuse)?;
    let doomed = match spot.kind {
        Kind::Directory => Err(Error::IsADirectory),
        _ => context.workspace.doomed(&spot).await,
    };
    let doomed = doomed.map_err(refuse)?;
    check_saved(context, &spot).await.map_err(refuse)?;
    let old = match spot.kind {
        // One that is no text is not shown.
        Kind::File => context.workspace.load(&spot, context.surface).await,
        _ => Ok(None),
    };
    Ok(Step {
        label: context.workspace.label(&spot),
        spot,
        what: What::Delete(doomed, old.unwrap_or_default()),
    })
}

async fn update(
    context: ToolContext<'_>,
    path: &str,
    move_to: Option<&str>,
    hunks: &[Hunk],
) -> Result<Step, Outcome> {
    let refuse = |error: Error| error.refuse("edit", path);
    let spot = context.workspace.file(path).await.map_err(refuse)?;
    let label = context.workspace.label(&spot);
    let loaded = context.workspace.load(&spot, context.surface).await;
    let old = loaded
        .and_then(|old| old.ok_or(Error::NotFound))
        .map_err(refuse)?;
    // Before anything of the file is told.
    context.workspace.check_seen(&spot, &old).map_err(refuse)?;
    let applied = place::apply(&old.text.text, hunks).map_err(|what| {
        Outcome::failed(format!(
            "Cannot edit `{label}`: {what}\nNothing of the patch was done."
        ))
    })?;
    let bytes = u64::try_from(applied.text.len()).unwrap_or(u64::MAX);
    if bytes > READ_BYTES_MAX {
        return Err(refuse(Error::TooLarge { bytes }));
    }
    let moved = match move_to {
        None => None,
        Some(to) => Some(target(context, &spot, to).await?),
    };
    Ok(Step {
        label,
        spot,
        what: What::Update {
            old,
            applied,
            moved,
        },
    })
}

/// Finds out where a file goes, which must be free, and that it can go.
async fn target(
    context: ToolContext<'_>,
    from: &Spot,
    path: &str,
) -> Result<(Spot, String, Vec<Doomed>), Outcome> {
    let refuse = |error: Error| error.refuse("move to", path);
    let to = context.workspace.spot(path, Leaf::Keep).await;
    let to = to.map_err(refuse)?;
    if to.kind != Kind::Missing {
        return Err(refuse(Error::Exists));
    }
    check_saved(context, from).await.map_err(refuse)?;
    let doomed = context.workspace.doomed(from).await.map_err(refuse)?;
    let label = context.workspace.label(&to);
    Ok((to, label, doomed))
}

async fn work(
    context: ToolContext<'_>,
    sections: &[Section],
    announced: &[Step],
) -> Result<Outcome, Outcome> {
    let _changing = context.workspace.change().await;
    let steps = steps(context, sections).await?;
    // What was agreed to is what comes out and what goes in, so that has to be the same.
    let pairs = steps.iter().zip(announced);
    for (step, agreed) in pairs {
        if !step.is_same(agreed) {
            return Err(Error::Stale.refuse("edit", &step.label));
        }
    }
    let mut text = String::new();
    let mut changes = Vec::new();
    for step in &steps {
        match take(context, step).await {
            Ok(outcome) => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&outcome.text);
                changes.extend(outcome.changes.unwrap_or_else(|| step.changes()));
            }
            Err(error) => {
                let refusal = error.refuse("change", &step.label).text;
                let before = match text.is_empty() {
                    true => "Nothing of the patch was done.".to_owned(),
                    false => format!("Of the patch, only this was done:\n{text}"),
                };
                let mut outcome = Outcome::failed(format!("{refusal} {before}"));
                outcome.changes = Some(changes);
                return Ok(outcome);
            }
        }
    }
    let mut outcome = Outcome::done(text).shown("");
    let agreed: Vec<_> = announced.iter().flat_map(Step::changes).collect();
    if changes != agreed {
        outcome.changes = Some(changes);
    }
    Ok(outcome)
}

/// Does what is to become of one file. What landed may be other than what was written.
async fn take(context: ToolContext<'_>, step: &Step) -> Result<Outcome, Error> {
    let workspace = context.workspace;
    let landed_as = |spot: &Spot, landed: &Text, old: Option<&Loaded>| Change {
        path: spot.shown.clone(),
        old: old.map(|old| old.text.whole()),
        new: Some(landed.whole()),
    };
    match &step.what {
        What::Add(text) => {
            let stored = workspace.store(&step.spot, None, text.clone(), context.surface);
            let landed = stored.await?;
            let mut outcome = told(&step.label, "Created", text, &[], &landed);
            if landed.text != *text {
                outcome.changes = Some(vec![landed_as(&step.spot, &landed.text, None)]);
            }
            Ok(outcome)
        }
        What::Delete(doomed, _) => {
            workspace.remove(&step.spot, doomed.clone()).await?;
            Ok(Outcome::done(format!("Deleted `{}`.", step.label)))
        }
        What::Update {
            old,
            applied,
            moved,
        } => {
            let text = step.text().unwrap_or_default();
            let Some((to, label, _)) = moved else {
                let stored = workspace.store(&step.spot, Some(old), text.clone(), context.surface);
                let landed = stored.await?;
                let mut outcome = told(&step.label, "Edited", &text, &applied.regions, &landed);
                if landed.text != text {
                    outcome.changes = Some(vec![landed_as(&step.spot, &landed.text, Some(old))]);
                }
                return Ok(outcome);
            };
            workspace.rename(&step.spot, to).await?;
            let verb = format!("Moved `{}` to", step.label);
            if applied.replaced.is_empty() {
                return Ok(Outcome::done(format!("{verb} `{label}`.")));
            }
            let spot = Spot {
                kind: Kind::File,
                ..to.clone()
            };
            let there = workspace.load(&spot, context.surface).await?;
            let stored = workspace.store(&spot, there.as_ref(), text.clone(), context.surface);
            let landed = stored.await?;
            let mut outcome = told(label, &verb, &text, &applied.regions, &landed);
            if landed.text != text {
                let mut changes = step.changes();
                changes.truncate(1);
                changes.push(landed_as(&spot, &landed.text, None));
                outcome.changes = Some(changes);
            }
            Ok(outcome)
        }
    }
}

#[cfg(test)]
mod tests;
