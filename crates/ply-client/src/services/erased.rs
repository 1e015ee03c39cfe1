//! Services whose type is forgotten.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use ply_rpc::RpcError;
use ply_wire::{v1, v2};

use super::elicitation::{ElicitationDecision, ElicitationService};
use super::service::{FileService, Scope, TerminalService};

/// The work on an answer.
pub(crate) type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// [`FileService`] in a form that can be kept without knowing its type.
pub(crate) trait DynFiles: Send + Sync {
    fn can_write(&self) -> bool;
    fn read(
        self: Arc<Self>,
        session: Scope,
        request: v1::ReadTextFileRequest,
    ) -> Work<Result<v1::ReadTextFileResponse, RpcError>>;
    fn write(
        self: Arc<Self>,
        session: Scope,
        request: v1::WriteTextFileRequest,
    ) -> Work<Result<v1::WriteTextFileResponse, RpcError>>;
}

/// [`TerminalService`] in a form that can be kept without knowing its type.
pub(crate) trait DynTerminals: Send + Sync {
    fn fresh(&self) -> Arc<dyn DynTerminals>;
    fn create(
        self: Arc<Self>,
        session: Scope,
        request: v1::CreateTerminalRequest,
    ) -> Work<Result<v1::CreateTerminalResponse, RpcError>>;
    fn output(
        self: Arc<Self>,
        request: v1::TerminalOutputRequest,
    ) -> Work<Result<v1::TerminalOutputResponse, RpcError>>;
    fn wait_for_exit(
        self: Arc<Self>,
        request: v1::WaitForTerminalExitRequest,
    ) -> Work<Result<v1::WaitForTerminalExitResponse, RpcError>>;
    fn kill(
        self: Arc<Self>,
        request: v1::KillTerminalRequest,
    ) -> Work<Result<v1::KillTerminalResponse, RpcError>>;
    fn release(
        self: Arc<Self>,
        request: v1::ReleaseTerminalRequest,
    ) -> Work<Result<v1::ReleaseTerminalResponse, RpcError>>;
    fn end_session(self: Arc<Self>, session: v1::SessionId) -> Work<()>;
    fn end_all(self: Arc<Self>) -> Work<()>;
}

/// [`ElicitationService`] in a form that can be kept without knowing its type.
pub(crate) trait DynElicitations: Send + Sync {
    fn takes_forms(&self) -> bool;
    fn takes_urls(&self) -> bool;
    fn elicit(
        self: Arc<Self>,
        session: Option<Scope>,
        request: Arc<v2::CreateElicitationRequest>,
    ) -> Work<ElicitationDecision>;
    fn visit_finished(&self, id: &v2::ElicitationId);
}

/// A service whose type is forgotten.
pub(crate) struct Erased<T>(pub(crate) T);

impl<T: FileService> DynFiles for Erased<T> {
    fn can_write(&self) -> bool {
        self.0.can_write()
    }

    fn read(
        self: Arc<Self>,
        session: Scope,
        request: v1::ReadTextFileRequest,
    ) -> Work<Result<v1::ReadTextFileResponse, RpcError>> {
        Box::pin(async move {
            let content = self.0.read_text_file(&session, request).await?;
            Ok(v1::ReadTextFileResponse::new(content))
        })
    }

    fn write(
        self: Arc<Self>,
        session: Scope,
        request: v1::WriteTextFileRequest,
    ) -> Work<Result<v1::WriteTextFileResponse, RpcError>> {
        Box::pin(async move {
            self.0.write_text_file(&session, request).await?;
            Ok(v1::WriteTextFileResponse::new())
        })
    }
}

impl<T: TerminalService> DynTerminals for Erased<T> {
    fn fresh(&self) -> Arc<dyn DynTerminals> {
        Arc::new(Self(self.0.fresh()))
    }

    fn create(
        self: Arc<Self>,
        session: Scope,
        request: v1::CreateTerminalRequest,
    ) -> Work<Result<v1::CreateTerminalResponse, RpcError>> {
        Box::pin(async move { self.0.create(&session, request).await })
    }

    fn output(
        self: Arc<Self>,
        request: v1::TerminalOutputRequest,
    ) -> Work<Result<v1::TerminalOutputResponse, RpcError>> {
        Box::pin(async move { self.0.output(request).await })
    }

    fn wait_for_exit(
        self: Arc<Self>,
        request: v1::WaitForTerminalExitRequest,
    ) -> Work<Result<v1::WaitForTerminalExitResponse, RpcError>> {
        Box::pin(async move { self.0.wait_for_exit(request).await })
    }

    fn kill(
        self: Arc<Self>,
        request: v1::KillTerminalRequest,
    ) -> Work<Result<v1::KillTerminalResponse, RpcError>> {
        Box::pin(async move { self.0.kill(request).await })
    }

    fn release(
        self: Arc<Self>,
        request: v1::ReleaseTerminalRequest,
    ) -> Work<Result<v1::ReleaseTerminalResponse, RpcError>> {
        Box::pin(async move { self.0.release(request).await })
    }

    fn end_session(self: Arc<Self>, session: v1::SessionId) -> Work<()> {
        Box::pin(async move { self.0.end_session(&session).await })
    }

    fn end_all(self: Arc<Self>) -> Work<()> {
        Box::pin(async move { self.0.end_all().await })
    }
}

impl<T: ElicitationService> DynElicitations for Erased<T> {
    fn takes_forms(&self) -> bool {
        self.0.takes_forms()
    }

    fn takes_urls(&self) -> bool {
        self.0.takes_urls()
    }

    fn elicit(
        self: Arc<Self>,
        session: Option<Scope>,
        request: Arc<v2::CreateElicitationRequest>,
    ) -> Work<ElicitationDecision> {
        Box::pin(async move { self.0.elicit(session.as_ref(), &request).await })
    }

    fn visit_finished(&self, id: &v2::ElicitationId) {
        self.0.visit_finished(id);
    }
}
