//! The tool `skill`: instructions for one kind of task.

use std::sync::Arc;

use ply_agent::v2;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;
use crate::playbook::Playbook;

/// Returns the instructions of a skill.
#[derive(Debug, Clone)]
pub(crate) struct ReadSkill(pub(crate) Arc<Playbook>);

impl Tool for ReadSkill {
    fn spec(&self) -> ToolSpec {
        let names = self.0.skills().models().map(|skill| skill.name.as_str());
        ToolSpec {
            name: "skill".to_owned(),
            description: "Returns the instructions of a skill that your instructions list, and the directory with \
                its files. Call it before you begin a task that the skill is for."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "name": { "type": "string", "enum": names.collect::<Vec<_>>() }
                },
                "required": ["name"],
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Read
    }

    fn prepare<'t>(&'t self, given: Value, _: ToolContext<'t>) -> Preparing<'t> {
        Box::pin(async move {
            let name = Arguments::new(given)?.text("name")?;
            let skills = self.0.skills();
            let Some(skill) = skills.for_model(&name) else {
                let names = skills.models().map(|skill| skill.name.as_str());
                let names = names.collect::<Vec<_>>().join(", ");
                return Err(Outcome::failed(format!(
                    "There is no skill `{name}`. There are: {names}."
                )));
            };
            let text = skill.text(&skill.body);
            let title = format!("Skill `{}`", skill.name);
            let work = async move { Outcome::done(text) };
            Ok(Prepared::new(title, self.kind(), work).touches(&skill.path, None))
        })
    }
}
