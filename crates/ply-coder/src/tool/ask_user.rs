//! The tool `ask_user`: a question in the middle of the work. Only for clients that have forms.

use ply_agent::v2;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;

/// How many choices a question may have.
const CHOICES_MAX: usize = 20;

/// Asks the user.
#[derive(Debug, Clone, Copy)]
pub struct AskUser;

impl Tool for AskUser {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "ask_user".to_owned(),
            description:
                "Asks the user one question and waits for the answer. Use it for decisions that are \
                          theirs to make, not for what you can find out yourself. Never ask for secrets."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "question": { "type": "string" },
                    "choices": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "The possible answers; leave it out for free text",
                    },
                },
                "required": ["question"],
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Other
    }

    fn prepare<'t>(&'t self, given: Value, context: ToolContext<'t>) -> Preparing<'t> {
        Box::pin(async move {
            let arguments = Arguments::new(given)?;
            let (question, choices) = (arguments.text("question")?, arguments.texts("choices")?);
            if question.trim().is_empty() || choices.len() > CHOICES_MAX {
                let words = format!("Ask one question, with at most {CHOICES_MAX} choices.");
                return Err(Outcome::failed(words));
            }
            let title = crate::text::first_line(&question, 80);
            Ok(Prepared::new(title, self.kind(), async move {
                match context.surface.ask(&question, &choices).await {
                    Ok(Some(answer)) => Outcome::done(format!("The user answered: {answer}")),
                    Ok(None) => Outcome::failed(
                        "The user did not answer. Go on with what you have, or end your turn.",
                    ),
                    Err(error) => Outcome::failed(format!("The user could not be asked: {error}.")),
                }
            }))
        })
    }
}
