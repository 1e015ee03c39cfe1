//! Doing what the core wants done, and checking that it may want it.

use ply_session::{
    Answer, CANCEL_TIME_MAX, Effect, Empty, Entity, Input, Keep, Message, OPTION_TIME_MAX,
    RequestId, Response, Start, Title, TurnId,
};
use ply_wire::{MaybeUndefined, v2};

use super::life::ms;
use super::{Sent, World};
use crate::Broken;
use crate::agent::AgentTurn;
use crate::client::tag_of;
use crate::message::Down;
use crate::queue::Due;

/// What is in memory besides what the limits are about: prompts, states, and the update that went over the limit.
const MEMORY_SLACK_BYTES: usize = 256 * 1024;

impl World<'_> {
    /// Notes what is about to happen to a core.
    pub(super) fn noted(&mut self, number: u64, input: &Input) {
        let is_failure = match input {
            Input::NotPersisted { may_pass, .. } => !may_pass,
            Input::NotOpened { .. } | Input::Lost { .. } => true,
            _ => false,
        };
        match input {
            Input::Fork { request } => self.fork_asked(*request),
            Input::Close(close) => {
                self.closings += 1;
                let at = self.closings;
                let asked = close.request.map(|request| (request, (close.journal, at)));
                self.closes.extend(asked);
                if close.journal == Keep::Nothing {
                    self.delete_asked = (number, at);
                }
            }
            _ => {}
        }
        if is_failure {
            self.trace.failures += 1;
            if let Some(life) = self.get(number) {
                // What the agent makes of its option no longer counts.
                life.option = None;
            }
        }
    }

    pub(super) fn perform(&mut self, number: u64, effects: Vec<Effect>) -> Result<(), Broken> {
        let now = self.queue.now_ms();
        for effect in effects {
            self.trace.note(now, || {
                let mut line = format!("    out {effect:?}");
                line.truncate(line.floor_char_boundary(400));
                line
            });
            let Some(life) = self.get(number) else {
                return Ok(());
            };
            if life.is_over {
                return Err(format!(
                    "something is done after the session is over: {effect:?}"
                ));
            }
            match effect {
                Effect::Respond { request, .. } if super::shell::is_shells(request) => {}
                Effect::Respond { request, response } => {
                    if let Ok(Response::Title(Title { title })) = &response
                        && number > self.deleted
                        && !self.journal.safe.titles.contains(title)
                    {
                        return Err(format!("{title} is answered and may be lost"));
                    }
                    self.check_closed(number, request, &response)?;
                    self.respond(request, response)?;
                }
                Effect::Fork { request, records } => {
                    let (there, owns) = (self.journal.len(), self.journal.is_owner(number));
                    if number > self.deleted && owns && records > there {
                        return Err(format!("{records} records are copied of {there}"));
                    }
                    if number > self.deleted && owns {
                        self.fork(request, records)?;
                    }
                    self.respond(request, Ok(Response::Close(Empty {})))?;
                }
                Effect::Retract { ask, view } => {
                    if let Some((client, epoch)) = life.seats.get(&view).copied() {
                        self.send_down(client, epoch, Down::Retract { ask });
                    }
                }
                Effect::Start(start) => self.start(number, &start)?,
                Effect::Steer { turn, .. } => {
                    let is_running = life.turns.get(&turn).is_some_and(|code| !code.done);
                    if !is_running {
                        return Err(format!("{turn:?} is steered and does not run"));
                    }
                }
                Effect::Cancel { turn } => {
                    let Some(code) = life.turns.get_mut(&turn).filter(|code| !code.done) else {
                        return Err(format!("{turn:?} is cancelled and does not run"));
                    };
                    if std::mem::replace(&mut code.cancelled, true) {
                        return Err(format!("{turn:?} is cancelled twice"));
                    }
                    life.cancelled.insert(turn, now);
                    self.cancel_held(number, turn);
                }
                Effect::CancelEntity { entity } => {
                    let transcript = life.core.history().transcript();
                    let can_stop = match &entity {
                        Entity::ToolCall(id) => transcript
                            .tool_call(id)
                            .is_some_and(|call| !call.is_finished()),
                        Entity::Terminal(id) => transcript.open_terminals().any(|open| open == id),
                        _ => false,
                    };
                    if !can_stop {
                        return Err(format!("{entity:?} is to stop and does not run"));
                    }
                    life.background.stops.push(entity);
                }
                Effect::Abandon { turn } => {
                    let Some(code) = life.turns.get_mut(&turn) else {
                        return Err(format!("{turn:?} is abandoned and does not run"));
                    };
                    code.abandoned = true;
                }
                Effect::Resolve { ask, answer } => {
                    let approves = matches!(answer, Answer::Selected(_) | Answer::Elicited(_));
                    if approves && !self.journal.safe.answered.contains(&ask) {
                        return Err(format!("{ask:?} is approved and that may be lost"));
                    }
                    if self.asks.remove(&ask).is_none() {
                        return Err(format!("{ask:?} is resolved twice"));
                    }
                    if let Some(life) = self.get(number) {
                        let codes = life.turns.values_mut();
                        for code in codes.chain([&mut life.background]) {
                            code.waits_for.retain(|waiting| *waiting != ask);
                        }
                    }
                    self.resolved(number, ask, answer);
                }
                Effect::Settled { request, stop } => {
                    if !life.own.remove(&request) {
                        return Err(format!("{request:?} is settled twice"));
                    }
                    let tag = self.turns.get(&request).copied();
                    let failed = matches!(stop, Some(v2::StopReason::Error(_)));
                    if let Some(tag) = tag.filter(|_| stop.is_some() && !failed) {
                        self.turn_is_over(tag)?;
                    }
                }
                Effect::SetOption { request, .. } => self.set_option(number, request)?,
                Effect::Passed { barrier, is_safe } => {
                    if !life.barriers.remove(&barrier) {
                        return Err(format!("barrier {barrier} is passed twice"));
                    }
                    self.told(number, barrier, is_safe)?;
                }
                Effect::Over => self.over(number)?,
                effect => self.do_store(number, effect)?,
            }
        }
        Ok(())
    }

    fn start(&mut self, number: u64, start: &Start) -> Result<(), Broken> {
        let now = self.queue.now_ms();
        let message = start.message.as_ref().map(ToString::to_string);
        if message.is_some_and(|id| !self.journal.safe.prompts.contains(&id)) {
            return Err("a turn starts and its prompt may be lost".into());
        }
        let Some(life) = self.life.as_mut().filter(|life| life.number == number) else {
            return Err("a turn starts in a session that is over".into());
        };
        let goes_on = |code: &AgentTurn| !code.done && !code.abandoned;
        if life.turns.values().any(goes_on) {
            return Err("a turn starts while another runs".into());
        }
        let request = RequestId(start.prompt.0);
        let seat = |request: RequestId| {
            let sent = self.requests.get(&request);
            sent.map(|sent: &Sent| (sent.client, sent.epoch))
        };
        let is_of_sender = |(option, since): &(RequestId, u64)| {
            let sender = start.view.and_then(|view| life.seats.get(&view).copied());
            let waits = now < since + ms(OPTION_TIME_MAX);
            waits && *option < request && sender.is_some() && seat(*option) == sender
        };
        if life.option.as_ref().is_some_and(is_of_sender) {
            return Err("a prompt overtook the option that was changed before it".into());
        }
        life.started.extend(start.view.map(|view| (request, view)));
        life.prompter = start.view.map(|view| (start.turn, view));
        let code = AgentTurn::new(number, Some(start.turn), &mut self.choices);
        if life.turns.insert(start.turn, code).is_some() {
            return Err(format!("{:?} starts twice", start.turn));
        }
        self.trace.turns += 1;
        self.turns.insert(request, (number, start.turn.0));
        if self.is_held {
            return self.hand_on(number, start);
        }
        let delay = self.choices.below(25);
        let (life, turn) = (number, start.turn);
        self.queue.after(delay, Due::AgentActs { life, turn });
        Ok(())
    }

    fn set_option(&mut self, number: u64, request: RequestId) -> Result<(), Broken> {
        let (now, sent) = (self.queue.now_ms(), self.requests.get(&request).copied());
        let Some(life) = self.get(number) else {
            return Ok(());
        };
        life.option = Some((request, now));
        let mut started = life.started.iter();
        let overtaken = started.any(|(prompt, view)| {
            let is_same =
                life.seats.get(view).copied() == sent.map(|sent| (sent.client, sent.epoch));
            *prompt > request && is_same
        });
        if overtaken {
            return Err("a prompt overtook the option that was changed before it".into());
        }
        if self.choices.percent(90) {
            let delay = self.choices.below(200);
            let life = number;
            self.queue.after(delay, Due::OptionSet { life, request });
        }
        Ok(())
    }

    /// Notes an answer, which must be the first, and returns who waits for it.
    pub(super) fn answered(
        &mut self,
        request: RequestId,
        response: &Result<Response, v2::Error>,
        life: u64,
    ) -> Result<Sent, Broken> {
        let Some(sent) = self.requests.remove(&request) else {
            return Err(format!("{request:?} is answered twice"));
        };
        match response {
            Ok(Response::Prompt(accepted)) => {
                let message = accepted.message_id.to_string();
                if life > self.deleted && !self.journal.safe.prompts.contains(&message) {
                    return Err("a prompt is accepted and may be lost".into());
                }
            }
            Ok(Response::PromptV1(_)) if life > self.deleted => {
                if let Some(tag) = self.turns.get(&request).copied() {
                    self.turn_is_over(tag)?;
                }
            }
            _ => {}
        }
        Ok(sent)
    }

    /// Checks that whoever ends a session is told what became of it.
    fn check_closed(
        &mut self,
        number: u64,
        request: RequestId,
        response: &Result<Response, v2::Error>,
    ) -> Result<(), Broken> {
        let (Some((keep, at)), Ok(_)) = (self.closes.remove(&request), response) else {
            return Ok(());
        };
        let is_deleted = self.deleted == number;
        let is_so = match keep {
            Keep::Nothing => is_deleted,
            // One that was archived first may be deleted behind that.
            Keep::Archived if is_deleted => {
                self.delete_asked.0 == number && self.delete_asked.1 > at
            }
            Keep::Archived => self.archived == number,
            Keep::All | Keep::IfUsed => return Ok(()),
        };
        let life = self.get(number);
        let is_open = life.is_some_and(|life| life.core.engine().is_open());
        match is_so && !is_open {
            true => Ok(()),
            false => Err(format!("{request:?} is answered and not done: {keep:?}")),
        }
    }

    /// Checks that the end of a turn is safe when somebody hears of it.
    fn turn_is_over(&mut self, tag: (u64, u64)) -> Result<(), Broken> {
        if tag.0 <= self.deleted {
            return Ok(());
        }
        self.ended_turns.insert(tag);
        if self.ended_turns.len() as u64 > self.journal.safe.idles {
            return Err(format!("the end of turn {tag:?} is told and may be lost"));
        }
        Ok(())
    }

    /// Checks what a client is sent.
    pub(super) fn pulled(&mut self, number: u64, message: &Message) -> Result<(), Broken> {
        match message {
            Message::Respond { request, response } => {
                self.check_closed(number, *request, response)?;
                self.answered(*request, response, number)?;
            }
            Message::Passed { barrier } => {
                let life = self.get(number);
                if !life.is_some_and(|life| life.barriers.remove(barrier)) {
                    return Err(format!("barrier {barrier} is passed twice"));
                }
            }
            Message::Update(json) => {
                // Clients read all of them; here only those count that have to be safe.
                let json = json.as_str();
                let is_safe_first = json.contains("user_message") || json.contains("in_progress");
                if is_safe_first && let Ok(update) = serde_json::from_str(json) {
                    self.shown(number, &update)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn shown(&mut self, number: u64, update: &v2::SessionUpdate) -> Result<(), Broken> {
        let safe = &self.journal.safe;
        let (id, is_safe) = match update {
            v2::SessionUpdate::UserMessage(message) => {
                let id = message.message_id.to_string();
                let is_safe = safe.prompts.contains(&id);
                (id, is_safe)
            }
            v2::SessionUpdate::ToolCallUpdate(call) => {
                let id = call.tool_call_id.to_string();
                let runs = call.status == MaybeUndefined::Value(v2::ToolCallStatus::InProgress);
                let is_safe = !runs || safe.calls.contains(&id);
                (id, is_safe)
            }
            _ => return Ok(()),
        };
        if is_safe || !self.journal.is_owner(number) {
            return Ok(());
        }
        Err(format!("{id} is shown and may be lost"))
    }

    /// Checks that the ids the core makes are new, also if those who saw them first outlived it.
    pub(super) fn check_ids(&mut self, number: u64, record: &[u8]) -> Result<(), Broken> {
        let record = String::from_utf8_lossy(record);
        let Some((_, rest)) = record.split_once("\"messageId\":\"msg-") else {
            return Ok(());
        };
        let id = rest.split_once('"').map_or(rest, |(id, _)| id);
        let made_in = *self.ids.entry(id.to_owned()).or_insert(number);
        if made_in != number {
            return Err(format!("message {id} is of another life"));
        }
        Ok(())
    }

    /// Checks what must hold after every step.
    pub(super) fn check(&mut self, number: u64) -> Result<(), Broken> {
        let (now, jumped) = (self.queue.now_ms(), self.queue.jumped_ms());
        let limits = self.settings.limits;
        let Some(life) = self.get(number) else {
            return Ok(());
        };
        let engine = life.core.engine();
        if let Some(turn) = engine.running().filter(|_| engine.is_cancelled())
            && life
                .turns
                .get(&turn)
                .is_some_and(|code| !code.cancelled && !code.done)
        {
            return Err(format!("{turn:?} was cancelled and its code was not told"));
        }
        if let Some(turn) = engine.running()
            && let Some(since) = life.cancelled.get(&turn)
            && now.saturating_sub(*since) > ms(CANCEL_TIME_MAX) + jumped
        {
            return Err(format!("{turn:?} goes on after it was cancelled"));
        }
        let bytes = life.core.window_bytes();
        if bytes > limits.window_bytes + limits.unwritten_bytes + MEMORY_SLACK_BYTES {
            return Err(format!("{bytes} bytes are kept in memory"));
        }
        let running = engine.running();
        if running != life.running {
            let ended = std::mem::replace(&mut life.running, running);
            if let Some(turn) = ended {
                self.check_ended(number, turn)?;
            }
        }
        Ok(())
    }

    /// Checks that a turn that ended left nothing open.
    fn check_ended(&self, number: u64, turn: TurnId) -> Result<(), Broken> {
        let mut lives = self.life.iter().chain(&self.ended);
        let Some(life) = lives.find(|life| life.number == number) else {
            return Ok(());
        };
        if life.core.has_failed() {
            // That is for the next request to end.
            return Ok(());
        }
        let transcript = life.core.history().transcript();
        let is_its = |id: &str| tag_of(id) == Some((number, turn.0));
        let mut calls = transcript.tool_calls();
        if let Some(call) = calls.find(|call| !call.is_finished() && is_its(&call.id.0)) {
            return Err(format!("{turn:?} ended with call {} open", call.id));
        }
        let was_cut = matches!(
            transcript.stop_reason(),
            Some(v2::StopReason::Cancelled | v2::StopReason::Error(_))
        );
        let mut terminals = transcript.open_terminals();
        if let Some(terminal) = terminals.find(|id| was_cut && is_its(&id.0)) {
            return Err(format!(
                "{turn:?} was cut and left terminal {terminal} open"
            ));
        }
        let asks = self.asks.iter();
        let mut of_turn = asks.filter(|(_, of)| **of == (number, Some(turn)));
        // One that was answered may still wait for the journal.
        let engine = life.core.engine();
        if let Some((ask, _)) = of_turn.find(|(ask, _)| engine.question(**ask).is_some()) {
            return Err(format!("{turn:?} ended with {ask:?} open"));
        }
        Ok(())
    }
}
