//! Who answers agents' requests for information.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use ply_wire::v2;

use super::Scope;

/// What a service says to a request for information.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitationDecision {
    /// Ask whoever reads the events of the session. The question waits until somebody does; one that belongs to no session is
    /// left to others.
    Ask,
    /// Leave it to the other clients of the session.
    LeaveToOthers,
    /// Give this answer.
    Answer(v2::ElicitationAction),
}

/// Answers agents' requests for information. [`Elicitations`] is the one that comes with this crate: it asks whoever reads the
/// events of the session.
///
/// An editor that shows forms by itself implements this. It is the only way to answer questions that belong to no session, such
/// as those that an agent asks during [`Agent::login`](crate::Agent::login).
///
/// ```
/// use ply_client::{Client, ElicitationDecision, ElicitationService, Scope, v2};
///
/// struct Editor;
///
/// impl Editor {
///     async fn show(&self, message: &str) -> Option<v2::ElicitationAcceptAction> {
///         // Shows a form and waits for the user.
/// #       let _ = message; None
///     }
/// }
///
/// impl ElicitationService for Editor {
///     async fn elicit(&self, _: Option<&Scope>, request: &v2::CreateElicitationRequest) -> ElicitationDecision {
///         ElicitationDecision::Answer(match self.show(&request.message).await {
///             Some(filled) => v2::ElicitationAction::Accept(filled),
///             None => v2::ElicitationAction::Decline,
///         })
///     }
/// }
///
/// let client = Client::new().elicitation(Editor);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot answer requests for information",
    label = "use `Elicitations::new().forms()`, or implement `ElicitationService` for this type",
    note = "for a closure, use `Elicitations::new().forms().decide(…)`"
)]
pub trait ElicitationService: Send + Sync + 'static {
    /// Returns whether agents are told that they may send forms. Asked once for each start of an agent, and for each form.
    fn takes_forms(&self) -> bool {
        true
    }

    /// Returns whether agents are told that they may send web addresses, which are opened after consent where neither client
    /// nor model can look. [`Visit::of`](crate::Visit::of) tells what to show.
    fn takes_urls(&self) -> bool {
        false
    }

    /// Answers one request, or says who does. It may take as long as a person needs. `session` is none for a question that
    /// belongs to no session.
    ///
    /// An answer that is there at once is given in the order of the agent's messages. Until then the work must not block: its
    /// first step runs on the task that reads from the agent.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped when nobody wants the answer any more: the agent took the question back, the turn was cancelled or
    /// has ended, the session was closed, the agent is gone. A form that is on screen should go away with it.
    fn elicit(
        &self,
        session: Option<&Scope>,
        request: &v2::CreateElicitationRequest,
    ) -> impl Future<Output = ElicitationDecision> + Send;

    /// Hears that a visit to a web address is over, once for each that was asked for. It is called on the task that reads from
    /// the agent, so it must not wait.
    fn visit_finished(&self, id: &v2::ElicitationId) {
        let _ = id;
    }
}

type Decide = dyn Fn(&v2::CreateElicitationRequest) -> ElicitationDecision + Send + Sync;

/// Asks whoever reads the events of the session: [`Event::Elicitation`](crate::Event::Elicitation). Name the kinds of requests
/// to be taken; without any, agents are told of none.
///
/// ```
/// use ply_client::{Client, Elicitations};
///
/// let client = Client::new().elicitation(Elicitations::new().forms().urls());
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Elicitations {
    forms: bool,
    urls: bool,
    decide: Option<Arc<Decide>>,
}

impl Elicitations {
    /// Returns a service that takes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes forms.
    pub fn forms(mut self) -> Self {
        self.forms = true;
        self
    }

    /// Takes web addresses to be opened, after consent, where neither client nor model can look.
    pub fn urls(mut self) -> Self {
        self.urls = true;
        self
    }

    /// Lets `decide` answer first, also what belongs to no session. It is called on the task that reads from the agent, so it
    /// must not wait; to wait, implement [`ElicitationService`].
    pub fn decide(
        mut self,
        decide: impl Fn(&v2::CreateElicitationRequest) -> ElicitationDecision + Send + Sync + 'static,
    ) -> Self {
        self.decide = Some(Arc::new(decide));
        self
    }
}

impl ElicitationService for Elicitations {
    fn takes_forms(&self) -> bool {
        self.forms
    }

    fn takes_urls(&self) -> bool {
        self.urls
    }

    async fn elicit(
        &self,
        _: Option<&Scope>,
        request: &v2::CreateElicitationRequest,
    ) -> ElicitationDecision {
        let decide = self.decide.as_ref();
        decide.map_or(ElicitationDecision::Ask, |decide| decide(request))
    }
}

impl fmt::Debug for Elicitations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elicitations")
            .field("forms", &self.forms)
            .field("urls", &self.urls)
            .finish_non_exhaustive()
    }
}
