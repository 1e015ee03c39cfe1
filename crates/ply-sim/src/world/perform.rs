//! Doing what the engine wants done.

use ply_session::{Action, CANCEL_TIME_MAX, Engine, Event, Input, Reply, Start, TurnId, ViewId};
use ply_wire::v2;

use super::{SYNC_TIME_MAX_MS, World};
use crate::agent::AgentTurn;
use crate::ledger::Broken;
use crate::message::Down;
use crate::process::{Job, Process};
use crate::queue::Due;
use crate::view::View;

impl World<'_> {
    pub(super) fn perform(&mut self, actions: Vec<Action>) -> Result<(), Broken> {
        let mut actions = actions.into_iter().peekable();
        while let Some(action) = actions.next() {
            let Some(process) = &mut self.process else {
                return Ok(());
            };
            match action {
                Action::Append(event) => {
                    self.store.acknowledge(&event)?;
                    self.fresh_id(&event)?;
                    if let Some(Action::Accept {
                        prompt,
                        view,
                        message,
                    }) = actions.peek()
                    {
                        self.tell(*view, |own, _, out| own.names(*prompt, message, out));
                    }
                    self.tell_all(|view, engine, out| view.show(&event, engine.history(), out));
                }
                Action::Tell(update) => self.tell_all(|view, engine, out| {
                    view.show_update(&update, engine.history(), out);
                }),
                Action::Accept {
                    prompt,
                    view,
                    message,
                } => self.tell(view, |own, _, out| own.accepted(prompt, &message, out)),
                Action::Refuse {
                    prompt,
                    view: Some(view),
                    refusal,
                } => self.tell(view, |own, _, out| own.refused(prompt, refusal, out)),
                Action::StartTurn(start) => self.start_turn(&start),
                Action::CancelTurn { turn } => {
                    let (now, jumped) = (self.queue.now_ms(), self.queue.jumped_ms());
                    process.cancelled_at.insert(turn, (now, jumped));
                    if let Some(code) = process.turns.get_mut(&turn) {
                        code.cancelled = true;
                    }
                    let life = process.life;
                    self.queue
                        .after(cancel_time_ms(), Due::Overdue { life, turn });
                }
                Action::AbandonTurn { turn } => {
                    if let Some(code) = process.turns.get_mut(&turn) {
                        code.abandoned = true;
                    }
                }
                Action::Settle { prompt, .. } => {
                    let life = process.life;
                    if let Some(turn) = process.turn_of.remove(&prompt) {
                        self.check_time(turn)?;
                        self.tell_all(|_, _, out| out.push(Down::TurnIsOver { life, turn }));
                    }
                }
                Action::Offer { ask, view } => {
                    let mut is_asked = true;
                    self.tell(view, |own, engine, out| {
                        if let Some(question) = engine.question(ask) {
                            is_asked = own.offer(ask, question, engine.history(), out);
                        }
                    });
                    if let (false, Some(process)) = (is_asked, &mut self.process) {
                        let reply = Reply::Failed;
                        let answer = Input::Answer { ask, view, reply };
                        process.inbox.push_back(Job::from(answer));
                    }
                }
                Action::Retract { ask, view } => {
                    self.tell(view, |own, _, out| own.retract(ask, out));
                }
                Action::Resolve { ask, .. } => {
                    let codes = process.turns.values_mut();
                    for code in codes.chain([&mut process.background]) {
                        code.waits_for.retain(|waiting| *waiting != ask);
                    }
                }
                Action::Closed => return self.closed(),
                _ => {}
            }
        }
        Ok(())
    }

    fn start_turn(&mut self, start: &Start) {
        let Some(process) = &mut self.process else {
            return;
        };
        self.trace.turns += 1;
        let (life, turn) = (process.life, start.turn);
        process.turn_of.insert(start.prompt, turn);
        let code = AgentTurn::new(life, Some(turn), &mut self.choices);
        process.turns.insert(turn, code);
        let delay = self.choices.below(25);
        self.queue.after(delay, Due::AgentActs { life, turn });
    }

    /// The session is over; whoever attaches next opens it again.
    fn closed(&mut self) -> Result<(), Broken> {
        let mut is_at_rest = true;
        self.tell_all(|view, _, out| is_at_rest &= view.close(out));
        if !is_at_rest {
            return Err("the session closed before it answered a prompt".into());
        }
        let Some(process) = self.process.take() else {
            return Ok(());
        };
        process.ledger.at_rest()?;
        self.store.sync();
        for job in process.inbox {
            self.job(job)?;
        }
        self.queue.after(10, Due::Restart);
        Ok(())
    }

    /// Checks that a cancelled turn did not take longer than it may. The machine's sleep does not
    /// count, and the store may take its time.
    fn check_time(&mut self, turn: TurnId) -> Result<(), Broken> {
        let Some(process) = &mut self.process else {
            return Ok(());
        };
        let Some((at, jumped)) = process.cancelled_at.remove(&turn) else {
            return Ok(());
        };
        let slept = self.queue.jumped_ms() - jumped;
        let took = self.queue.now_ms() - at - slept;
        let backlog = 4 * SYNC_TIME_MAX_MS;
        match took > cancel_time_ms() + backlog {
            true => Err(format!("a cancelled turn took {took} ms to end")),
            false => Ok(()),
        }
    }

    /// Checks that the ids the engine makes are new, also if those who saw them first outlived it.
    fn fresh_id(&mut self, event: &Event) -> Result<(), Broken> {
        let id = match event.update() {
            Some(v2::SessionUpdate::UserMessage(message)) => message.message_id.to_string(),
            Some(v2::SessionUpdate::AgentMessageChunk(chunk)) => chunk.message_id.to_string(),
            Some(v2::SessionUpdate::AgentThoughtChunk(chunk)) => chunk.message_id.to_string(),
            Some(v2::SessionUpdate::ToolCallUpdate(update)) => update.tool_call_id.to_string(),
            _ => return Ok(()),
        };
        if id.starts_with("own-") {
            return Ok(());
        }
        let life = self.lives;
        let in_turn = self
            .process
            .as_ref()
            .is_some_and(|own| own.engine.running().is_some());
        let (made_in, _) = *self.ids.entry(id.clone()).or_insert((life, in_turn));
        match made_in == life {
            true => Ok(()),
            false => Err(format!("{id} was the id of something in an earlier life")),
        }
    }

    fn tell(&mut self, id: ViewId, mut act: impl FnMut(&mut View, &Engine, &mut Vec<Down>)) {
        let Some(process) = &mut self.process else {
            return;
        };
        let Process { views, engine, .. } = process;
        let Some(view) = views.iter_mut().find(|view| view.id == id) else {
            return;
        };
        let mut out = Vec::new();
        act(view, engine, &mut out);
        let (client, epoch) = (view.client, view.epoch);
        self.send_down(client, epoch, out);
    }

    pub(super) fn tell_all(&mut self, mut act: impl FnMut(&mut View, &Engine, &mut Vec<Down>)) {
        let ids: Vec<_> = match &self.process {
            Some(process) => process.views.iter().map(|view| view.id).collect(),
            None => return,
        };
        for id in ids {
            self.tell(id, &mut act);
        }
    }
}

fn cancel_time_ms() -> u64 {
    u64::try_from(CANCEL_TIME_MAX.as_millis()).unwrap_or(u64::MAX)
}
