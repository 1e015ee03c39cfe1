//! Permission requests: v1 asks about a tool call, v2 about anything.

use std::collections::BTreeMap;

use serde_json::json;

use super::{Down, EditTexts, Projector, mark};
use crate::{convert, v1, v2};

/// The projector's name for a permission request that a v1 client was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AskId(u64);

/// How a v2 permission request goes on.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum PermissionDown {
    /// Send this request; give the answer to [`Projector::permission_answered`].
    Ask(AskId, Box<v1::RequestPermissionRequest>),
    /// No option is left that v1 can offer: nobody is asked, and the answer is this one, which
    /// approves nothing.
    Answer(v2::RequestPermissionOutcome),
}

#[derive(Debug, Default)]
pub(super) struct Asks {
    next: u64,
    open: BTreeMap<u64, Ask>,
}

#[derive(Debug)]
struct Ask {
    call: v2::ToolCallId,
    about: About,
    offered: Vec<v1::PermissionOption>,
    /// Whether what was shown for it has ended, though it may still be answered.
    ended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// A tool call of the session.
    Call,
    /// A tool call of the session that is shown with the prompt's text for as long as it is asked.
    DisguisedCall,
    /// A call made up for the request.
    StandIn,
}

impl Projector {
    /// Makes a v1 permission request of a v2 one. What must be sent before it is appended to `out`.
    pub fn permission(
        &mut self,
        request: &v2::RequestPermissionRequest,
        edits: &dyn EditTexts,
        out: &mut Vec<Down>,
    ) -> PermissionDown {
        let offered = convert::permission::options_down(&request.options);
        if offered.is_empty() {
            let cancelled = v2::CancelledPermissionOutcome::new();
            return PermissionDown::Answer(v2::RequestPermissionOutcome::Cancelled(cancelled));
        }
        self.flush_content(out);
        let (update, about) = match &request.subject {
            Some(v2::RequestPermissionSubject::ToolCall(subject)) => {
                (subject.tool_call.clone(), About::Call)
            }
            subject => (self.stand_in_for(request, subject.as_ref()), About::StandIn),
        };
        self.stand_in_name = None;
        // The subject counts as an update of the call (V2-PERM-03).
        self.tool_call(&update, edits, out);
        let call = update.tool_call_id.clone();
        let (fields, about) = self.asked_fields(&call, about, request);
        let mut meta = request.meta.clone();
        let is_said =
            request.description.is_none() && fields.title.as_ref() == Some(&request.title);
        if !is_said {
            let text = json!({ "title": request.title, "description": request.description });
            meta.get_or_insert_default()
                .insert(mark::PERMISSION.to_owned(), text);
        }
        let shown = v1::ToolCallUpdate::new(v1::ToolCallId::new(call.0.clone()), fields);
        let session = v1::SessionId::new(request.session_id.0.clone());
        let v1_request =
            v1::RequestPermissionRequest::new(session, shown, offered.clone()).meta(meta);
        self.asks.next += 1;
        let id = self.asks.next;
        self.asks.open.insert(
            id,
            Ask {
                call,
                about,
                offered,
                ended: false,
            },
        );
        PermissionDown::Ask(AskId(id), Box::new(v1_request))
    }

    /// Takes the answer to a request, ends what was shown for it, and returns the answer for the v2
    /// side.
    ///
    /// Use [`v1::RequestPermissionOutcome::Cancelled`] for a request that failed or was withdrawn.
    /// An option that was not offered approves nothing (V2-PERM-07), and a second answer changes
    /// nothing.
    pub fn permission_answered(
        &mut self,
        ask: AskId,
        outcome: &v1::RequestPermissionOutcome,
        out: &mut Vec<Down>,
    ) -> v2::RequestPermissionOutcome {
        let cancelled =
            v2::RequestPermissionOutcome::Cancelled(v2::CancelledPermissionOutcome::new());
        let Some(ask) = self.asks.open.remove(&ask.0) else {
            return cancelled;
        };
        let chosen = match outcome {
            v1::RequestPermissionOutcome::Selected(selected) => ask
                .offered
                .iter()
                .find(|option| option.option_id == selected.option_id),
            _ => None,
        };
        let allowed = chosen.is_some_and(|option| {
            matches!(
                option.kind,
                v1::PermissionOptionKind::AllowOnce | v1::PermissionOptionKind::AllowAlways
            )
        });
        let answer = if chosen.is_some() {
            convert::permission::outcome_up(outcome)
        } else {
            cancelled
        };
        if !ask.ended {
            self.end_ask(&ask.call, ask.about, allowed, out);
        }
        answer
    }

    /// Ends what is shown for requests that nobody answered before the work ended, since nothing of
    /// a turn may follow its end. The requests stay open: one of background work may be answered
    /// much later, and what the user chooses then counts.
    pub(super) fn end_stand_ins(&mut self, out: &mut Vec<Down>) {
        let shown = self.asks.open.values_mut().filter(|ask| !ask.ended);
        let shown: Vec<_> = shown
            .map(|ask| {
                ask.ended = true;
                (ask.call.clone(), ask.about)
            })
            .collect();
        for (call, about) in shown {
            self.end_ask(&call, about, false, out);
        }
    }

    /// Forgets the requests, as the session is closed.
    pub(super) fn forget_asks(&mut self) {
        self.asks.open.clear();
    }

    fn end_ask(&mut self, call: &v2::ToolCallId, about: About, allowed: bool, out: &mut Vec<Down>) {
        match about {
            About::StandIn => {
                let status = if allowed {
                    v2::ToolCallStatus::Completed
                } else {
                    v2::ToolCallStatus::Failed
                };
                let update = v2::ToolCallUpdate::new(call.clone()).status(status);
                self.tool_call(&update, &(), out);
            }
            About::Call => {}
            // A client applies the call in the request like an update (V1-PERM-11), so the prompt's
            // text must go.
            About::DisguisedCall => {
                if let Some(call) = self.calls.get_mut(call) {
                    out.push(Down::Update(call.restore(&self.screens)));
                }
            }
        }
    }

    /// Returns the fields of the call in the request, and whether they differ from the call's own.
    fn asked_fields(
        &mut self,
        id: &v2::ToolCallId,
        mut about: About,
        request: &v2::RequestPermissionRequest,
    ) -> (v1::ToolCallUpdateFields, About) {
        let fields = v1::ToolCallUpdateFields::new();
        let Some(call) = self.calls.get_mut(id) else {
            return (fields, about);
        };
        let own_title = call.fields.title.clone();
        let mut content = call.content(&self.screens);
        if about == About::Call {
            let has_other_title = own_title.as_ref().is_some_and(|own| *own != request.title);
            let title = has_other_title.then_some(request.title.as_str());
            let text: Vec<&str> = title
                .into_iter()
                .chain(request.description.as_deref())
                .collect();
            // Without the call's own content the text could not be taken back.
            let content = content.as_mut().filter(|_| !text.is_empty());
            if content.is_some() || own_title.is_none() {
                about = About::DisguisedCall;
            }
            if let Some(content) = content {
                content.push(text.join("\n").into());
            }
        }
        let fields = fields
            .title(own_title.unwrap_or_else(|| request.title.clone()))
            .kind(convert::tool_call::kind_down(&call.fields.kind))
            .status(convert::tool_call::status_down(&call.fields.status))
            .content(content)
            .locations(convert::tool_call::locations_down(&call.fields.locations))
            .raw_input(call.fields.raw_input.clone());
        (fields, about)
    }

    fn stand_in_for(
        &mut self,
        request: &v2::RequestPermissionRequest,
        subject: Option<&v2::RequestPermissionSubject>,
    ) -> v2::ToolCallUpdate {
        let mut text = Vec::new();
        let mut kind = v2::ToolKind::Other;
        match subject {
            Some(v2::RequestPermissionSubject::Command(command)) => {
                kind = v2::ToolKind::Execute;
                text.push(format!("$ {}", command.command));
                text.push(format!("in {}", command.cwd.0.display()));
            }
            Some(v2::RequestPermissionSubject::Other(other)) => {
                text.push(convert::content::placeholder(&other.type_))
            }
            _ => {}
        }
        text.extend(request.description.clone());
        let block = v2::ContentBlock::from(text.join("\n"));
        let content = v2::ToolCallContent::Content(Box::new(v2::Content::new(block)));
        v2::ToolCallUpdate::new(self.stand_in("permission"))
            .title(request.title.clone())
            .kind(kind)
            .status(v2::ToolCallStatus::Pending)
            .content(if text.is_empty() {
                Vec::new()
            } else {
                vec![content]
            })
    }
}
