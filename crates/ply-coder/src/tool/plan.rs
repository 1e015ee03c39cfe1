//! The tool `update_plan`: the plan that the user sees.

use ply_agent::v2;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::{Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::ToolSpec;

/// How many steps a plan may have.
const STEPS_MAX: usize = 50;

/// Shows the plan, all of it.
#[derive(Debug, Clone, Copy)]
pub struct UpdatePlan;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Pending,
    InProgress,
    Completed,
}

const STATUSES: &[(&str, Status)] = &[
    ("pending", Status::Pending),
    ("in_progress", Status::InProgress),
    ("completed", Status::Completed),
];

impl From<Status> for v2::PlanEntryStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Pending => Self::Pending,
            Status::InProgress => Self::InProgress,
            Status::Completed => Self::Completed,
        }
    }
}

/// Reads the steps: what each is, and how far.
fn steps(given: Value) -> Result<Vec<(String, Status)>, Outcome> {
    let arguments = Arguments::new(given)?;
    let steps = arguments.list("steps")?;
    let steps = steps.ok_or_else(|| arguments.wrong("steps", "is missing; it must be an array"))?;
    let read = |step: Arguments| {
        let status = step.word("status", STATUSES)?;
        Ok((step.text("step")?, status.unwrap_or(Status::Pending)))
    };
    steps.into_iter().map(read).collect()
}

impl Tool for UpdatePlan {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "update_plan".to_owned(),
            description: "Shows the user the plan for work of several steps. Pass all steps each \
                          time, at most one of them in_progress. Update it when a step is done."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "steps": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "step": { "type": "string", "description": "A few words" },
                                "status": {
                                    "type": "string",
                                    "enum": ["pending", "in_progress", "completed"],
                                },
                            },
                            "required": ["step", "status"],
                        },
                    },
                },
                "required": ["steps"],
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Think
    }

    fn prepare<'t>(&'t self, given: Value, context: ToolContext<'t>) -> Preparing<'t> {
        Box::pin(async move {
            let steps = steps(given)?;
            if steps.len() > STEPS_MAX {
                let words = format!("A plan has at most {STEPS_MAX} steps; join some.");
                return Err(Outcome::failed(words));
            }
            let are = |wanted| {
                steps
                    .iter()
                    .filter(move |(_, status)| *status == wanted)
                    .count()
            };
            if are(Status::InProgress) > 1 {
                return Err(Outcome::failed("At most one step may be in_progress."));
            }
            let title = format!(
                "Plan: {} of {} steps done",
                are(Status::Completed),
                steps.len()
            );
            let entries = steps.into_iter().map(|(step, status)| {
                let priority = v2::PlanEntryPriority::Medium;
                v2::PlanEntry::new(step, priority, status.into())
            });
            let entries = entries.collect();
            Ok(Prepared::new(title, self.kind(), async move {
                context.surface.plan(entries).await;
                Outcome::done("The user sees the plan.").shown("")
            }))
        })
    }
}
