//! Questions to the user: offered to every client that can ask them, answered once.

use std::collections::BTreeMap;

use ply_wire::v2;

use super::Action;
use super::Engine;
use crate::{
    ASKS_OPEN_MAX, Answer, Answers, Ask, AskId, Event, Question, Questions, Reply, TurnId, ViewId,
};

/// Questions that wait for an answer.
#[derive(Debug, Default)]
pub(crate) struct Asks(BTreeMap<AskId, OpenAsk>);

#[derive(Debug)]
struct OpenAsk {
    turn: Option<TurnId>,
    question: Question,
    offered_to: Vec<ViewId>,
    /// Whether a client that was asked failed, so that nobody is left to wait for when the others
    /// leave.
    failed: bool,
}

impl Asks {
    pub(crate) fn is_waiting(&self, turn: TurnId) -> bool {
        self.0.values().any(|ask| ask.turn == Some(turn))
    }

    /// Returns whether a question about the tool call waits.
    pub(crate) fn is_about(&self, call: &v2::ToolCallId) -> bool {
        self.0
            .values()
            .any(|ask| ask.question.tool_call().is_some_and(|id| id == call))
    }

    /// Takes a question that nobody here was asked yet.
    pub(super) fn adopt(&mut self, ask: Ask) {
        let open = OpenAsk {
            turn: ask.turn,
            question: ask.question,
            offered_to: Vec::new(),
            failed: false,
        };
        self.0.insert(ask.id, open);
    }

    /// Gives up all questions, and returns who was asked which.
    pub(crate) fn take_offers(&mut self) -> Vec<(AskId, ViewId)> {
        let asks = std::mem::take(&mut self.0).into_iter();
        asks.flat_map(|(ask, open)| open.offered_to.into_iter().map(move |view| (ask, view)))
            .collect()
    }

    /// Takes a view out, and returns the questions that nobody can answer any more. A permission
    /// waits for the next client instead, which can always be asked (D13).
    fn detach(&mut self, view: ViewId, questions: Questions) -> Vec<AskId> {
        let mut lost = Vec::new();
        for (id, ask) in &mut self.0 {
            let asked = ask.offered_to.len();
            ask.offered_to.retain(|offered| *offered != view);
            let left = ask.offered_to.len() < asked && ask.offered_to.is_empty();
            let waits =
                questions == Questions::Wait || matches!(ask.question, Question::Permission(_));
            if left && (ask.failed || !waits) {
                lost.push(*id);
            }
        }
        lost
    }
}

impl Question {
    /// Leaves out what it says of its call: that is in what the client has seen, and may be old by now.
    pub(crate) fn without_call(mut self) -> Self {
        if let Some(call) = self.tool_call_mut() {
            *call = v2::ToolCallUpdate::new(call.tool_call_id.clone());
        }
        self
    }

    fn tool_call(&self) -> Option<&v2::ToolCallId> {
        match self {
            Self::Permission(request) => match &request.subject {
                Some(v2::RequestPermissionSubject::ToolCall(subject)) => {
                    Some(&subject.tool_call.tool_call_id)
                }
                _ => None,
            },
            Self::Elicitation(request) => {
                let scope = match &request.mode {
                    v2::ElicitationMode::Form(form) => &form.scope,
                    v2::ElicitationMode::Url(url) => &url.scope,
                    _ => return None,
                };
                match scope {
                    v2::ElicitationScope::Session(session) => session.tool_call_id.as_ref(),
                    _ => None,
                }
            }
        }
    }

    pub(crate) fn tool_call_mut(&mut self) -> Option<&mut v2::ToolCallUpdate> {
        match self {
            Self::Permission(request) => match &mut request.subject {
                Some(v2::RequestPermissionSubject::ToolCall(subject)) => {
                    Some(&mut subject.tool_call)
                }
                _ => None,
            },
            Self::Elicitation(_) => None,
        }
    }

    fn can_be_asked_by(&self, answers: Answers) -> bool {
        match self {
            Self::Permission(_) => true,
            Self::Elicitation(request) => match &request.mode {
                v2::ElicitationMode::Form(_) => answers.form,
                v2::ElicitationMode::Url(_) => answers.url,
                _ => false,
            },
        }
    }

    /// Returns what a reply comes to: an option that was not offered, or an action nobody knows,
    /// approves nothing (V2-PERM-07, V2-ELIC-04).
    fn answer(&self, reply: Reply) -> Answer {
        match (self, reply) {
            (_, Reply::Dismissed | Reply::CancelTurn) => Answer::Cancelled,
            (Self::Permission(request), Reply::Selected(option)) => {
                let mut offered = request.options.iter();
                match offered.any(|offered| offered.option_id == option) {
                    true => Answer::Selected(option),
                    false => Answer::Unanswered,
                }
            }
            (Self::Elicitation(_), Reply::Elicited(action)) => match action {
                v2::ElicitationAction::Accept(_) | v2::ElicitationAction::Decline => {
                    Answer::Elicited(action)
                }
                _ => Answer::Cancelled,
            },
            _ => Answer::Unanswered,
        }
    }
}

impl Engine {
    /// Returns what is asked, while it waits for an answer.
    #[must_use]
    pub fn question(&self, ask: AskId) -> Option<&Question> {
        self.asks.0.get(&ask).map(|ask| &ask.question)
    }

    /// Returns the questions that wait for an answer.
    pub(crate) fn open_questions(&self) -> Vec<AskId> {
        self.asks.0.keys().copied().collect()
    }

    /// Returns how many questions wait for an answer.
    #[must_use]
    pub fn open_asks(&self) -> usize {
        self.asks.0.len()
    }

    pub(crate) fn attach(&mut self, view: ViewId, answers: Answers, out: &mut Vec<Action>) {
        if self.is_closed() || self.views.iter().any(|(attached, _)| *attached == view) {
            return;
        }
        self.views.push((view, answers));
        for (ask, open) in &mut self.asks.0 {
            if open.question.can_be_asked_by(answers) {
                open.offered_to.push(view);
                out.push(Action::Offer { ask: *ask, view });
            }
        }
    }

    pub(crate) fn ask(&mut self, mut ask: Ask, out: &mut Vec<Action>) {
        let id = ask.id;
        let resolve = |answer| Action::Resolve { ask: id, answer };
        if self.asks.0.contains_key(&ask.id) {
            // The number stands for the question that came first, and that will be answered.
            return;
        }
        let is_late = self.is_closed()
            || ask
                .turn
                .is_some_and(|turn| self.running() != Some(turn) || self.is_cancelled());
        if is_late {
            return out.push(resolve(Answer::Cancelled));
        }
        let can_be_asked = match &ask.question {
            Question::Permission(request) => !request.options.is_empty(),
            // Nobody who could ask may ever come, and a turn must not wait for that unless the host wants so.
            Question::Elicitation(_) => {
                let mut views = self.views.iter();
                self.settings.questions == Questions::Wait
                    || views.any(|(_, answers)| ask.question.can_be_asked_by(*answers))
            }
        };
        if !can_be_asked || self.asks.0.len() >= ASKS_OPEN_MAX {
            return out.push(resolve(Answer::Unanswered));
        }
        if let Some(call) = ask.question.tool_call_mut() {
            // It counts as an update of the call (V2-PERM-03), so it must not take the call back.
            self.follow_call(ask.turn, call);
        }
        self.append(
            Event::Asked {
                ask: ask.id,
                turn: ask.turn,
                question: ask.question.clone(),
            },
            out,
        );
        let mut open = OpenAsk {
            turn: ask.turn,
            question: ask.question,
            offered_to: Vec::new(),
            failed: false,
        };
        for (view, answers) in &self.views {
            if open.question.can_be_asked_by(*answers) {
                open.offered_to.push(*view);
                out.push(Action::Offer {
                    ask: ask.id,
                    view: *view,
                });
            }
        }
        self.asks.0.insert(ask.id, open);
        self.refresh_state(out);
    }

    pub(crate) fn detach_asks(&mut self, view: ViewId, out: &mut Vec<Action>) {
        for ask in self.asks.detach(view, self.settings.questions) {
            self.resolve(ask, Answer::Unanswered, None, out);
        }
        self.refresh_state(out);
    }

    pub(crate) fn unask(&mut self, ask: AskId, out: &mut Vec<Action>) {
        self.resolve(ask, Answer::Cancelled, None, out);
        self.refresh_state(out);
    }

    /// Takes an answer. The first one counts, the views that have not answered hear that it is
    /// over, and whatever comes later finds no question.
    pub(crate) fn answer(
        &mut self,
        ask: AskId,
        view: ViewId,
        by: Option<&str>,
        reply: Reply,
        out: &mut Vec<Action>,
    ) {
        let Some(open) = self.asks.0.get_mut(&ask) else {
            return;
        };
        let Some(at) = open.offered_to.iter().position(|offered| *offered == view) else {
            return;
        };
        open.offered_to.remove(at);
        open.failed |= reply == Reply::Failed;
        if reply == Reply::Failed && !open.offered_to.is_empty() {
            // Somebody else may still answer.
            return;
        }
        if reply == Reply::CancelTurn && open.turn.is_some() {
            // Which also resolves this question.
            return self.cancel_turn(out);
        }
        let answer = open.question.answer(reply);
        self.resolve(ask, answer, by, out);
        self.refresh_state(out);
    }

    /// Resolves what `turn` asked as cancelled; with none, what background work asked.
    pub(crate) fn cancel_asks(&mut self, turn: Option<TurnId>, out: &mut Vec<Action>) {
        let open = self.asks.0.iter().filter(|(_, open)| open.turn == turn);
        let open: Vec<AskId> = open.map(|(ask, _)| *ask).collect();
        for ask in open {
            self.resolve(ask, Answer::Cancelled, None, out);
        }
    }

    fn resolve(&mut self, ask: AskId, answer: Answer, by: Option<&str>, out: &mut Vec<Action>) {
        let Some(open) = self.asks.0.remove(&ask) else {
            return;
        };
        let event = Event::Answered {
            ask,
            answer: answer.clone(),
            by: by.map(str::to_owned),
        };
        self.append(event, out);
        let retract = |view| Action::Retract { ask, view };
        out.extend(open.offered_to.into_iter().map(retract));
        out.push(Action::Resolve { ask, answer });
    }
}
