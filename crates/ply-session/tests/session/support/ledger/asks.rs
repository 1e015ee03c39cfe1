//! Questions: offered to those who can ask them, answered once.

use std::collections::BTreeSet;

use ply_session::engine::Input;
use ply_session::{Answer, AskId, Question, Reply, TurnId, ViewId};
use ply_wire::v2;

use super::{Broken, Ledger};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GivenUp {
    Failed,
    Dismissed,
}

#[derive(Debug)]
pub(super) struct AskEntry {
    turn: Option<TurnId>,
    question: Question,
    offered: BTreeSet<ViewId>,
    ever_offered: BTreeSet<ViewId>,
    /// What a view that was asked made of it instead of an answer.
    given_up: BTreeSet<GivenUp>,
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
        let can_wait = matches!(self.question, Question::Permission(_)) && self.given_up.is_empty();
        self.ever_offered.contains(&view) && self.offered.is_empty() && !can_wait
    }

    /// Returns what becomes of it when nobody is left to answer.
    fn without_answer(&self) -> Answer {
        match self.given_up.contains(&GivenUp::Dismissed) {
            true => Answer::Cancelled,
            false => Answer::Unanswered,
        }
    }

    fn is_dismissed_by(&self, reply: &Reply) -> bool {
        use v2::ElicitationAction::{Accept, Decline};
        match reply {
            Reply::Dismissed | Reply::CancelTurn => true,
            Reply::Elicited(action) => {
                let is_form = matches!(self.question, Question::Elicitation(_));
                is_form && !matches!(action, Accept(_) | Decline)
            }
            _ => false,
        }
    }

    fn is_url(&self) -> bool {
        match &self.question {
            Question::Elicitation(request) => matches!(request.mode, v2::ElicitationMode::Url(_)),
            _ => false,
        }
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
            (reply, Answer::Cancelled) if self.is_dismissed_by(reply) => true,
            (_, answer) => *answer == self.without_answer(),
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
            given_up: BTreeSet::new(),
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
            open.given_up.insert(match open.is_dismissed_by(reply) {
                true => GivenUp::Dismissed,
                false => GivenUp::Failed,
            });
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
        let (turn, is_url) = (open.turn, open.is_url());
        let prompter = self.prompter(turn);
        if is_url && prompter.is_some_and(|prompter| prompter != view) {
            return Err("an address was offered to a view that did not prompt".into());
        }
        Ok(())
    }

    fn prompter(&self, turn: Option<TurnId>) -> Option<ViewId> {
        let running = self
            .turn
            .as_ref()
            .filter(|running| Some(running.id) == turn);
        running?.prompter
    }

    /// Returns whether a reply that is no answer may end the question: nobody else has it, or it is dismissed by whoever
    /// prompted, or by anybody if that one is gone.
    pub(super) fn may_end(&self, ask: AskId, view: ViewId, reply: &Reply) -> bool {
        let Some(open) = self.asks.get(&ask) else {
            return false;
        };
        let is_last = open.offered.iter().all(|offered| *offered == view);
        let prompter = self.prompter(open.turn);
        let prompter = prompter.filter(|prompter| self.views.contains(prompter));
        let speaks = prompter.is_none_or(|prompter| prompter == view);
        is_last || (open.is_dismissed_by(reply) && speaks)
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
            } if *answered == ask => {
                let decides = matches!(answer, Answer::Selected(_) | Answer::Elicited(_));
                let was_asked = open.offered.remove(view);
                was_asked && open.allows(reply, answer) && (decides || self.may_end)
            }
            Input::Detach { view } if *answer == open.without_answer() => open.is_lost(*view),
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
