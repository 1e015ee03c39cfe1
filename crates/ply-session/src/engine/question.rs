//! What a question says, and what replies to it come to.

use ply_wire::v2;

use crate::{Answer, Answers, Question, Reply};

impl Question {
    /// Leaves out what it says of its call: that is in what the client has seen, and may be old by now.
    pub(crate) fn without_call(mut self) -> Self {
        if let Some(call) = self.tool_call_mut() {
            *call = v2::ToolCallUpdate::new(call.tool_call_id.clone());
        }
        self
    }

    pub(super) fn tool_call(&self) -> Option<&v2::ToolCallId> {
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

    pub(super) fn can_be_asked_by(&self, answers: Answers) -> bool {
        match self {
            Self::Permission(_) => true,
            Self::Elicitation(request) => match &request.mode {
                v2::ElicitationMode::Form(_) => answers.form,
                v2::ElicitationMode::Url(_) => answers.url,
                _ => false,
            },
        }
    }

    /// Returns whether it asks the user to visit an address, which only the user who caused it may do (V1-ELIC-24).
    pub(super) fn is_url(&self) -> bool {
        match self {
            Self::Permission(_) => false,
            Self::Elicitation(request) => matches!(request.mode, v2::ElicitationMode::Url(_)),
        }
    }

    /// Returns what a reply comes to: an option that was not offered, or an action nobody knows,
    /// approves nothing (V2-PERM-07, V2-ELIC-04).
    pub(super) fn answer(&self, reply: Reply) -> Answer {
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
