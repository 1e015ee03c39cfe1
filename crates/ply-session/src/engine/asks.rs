//! Questions to the user: offered to every client that can ask them, answered once.
//!
//! Only an answer decides for everybody. A client that fails, or dismisses a question that another one caused, gives up its own
//! copy; the question ends without an answer when nobody is left to give one.

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
    /// What the clients that gave up their copies leave behind when nobody else answers; none while nobody did.
    given_up: Option<Answer>,
}

impl OpenAsk {
    fn new(turn: Option<TurnId>, question: Question) -> Self {
        Self {
            turn,
            question,
            offered_to: Vec::new(),
            given_up: None,
        }
    }

    /// Notes that a client gave up its copy. That somebody dismissed the question says more than that somebody failed.
    fn give_up(&mut self, answer: Answer) {
        if self.given_up != Some(Answer::Cancelled) {
            self.given_up = Some(answer);
        }
    }
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
        self.0.insert(ask.id, OpenAsk::new(ask.turn, ask.question));
    }

    /// Gives up all questions, and returns who was asked which.
    pub(crate) fn take_offers(&mut self) -> Vec<(AskId, ViewId)> {
        let asks = std::mem::take(&mut self.0).into_iter();
        asks.flat_map(|(ask, open)| open.offered_to.into_iter().map(move |view| (ask, view)))
            .collect()
    }

    /// Takes a view out, and returns the questions that nobody can answer any more, with what becomes of them. A permission
    /// waits for the next client instead, which can always be asked (D13).
    fn detach(&mut self, view: ViewId, questions: Questions) -> Vec<(AskId, Answer)> {
        let mut lost = Vec::new();
        for (id, ask) in &mut self.0 {
            let asked = ask.offered_to.len();
            ask.offered_to.retain(|offered| *offered != view);
            let left = ask.offered_to.len() < asked && ask.offered_to.is_empty();
            let waits =
                questions == Questions::Wait || matches!(ask.question, Question::Permission(_));
            let given_up = ask.given_up.clone();
            let given_up = given_up.filter(|_| questions != Questions::Wait);
            let lost_as = given_up.or((!waits).then_some(Answer::Unanswered));
            if let Some(answer) = lost_as.filter(|_| left) {
                lost.push((*id, answer));
            }
        }
        lost
    }
}

impl Engine {
    /// Returns what is asked, while it waits for an answer.
    #[must_use]
    pub fn question(&self, ask: AskId) -> Option<&Question> {
        self.asks.0.get(&ask).map(|ask| &ask.question)
    }

    /// Returns the questions that wait for an answer, with their numbers.
    pub fn questions(&self) -> impl Iterator<Item = (AskId, &Question)> {
        self.asks.0.iter().map(|(ask, open)| (*ask, &open.question))
    }

    /// Takes an answer that comes through no view. Returns whether it counts: the question waits, and offers the option.
    pub(crate) fn decide(
        &mut self,
        ask: AskId,
        option: v2::PermissionOptionId,
        by: Option<&str>,
        out: &mut Vec<Action>,
    ) -> bool {
        let question = self.question(ask);
        let answer = question.map(|question| question.answer(Reply::Selected(option)));
        let Some(answer @ Answer::Selected(_)) = answer else {
            return false;
        };
        self.resolve(ask, answer, by, out);
        self.refresh_state(out);
        true
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
        let mut asks = std::mem::take(&mut self.asks.0);
        for (ask, open) in &mut asks {
            if self.can_ask(&open.question, open.turn, view, answers) {
                open.offered_to.push(view);
                out.push(Action::Offer { ask: *ask, view });
            }
        }
        self.asks.0 = asks;
    }

    /// Returns whether a client may be asked a question of a turn. An address goes to whoever caused the question (V1-ELIC-23):
    /// the client that prompted, or without a prompt the only one there is.
    fn can_ask(
        &self,
        question: &Question,
        turn: Option<TurnId>,
        view: ViewId,
        answers: Answers,
    ) -> bool {
        let is_its_own = || match self.prompters(turn) {
            [] => self.views.len() == 1,
            prompters => prompters.contains(&view),
        };
        question.can_be_asked_by(answers) && (!question.is_url() || is_its_own())
    }

    /// Returns the clients whose prompts the turn works on.
    fn prompters(&self, turn: Option<TurnId>) -> &[ViewId] {
        let running = self
            .turn
            .as_ref()
            .filter(|running| Some(running.id) == turn);
        running.map_or(&[], |running| &running.prompters)
    }

    /// Returns whether a client that dismisses a question of the turn does so for everybody: it prompted, or whoever did is gone.
    fn dismisses_for_all(&self, turn: Option<TurnId>, view: ViewId) -> bool {
        let prompters = self.prompters(turn);
        let is_attached = |prompter| self.views.iter().any(|(attached, _)| attached == prompter);
        prompters.contains(&view) || !prompters.iter().any(is_attached)
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
                let question = &ask.question;
                let mut views = self.views.iter();
                self.settings.questions == Questions::Wait
                    || views.any(|(view, can)| self.can_ask(question, ask.turn, *view, *can))
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
        let mut open = OpenAsk::new(ask.turn, ask.question);
        for (view, answers) in &self.views {
            if self.can_ask(&open.question, open.turn, *view, *answers) {
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
        for (ask, answer) in self.asks.detach(view, self.settings.questions) {
            self.resolve(ask, answer, None, out);
        }
        self.refresh_state(out);
    }

    pub(crate) fn unask(&mut self, ask: AskId, out: &mut Vec<Action>) {
        self.resolve(ask, Answer::Cancelled, None, out);
        self.refresh_state(out);
    }

    /// Takes an answer. The first one counts, the views that have not answered hear that it is
    /// over, and whatever comes later finds no question. What is no answer leaves the question to the others.
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
        let cancels_turn = reply == Reply::CancelTurn;
        let answer = open.question.answer(reply);
        let (turn, is_last) = (open.turn, open.offered_to.is_empty());
        let answer = match answer {
            Answer::Selected(_) | Answer::Elicited(_) => answer,
            Answer::Cancelled if self.dismisses_for_all(turn, view) => answer,
            given_up => {
                let Some(open) = self.asks.0.get_mut(&ask) else {
                    return;
                };
                open.give_up(given_up);
                if !is_last || self.settings.questions == Questions::Wait {
                    // Somebody else may still answer, or come to.
                    return;
                }
                open.given_up.take().unwrap_or(Answer::Unanswered)
            }
        };
        if cancels_turn && turn.is_some() {
            // Which also resolves this question.
            return self.cancel_turn(out);
        }
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
