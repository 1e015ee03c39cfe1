//! When hooks run, and what comes of it.

use ply_agent::{Result, v2};
use serde_json::{Value, json};

use super::TurnLoop;
use crate::context::conversation::{self, Tells};
use crate::context::notes;
use crate::hooks::{Answer, CONTINUED_MAX, Event, Hook};
use crate::model::Call;
use crate::text;
use crate::tool::Outcome;

/// Bytes of a result that hooks are told.
const RESULT_BYTES_MAX: usize = 256 * 1024;

impl TurnLoop<'_> {
    /// Runs the hooks before a call. Returns why it is blocked, for the model.
    ///
    /// # Errors
    ///
    /// The turn was cancelled.
    pub(super) async fn before_tool(&self, call: &Call) -> Result<Option<String>> {
        let told = || json!({ "tool": call.name, "arguments": call.arguments });
        let objection = self.objection(Event::BeforeTool, Some(&call.name), told);
        let blocked =
            |words: String| format!("A hook of the user blocked this call. {}", reason(&words));
        Ok(objection.await?.map(blocked))
    }

    /// Runs the hooks after a call, and adds what they say to its result.
    pub(super) async fn after_tool(&self, call: &Call, outcome: &mut Outcome) {
        let told = || {
            json!({
                "tool": call.name,
                "arguments": call.arguments,
                "result": text::head(&outcome.text, RESULT_BYTES_MAX),
                "failed": outcome.failed,
            })
        };
        let objection = self.objection(Event::AfterTool, Some(&call.name), told);
        match objection.await {
            Ok(Some(words)) => {
                outcome.add_note(&format!("a hook of the user says: {}", reason(&words)));
            }
            Ok(None) => {}
            // The turn was cancelled; what the tool did stays told.
            Err(error) => tracing::debug!(%error, "a hook after a call was not run to its end"),
        }
    }

    /// Runs the hooks at the end of a turn, which was continued so many times before. Returns what the model is
    /// told if it is to go on. The history keeps it, as the model will be asked what it did about it.
    pub(super) async fn turn_end(&self, continued: u32) -> Result<Option<String>> {
        let told = || json!({ "continued": continued });
        let Some(words) = self.objection(Event::TurnEnd, None, told).await? else {
            return Ok(None);
        };
        if continued >= CONTINUED_MAX {
            let words = format!(
                "A turn-end hook objects still. The turn was continued {CONTINUED_MAX} times and ends now."
            );
            self.notice(words).await?;
            return Ok(None);
        }
        let note = notes::note(&format!(
            "a hook of the user has the turn go on: {}",
            reason(&words)
        ));
        let card = self
            .turn
            .tool_call("Hook at the end of the turn")
            .kind(v2::ToolKind::Other)
            .meta(conversation::tells(Tells::Note))
            .await?;
        card.finish_with(note.as_str()).await?;
        Ok(Some(note))
    }

    /// Runs the hooks that are for something, one after the other. The first one that blocks a call decides;
    /// of others all are heard.
    async fn objection(
        &self,
        event: Event,
        tool: Option<&str>,
        about: impl FnOnce() -> Value,
    ) -> Result<Option<String>> {
        let hooks = self.config.hooks.iter();
        let hooks: Vec<&Hook> = hooks.filter(|hook| hook.is_for(event, tool)).collect();
        if hooks.is_empty() {
            return Ok(None);
        }
        let mut told = json!({
            "event": event.name(),
            "session_id": &*self.turn.session().id().0,
            "cwd": self.state.cwd.to_string_lossy(),
        });
        if let (Some(told), Value::Object(about)) = (told.as_object_mut(), about()) {
            told.extend(about);
        }
        let mut objections = Vec::new();
        for hook in hooks {
            let answer = hook.run(&self.state.processes, &self.state.cwd, &told);
            match self.turn.unless_cancelled(answer).await? {
                Answer::Fine => {}
                Answer::Objects(words) => objections.push(words),
                Answer::Trouble(words) => self.notice(words).await?,
            }
            if event == Event::BeforeTool && !objections.is_empty() {
                break;
            }
        }
        Ok((!objections.is_empty()).then(|| objections.join("\n")))
    }
}

fn reason(words: &str) -> &str {
    match words.is_empty() {
        true => "It gave no reason.",
        false => words,
    }
}
