//! The tool `think`: room to think for models that have none of their own.

use ply_agent::v2;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;

/// Does nothing but hold a thought.
#[derive(Debug, Clone, Copy)]
pub struct Think;

impl Tool for Think {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "think".to_owned(),
            description:
                "Records a thought. It changes nothing and returns nothing new; use it to reason \
                          about something hard between other calls."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "thought": { "type": "string" } },
                "required": ["thought"],
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Think
    }

    fn prepare<'t>(&'t self, given: Value, _: ToolContext<'t>) -> Preparing<'t> {
        Box::pin(async move {
            let thought = Arguments::new(given)?.text("thought")?;
            Ok(Prepared::new("Think".to_owned(), self.kind(), async move {
                Outcome::done("Noted.").shown(thought)
            }))
        })
    }
}
