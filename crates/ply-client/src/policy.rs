//! Who answers permission requests: a policy first, then whoever reads the events.

use ply_wire::transcript::ToolCall;
use ply_wire::v2;

/// What a policy says to a permission request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Ask whoever reads the events of the session. The question waits until somebody does.
    Ask,
    /// Leave it to the other clients of the session: the agent is told with an error that nobody answers here. If there are no
    /// others, it takes that as not allowed.
    LeaveToOthers,
    /// Choose this option. One that was not offered counts as [`Decision::Cancel`].
    Select(v2::PermissionOptionId),
    /// Dismiss it; the agent takes it as not allowed, and one of version 1 cancels the turn.
    Cancel,
}

/// Decides permission requests before anybody is asked.
///
/// It is called on the task that reads from the agent, so it must not wait.
///
/// ```
/// use ply_client::{Client, Decision, transcript::ToolCall, v2};
///
/// // Lets the agent read, and asks about everything else.
/// let policy = |request: &v2::RequestPermissionRequest, call: Option<&ToolCall>| {
///     let reads = call.is_some_and(|call| call.kind == v2::ToolKind::Read);
///     let allow = v2::PermissionOptionKind::AllowOnce;
///     let mut options = request.options.iter();
///     match options.find(|option| reads && option.kind == allow) {
///         Some(option) => Decision::Select(option.option_id.clone()),
///         None => Decision::Ask,
///     }
/// };
/// let client = Client::new().permissions(policy);
/// ```
#[doc(alias = "request_permission")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot decide about permissions",
    label = "use `AskUser`, `AllowAll` or `RejectAll`, or implement `Permissions` for this type",
    note = "a closure does, if it says its types: `|request: &v2::RequestPermissionRequest, call: Option<&ToolCall>| …`"
)]
pub trait Permissions: Send + Sync {
    /// Decides one request. The tool call that it is about comes with everything that is known of it: kind, title, locations, raw
    /// input, and content such as diffs.
    fn decide(&self, request: &v2::RequestPermissionRequest, call: Option<&ToolCall>) -> Decision;
}

impl<F> Permissions for F
where
    F: Fn(&v2::RequestPermissionRequest, Option<&ToolCall>) -> Decision + Send + Sync,
{
    fn decide(&self, request: &v2::RequestPermissionRequest, call: Option<&ToolCall>) -> Decision {
        self(request, call)
    }
}

/// Asks whoever reads the events, always. What a client does unless told otherwise.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskUser;

impl Permissions for AskUser {
    fn decide(&self, _: &v2::RequestPermissionRequest, _: Option<&ToolCall>) -> Decision {
        Decision::Ask
    }
}

/// Leaves everything to the other clients of the session: for clients that only look on.
#[derive(Debug, Clone, Copy, Default)]
pub struct LeaveToOthers;

impl Permissions for LeaveToOthers {
    fn decide(&self, _: &v2::RequestPermissionRequest, _: Option<&ToolCall>) -> Decision {
        Decision::LeaveToOthers
    }
}

/// Allows everything, once rather than always where there is a choice.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

impl Permissions for AllowAll {
    fn decide(&self, request: &v2::RequestPermissionRequest, _: Option<&ToolCall>) -> Decision {
        use v2::PermissionOptionKind::{AllowAlways, AllowOnce};
        first_of(request, &[AllowOnce, AllowAlways])
    }
}

/// Rejects everything, once rather than always where there is a choice.
#[derive(Debug, Clone, Copy, Default)]
pub struct RejectAll;

impl Permissions for RejectAll {
    fn decide(&self, request: &v2::RequestPermissionRequest, _: Option<&ToolCall>) -> Decision {
        use v2::PermissionOptionKind::{RejectAlways, RejectOnce};
        first_of(request, &[RejectOnce, RejectAlways])
    }
}

fn first_of(
    request: &v2::RequestPermissionRequest,
    kinds: &[v2::PermissionOptionKind],
) -> Decision {
    let options = || request.options.iter();
    let found = kinds
        .iter()
        .find_map(|kind| options().find(|option| option.kind == *kind));
    found.map_or(Decision::Cancel, |option| {
        Decision::Select(option.option_id.clone())
    })
}
