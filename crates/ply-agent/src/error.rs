//! What can go wrong in an agent's code.

use std::fmt;

use ply_rpc::{CallError, RpcError};
use ply_wire::v2;

/// The result of everything an agent's code may fail at.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something did not work.
///
/// Any error can become one with `?`, which ends the turn, or the request, as failed with that
/// error's words. A turn that the user cancelled ends as cancelled whatever its code returns, so
/// the code may pass errors on without looking at them.
pub struct Error {
    kind: Kind,
}

enum Kind {
    Cancelled,
    SessionClosed,
    NotOffered(&'static str),
    Client(CallError),
    Rpc(RpcError),
    Other(Box<dyn std::error::Error + Send + Sync>),
}

/// The code of "authentication required".
const AUTH_REQUIRED: i64 = -32000;
/// The code of "no such resource", also for sessions.
const NOT_FOUND: i64 = -32002;

impl Error {
    /// Returns the error that ends a turn, or a request, with these words.
    pub fn msg(message: impl Into<String>) -> Self {
        Self::rpc(RpcError::INTERNAL_ERROR, message)
    }

    /// Returns the error that tells the client to authenticate first.
    #[must_use]
    pub fn auth_required() -> Self {
        Self::rpc(AUTH_REQUIRED, "Authentication required; log in first.")
    }

    /// Returns the error that says what is wrong with a request.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::rpc(RpcError::INVALID_PARAMS, message)
    }

    /// Returns the error that says that this agent has no such method.
    #[must_use]
    pub fn method_not_found() -> Self {
        Kind::Rpc(RpcError::method_not_found()).into()
    }

    /// Returns an error with a code of its own.
    pub fn rpc(code: i64, message: impl Into<String>) -> Self {
        Kind::Rpc(RpcError::new(code, message)).into()
    }

    /// Returns whether the turn was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self.kind, Kind::Cancelled)
    }

    /// Returns whether the client does not offer what was asked of it.
    #[must_use]
    pub fn is_not_offered(&self) -> bool {
        matches!(self.kind, Kind::NotOffered(_))
    }

    /// Returns whether the session is over.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.kind, Kind::SessionClosed)
    }

    /// Returns the error that the client answered with, or the one that was made with a code.
    #[must_use]
    pub fn as_rpc(&self) -> Option<&RpcError> {
        match &self.kind {
            Kind::Rpc(error) | Kind::Client(CallError::Peer(error)) => Some(error),
            Kind::Other(error) => error.downcast_ref(),
            _ => None,
        }
    }

    pub(crate) fn cancelled() -> Self {
        Kind::Cancelled.into()
    }

    pub(crate) fn session_closed() -> Self {
        Kind::SessionClosed.into()
    }

    /// Returns the error of code that panicked. What the panic said went to standard error; it may
    /// hold anything, so no client sees it.
    pub(crate) fn broke_off() -> Self {
        Self::msg("The agent failed unexpectedly; see its log.")
    }

    pub(crate) fn not_offered(what: &'static str) -> Self {
        Kind::NotOffered(what).into()
    }

    pub(crate) fn client(error: CallError) -> Self {
        Kind::Client(error).into()
    }

    /// Returns the answer to the request that failed with this error.
    pub(crate) fn to_rpc(&self) -> RpcError {
        match &self.kind {
            Kind::Rpc(error) => error.clone(),
            Kind::Cancelled => RpcError::cancelled(),
            Kind::Other(error) => match error.downcast_ref::<RpcError>() {
                // It came by `?` and keeps its code.
                Some(rpc) => rpc.clone(),
                None => RpcError::new(RpcError::INTERNAL_ERROR, error.to_string()),
            },
            _ => RpcError::new(RpcError::INTERNAL_ERROR, self.to_string()),
        }
    }

    /// Returns the same for the stop reason `error` of a turn.
    pub(crate) fn to_v2(&self) -> v2::Error {
        let rpc = self.to_rpc();
        let code = i32::try_from(rpc.code).unwrap_or(i32::from(v2::ErrorCode::InternalError));
        let data = rpc.data.as_ref();
        let data = data.and_then(|data| serde_json::from_str(data.get()).ok());
        let mut error = v2::Error::new(code, rpc.message);
        error.data = data;
        error
    }
}

/// Returns the answer to a request that names a session which is unknown, or not active here
/// (V2-SESS-09).
pub(crate) fn no_such_session(id: &v2::SessionId) -> RpcError {
    let words =
        "There is no such session here. One that is stored has to be loaded or resumed first.";
    RpcError::new(NOT_FOUND, words).with_data(&v2::SessionNotFoundErrorData::new(id.clone()))
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self { kind }
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Kind::Other(Box::new(error)).into()
    }
}

// `Error` itself is no `std::error::Error`, as that would collide with the conversion above.
impl From<Error> for Box<dyn std::error::Error + Send + Sync> {
    fn from(error: Error) -> Self {
        match error.kind {
            Kind::Other(error) => error,
            Kind::Client(error) => Box::new(error),
            _ => error.to_string().into(),
        }
    }
}

impl From<Error> for Box<dyn std::error::Error> {
    fn from(error: Error) -> Self {
        Box::<dyn std::error::Error + Send + Sync>::from(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Cancelled => f.write_str("the turn was cancelled"),
            Kind::SessionClosed => f.write_str("the session is closed"),
            Kind::NotOffered(what) => write!(f, "the client does not offer {what}"),
            Kind::Client(error) => write!(f, "{error}"),
            Kind::Rpc(error) => f.write_str(&error.message),
            Kind::Other(error) => write!(f, "{error}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut source = match &self.kind {
            Kind::Other(error) => error.source(),
            Kind::Client(error) => std::error::Error::source(error),
            _ => None,
        };
        while let Some(cause) = source {
            write!(f, ": {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}
