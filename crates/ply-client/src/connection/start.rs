//! Meeting an agent: a process that is started, or the other end of a stream.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use ply_rpc::transport::child::Child;
use ply_wire::negotiate::{AnswerError, Supported};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

use super::{Connection, Parts, end};
use crate::Error;
use crate::client::Settings;
use crate::command::Command;
use crate::error::StartFailure;
use crate::fate::Fate;
use crate::handler::Inbound;
use crate::report::{ReportKind, Reports};
use crate::routes::Routes;
use crate::tap::{Direction, Tap, Tapped};

/// How to reach an agent for one life.
#[derive(Clone)]
pub(crate) struct Start {
    pub(crate) settings: Arc<Settings>,
    pub(crate) reports: Arc<Reports>,
    pub(crate) fate: Arc<Fate>,
    pub(crate) epoch: u64,
}

impl Start {
    pub(crate) async fn spawn(self, command: &Command) -> Result<Connection, Error> {
        let (child, stdout, stdin) = command.to_child().spawn().await?;
        let unmet = match self.clone().open(stdout, stdin, Some(child)).await {
            Ok(connection) => return Ok(connection),
            Err(unmet) if wants_v1(&unmet.reason, &self.settings) => unmet,
            Err(unmet) => return Err(unmet.into_error().await),
        };
        // No two lives at once.
        unmet.parts.last().await;
        let settings = Arc::new(self.settings.v1_only());
        let (child, stdout, stdin) = command.to_child().spawn().await?;
        let again = Self { settings, ..self };
        match again.open(stdout, stdin, Some(child)).await {
            Ok(connection) => Ok(connection),
            Err(again) => Err(again.after(unmet.reason).into_error().await),
        }
    }

    pub(crate) async fn connect<R, W>(self, reader: R, writer: W) -> Result<Connection, Error>
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        match self.open(reader, writer, None).await {
            Ok(connection) => Ok(connection),
            Err(unmet) => Err(unmet.into_error().await),
        }
    }

    async fn open<R, W>(
        self,
        reader: R,
        writer: W,
        child: Option<Child>,
    ) -> Result<Connection, Box<Unmet>>
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let Self {
            settings,
            reports,
            fate,
            epoch,
        } = self;
        let routes = Arc::new(Routes::new(Arc::clone(&settings), reports));
        let inbound = Inbound::new(Arc::clone(&routes));
        let mut options = settings.options.clone();
        // Not through code of the program's own: requests are made under locks that it might want, too.
        options.direct_writes |= child.is_some() && settings.on_line.is_none();
        let tap = |direction| {
            let sink = settings.on_line.clone()?;
            Some(Tap::new(direction, sink, options.limits.line_bytes))
        };
        let reader = Tapped::new(reader, tap(Direction::ToClient));
        let writer = Tapped::new(writer, tap(Direction::ToAgent));
        let (peer, link) = ply_rpc::connect(reader, writer, inbound, options);
        tokio::spawn(link);
        let parts = Arc::new(Parts {
            peer,
            routes,
            epoch,
            process_id: child.as_ref().map(Child::id),
            end: OnceLock::new(),
            last: OnceLock::new(),
            told: Notify::new(),
            killed: AtomicBool::new(false),
            kill: Notify::new(),
        });
        tokio::spawn(end::keep(Arc::clone(&parts), child, fate));
        // Dropped before it is done, or failed, the connection ends and the process with it.
        let guard = CloseOnDrop(&parts);
        let mut greeted = parts.initialize(&settings).await;
        if let Err(reason) = &greeted
            && is_echo(reason, &settings)
        {
            parts.routes.report(ReportKind::VersionEchoed, "initialize");
            // A process is started anew. Here there is only this stream, and many agents take a second greeting.
            if parts.process_id.is_none() {
                let again = parts.initialize(&settings.v1_only()).await;
                greeted = again.map_err(|reason| StartFailure::VersionEchoed(Box::new(reason)));
            }
        }
        match greeted {
            Ok(hello) => {
                std::mem::forget(guard);
                Ok(Connection { hello, parts })
            }
            Err(reason) => {
                drop(guard);
                Err(Box::new(Unmet { reason, parts }))
            }
        }
    }
}

/// Returns whether a process did not become an agent that may well be one if it is asked for version 1 alone.
fn wants_v1(reason: &StartFailure, settings: &Settings) -> bool {
    is_echo(reason, settings) || matches!(reason, StartFailure::SecondGreeting)
}

/// Returns whether an agent sent back the version it was asked for and would speak version 1, if it were asked for that.
fn is_echo(reason: &StartFailure, settings: &Settings) -> bool {
    let is_echo = matches!(reason, StartFailure::Answer(AnswerError::Echoed));
    is_echo && settings.versions == Supported::Both
}

/// A peer that did not become an agent; it is being ended.
struct Unmet {
    reason: StartFailure,
    parts: Arc<Parts>,
}

impl Unmet {
    /// Says why there was a second try, where that is worth knowing.
    fn after(self, first: StartFailure) -> Self {
        match first {
            StartFailure::SecondGreeting => self,
            _ => {
                let reason = StartFailure::VersionEchoed(Box::new(self.reason));
                Self { reason, ..self }
            }
        }
    }

    async fn into_error(self) -> Error {
        let end = Box::new(self.parts.end().await);
        let reason = self.reason;
        Error::Start { reason, end }
    }
}

struct CloseOnDrop<'a>(&'a Parts);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.kill();
    }
}
