//! Questions: offered to those who can ask them, answered once.

use std::collections::BTreeSet;

use ply_session::engine::Input;
use ply_session::{Answer, AskId, Question, Reply, TurnId, ViewId};
use ply_wire::v2;

use super::{Broken, Ledger};

#[derive(Debug)]
pub(super) struct AskEntry {
    turn: Option<TurnId>,
    question: Question,
    offered: BTreeSet<ViewId>,
    ever_offered: BTreeSet<ViewId>,
    /// Whether a view that was asked could not answer.
    failed: bool,
    /// What was written of its answer.
    written: Option<Answer>,
}

impl AskEntry {
    pub(super) fn turn(&self) -> Option<TurnId> {
        self.turn
    }

    pub(super) fn forget(&mut self, view: ViewId) {
        self.offered.remove(&view);
    }

    pub(super) fn is_about(&self, call: &v2::ToolCallId) -> bool {
        match &self.question {
            Question::Permission(request) => match &request.subject {
                Some(v2::RequestPermissionSubject::ToolCall(subject)) => {
                    subject.tool_call.tool_call_id == *call
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns whether nobody can answer any more, now that a view has left. A permission that
    /// nobody failed to answer waits for the next client.
    fn is_lost(&self, view: ViewId) -> bool {
        let can_wait = matches!(self.question, Question::Permission(_)) && !self.failed;
        self.ever_offered.contains(&view) && self.offered.is_empty() && !can_wait
    }

    /// Returns whether the reply may lead to this answer. Only what was offered is an approval.
    fn allows(&self, reply: &Reply, answer: &Answer) -> bool {
        match (reply, answer) {
            (Reply::Selected(chosen), Answer::Selected(answered)) => match &self.question {
                Question::Permission(request) => {
                    let mut options = request.options.iter();
                    chosen == answered && options.any(|option| option.option_id == *chosen)
                }
                _ => false,
            },
            (Reply::Elicited(action), Answer::Elicited(answered)) => {
                matches!(self.question, Question::Elicitation(_)) && action == answered
            }
            (Reply::Dismissed | Reply::CancelTurn | Reply::Elicited(_), Answer::Cancelled) => true,
            (_, Answer::Unanswered) => true,
            _ => false,
        }
    }
}

impl Ledger {
    /// Returns whether all that the turn does is to wait for the user.
    pub(super) fn waits(&self, turn: TurnId) -> bool {
        let mut asks = self.asks.values();
        asks.any(|ask| ask.turn == Some(turn)) && !self.runs_beside_asks(turn)
    }

    pub(super) fn asked(
        &mut self,
        ask: AskId,
        turn: Option<TurnId>,
        question: &Question,
    ) -> Result<(), Broken> {
        if let (Some(turn), running) = (turn, &self.turn)
            && !running
                .as_ref()
                .is_some_and(|r| r.id == turn && !r.cancelled)
        {
            return Err("a question was asked that its turn no longer waits for".into());
        }
        self.asks_seen.insert(ask);
        let entry = AskEntry {
            turn,
            question: question.clone(),
            offered: BTreeSet::new(),
            ever_offered: BTreeSet::new(),
            failed: false,
            written: None,
        };
        match self.asks.insert(ask, entry) {
            Some(_) => Err("a question was asked twice".into()),
            None => Ok(()),
        }
    }

    pub(super) fn answered(&mut self, ask: AskId, answer: &Answer) -> Result<(), Broken> {
        match self.asks.get_mut(&ask) {
            Some(open) if open.written.is_none() => {
                open.written = Some(answer.clone());
                Ok(())
            }
            _ => Err("a question was answered that is not open".into()),
        }
    }

    /// Returns whether an answer comes from a view that was asked; other inputs always count.
    pub(super) fn is_heard(&self, input: &Input) -> bool {
        let Input::Answer { ask, view, .. } = input else {
            return true;
        };
        let open = self.asks.get(ask);
        open.is_some_and(|open| open.offered.contains(view))
    }

    /// Notes that a view has answered, if its answer decided nothing.
    pub(super) fn replied(&mut self, input: &Input) {
        if let Input::Answer {
            ask, view, reply, ..
        } = input
            && let Some(open) = self.asks.get_mut(ask)
            && open.offered.remove(view)
        {
            open.failed |= *reply == Reply::Failed;
        }
    }

    pub(super) fn offered(&mut self, ask: AskId, view: ViewId) -> Result<(), Broken> {
        let Some(open) = self.asks.get_mut(&ask) else {
            return Err("a question was offered that is not open".into());
        };
        if !self.views.contains(&view) || !open.ever_offered.insert(view) {
            return Err("a question was offered twice, or to nobody".into());
        }
        open.offered.insert(view);
        Ok(())
    }

    pub(super) fn retracted(&mut self, ask: AskId, view: ViewId) -> Result<(), Broken> {
        let open = self.asks.get_mut(&ask);
        match open.is_some_and(|open| open.offered.remove(&view)) {
            true => Ok(()),
            false => Err("a question was taken back from a view that does not have it".into()),
        }
    }

    pub(super) fn resolved(
        &mut self,
        input: &Input,
        ask: AskId,
        answer: &Answer,
    ) -> Result<(), Broken> {
        let is_new = matches!(input, Input::Ask(asked) if asked.id == ask);
        let Some(open) = self.asks.get_mut(&ask) else {
            let approves = matches!(answer, Answer::Selected(_) | Answer::Elicited(_));
            return match is_new && !approves && self.asks_seen.insert(ask) {
                true => Ok(()),
                false => Err("a question was resolved that is not open".into()),
            };
        };
        let is_right = match input {
            Input::Answer {
                ask: answered,
                view,
                reply,
                ..
            } if *answered == ask => open.offered.remove(view) && open.allows(reply, answer),
            Input::Detach { view } if *answer == Answer::Unanswered => open.is_lost(*view),
            _ => *answer == Answer::Cancelled,
        };
        if !is_right {
            return Err("a question got an answer that nobody gave".into());
        }
        if open.written.as_ref() != Some(answer) {
            return Err("a question was resolved before its answer was written".into());
        }
        if !open.offered.is_empty() {
            return Err("a question was resolved and not taken back from everybody".into());
        }
        self.asks.remove(&ask);
        Ok(())
    }
}
