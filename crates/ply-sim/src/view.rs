//! The process's side of one client: a place in the journal, and for version 1 a projector.

mod compare;

use std::collections::{BTreeMap, BTreeSet};

use ply_session::{AskId, Event, History, PromptId, Question, Refusal, Reply, ViewId};
use ply_wire::project::{self, PermissionDown, Projector, PromptTicket, Shows};
use ply_wire::{v1, v2};

use crate::client::{Client, Version};
use crate::ledger::Broken;
use crate::message::{Down, PromptOutcome};

#[derive(Debug)]
pub(crate) struct View {
    pub(crate) id: ViewId,
    pub(crate) client: usize,
    pub(crate) epoch: u64,
    /// The requests of its prompts.
    pub(crate) requests: BTreeMap<PromptId, u64>,
    kind: Kind,
    /// Everything it was shown, in version 2.
    shown: Vec<v2::SessionUpdate>,
    /// Whether it was shown everything from the beginning.
    is_whole: bool,
    /// An answer that was not what the turn came to.
    wrong: Option<Broken>,
}

#[derive(Debug)]
enum Kind {
    V1(Box<V1>),
    V2,
}

#[derive(Debug)]
struct V1 {
    projector: Projector,
    /// Whether it is told of prompts before their message is known.
    expects: bool,
    /// Prompts whose message it will look for.
    expected: BTreeSet<PromptId>,
    asks: BTreeMap<AskId, project::AskId>,
    own: BTreeSet<String>,
}

impl View {
    /// Returns the view of a client that attaches, and appends what it is shown of the past.
    pub(crate) fn attach(
        (id, index): (ViewId, usize),
        client: &Client,
        history: &History,
        (resumes, expects): (bool, bool),
        out: &mut Vec<Down>,
    ) -> Self {
        let past = history.transcript().to_updates();
        let kind = match client.version {
            Version::V2 => {
                // The state is told in any case (V2-STATE-14).
                let from = if resumes { past.len() - 1 } else { 0 };
                out.extend(past.iter().skip(from).cloned().map(Down::V2));
                Kind::V2
            }
            Version::V1 => {
                let prefix = format!("view-{}/", id.0);
                let mut downs = Vec::new();
                let transcript = history.transcript();
                let projector = match resumes {
                    true => Projector::resume(Shows::ALL, prefix, transcript, history),
                    false => Projector::load(Shows::ALL, prefix, transcript, history, &mut downs),
                };
                out.extend(downs.into_iter().filter_map(|down| match down {
                    project::Down::Update(update) => Some(Down::V1(update)),
                    _ => None,
                }));
                Kind::V1(Box::new(V1 {
                    projector,
                    expects,
                    expected: BTreeSet::new(),
                    asks: BTreeMap::new(),
                    own: BTreeSet::new(),
                }))
            }
        };
        out.push(Down::Attached);
        Self {
            id,
            client: index,
            epoch: client.epoch,
            requests: BTreeMap::new(),
            kind,
            shown: past,
            is_whole: !resumes,
            wrong: None,
        }
    }

    pub(crate) fn prompt_sent(&mut self, prompt: PromptId, content: &[v2::ContentBlock]) {
        // Words that another client may say as well are named before they are shown.
        let is_unique = content.len() > 1;
        if let Kind::V1(v1) = &mut self.kind
            && v1.expects
            && is_unique
        {
            v1.expected.insert(prompt);
            v1.projector.expect_prompt(PromptTicket(prompt.0), content);
        }
    }

    pub(crate) fn cancel_sent(&mut self) {
        if let Kind::V1(v1) = &mut self.kind {
            v1.projector.cancel_requested();
        }
    }

    /// Says that the next message is this view's own prompt.
    pub(crate) fn names(&mut self, prompt: PromptId, message: &v2::MessageId, out: &mut Vec<Down>) {
        if let Kind::V1(v1) = &mut self.kind
            && !v1.expected.contains(&prompt)
        {
            let mut downs = Vec::new();
            let ticket = PromptTicket(prompt.0);
            v1.own.insert(message.to_string());
            v1.projector.own_prompt(ticket, message.clone(), &mut downs);
            self.extend(downs, out);
        }
    }

    pub(crate) fn accepted(
        &mut self,
        prompt: PromptId,
        message: &v2::MessageId,
        out: &mut Vec<Down>,
    ) {
        let mut downs = Vec::new();
        match &mut self.kind {
            Kind::V2 => {
                let outcome = PromptOutcome::Inserted(message.clone());
                if let Some(request) = self.requests.remove(&prompt) {
                    out.push(Down::Answer { request, outcome });
                }
            }
            Kind::V1(v1) => {
                let ticket = PromptTicket(prompt.0);
                v1.own.insert(message.to_string());
                v1.projector.own_prompt(ticket, message.clone(), &mut downs);
            }
        }
        self.extend(downs, out);
    }

    pub(crate) fn refused(&mut self, prompt: PromptId, refusal: Refusal, out: &mut Vec<Down>) {
        let mut downs = Vec::new();
        match &mut self.kind {
            Kind::V2 => {
                let outcome = PromptOutcome::Refused;
                if let Some(request) = self.requests.remove(&prompt) {
                    out.push(Down::Answer { request, outcome });
                }
            }
            Kind::V1(v1) => {
                let code = match refusal {
                    Refusal::Cancelled => v2::ErrorCode::RequestCancelled,
                    _ => v2::ErrorCode::InvalidParams,
                };
                let error = v2::Error::new(code.into(), refusal.to_string());
                let ticket = PromptTicket(prompt.0);
                v1.projector.prompt_refused(ticket, &error, &mut downs);
            }
        }
        self.extend(downs, out);
    }

    pub(crate) fn show(&mut self, event: &Event, history: &History, out: &mut Vec<Down>) {
        if let Some(update) = event.update() {
            self.show_update(update, history, out);
        }
    }

    pub(crate) fn show_update(
        &mut self,
        update: &v2::SessionUpdate,
        history: &History,
        out: &mut Vec<Down>,
    ) {
        self.shown.push(update.clone());
        let mut downs = Vec::new();
        match &mut self.kind {
            Kind::V2 => out.push(Down::V2(update.clone())),
            Kind::V1(v1) => v1.projector.apply_with(update, history, &mut downs),
        }
        if let v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle)) = update {
            for down in &downs {
                if let project::Down::Settle { outcome, .. } = down
                    && !compare::fits(outcome, idle.stop_reason.as_ref())
                {
                    self.wrong = Some(format!("a v1 client was told {outcome:?} at {idle:?}"));
                }
            }
        }
        self.extend(downs, out);
    }

    /// Puts a question to the client; returns whether it can.
    pub(crate) fn offer(
        &mut self,
        ask: AskId,
        question: &Question,
        history: &History,
        out: &mut Vec<Down>,
    ) -> bool {
        let request = match question {
            Question::Permission(request) => request,
            _ => {
                let question = question.clone();
                out.push(Down::Ask { ask, question });
                return true;
            }
        };
        if let Some(v2::RequestPermissionSubject::ToolCall(subject)) = &request.subject {
            let update = v2::SessionUpdate::ToolCallUpdate(subject.tool_call.clone());
            self.shown.push(update);
        }
        let mut downs = Vec::new();
        let is_asked = match &mut self.kind {
            Kind::V2 => true,
            Kind::V1(v1) => match v1.projector.permission(request, history, &mut downs) {
                PermissionDown::Ask(id, _) => {
                    v1.asks.insert(ask, id);
                    true
                }
                // The client is not asked, but what the question says of its call is for all.
                PermissionDown::Answer(_) => {
                    if let Some(v2::RequestPermissionSubject::ToolCall(subject)) = &request.subject
                    {
                        let update = v2::SessionUpdate::ToolCallUpdate(subject.tool_call.clone());
                        v1.projector.apply_with(&update, history, &mut downs);
                    }
                    false
                }
            },
        };
        self.extend(downs, out);
        if is_asked {
            let question = question.clone();
            out.push(Down::Ask { ask, question });
        }
        is_asked
    }

    /// Translates the reply of the client.
    pub(crate) fn reply(&mut self, ask: AskId, reply: Reply, out: &mut Vec<Down>) -> Reply {
        let Kind::V1(v1) = &mut self.kind else {
            // Version 2 knows no answer that cancels the turn.
            return match reply {
                Reply::CancelTurn => Reply::Dismissed,
                reply => reply,
            };
        };
        let outcome = match &reply {
            Reply::Selected(option) => v1::RequestPermissionOutcome::Selected(
                v1::SelectedPermissionOutcome::new(option.0.clone()),
            ),
            _ => v1::RequestPermissionOutcome::Cancelled,
        };
        let mut downs = Vec::new();
        let is_permission = match v1.asks.remove(&ask) {
            Some(id) => {
                let _ = v1.projector.permission_answered(id, &outcome, &mut downs);
                true
            }
            None => false,
        };
        self.extend(downs, out);
        match reply {
            Reply::Dismissed if is_permission => Reply::CancelTurn,
            reply => reply,
        }
    }

    pub(crate) fn retract(&mut self, ask: AskId, out: &mut Vec<Down>) {
        let mut downs = Vec::new();
        if let Kind::V1(v1) = &mut self.kind
            && let Some(id) = v1.asks.remove(&ask)
        {
            let cancelled = v1::RequestPermissionOutcome::Cancelled;
            let _ = v1.projector.permission_answered(id, &cancelled, &mut downs);
        }
        self.extend(downs, out);
        out.push(Down::Unask { ask });
    }

    pub(crate) fn flush(&mut self, out: &mut Vec<Down>) {
        let mut downs = Vec::new();
        if let Kind::V1(v1) = &mut self.kind {
            v1.projector.flush(&mut downs);
        }
        self.extend(downs, out);
    }

    /// Ends the view with its session; returns whether every prompt was answered by then.
    pub(crate) fn close(&mut self, out: &mut Vec<Down>) -> bool {
        let is_at_rest = self.requests.is_empty();
        let mut downs = Vec::new();
        if let Kind::V1(v1) = &mut self.kind {
            v1.projector.close(&mut downs);
        }
        self.extend(downs, out);
        out.push(Down::Closed);
        is_at_rest
    }

    fn extend(&mut self, downs: Vec<project::Down>, out: &mut Vec<Down>) {
        for down in downs {
            match down {
                project::Down::Update(update) => out.push(Down::V1(update)),
                project::Down::Settle { prompt, .. } => {
                    let request = self.requests.remove(&PromptId(prompt.0));
                    // An answer too many is for the client to complain about.
                    let request = request.unwrap_or(u64::MAX);
                    let outcome = PromptOutcome::V1;
                    out.push(Down::Answer { request, outcome });
                }
                _ => {}
            }
        }
    }
}
