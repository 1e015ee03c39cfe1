//! Prompts and turns: taken in order, ended once.

use ply_session::engine::Input;
use ply_session::{Event, PROMPTS_QUEUED_MAX, PromptId, Refusal, Reply, Start, TurnId, ViewId};
use ply_wire::transcript::State;
use ply_wire::v2;

use super::{Broken, Ledger, Turn};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It waits for its turn.
    Queued,
    Inserted,
    Running,
    Over,
}

impl Ledger {
    pub(super) fn arrived(&mut self, prompt: PromptId) -> Result<(), Broken> {
        match self.prompts.insert(prompt, Stage::Queued) {
            Some(_) => Err(format!("the driver used {prompt:?} twice")),
            None => {
                self.queued.push_back(prompt);
                Ok(())
            }
        }
    }

    pub(super) fn accepted(
        &mut self,
        prompt: PromptId,
        message: &v2::MessageId,
    ) -> Result<(), Broken> {
        let is_written = match &self.just_appended {
            Some(Event::Update(v2::SessionUpdate::UserMessage(update))) => {
                update.message_id == *message
            }
            _ => false,
        };
        if !is_written {
            return Err("a prompt was accepted before its message was written".into());
        }
        self.take_first(prompt)?;
        self.prompts.insert(prompt, Stage::Inserted);
        Ok(())
    }

    pub(super) fn refused(
        &mut self,
        input: &Input,
        prompt: PromptId,
        view: Option<ViewId>,
        refusal: Refusal,
    ) -> Result<(), Broken> {
        if self.prompts.get(&prompt) != Some(&Stage::Queued) {
            return Err("a prompt was refused that does not wait".into());
        }
        let is_new = matches!(input, Input::Prompt(new) if new.id == prompt)
            || matches!(input, Input::Begin { prompt: new } if *new == prompt);
        let is_right = match refusal {
            Refusal::Cancelled => match input {
                Input::Cancel | Input::Close => true,
                Input::Withdraw { prompt: withdrawn } => *withdrawn == prompt,
                Input::Detach { view: left } => view == Some(*left),
                _ => false,
            },
            Refusal::QueueFull => is_new && self.queued.len() > PROMPTS_QUEUED_MAX,
            Refusal::Closed => is_new && self.closing,
            _ => is_new,
        };
        if !is_right {
            return Err("a prompt was refused for no reason".into());
        }
        self.queued.retain(|queued| *queued != prompt);
        self.prompts.insert(prompt, Stage::Over);
        Ok(())
    }

    pub(super) fn started(&mut self, start: &Start) -> Result<(), Broken> {
        if self.turn.is_some() {
            return Err("a turn starts while another runs".into());
        }
        if *self.transcript.state() != State::Running {
            return Err("a turn starts and the session is not running".into());
        }
        if start.turn.0 <= self.last_turn {
            return Err("the numbers of turns do not grow".into());
        }
        match start.view {
            Some(_) if self.prompts.get(&start.prompt) != Some(&Stage::Inserted) => {
                return Err("a turn starts for a prompt that was not accepted".into());
            }
            Some(_) => {}
            None => self.take_first(start.prompt)?,
        }
        self.prompts.insert(start.prompt, Stage::Running);
        self.last_turn = start.turn.0;
        self.turn = Some(Turn {
            id: start.turn,
            prompt: start.prompt,
            prompter: start.view,
            cancelled: false,
        });
        Ok(())
    }

    pub(super) fn cancelled(&mut self, input: &Input, turn: TurnId) -> Result<(), Broken> {
        let is_wanted = match input {
            Input::Cancel | Input::CancelTurn | Input::Close => true,
            Input::Answer { reply, .. } => *reply == Reply::CancelTurn && self.may_end,
            _ => false,
        };
        if !is_wanted {
            return Err("a turn was cancelled that nobody cancelled".into());
        }
        match &mut self.turn {
            Some(running) if running.id == turn && !running.cancelled => {
                running.cancelled = true;
                Ok(())
            }
            _ => Err("a turn was cancelled that cannot be".into()),
        }
    }

    pub(super) fn settled(
        &mut self,
        prompt: PromptId,
        stop: &v2::StopReason,
    ) -> Result<(), Broken> {
        let Some(ended) = self.ended.take() else {
            return Err("a turn was settled before its idle".into());
        };
        let Some(turn) = self.turn.take() else {
            return Err("a turn was settled that does not run".into());
        };
        if ended != *stop || turn.prompt != prompt {
            return Err("another turn was settled than the one that went idle".into());
        }
        if turn.cancelled && *stop != v2::StopReason::Cancelled {
            return Err("a cancelled turn did not end cancelled".into());
        }
        match self.prompts.insert(prompt, Stage::Over) {
            Some(Stage::Running) => Ok(()),
            other => Err(format!("a prompt settled that was {other:?}")),
        }
    }

    fn take_first(&mut self, prompt: PromptId) -> Result<(), Broken> {
        if self.queued.front() != Some(&prompt) {
            return Err("a prompt was inserted out of order, twice, or after it was over".into());
        }
        self.queued.pop_front();
        Ok(())
    }
}
