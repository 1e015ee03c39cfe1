//! From a command to a session in which a prompt can be said.

use ply_client::Error as E;
use ply_client::text::{self, Line};
use ply_client::{
    Agent, Client, Elicitations, Session, SessionSetup, StartFailure, Supported, Version, v2,
};

use super::ending::{Confirmed, Cut, Ended};
use super::failure::{Failure, exit};
use super::offer::{Refusals, offer};
use super::options;
use super::report::Report;
use super::request::{Request, Which};
use super::stage::Stage;
use super::wire::Wire;
use crate::program::sessions::content;

/// The error code of an agent that has no such session.
const NOT_FOUND: i64 = -32002;
/// Sessions that are named where one is meant.
const NAMED_MAX: usize = 10;

/// An agent that is ready to be spoken to.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) agent: Agent,
    pub(super) session: Session,
    /// What was refused to the agent that it wanted from this client.
    pub(super) refusals: Refusals,
}

impl From<Cut> for Ended {
    fn from(cut: Cut) -> Self {
        Self::Cut(cut, Confirmed::Before)
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Starts the agent and opens the session. An agent that was started and has no session is ended.
pub(super) async fn open(
    request: &Request,
    stage: &mut Stage,
    report: &mut Report,
    sees_wire: bool,
) -> Result<Opened, Ended> {
    let mut client = Client::new()
        .info("ply-run", env!("CARGO_PKG_VERSION"))
        .versions(request.versions);
    if request.permit.asks() {
        client = client.elicitation(Elicitations::new().forms());
    }
    let refusals = Refusals::default();
    client = offer(client, &request.offer, &request.permit, &refusals);
    if sees_wire {
        let (wire, on_line) = Wire::new();
        stage.wire = Some(wire);
        client = client.on_line(on_line);
    }
    let starting = format!("starting {}", request.choice.name);
    let spawned = stage.during(&starting, client.spawn(request.choice.command.clone()));
    let agent = spawned.await?;
    let agent = agent.map_err(|error| {
        let failure = Failure::of_start(&error, &request.choice);
        match is_other_version(&error) && request.versions != Supported::Both {
            true => failure.hint("leave out `--protocol`: either version works without it"),
            false => failure,
        }
    })?;
    report.agent = Some(agent.info());
    report.protocol_version = Some(match agent.version() {
        Version::V1 => 1,
        Version::V2 => 2,
    });
    let opened = stage.during("opening the session", session(request, &agent));
    let opened = match opened.await {
        Ok(Ok(session)) => Ok(session),
        Ok(Err(failure)) => Err(Ended::Failed(failure)),
        Err(cut) => Err(cut.into()),
    };
    match opened {
        Ok(session) => {
            report.session_id = Some(session.id().0.to_string());
            report.model = content::model(&session.config_options());
            Ok(Opened {
                agent,
                session,
                refusals,
            })
        }
        Err(ended) => {
            super::end_agent(stage, &agent, super::Haste::from(&ended)).await;
            Err(ended)
        }
    }
}

/// Returns whether the agent answered in another version than was asked for.
fn is_other_version(error: &E) -> bool {
    let reason = match error {
        E::Start { reason, .. } => reason,
        _ => return false,
    };
    matches!(reason, StartFailure::Answer(_) | StartFailure::Refused(_))
}

/// Opens the session and sets its options.
async fn session(request: &Request, agent: &Agent) -> Result<Session, Failure> {
    let takes = agent.capabilities().session.and_then(|it| it.prompt);
    if request.has_images() && takes.is_none_or(|takes| takes.image.is_none()) {
        let detail = "the agent does not take pictures";
        let failure = Failure::new(exit::USAGE, "not_offered", detail);
        return Err(failure.hint("leave out `--image` and describe the picture in words"));
    }
    let setup = request.setup.clone();
    let session = match &request.session {
        Which::New => {
            let made = agent.new_session(setup).await;
            made.map_err(|error| Failure::of_call(&error, &request.choice))?
        }
        Which::Id(id) => {
            let (id, setup) = named(request, agent, id).await?;
            reopen(request, agent, id, setup).await?
        }
        Which::Latest => {
            let id = latest(request, agent).await?;
            reopen(request, agent, id, setup).await?
        }
    };
    for setting in &request.settings {
        options::set(&session, setting, &request.choice).await?;
    }
    Ok(session)
}

/// Opens an old session, with its history if that is to be shown and the agent tells it.
async fn reopen(
    request: &Request,
    agent: &Agent,
    id: v2::SessionId,
    setup: SessionSetup,
) -> Result<Session, Failure> {
    let opened = match request.wants_history {
        true => match agent.load_session(id.clone(), setup.clone()).await {
            Err(E::NotOffered { .. }) => agent.resume_session(id.clone(), setup).await,
            loaded => loaded,
        },
        false => agent.continue_session(id.clone(), setup).await,
    };
    if let (Err(E::Refused(error)), Some(recent)) = (&opened, &request.recent)
        && error.code == NOT_FOUND
    {
        // A list that cannot be written names a session that is gone; the next try finds that out again.
        drop(recent.forget(&request.choice.key, &id.0).await);
    }
    opened.map_err(|error| Failure::of_session(&error, Some(&id.0), &request.choice))
}

/// Returns the session of the directory that was used last.
async fn latest(request: &Request, agent: &Agent) -> Result<v2::SessionId, Failure> {
    let error = match agent.latest_session(&request.cwd).await {
        Ok(Some(info)) => return Ok(info.session_id),
        Ok(None) => {
            let detail = "the agent has no session of this directory";
            let failure = Failure::new(exit::NO_SESSION, "no_session", detail);
            return Err(failure.hint("leave out `--continue` for a new one"));
        }
        Err(error) => error,
    };
    // It gives no list, but what was run from here is known.
    if let (true, Some(recent)) = (is_listless(&error), &request.recent)
        && let Some(own) = recent.latest(&request.choice.key, &request.cwd).await
    {
        return Ok(v2::SessionId::new(own.id));
    }
    Err(Failure::of_session(&error, None, &request.choice))
}

/// Returns whether an agent that is there and works gives no list of its sessions.
fn is_listless(error: &E) -> bool {
    matches!(error, E::NotOffered { .. } | E::Refused(_) | E::Call(_))
}

/// Returns the sessions that an id or its beginning may mean: by the agent's list, or else by our own.
async fn found(request: &Request, agent: &Agent, id: &str) -> Vec<v2::SessionInfo> {
    let listed = agent.find_sessions(id).await.unwrap_or_default();
    let Some(recent) = request.recent.as_ref().filter(|_| listed.is_empty()) else {
        return listed;
    };
    let own = recent.find(&request.choice.key, id).await.into_iter();
    own.map(|own| v2::SessionInfo::new(own.id, own.cwd).title(own.title))
        .collect()
}

/// Returns the session that is meant by an id or its beginning, and how to open it: where it worked, unless another directory
/// was given. What neither the agent's list nor ours has is asked for as it was given.
async fn named(
    request: &Request,
    agent: &Agent,
    id: &str,
) -> Result<(v2::SessionId, SessionSetup), Failure> {
    match &found(request, agent, id).await[..] {
        [only] => {
            let setup = match request.is_cwd_given {
                // One that is not absolute says nothing.
                false if !only.cwd.0.is_absolute() => request.setup.clone(),
                true => request.setup.clone(),
                false => request.setup.clone().cwd(&only.cwd.0),
            };
            Ok((only.session_id.clone(), setup))
        }
        [] => Ok((v2::SessionId::new(id), request.setup.clone())),
        several => {
            let count = several.len();
            let detail = format!(
                "{count} sessions have an id that begins with `{}`",
                Line(id)
            );
            let lines = several.iter().take(NAMED_MAX).map(|info| {
                let title = info.title.as_deref().unwrap_or("-");
                let title = Line(title).to_string();
                format!(
                    "{}  {}",
                    Line(&info.session_id.0),
                    text::beginning(&title, 60)
                )
            });
            let lines: Vec<_> = lines.collect();
            let failure = Failure::new(exit::NO_SESSION, "no_session", detail);
            Err(failure.hint(format!("say more of it:\n{}", lines.join("\n"))))
        }
    }
}
