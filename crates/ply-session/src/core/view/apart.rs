//! What a client is sent besides the records, each when its cursor reaches a place.

use std::collections::VecDeque;

use ply_wire::negotiate::Version;
use ply_wire::project::{self, PermissionDown};
use ply_wire::{convert, v1, v2};

use super::trace::{For, question_name};
use super::{Cursor, End, Ready, Source, Step, View};
use crate::core::effect::{Form, Message};
use crate::core::response::Response;
use crate::core::window::Window;
use crate::{AskId, Question, Reply, RequestId};

#[derive(Debug)]
pub(super) struct Aside {
    pub(super) place: u64,
    /// Where that is in the journal, once its slot left the window: a record, and bytes of its text.
    pub(super) position: Option<(u64, usize)>,
    pub(super) what: Apart,
}

/// What a client is sent besides the records.
#[derive(Debug)]
pub(crate) enum Apart {
    Respond(RequestId, Result<Response, v2::Error>),
    /// The answer to the request that attached the client, with the mode that it names.
    Setup(RequestId, Response, Option<v1::SessionModeId>),
    Show(Box<v2::SessionUpdate>),
    /// A question, and whether what it says of its call is new to the client.
    Offer(AskId, Call),
    /// A question is over, which version 1 may have to be shown.
    AskEnded(AskId, project::AskId, v1::RequestPermissionOutcome),
    Passed(u64),
}

/// What a client knows of the call that a question is about.
#[derive(Debug)]
pub(crate) enum Call {
    Known,
    /// Its cursor has passed the question, which says this.
    New(Box<v2::SessionUpdate>),
}

impl View {
    /// Sends something when the cursor reaches a place.
    pub(crate) fn at(&mut self, place: u64, window: &Window, what: Apart) {
        let position = (place <= window.start()).then(|| (window.start_records(), 0));
        let after = self.asides.partition_point(|aside| aside.place <= place);
        let aside = Aside {
            place,
            position,
            what,
        };
        self.asides.insert(after, aside);
    }

    pub(super) fn is_due(&self, aside: &Aside) -> bool {
        match &self.cursor {
            Cursor::Window(place) => aside.place <= *place,
            Cursor::Journal(behind) => aside
                .position
                .is_some_and(|position| position <= (behind.record, behind.skip)),
        }
    }

    pub(super) fn apart(&mut self, what: Apart, source: &Source<'_>) -> Option<Step> {
        let message = match what {
            Apart::Respond(request, response) => Message::Respond { request, response },
            Apart::Setup(request, response, mode) => {
                if let (Some(projector), Some(mode)) = (&mut self.projector, mode) {
                    projector.mode_answered(mode);
                }
                let response = Ok(response);
                Message::Respond { request, response }
            }
            Apart::Show(update) => {
                self.show(&update, None, source.history);
                // Those that belong to the answer are counted, and one may be several messages.
                if self.is_owed_more() {
                    self.stamp(For::Record, |mark| {
                        (mark.after, mark.shown) = (mark.after - 1, 0)
                    });
                } else {
                    self.stamp(For::Aside, |_| {});
                }
                return None;
            }
            Apart::Offer(ask, call) => {
                let step = self.offer(ask, call, source);
                let is_asked = matches!(self.asked.get(&ask), Some(Some(_)));
                self.stamp(For::Question, |mark| {
                    if is_asked {
                        mark.asked.insert(ask);
                    }
                });
                return step;
            }
            Apart::AskEnded(ask, down, outcome) => {
                self.project(|projector, downs| {
                    projector.permission_answered(down, &outcome, downs)
                });
                self.stamp(For::Aside, |mark| {
                    mark.asked.remove(&ask);
                });
                return None;
            }
            Apart::Passed(barrier) => Message::Passed { barrier },
        };
        Some(Step::Message(message))
    }

    fn offer(&mut self, ask: AskId, call: Call, source: &Source<'_>) -> Option<Step> {
        let question = (source.question)(ask)?;
        if self.ask_again(ask) {
            return None;
        }
        let name =
            (self.is_traced() && self.projector.is_some()).then(|| question_name(ask, question));
        let known;
        let question = match call {
            Call::New(_) => question,
            Call::Known => {
                known = question.clone().without_call();
                &known
            }
        };
        let form = match (self.viewer.version, question) {
            (Version::V2, Question::Permission(request)) => Form::Permission(request.clone()),
            (Version::V2, Question::Elicitation(request)) => Form::Elicitation(request.clone()),
            (Version::V1, Question::Permission(request)) => {
                let history = source.history;
                let down = self.project(|projector, downs| {
                    if let Some(name) = name {
                        projector.name_stand_in(name);
                    }
                    projector.permission(request, history, downs)
                });
                match down {
                    Some(PermissionDown::Ask(id, request)) => {
                        self.asked.insert(ask, Some(id));
                        let form = Form::PermissionV1(request);
                        self.ready.push_back(Message::Ask { ask, form }.into());
                        return None;
                    }
                    // No option is left that this client could show.
                    _ => {
                        self.pass_question(question, history);
                        return Some(Step::CannotAsk(ask));
                    }
                }
            }
            (Version::V1, Question::Elicitation(request)) => {
                // Requests are named by the id they have on this link, which no agent code knows.
                match convert::elicitation::request_down(request, |_| None) {
                    Some(request) => Form::ElicitationV1(Box::new(request)),
                    None => return Some(Step::CannotAsk(ask)),
                }
            }
        };
        self.asked.insert(ask, None);
        Some(Step::Message(Message::Ask { ask, form }))
    }

    /// Notes that a question is over for this client. What that changes is shown at a place.
    ///
    /// Returns whether the client was asked and waits to hear that no answer is wanted any more.
    pub(crate) fn ask_ended(
        &mut self,
        ask: AskId,
        reply: &Reply,
        place: u64,
        window: &Window,
    ) -> bool {
        self.asides.retain_mut(|aside| match &mut aside.what {
            Apart::Offer(offered, call) if *offered == ask => {
                let Call::New(update) = std::mem::replace(call, Call::Known) else {
                    return false;
                };
                aside.what = Apart::Show(update);
                true
            }
            _ => true,
        });
        // One that is on its way out is not sent, though what it says of its call was shown with it.
        let is_ready = |ready: &Ready| matches!(ready.message, Message::Ask { ask: ready, .. } if ready == ask);
        let was_sent = !self.ready.iter().any(is_ready);
        self.ready.retain(|ready| !is_ready(ready));
        let Some(down) = self.asked.remove(&ask) else {
            return false;
        };
        if let Some(down) = down {
            let outcome = match reply {
                Reply::Selected(option) => v1::RequestPermissionOutcome::Selected(
                    v1::SelectedPermissionOutcome::new(option.0.clone()),
                ),
                _ => v1::RequestPermissionOutcome::Cancelled,
            };
            self.at(place, window, Apart::AskEnded(ask, down, outcome));
        }
        was_sent
    }

    /// Takes the questions that the client was asked and has not answered.
    pub(crate) fn take_asked(&mut self) -> Vec<AskId> {
        let mut asked: Vec<AskId> = std::mem::take(&mut self.asked).into_keys().collect();
        asked.sort();
        for ready in &self.ready {
            if let Message::Ask { ask: ready, .. } = &ready.message {
                asked.retain(|ask| ask != ready);
            }
        }
        asked
    }

    /// Takes the barriers that the client will not pass any more.
    pub(crate) fn take_barriers(&mut self) -> Vec<u64> {
        let passed = |what: &Apart| match what {
            Apart::Passed(barrier) => Some(*barrier),
            _ => None,
        };
        let barriers = self.asides.iter().filter_map(|aside| passed(&aside.what));
        let barriers: Vec<u64> = barriers.collect();
        self.asides.retain(|aside| passed(&aside.what).is_none());
        barriers
    }

    /// Takes the answers that the client was not sent; those that are not safe yet are an error.
    pub(crate) fn take_answers(
        &mut self,
        visible: u64,
        error: &v2::Error,
    ) -> Vec<(RequestId, Result<Response, v2::Error>)> {
        self.fail_answers(visible, error);
        let asides = std::mem::take(&mut self.asides).into_iter();
        let asides = asides.filter_map(|aside| match aside.what {
            Apart::Respond(request, response) => Some((request, response)),
            Apart::Setup(request, response, _) => Some((request, Ok(response))),
            _ => None,
        });
        let ready = self.ready.drain(..).map(|ready| ready.message);
        let sent = self.urgent.drain(..).chain(ready);
        let sent = sent.filter_map(|message| match message {
            Message::Respond { request, response } => Some((request, response)),
            _ => None,
        });
        sent.chain(asides).collect()
    }

    /// Answers with an error, and at once, what waits for records that may never be safe.
    pub(crate) fn fail_answers(&mut self, visible: u64, error: &v2::Error) {
        let (safe, others) = std::mem::take(&mut self.asides)
            .into_iter()
            .partition(|aside| aside.place <= visible || !matches!(aside.what, Apart::Respond(..)));
        self.asides = safe;
        // Options that were to be in an answer are shown by themselves, should the journal have them after all.
        self.answered.retain(|at| *at < visible);
        let others: VecDeque<Aside> = others;
        for aside in others {
            if let Apart::Respond(request, _) = aside.what {
                let response = Err(error.clone());
                self.urgent
                    .push_back(Message::Respond { request, response });
            }
        }
    }

    /// Forgets what was to come behind records that could not be kept, and answers requests with that.
    pub(crate) fn roll_back(&mut self, visible: u64, error: &v2::Error) {
        self.fail_answers(visible, error);
        self.asides.retain(|aside| {
            let is_gone = matches!(aside.what, Apart::Offer(..) | Apart::Show(_));
            aside.place <= visible || !is_gone
        });
        for aside in &mut self.asides {
            aside.place = aside.place.min(visible);
        }
    }

    /// Ends the view with what is visible: the session is over, and what is not safe never will be.
    pub(crate) fn end(&mut self, visible: u64, error: &v2::Error) {
        self.end = End::Over;
        for mut aside in std::mem::take(&mut self.asides) {
            match aside.what {
                Apart::Respond(request, _) if aside.place > visible => {
                    let response = Err(error.clone());
                    self.last.push_back(Message::Respond { request, response });
                }
                _ => {
                    aside.place = aside.place.min(visible);
                    self.asides.push_back(aside);
                }
            }
        }
    }
}
