//! What the journal of a session knows of a program that runs its turns and may still be alive.

use ply_wire::v2;

use crate::event::{Connection, Runner};
use crate::{Answer, AskId, Event};

/// Everything that another owner of a session needs to go on with the program that runs its turns. The fold of the session's
/// events, as [`History`](crate::History) is; only who opens a session needs it.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Handover {
    /// The program.
    pub runner: Option<Runner>,
    /// The state of the connection when it was last written down.
    pub state: Option<String>,
    /// The number of the last thing it was told that is part of the state.
    pub told_before: u64,
    /// What the program was told since, in order.
    pub told: Vec<Told>,
    /// What the program's lines up to this one mean is in the journal.
    pub lines: u64,
    /// Questions of the program since.
    pub questions: Vec<PassedOn>,
    /// The message of the prompt whose turn has not ended.
    pub prompt: Option<v2::MessageId>,
}

/// Something that a program was told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Told {
    /// Its number.
    pub number: u64,
    /// How many lines of the program came before.
    pub after: u64,
    /// What, in the words of the driver.
    pub what: String,
}

/// A question of a program that the session's user was asked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PassedOn {
    /// The question.
    pub ask: AskId,
    /// The program's request.
    pub request: u64,
    /// The answer, if there is one.
    pub answer: Option<Answer>,
}

impl Handover {
    /// Returns whether the program is one that may outlive the session's owner.
    #[must_use]
    pub fn is_held(&self) -> bool {
        let runner = self.runner.as_ref();
        runner.is_some_and(|runner| runner.holder.is_some())
    }

    /// Returns the name of what keeps the program alive, if another owner could go on with the program.
    #[must_use]
    pub fn holder(&self) -> Option<&str> {
        let runner = self.runner.as_ref().filter(|_| self.state.is_some())?;
        runner.holder.as_deref()
    }

    pub(crate) fn recorded(&mut self, event: &Event) {
        match event {
            Event::Runner(runner) => {
                let is_other = |known: &Runner| known.holder != runner.holder;
                if self.runner.as_ref().is_none_or(is_other) {
                    let prompt = self.prompt.take();
                    *self = Self {
                        prompt,
                        ..Self::default()
                    };
                }
                self.runner = Some(runner.clone());
            }
            Event::Update(v2::SessionUpdate::UserMessage(message)) => {
                self.prompt
                    .get_or_insert_with(|| message.message_id.clone());
            }
            Event::Update(v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(_))) => {
                self.prompt = None;
            }
            Event::Lines { upto } => self.lines = *upto,
            Event::Connection(connection) => self.connection(connection),
            Event::Answered { ask, answer, .. } => {
                let mut known = self.questions.iter_mut();
                if let Some(known) = known.find(|known| known.ask == *ask) {
                    known.answer = Some(answer.clone());
                }
            }
            _ => {}
        }
    }

    fn connection(&mut self, connection: &Connection) {
        match connection {
            Connection::State {
                state,
                told,
                requests,
            } => {
                self.state = Some(state.clone());
                self.told_before = *told;
                // What came after the state may be written before it.
                self.told.retain(|known| known.number > *told);
                self.questions.retain(|known| known.request > *requests);
            }
            Connection::Told {
                number,
                after,
                what,
                ..
            } => self.told.push(Told {
                number: *number,
                after: *after,
                what: what.clone(),
            }),
            Connection::Asked { ask, request } => self.questions.push(PassedOn {
                ask: *ask,
                request: *request,
                answer: None,
            }),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;

    fn fold(events: &[Event]) -> Handover {
        let mut handover = Handover::default();
        for event in events {
            handover.recorded(event);
        }
        handover
    }

    fn runner(holder: &str) -> Event {
        Event::Runner(Runner::new("a").holder(holder))
    }

    fn state(told: u64, requests: u64) -> Event {
        let state = format!("state {told}");
        Event::Connection(Connection::State {
            state,
            told,
            requests,
        })
    }

    fn told(number: u64) -> Event {
        let (after, what) = (0, format!("told {number}"));
        Event::Connection(Connection::Told {
            number,
            after,
            what,
            once: false,
        })
    }

    fn asked(request: u64) -> Event {
        let ask = AskId(100 + request);
        Event::Connection(Connection::Asked { ask, request })
    }

    #[test]
    fn what_is_part_of_the_state_is_forgotten_and_what_came_after_it_is_kept() {
        let events = [
            runner("h"),
            told(1),
            asked(1),
            told(2),
            asked(2),
            state(1, 1),
        ];
        let handover = fold(&events);
        assert_eq!(handover.holder(), Some("h"));
        assert_eq!(handover.state.as_deref(), Some("state 1"));
        let told: Vec<u64> = handover.told.iter().map(|told| told.number).collect();
        assert_eq!(told, [2]);
        let asked: Vec<u64> = handover.questions.iter().map(|on| on.request).collect();
        assert_eq!(asked, [2]);
    }

    #[test]
    fn an_answer_is_known_for_the_request_that_it_is_for() {
        let answer = Answer::Cancelled;
        let answered = Event::Answered {
            ask: AskId(101),
            answer: answer.clone(),
            by: None,
        };
        let handover = fold(&[runner("h"), state(0, 0), asked(1), asked(2), answered]);
        let answers: Vec<_> = handover
            .questions
            .iter()
            .map(|on| on.answer.clone())
            .collect();
        assert_eq!(answers, [Some(answer), None]);
    }

    #[test]
    fn the_prompt_of_a_turn_that_has_not_ended_is_known_whoever_runs_it() {
        let prompt = |id: &str| {
            let message = v2::UserMessage::new(id.to_owned());
            Event::Update(v2::SessionUpdate::UserMessage(message))
        };
        let idle = v2::StateUpdate::Idle(v2::IdleStateUpdate::new());
        let idle = Event::Update(v2::SessionUpdate::StateUpdate(idle));
        let ended = [prompt("one"), idle];
        assert_eq!(fold(&ended).prompt, None);
        let cut_off = [&ended[..], &[prompt("two"), prompt("steered"), runner("h")]].concat();
        assert_eq!(fold(&cut_off).prompt, Some(v2::MessageId::new("two")));
    }

    #[test]
    fn nothing_is_known_of_a_program_that_was_started_anew() {
        let lines = Event::Lines { upto: 9 };
        let handover = fold(&[runner("h"), state(0, 0), told(1), lines, runner("other")]);
        assert_eq!(handover.holder(), None);
        assert_eq!((handover.lines, handover.told.len()), (0, 0));
        let same = fold(&[runner("h"), state(0, 0), told(1), runner("h")]);
        assert_eq!((same.holder(), same.told.len()), (Some("h"), 1));
    }
}
