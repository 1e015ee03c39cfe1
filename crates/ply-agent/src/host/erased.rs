//! An agent whose type is forgotten.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use ply_session::Stop;
use ply_wire::v2;
use serde_json::Value;

use crate::{About, Agent, Asker, Extension, Result, Session, SessionSetup, Turn};

/// How long an agent may take to free what belongs to a session.
const CLOSE_HOOK_TIME_MAX: Duration = Duration::from_secs(5);

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// [`Agent`] in a form that can be kept without knowing its type.
pub(crate) trait DynAgent: std::fmt::Debug + Send + Sync {
    fn about(&self) -> About;
    fn prompt(self: Arc<Self>, turn: Turn) -> Work<Result<Stop>>;
    fn open(self: Arc<Self>, session: Session, setup: SessionSetup) -> Work<Result<()>>;
    fn adopts(self: Arc<Self>, session: v2::SessionId, setup: SessionSetup) -> Work<Result<bool>>;
    fn close(self: Arc<Self>, session: Session) -> Work<()>;
    fn set_option(
        self: Arc<Self>,
        session: Session,
        option: v2::SessionConfigId,
        value: v2::SessionConfigOptionValue,
    ) -> Work<Result<()>>;
    fn login(self: Arc<Self>, method: v2::AuthMethodId, user: Asker) -> Work<Result<()>>;
    fn logout(self: Arc<Self>) -> Work<Result<()>>;
    fn extension(self: Arc<Self>, request: Extension) -> Work<Result<Value>>;
    fn extension_notification(self: Arc<Self>, notification: Extension) -> Work<()>;
}

/// An agent whose type is forgotten.
pub(crate) struct Erased<A>(pub(crate) A);

impl<A> std::fmt::Debug for Erased<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Agent")
    }
}

impl<A: Agent> DynAgent for Erased<A> {
    fn about(&self) -> About {
        self.0.about()
    }

    fn prompt(self: Arc<Self>, mut turn: Turn) -> Work<Result<Stop>> {
        Box::pin(async move { self.0.prompt(&mut turn).await })
    }

    fn open(self: Arc<Self>, session: Session, setup: SessionSetup) -> Work<Result<()>> {
        Box::pin(async move { self.0.open(&session, &setup).await })
    }

    fn adopts(self: Arc<Self>, session: v2::SessionId, setup: SessionSetup) -> Work<Result<bool>> {
        Box::pin(async move { self.0.adopts(&session, &setup).await })
    }

    fn close(self: Arc<Self>, session: Session) -> Work<()> {
        Box::pin(async move {
            let closed = tokio::time::timeout(CLOSE_HOOK_TIME_MAX, self.0.close(&session));
            if closed.await.is_err() {
                tracing::warn!(session = %session.id().0, "closing took too long and was given up");
            }
        })
    }

    fn set_option(
        self: Arc<Self>,
        session: Session,
        option: v2::SessionConfigId,
        value: v2::SessionConfigOptionValue,
    ) -> Work<Result<()>> {
        Box::pin(async move { self.0.set_option(&session, &option, &value).await })
    }

    fn login(self: Arc<Self>, method: v2::AuthMethodId, user: Asker) -> Work<Result<()>> {
        Box::pin(async move { self.0.login_asking(&method, &user).await })
    }

    fn logout(self: Arc<Self>) -> Work<Result<()>> {
        Box::pin(async move { self.0.logout().await })
    }

    fn extension(self: Arc<Self>, request: Extension) -> Work<Result<Value>> {
        Box::pin(async move { self.0.extension(&request).await })
    }

    fn extension_notification(self: Arc<Self>, notification: Extension) -> Work<()> {
        Box::pin(async move { self.0.extension_notification(&notification).await })
    }
}
