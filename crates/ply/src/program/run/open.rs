//! From a command to a session in which a prompt can be said.

use std::path::Path;

use ply_client::{Agent, Client, ElicitationPolicy, Session, SessionFilter, Version, v2};

use super::ending::{Confirmed, Cut, Ended};
use super::failure::{Failure, exit};
use super::options;
use super::report::Report;
use super::request::{Request, Which};
use super::stage::Stage;
use super::wire::Wire;

/// An agent that is ready to be spoken to.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) agent: Agent,
    pub(super) session: Session,
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
        client = client.elicitation(ElicitationPolicy::ask_user().forms());
    }
    if sees_wire {
        let (wire, on_line) = Wire::new();
        stage.wire = Some(wire);
        client = client.on_line(on_line);
    }
    let starting = format!("starting {}", request.choice.name);
    let spawned = stage.during(&starting, client.spawn(request.choice.command.clone()));
    let agent = spawned.await?;
    let agent = agent.map_err(|error| Failure::of_start(&error, &request.choice))?;
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
            Ok(Opened { agent, session })
        }
        Err(ended) => {
            super::end_agent(stage, &agent, super::Haste::from(&ended)).await;
            Err(ended)
        }
    }
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
        Which::Id(id) => reopen(request, agent, v2::SessionId::new(id.as_str())).await?,
        Which::Latest => {
            let id = latest(request, agent).await?;
            reopen(request, agent, id).await?
        }
    };
    for setting in &request.settings {
        options::set(&session, setting, &request.choice).await?;
    }
    Ok(session)
}

/// Opens an old session, with its history if the agent tells it.
async fn reopen(request: &Request, agent: &Agent, id: v2::SessionId) -> Result<Session, Failure> {
    let loaded = agent.load_session(id.clone(), request.setup.clone()).await;
    let opened = match loaded {
        Err(ply_client::Error::NotOffered { .. }) => {
            agent.resume_session(id, request.setup.clone()).await
        }
        loaded => loaded,
    };
    opened.map_err(|error| Failure::of_session(&error, &request.choice))
}

/// Returns the session of the directory that was used last.
async fn latest(request: &Request, agent: &Agent) -> Result<v2::SessionId, Failure> {
    let filter = SessionFilter::all().cwd(&request.cwd);
    let listed = agent.list_sessions(filter).await;
    let listed = listed.map_err(|error| Failure::of_session(&error, &request.choice))?;
    latest_of(listed, &request.cwd).ok_or_else(|| {
        let detail = "the agent has no session of this directory";
        let failure = Failure::new(exit::NO_SESSION, "no_session", detail);
        failure.hint("leave out `--continue` for a new one")
    })
}

/// Returns the session of a directory that was used last. Agents need not heed the filter, nor keep to an order.
fn latest_of(listed: Vec<v2::SessionInfo>, cwd: &Path) -> Option<v2::SessionId> {
    let is_here = |it: &v2::SessionInfo| {
        let found = it.cwd.0.canonicalize();
        it.cwd.0 == cwd || found.is_ok_and(|found| found == cwd)
    };
    let here = listed.into_iter().rev().filter(is_here);
    let time = |it: &v2::SessionInfo| -> Option<jiff::Timestamp> {
        it.updated_at.as_deref().and_then(|time| time.parse().ok())
    };
    here.max_by_key(time).map(|info| info.session_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_session_is_found_by_its_time_and_its_directory() {
        let directory = tempfile::tempdir().unwrap();
        let cwd = directory.path().canonicalize().unwrap();
        let link = cwd.join("link");
        std::os::unix::fs::symlink(&cwd, &link).unwrap();
        let session = |id: &str, cwd: &Path, time: &str| {
            let time = (!time.is_empty()).then(|| time.to_owned());
            v2::SessionInfo::new(id.to_owned(), cwd).updated_at(time)
        };
        let found = |listed| latest_of(listed, &cwd).map(|id| id.0.to_string());
        let listed = vec![
            session("early", &cwd, "2026-07-14T11:30:00+02:00"),
            session("late", &link, "2026-07-14T10:00:00Z"),
            session("unknown", &cwd, ""),
            session("elsewhere", Path::new("/"), "2030-01-01T00:00:00Z"),
        ];
        assert_eq!(found(listed).as_deref(), Some("late"));
        assert_eq!(found(vec![session("elsewhere", Path::new("/"), "")]), None);
        let same = vec![session("first", &cwd, ""), session("second", &cwd, "")];
        assert_eq!(found(same).as_deref(), Some("first"));
    }
}
