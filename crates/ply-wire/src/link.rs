//! Typed calls on a [`ply_rpc::Peer`]: the params say which method it is and what comes back.

use std::future::Future;

use ply_rpc::{CallError, CallOptions, InFlight, Peer, RpcError};

use crate::method::{DecodeError, Notification, Request};
use crate::{v1, v2};

/// Typed calls and notifications.
pub trait Typed {
    /// Asks with the method that `params` belong to.
    fn ask<Q: Request>(&self, params: &Q) -> InFlight<Q::Response>;

    /// Asks under `options`.
    fn ask_with<Q: Request>(&self, params: &Q, options: CallOptions) -> InFlight<Q::Response>;

    /// Tells, waiting while too much is waiting to be written.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the message is not sent.
    fn tell<N: Notification + Sync>(
        &self,
        params: &N,
    ) -> impl Future<Output = Result<(), CallError>> + Send;

    /// Tells without waiting; for rare, small messages such as `session/cancel`.
    ///
    /// # Errors
    ///
    /// The link is gone.
    fn tell_now<N: Notification>(&self, params: &N) -> Result<(), CallError>;
}

impl Typed for Peer {
    fn ask<Q: Request>(&self, params: &Q) -> InFlight<Q::Response> {
        self.call(Q::METHOD, params)
    }

    fn ask_with<Q: Request>(&self, params: &Q, options: CallOptions) -> InFlight<Q::Response> {
        self.call_with(Q::METHOD, params, options)
    }

    fn tell<N: Notification + Sync>(
        &self,
        params: &N,
    ) -> impl Future<Output = Result<(), CallError>> + Send {
        self.notify(N::METHOD, params)
    }

    fn tell_now<N: Notification>(&self, params: &N) -> Result<(), CallError> {
        self.notify_now(N::METHOD, params)
    }
}

impl From<DecodeError> for RpcError {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::MethodNotFound => Self::method_not_found(),
            DecodeError::InvalidParams(reason) => Self::invalid_params(reason),
            error => Self::internal(error.to_string()),
        }
    }
}

/// Puts an error of version 1 into an answer.
#[must_use]
pub fn rpc_error_v1(error: &v1::Error) -> RpcError {
    let answer = RpcError::new(i32::from(error.code).into(), &*error.message);
    match &error.data {
        Some(data) => answer.with_data(data),
        None => answer,
    }
}

/// Puts an error of version 2 into an answer.
#[must_use]
pub fn rpc_error_v2(error: &v2::Error) -> RpcError {
    let answer = RpcError::new(i32::from(error.code).into(), &*error.message);
    match &error.data {
        Some(data) => answer.with_data(data),
        None => answer,
    }
}
