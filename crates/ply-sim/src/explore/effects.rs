//! What the core has the small world do, and what its clients are sent.

use ply_session::{Answer, Effect, Message, RequestId, Response, ViewId};

use super::small::Small;
use crate::Broken;

impl Small {
    pub(super) fn perform(&mut self, effects: Vec<Effect>) -> Result<(), Broken> {
        for effect in effects {
            match effect {
                Effect::Create => self.opens = Some(None),
                Effect::Open { from } => self.opens = Some(Some(from)),
                Effect::Release { .. } => {
                    self.opens = None;
                    self.releases = true;
                }
                Effect::Start(start) => {
                    if self.code.replace((start.turn, false)).is_some() {
                        return Err("a turn starts while another runs".into());
                    }
                    self.started.insert(RequestId(start.prompt.0));
                    self.prompter = Some(ViewId(start.prompt.0));
                    let message = start.message.map(|id| id.to_string()).unwrap_or_default();
                    self.is_safe(&message)?;
                    self.is_safe("\"running\"")?;
                }
                Effect::Cancel { turn } => match &mut self.code {
                    Some((running, told)) if *running == turn && !*told => *told = true,
                    _ => return Err("a turn is cancelled that does not run".into()),
                },
                Effect::Abandon { turn } => match self.code.take() {
                    Some((running, _)) if running == turn => self.seen.waits_for = false,
                    _ => return Err("a turn is abandoned that does not run".into()),
                },
                Effect::Resolve { answer, .. } => {
                    if matches!(answer, Answer::Selected(_)) {
                        self.is_safe("\"answered\"")?;
                    }
                    self.seen.resolved()?;
                }
                Effect::Retract { view, .. } => self.seen.retracted(view)?,
                Effect::Respond { request, .. } => self.seen.responded(request)?,
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn sent(&mut self, view: ViewId, message: &Message) -> Result<(), Broken> {
        match message {
            Message::Respond { request, response } => {
                match response {
                    Ok(Response::Prompt(accepted)) => {
                        self.is_safe(&accepted.message_id.to_string())?;
                    }
                    Ok(Response::PromptV1(_)) if self.started.contains(request) => {
                        self.is_safe("\"idle\"")?;
                    }
                    _ => {}
                }
                self.seen.responded(*request)
            }
            Message::Ask { .. } => self.seen.asked(view),
            Message::Update(json) => self.seen.updated(view, json.as_str()),
            _ => Ok(()),
        }
    }

    /// Checks that something is in a record that no crash takes away.
    fn is_safe(&self, what: &str) -> Result<(), Broken> {
        let safe = self.records.iter().take(self.synced);
        let found = safe
            .filter_map(|record| std::str::from_utf8(record).ok())
            .any(|record| record.contains(what));
        match found || self.seen.is_lost {
            true => Ok(()),
            false => Err(format!("{what} is acted on and may be lost")),
        }
    }
}
