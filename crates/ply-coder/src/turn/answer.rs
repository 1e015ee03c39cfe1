//! One answer of the model: shown as it comes, its calls run as soon as they are complete.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use ply_agent::{Result, ToolCall, v2};

use super::tickets::{Company, Ticket, Tickets};
use super::{CANCEL_GRACE, TurnLoop};
use crate::context::budget;
use crate::model::{
    Call, CallResult, Delta, Deltas, Failure, FailureClass, Model, Part, Request, Stopped, Usage,
};

/// What a model said, and what came of its calls, in their order.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) parts: Vec<Part>,
    pub(super) results: Vec<CallResult>,
    pub(super) stopped: Stopped,
}

/// What came of one request.
#[derive(Debug)]
pub(super) enum Attempt {
    /// The answer is complete.
    Complete(Answer),
    /// It failed, after this much of it.
    Failed(Vec<Part>, Vec<CallResult>, Failure),
    /// The user cancelled.
    Cancelled,
}

impl TurnLoop<'_> {
    /// Makes one request.
    pub(super) async fn attempt(
        &self,
        model: &dyn Model,
        request: &Request,
        step: u64,
    ) -> Result<Attempt> {
        let stream = self.turn.unless_cancelled(model.stream(request)).await?;
        match stream {
            Ok(deltas) => {
                self.follow(
                    deltas,
                    step,
                    Asked {
                        model: &model.facts().id,
                        tokens: budget::tokens(request),
                    },
                )
                .await
            }
            Err(failure) => Ok(Attempt::Failed(Vec::new(), Vec::new(), failure)),
        }
    }

    async fn follow(&self, mut deltas: Deltas, step: u64, asked: Asked<'_>) -> Result<Attempt> {
        let mut answer = Building::new(step);
        let mut running = FuturesUnordered::new();
        let mut results = BTreeMap::new();
        let mut end = None;
        while end.is_none() || !running.is_empty() {
            tokio::select! {
                biased;
                () = self.turn.cancelled() => {
                    drop(deltas);
                    self.count(asked.model, answer.usage);
                    // What a tool had done by then is kept, and a process tree ends in peace.
                    let tidy = async { while running.next().await.is_some() {} };
                    if tokio::time::timeout(CANCEL_GRACE, tidy).await.is_err() {
                        tracing::warn!("a tool did not end in time after a cancel");
                    }
                    return Ok(Attempt::Cancelled);
                }
                Some((place, result)) = running.next() => {
                    results.insert(place, result);
                }
                delta = deltas.next(), if end.is_none() => match delta {
                    Some(Ok(Delta::Stopped(stopped))) => end = Some(Ok(stopped)),
                    Some(Ok(delta)) => match self.show(&mut answer, delta).await {
                        Ok(Some((place, call, begun))) => {
                            running.push(async move {
                                (place, self.dispatch(call, begun.card, begun.ticket).await)
                            });
                        }
                        Ok(None) => {}
                        // The first branch takes care of it.
                        Err(_) if self.turn.is_cancelled() => {}
                        Err(error) => return Err(error),
                    },
                    Some(Err(failure)) => end = Some(Err(failure)),
                    None => {
                        let cut = "The service ended its answer in the middle.";
                        end = Some(Err(Failure::new(FailureClass::Cut, cut)));
                    }
                },
            }
            if end.is_some() {
                // Cards of calls that never became complete fail when they are dropped, and nobody
                // waits for them.
                answer.begun.clear();
            }
        }
        if answer.usage != Usage::default() {
            self.state
                .counted(asked.model, asked.tokens, answer.usage.input_tokens);
            self.count(asked.model, answer.usage);
            self.report_usage().await?;
        }
        let results = results.into_values().collect();
        let parts = answer.parts;
        Ok(match end {
            Some(Ok(stopped)) => Attempt::Complete(Answer {
                parts,
                results,
                stopped,
            }),
            Some(Err(failure)) => Attempt::Failed(parts, results, failure),
            None => unreachable!("the loop goes on until the answer has an end"),
        })
    }

    /// Shows a piece of the answer and adds it to the message. Returns a call that is complete by it.
    async fn show(&self, answer: &mut Building, delta: Delta) -> Result<Option<Complete>> {
        match delta {
            Delta::Text(text) => {
                answer.text(&text);
                self.say(text).await?;
            }
            Delta::Thought(text) => {
                answer.thought(&text);
                self.think(text).await?;
            }
            Delta::Signature(signature) => answer.signature(signature),
            Delta::CallStarted { place, name, .. } if !answer.begun.contains_key(&place) => {
                let begun = self.begin(&name, answer).await?;
                answer.begun.insert(place, begun);
            }
            Delta::CallEnded { place, mut call } => {
                let begun = match answer.begun.remove(&place) {
                    Some(begun) => begun,
                    None => self.begin(&call.name, answer).await?,
                };
                // Services reuse ids, or have none; ours are unique in the session.
                call.id = begun.card.id().0.to_string();
                answer.parts.push(Part::Call(call.clone()));
                return Ok(Some((place, call, begun)));
            }
            Delta::Usage(usage) => answer.usage = usage,
            Delta::CallStarted { .. } | Delta::CallArguments { .. } | Delta::Stopped(_) => {}
        }
        Ok(None)
    }

    /// Shows a call that begins, and gives it its place among the calls of the answer.
    async fn begin(&self, name: &str, answer: &Building) -> Result<Begun> {
        let tools = self.tools();
        let tool = tools.find(name);
        let kind = tool.map(|tool| tool.kind());
        let ticket = answer.tickets.take(Company::of(tool));
        let card = self
            .turn
            .tool_call(name.replace('_', " "))
            .name(name)
            .kind(kind.unwrap_or(v2::ToolKind::Other))
            .meta(self.call_meta(answer.step))
            .await?;
        Ok(Begun { card, ticket })
    }
}

/// What was asked of whom.
struct Asked<'m> {
    model: &'m str,
    /// About how many tokens the request has.
    tokens: u64,
}

/// A complete call, with its place in the answer.
type Complete = (usize, Call, Begun);

/// A call that has begun: its card, and its place among the others.
#[derive(Debug)]
struct Begun {
    card: ToolCall,
    ticket: Ticket,
}

/// The message that is being put together, in the order in which its pieces come.
#[derive(Debug)]
struct Building {
    step: u64,
    parts: Vec<Part>,
    tickets: Tickets,
    /// Calls whose arguments are not complete.
    begun: BTreeMap<usize, Begun>,
    usage: Usage,
}

impl Building {
    fn new(step: u64) -> Self {
        Self {
            step,
            parts: Vec::new(),
            tickets: Tickets::new(),
            begun: BTreeMap::new(),
            usage: Usage::default(),
        }
    }

    fn text(&mut self, more: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push_str(more),
            _ => self.parts.push(Part::Text(more.to_owned())),
        }
    }

    fn thought(&mut self, more: &str) {
        match self.parts.last_mut() {
            // A signature closes its thought.
            Some(Part::Thought {
                text,
                signature: None,
            }) => text.push_str(more),
            _ => self.parts.push(Part::Thought {
                text: more.to_owned(),
                signature: None,
            }),
        }
    }

    fn signature(&mut self, signed: String) {
        match self.parts.last_mut() {
            Some(Part::Thought {
                signature: signature @ None,
                ..
            }) => *signature = Some(signed),
            // Some services sign what they do not show.
            _ => self.parts.push(Part::Thought {
                text: String::new(),
                signature: Some(signed),
            }),
        }
    }
}
