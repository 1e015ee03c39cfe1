//! Asking the user for input.

use std::collections::BTreeMap;

use ply_session::{Answer, Question};
use ply_wire::v2;

use super::{Context, ToolCall, Turn};
use crate::passing::{Inquiry, put};
use crate::{Error, Result, asking};

/// What the user made of a question for input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Elicited {
    /// The form was filled in; for a URL, that it may be opened, not that the visit is over.
    Accepted(BTreeMap<String, v2::ElicitationContentValue>),
    /// The user said no.
    Declined,
    /// The question was dismissed.
    Dismissed,
}

impl Elicited {
    pub(crate) fn of(action: v2::ElicitationAction) -> Self {
        match action {
            v2::ElicitationAction::Accept(accept) => {
                Self::Accepted(accept.content.unwrap_or_default())
            }
            v2::ElicitationAction::Decline => Self::Declined,
            // What is not known is not taken for a yes (V2-ELIC-04).
            _ => Self::Dismissed,
        }
    }
}

impl Turn {
    /// Returns whether the client can show forms.
    #[must_use]
    pub fn has_forms(&self) -> bool {
        let client = self.context.client.as_ref();
        client.is_some_and(|(client, _)| client.answers().form)
    }

    /// Returns whether the client can send its user to a URL.
    #[must_use]
    pub fn has_urls(&self) -> bool {
        let client = self.context.client.as_ref();
        client.is_some_and(|(client, _)| client.answers().url)
    }

    /// Has the user fill in a form. Never ask for secrets with it; that is what URLs are for.
    ///
    /// # Errors
    ///
    /// The client has no forms, the form asks for a secret or is nested, or the turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the question is taken back.
    pub async fn elicit_form(
        &self,
        message: impl Into<String>,
        schema: v2::ElicitationSchema,
    ) -> Result<Elicited> {
        self.context.elicit_form(None, message.into(), schema).await
    }

    /// Asks the user to visit a URL, and returns the name under which
    /// [`finish_url`](Self::finish_url) says that the visit is over.
    ///
    /// # Errors
    ///
    /// The client has no way to do that, the URL is not https or holds what gives access, or the turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the question is taken back.
    pub async fn elicit_url(
        &self,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<(Elicited, v2::ElicitationId)> {
        self.context.client("URLs", |client| client.answers().url)?;
        let url = url.into();
        asking::check_url(&url, Some(self.context.session.id()))?;
        let session = &self.context.session.id().0;
        let id = v2::ElicitationId::new(format!("{session}/{}", self.fresh_id("url")));
        let mode = v2::ElicitationUrlMode::new(self.context.scope(None), id.clone(), url);
        let elicited = self.context.elicit(mode.into(), message.into()).await?;
        Ok((elicited, id))
    }

    /// Tells the client that the visit to a URL is over.
    ///
    /// # Errors
    ///
    /// The client is gone.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, nothing is told.
    pub async fn finish_url(&self, id: v2::ElicitationId) -> Result<()> {
        let (client, _) = self.context.client("URLs", |client| client.answers().url)?;
        self.context.written().await?;
        let complete = v2::CompleteElicitationNotification::new(id);
        client.finish_url(&complete).await
    }
}

impl ToolCall {
    /// Has the user fill in a form that the tool needs. As [`Turn::elicit_form`], but while the form is
    /// open the call waits for the user, and a client can show the form with it.
    ///
    /// # Errors
    ///
    /// The client has no forms, or the turn was cancelled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the question is taken back.
    pub async fn elicit_form(
        &self,
        message: impl Into<String>,
        schema: v2::ElicitationSchema,
    ) -> Result<Elicited> {
        self.context()
            .elicit_form(Some(self.id().clone()), message.into(), schema)
            .await
    }
}

impl Context {
    fn scope(&self, call: Option<v2::ToolCallId>) -> v2::ElicitationScope {
        let session = v2::ElicitationSessionScope::new(self.session.id().clone());
        v2::ElicitationScope::Session(session.tool_call_id(call))
    }

    async fn elicit_form(
        &self,
        call: Option<v2::ToolCallId>,
        message: String,
        schema: v2::ElicitationSchema,
    ) -> Result<Elicited> {
        self.client("forms", |client| client.answers().form)?;
        asking::check_form(&schema)?;
        let mode = v2::ElicitationFormMode::new(self.scope(call), schema);
        self.elicit(mode.into(), message).await
    }

    /// Makes a question of another program one of this session.
    pub(crate) fn adapt(&self, question: &mut Question) -> Result<()> {
        let request = match question {
            Question::Permission(request) => {
                request.session_id = self.session.id().clone();
                return Ok(());
            }
            Question::Elicitation(request) => request,
            _ => return Err(Error::not_offered("questions of this kind")),
        };
        let scope = match &mut request.mode {
            v2::ElicitationMode::Form(form) => &mut form.scope,
            v2::ElicitationMode::Url(url) => &mut url.scope,
            _ => return Err(Error::not_offered("questions of this kind")),
        };
        let call = match scope {
            v2::ElicitationScope::Session(scope) => scope.tool_call_id.take(),
            _ => None,
        };
        *scope = self.scope(call);
        Ok(())
    }

    async fn elicit(&self, mode: v2::ElicitationMode, message: String) -> Result<Elicited> {
        let request = v2::CreateElicitationRequest::new(mode, message);
        match put(self, Inquiry::new(Question::Elicitation(Box::new(request)))).await? {
            Answer::Elicited(action) => Ok(Elicited::of(action)),
            Answer::Unanswered => Err(Error::not_offered("an answer to this question")),
            _ => Ok(Elicited::Dismissed),
        }
    }
}
