//! What the engine wants done.

use ply_journal::{Description, Durability};
use ply_session::{Action, CANCEL_TIME_MAX, Event, PromptId, Refusal, Start, ViewId, joined};
use ply_wire::{MaybeUndefined, v2};

use super::{Broken, Task};
use crate::clock;
use crate::session::run::Running;
use crate::session::view::View;

impl Task {
    /// Writes what is to be written, then does the rest, in order.
    pub(super) async fn commit(&mut self) -> Result<(), Broken> {
        let mut actions = std::mem::take(&mut self.actions);
        self.write(&actions).await?;
        for action in &actions {
            self.note_own_prompt(action);
        }
        for action in &mut actions {
            self.act(action);
        }
        for action in &actions {
            self.describe(action).await;
        }
        actions.clear();
        // Nothing above steps the engine, so the buffer can be used again.
        if self.actions.is_empty() {
            self.actions = actions;
        }
        Ok(())
    }

    async fn write(&mut self, actions: &[Action]) -> Result<(), Broken> {
        let events = actions.iter().filter_map(|action| match action {
            Action::Append(event) => Some(event),
            _ => None,
        });
        let mut durability = Durability::Soon;
        if events.clone().any(Event::is_durable) {
            durability = Durability::Now;
        }
        let records: Vec<Vec<u8>> = joined(events)
            .iter()
            .filter_map(|event| encode(event))
            .collect();
        if !records.is_empty() {
            self.log.append(records, durability).await?;
        }
        Ok(())
    }

    fn act(&mut self, action: &mut Action) {
        match action {
            Action::Append(event) => {
                if let Some(update) = event.update() {
                    self.show(update);
                }
            }
            Action::Tell(update) => self.show(update),
            Action::Accept {
                prompt,
                view,
                message,
            } => {
                if let Some(view) = self.view(*view) {
                    view.accepted(*prompt, message);
                }
            }
            Action::Refuse {
                prompt,
                view,
                refusal,
            } => self.refuse(*prompt, *view, *refusal),
            Action::StartTurn(start) => self.start_turn(start),
            Action::CancelTurn { turn } => {
                if let Some(running) = self.running.as_mut().filter(|run| run.turn == *turn) {
                    running.cancel(CANCEL_TIME_MAX);
                }
            }
            Action::AbandonTurn { turn } => {
                if let Some(running) = self.running.take_if(|running| running.turn == *turn) {
                    running.abandon();
                }
            }
            Action::Settle { prompt, stop } => {
                if let Some(own) = self.own.remove(prompt) {
                    // Whoever waited may have gone away.
                    drop(own.ended.send(stop.clone()));
                }
            }
            Action::Offer { ask, view } => self.offer(*ask, *view),
            Action::Retract { ask, view } => {
                if let Some(view) = self.view(*view) {
                    view.retract(*ask);
                }
            }
            Action::Resolve { ask, answer } => {
                if let Some(waits) = self.asks.remove(ask) {
                    // The code that asked may have gone away.
                    drop(waits.send(answer.clone()));
                }
            }
            Action::Closed => self.views.iter_mut().for_each(View::close),
            _ => {}
        }
    }

    /// Lets a version 1 view know its own message before it comes, since it does not show it.
    fn note_own_prompt(&mut self, action: &Action) {
        if let Action::Accept {
            prompt,
            view,
            message,
        } = action
            && let Some(view) = self.view(*view)
        {
            view.owns(*prompt, message);
        }
    }

    fn show(&mut self, update: &v2::SessionUpdate) {
        let history = self.engine.history();
        for view in &mut self.views {
            view.show(update, history);
        }
    }

    /// Keeps what listings say up to date: when something last happened, and the title.
    async fn describe(&mut self, action: &Action) {
        let Action::Append(Event::Update(update)) = action else {
            return;
        };
        let now = || Description::updated(clock::now_ms());
        let change = match update {
            v2::SessionUpdate::UserMessage(_)
            | v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(_)) => now(),
            v2::SessionUpdate::SessionInfoUpdate(info) => match &info.title {
                MaybeUndefined::Undefined => return,
                MaybeUndefined::Null => now().title(None),
                MaybeUndefined::Value(title) => now().title(Some(title.clone())),
            },
            _ => return,
        };
        // What is told here is in the records too, so a failure costs nothing but a listing.
        if let Err(error) = self.log.describe(change).await {
            tracing::warn!(%error, "the listing of a session cannot be updated");
        }
    }

    fn refuse(&mut self, prompt: PromptId, view: Option<ViewId>, refusal: Refusal) {
        // A turn of the agent's own is given up by dropping whoever waits for it.
        self.own.remove(&prompt);
        if let Some(view) = view.and_then(|view| self.view(view)) {
            view.refused(prompt, refusal);
        }
    }

    fn start_turn(&mut self, start: &mut Start) {
        let content = std::mem::take(&mut start.content);
        let client = start.view.and_then(|view| self.view(view));
        let client = client.map(|view| view.client.clone());
        let own = self.own.get_mut(&start.prompt);
        let work = own.and_then(|own| own.work.take());
        let prefix = self.engine.id_prefix(start.turn);
        let (session, agent) = (&self.session, &self.agent);
        self.running = Some(Running::start(
            start, content, session, prefix, client, agent, work,
        ));
    }

    fn offer(&mut self, ask: ply_session::AskId, view: ViewId) {
        let Some(question) = self.engine.question(ask) else {
            // It was answered or given up before it could be put.
            return;
        };
        let history = self.engine.history();
        if let Some(view) = self.views.iter_mut().find(|open| open.id == view) {
            view.offer(ask, question, history, &self.session);
        }
    }

    pub(super) fn view(&mut self, id: ViewId) -> Option<&mut View> {
        self.views.iter_mut().find(|view| view.id == id)
    }
}

fn encode(event: &Event) -> Option<Vec<u8>> {
    // Only a path that is not UTF-8 has no JSON form, and such a path cannot have come in.
    let encoded = serde_json::to_vec(event);
    let told = encoded.inspect_err(|error| tracing::error!(%error, "an event has no JSON form"));
    told.ok()
}
