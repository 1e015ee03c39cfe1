//! Opening a session from its journal, also one whose last turn was cut off.

use ply_wire::transcript::{Entry, MessageKind};
use ply_wire::v2;

use super::turn::ActiveTurn;
use super::update::{OpenCalls, OpenTerminals, ended_terminal, withdraw};
use super::{Action, Engine, Start};
use crate::core::Operations;
use crate::{Answer, Ask, AskId, Event, Handover, History, PromptId, Question, Settings, TurnId};

/// Stands for the prompt of a turn that another process started: no request of this one has the number.
const ADOPTED: PromptId = PromptId(u64::MAX);

/// What a client is told about a turn that ended with its process.
const INTERRUPTED: &str = "The turn was interrupted: the agent stopped before it ended.";

/// The same if it waited for an answer.
const INTERRUPTED_ASKING: &str = "The turn was interrupted: the agent stopped while it waited for an answer. The question is lost, \
     and what it asked for was not done. Send a prompt to go on.";

/// What a tool call says whose question was lost.
const QUESTION_LOST: &str =
    "Nobody answered before the agent stopped. The question is lost, and nothing was done.";

/// A session on its way back from its journal, of which no more than its state is queued.
#[derive(Debug, Default)]
pub struct Opening {
    history: History,
    /// Questions that were not answered.
    asked: Vec<Ask>,
    pub(crate) operations: Operations,
    handover: Handover,
    pub(crate) damaged: u64,
    /// The owner that wrote the first record, if it is not the one that made the session.
    pub(crate) first_owner: Option<u64>,
}

impl Opening {
    /// Takes the next event of the journal.
    pub fn event(&mut self, event: &Event) {
        self.operations.recorded(event);
        self.handover.recorded(event);
        self.history.apply(event);
        match event {
            Event::Asked {
                ask,
                turn,
                question,
            } => self.asked.push(Ask {
                id: *ask,
                turn: *turn,
                question: question.clone(),
            }),
            Event::Begun { owner } => self.first_owner = Some(*owner),
            Event::Answered { ask, .. } => self.asked.retain(|asked| asked.id != *ask),
            _ => {}
        }
    }

    /// Takes the next record of the journal. One that cannot be read is counted, and the rest of the session is not affected.
    pub fn record(&mut self, record: &[u8]) {
        match serde_json::from_slice::<Event>(record) {
            Ok(event) => self.event(&event),
            Err(_) => self.damaged += 1,
        }
    }

    /// Notes records that the journal itself could not read.
    pub fn missing(&mut self, records: u64) {
        self.damaged += records;
    }

    /// Returns how many records could not be read.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Takes what is known of a program that runs the turns.
    #[must_use]
    pub fn take_handover(&mut self) -> Handover {
        std::mem::take(&mut self.handover)
    }

    /// Returns what happened in the session.
    #[must_use]
    pub fn into_history(self) -> History {
        self.history
    }

    /// Returns the engine of the session, and appends what must be done to close a turn that was cut
    /// off: its questions are cancelled, its tool calls failed, its state is idle.
    #[must_use]
    pub fn finish(self, settings: Settings, epoch: u64, out: &mut Vec<Action>) -> Engine {
        let mut engine = Engine::with_history(settings, epoch, self.history);
        let words = match self.asked.iter().any(|ask| ask.turn.is_some()) {
            true => INTERRUPTED_ASKING,
            false => INTERRUPTED,
        };
        let error = v2::Error::new(v2::ErrorCode::InternalError.into(), words);
        engine.adopt_queue(out);
        for ask in &self.asked {
            engine.lose_question(&ask.question, out);
        }
        engine.repair(error, out);
        engine
    }

    /// Returns the engine of a session whose runner is still alive: its turn goes on, and what it asked waits for an answer.
    pub(crate) fn adopt(self, settings: Settings, epoch: u64, prompts: Vec<PromptId>) -> Engine {
        let mut engine = Engine::with_history(settings, epoch, self.history);
        engine.take_queue();
        if engine.history.is_cut_off() {
            engine.ids += 1;
            let mut turn = ActiveTurn::new(TurnId(engine.ids), ADOPTED, None);
            turn.steered = prompts;
            engine.turn = Some(turn);
        }
        let turn = engine.running();
        let transcript = engine.history.transcript();
        engine.calls = OpenCalls::of(transcript, turn);
        engine.terminals = OpenTerminals::of(transcript, turn);
        for ask in self.asked {
            let turn = ask.turn.and(turn);
            engine.asks.adopt(Ask { turn, ..ask });
        }
        engine
    }
}

impl Engine {
    /// Returns the turn that another process started and that goes on in its runner, if nobody else runs it.
    #[must_use]
    pub fn adopted(&self) -> Option<Start> {
        let turn = self.turn.as_ref().filter(|turn| turn.prompt == ADOPTED)?;
        // Its prompt is where it began. A turn of the agent's own has none.
        let mut entries = self.history.transcript().shared_entries();
        let first = self.history.turn_began().and_then(|at| entries.nth(at));
        let said = first.filter(|entry| {
            matches!(&***entry, Entry::Message(message) if message.kind == MessageKind::User)
        });
        let message = said.and_then(|entry| match &**entry {
            Entry::Message(message) => Some(message.id.clone()),
            _ => None,
        });
        Some(Start {
            turn: turn.id,
            prompt: turn.prompt,
            view: None,
            message,
            said: said.cloned(),
        })
    }

    /// Returns the engine of a session that was kept; see [`Opening`].
    #[must_use]
    pub fn open(
        settings: Settings,
        epoch: u64,
        events: impl IntoIterator<Item = Event>,
        out: &mut Vec<Action>,
    ) -> Self {
        let mut opening = Opening::default();
        for event in events {
            opening.event(&event);
        }
        opening.finish(settings, epoch, out)
    }

    /// Says of the tool call that a question was about that nobody answered it.
    fn lose_question(&mut self, question: &Question, out: &mut Vec<Action>) {
        let Question::Permission(request) = question else {
            return;
        };
        let Some(v2::RequestPermissionSubject::ToolCall(subject)) = &request.subject else {
            return;
        };
        let id = &subject.tool_call.tool_call_id;
        let call = self.history.transcript().tool_call(id);
        if call.is_some_and(|call| !call.is_finished()) {
            let content = v2::Content::new(v2::ContentBlock::from(QUESTION_LOST));
            let content = v2::ToolCallContent::Content(Box::new(content));
            let chunk = v2::ToolCallContentChunk::new(id.clone(), content);
            let update = v2::SessionUpdate::ToolCallContentChunk(chunk);
            self.append(Event::Update(update), out);
        }
    }

    /// Ends everything that was cut off, with what cut it off.
    pub(crate) fn repair(&mut self, error: v2::Error, out: &mut Vec<Action>) {
        self.forget_queue(out);
        let asked: Vec<AskId> = self.history.asked().collect();
        for ask in asked {
            let answer = Answer::Cancelled;
            self.append(
                Event::Answered {
                    ask,
                    answer,
                    by: None,
                },
                out,
            );
        }
        for update in self.cut_off() {
            self.append(Event::Update(update), out);
        }
        if self.history.is_cut_off() {
            let stop = v2::StopReason::Error(v2::ErrorStopReason::new().error(error));
            let idle = v2::IdleStateUpdate::new().stop_reason(stop);
            self.set_state(v2::StateUpdate::Idle(idle), out);
        }
        self.refresh_background(out);
    }

    /// Returns whether something was cut off and not ended.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.turn.is_none()
            && (self.history.is_cut_off()
                || self.history.asked().next().is_some()
                || !self.cut_off().is_empty())
    }

    /// Returns updates that end the tool calls, terminals and compactions that are open.
    pub(crate) fn cut_off(&self) -> Vec<v2::SessionUpdate> {
        let transcript = self.history.transcript();
        let calls = transcript.tool_calls().filter(|call| !call.is_finished());
        let calls = calls.map(|call| {
            let failed = v2::ToolCallStatus::Failed;
            let mut update = v2::ToolCallUpdate::new(call.id.clone()).status(failed);
            withdraw(call.capabilities.is_some(), &mut update.capabilities);
            v2::SessionUpdate::ToolCallUpdate(update)
        });
        let terminals = transcript.open_terminals().cloned();
        let terminals = terminals.map(|id| ended_terminal(transcript, id));
        let compactions = transcript.entries().filter_map(|entry| match entry {
            Entry::Compaction(compaction)
                if compaction.status == v2::CompactionStatus::InProgress =>
            {
                let failed = v2::CompactionStatus::Failed;
                let update = v2::CompactionUpdate::new(compaction.id.clone(), failed);
                Some(v2::SessionUpdate::CompactionUpdate(update))
            }
            _ => None,
        });
        calls.chain(terminals).chain(compactions).collect()
    }
}
