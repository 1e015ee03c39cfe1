//! Asking the user whether something may be done.

use ply_session::{Answer, Question};
use ply_wire::v2;

use super::{Context, Turn};
use crate::Result;
use crate::passing::{Inquiry, put};

/// A question whether something may be done.
#[derive(Debug, Clone)]
#[must_use = "a question is asked by `Turn::ask` or `ToolCall::ask_with`"]
pub struct Permission {
    title: String,
    description: Option<String>,
    command: Option<String>,
    /// What a question of another agent is about.
    subject: Option<v2::RequestPermissionSubject>,
    options: Vec<v2::PermissionOption>,
    meta: Option<v2::Meta>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// The user chose one of the options.
    Selected(v2::PermissionOption),
    /// The question was dismissed, by the user or by a rule of the client's: not approved.
    Dismissed,
    /// Nobody decided: the client could not ask. Not approved, but not refused by the user either.
    Unanswered,
}

impl Decision {
    /// Returns whether the user chose an option that allows.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        use v2::PermissionOptionKind as Kind;
        matches!(
            self,
            Self::Selected(option) if matches!(option.kind, Kind::AllowOnce | Kind::AllowAlways)
        )
    }

    /// Returns the option that the user chose.
    #[must_use]
    pub fn option_id(&self) -> Option<&v2::PermissionOptionId> {
        match self {
            Self::Selected(option) => Some(&option.option_id),
            Self::Dismissed | Self::Unanswered => None,
        }
    }
}

impl Permission {
    /// Returns a question with these words.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            description: None,
            command: None,
            subject: None,
            options: Vec::new(),
            meta: None,
        }
    }

    /// Says why.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Names the command that is to be run. It is shown where the question is not about a tool
    /// call.
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    /// Adds an option. Without any, the usual four are offered: allow or reject, once or always.
    pub fn option(
        mut self,
        id: impl Into<v2::PermissionOptionId>,
        name: impl Into<String>,
        kind: v2::PermissionOptionKind,
    ) -> Self {
        self.options.push(v2::PermissionOption::new(id, name, kind));
        self
    }

    pub(crate) async fn ask_about(
        mut self,
        context: &Context,
        call: Option<v2::ToolCallId>,
    ) -> Result<Decision> {
        if self.options.is_empty() {
            self.options = usual_options();
        }
        let request = self.request(context, call);
        let options = request.options.clone();
        let question = Question::Permission(Box::new(request));
        Ok(match put(context, Inquiry::new(question)).await? {
            Answer::Selected(id) => {
                let mut offered = options.into_iter();
                let chosen = offered.find(|option| option.option_id == id);
                chosen.map_or(Decision::Unanswered, Decision::Selected)
            }
            Answer::Cancelled => Decision::Dismissed,
            _ => Decision::Unanswered,
        })
    }

    fn request(
        self,
        context: &Context,
        call: Option<v2::ToolCallId>,
    ) -> v2::RequestPermissionRequest {
        let subject = match (call, self.command) {
            (Some(call), _) => {
                let call = v2::ToolCallUpdate::new(call);
                let subject = v2::ToolCallPermissionSubject::new(call);
                Some(v2::RequestPermissionSubject::ToolCall(Box::new(subject)))
            }
            (None, Some(command)) => {
                let cwd = context.session.cwd().to_path_buf();
                Some(v2::RequestPermissionSubject::Command(
                    v2::CommandPermissionSubject::new(command, cwd),
                ))
            }
            (None, None) => self.subject,
        };
        let id = context.session.id().clone();
        v2::RequestPermissionRequest::new(id, self.title, self.options)
            .description(self.description)
            .subject(subject)
            .meta(self.meta)
    }
}

/// The question with these words and the usual four options.
impl From<&str> for Permission {
    fn from(title: &str) -> Self {
        Self::new(title)
    }
}

/// The question with these words and the usual four options.
impl From<String> for Permission {
    fn from(title: String) -> Self {
        Self::new(title)
    }
}

/// The question of another agent, to be passed on: its words, its options and what it is about.
impl From<&v2::RequestPermissionRequest> for Permission {
    fn from(request: &v2::RequestPermissionRequest) -> Self {
        Self {
            title: request.title.clone(),
            description: request.description.clone(),
            command: None,
            subject: request.subject.clone(),
            options: request.options.clone(),
            meta: request.meta.clone(),
        }
    }
}

impl Turn {
    /// Asks whether something may be done that is no tool call: a title is enough, and a [`Permission`] says more.
    ///
    /// # Errors
    ///
    /// The turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the question is taken back.
    #[doc(alias = "request_permission")]
    pub async fn ask(&self, permission: impl Into<Permission>) -> Result<Decision> {
        permission.into().ask_about(&self.context, None).await
    }
}

fn usual_options() -> Vec<v2::PermissionOption> {
    use v2::PermissionOptionKind as Kind;
    [
        ("allow_once", "Allow once", Kind::AllowOnce),
        ("allow_always", "Always allow", Kind::AllowAlways),
        ("reject_once", "Reject once", Kind::RejectOnce),
        ("reject_always", "Always reject", Kind::RejectAlways),
    ]
    .map(|(id, name, kind)| v2::PermissionOption::new(id, name, kind))
    .to_vec()
}
