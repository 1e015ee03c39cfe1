//! Agents that nobody needs are ended, if they remember their sessions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ply_agent::journal::Memory;
use ply_client::Client;
use ply_hub::down::Downstream;
use ply_hub::hello::{Hello, PROTOCOL};
use ply_hub::{Daemon, Factory, Hub, Place, Wanted};
use serde_json::json;

use crate::stage::{BOTH, Cast, killed, prompt};

/// Longer than a session stays open that nobody sees.
const LONG: Duration = Duration::from_secs(40 * 60);

/// One agent for all.
struct One(Arc<Downstream>);

impl Factory for One {
    type Agent = Downstream;

    async fn agent(&self, _: &Wanted) -> Result<Arc<Downstream>, String> {
        Ok(Arc::clone(&self.0))
    }

    fn known(&self, _: &str) -> Option<Wanted> {
        None
    }
}

/// Prompts an agent through a hub and leaves. Returns how many sessions are open after a while, and how many processes were started.
async fn left(resumes: bool, loads: bool) -> (usize, usize) {
    let cast = Cast::new(move |number, mut stage| async move {
        if number == 1 {
            stage.begin(1).await;
            stage.serve(1, "here").await;
            return stage.rest().await;
        }
        stage.greet(1).await;
        for (method, knows) in [("session/resume", resumes), ("session/load", loads)] {
            let asked = stage.expect(method).await;
            if knows {
                stage.answer(&asked, json!({})).await;
                return stage.rest().await;
            }
            stage.refuse(&asked, -32601).await;
        }
        stage.die(killed()).await;
    });
    let started = cast.started();
    let dir = tempfile::tempdir().unwrap();
    let hub = Hub::new(One(Arc::new(cast.hub().await)), Memory::new(), dir.path());
    let hub = Arc::new(hub);
    let daemon = Daemon::bind(Place::at(dir.path().join("run")).unwrap()).unwrap();
    let runs = tokio::spawn(daemon.run(Arc::clone(&hub)));
    let hello = Hello {
        protocol: PROTOCOL,
        version: "1".to_owned(),
        store: dir.path().to_owned(),
        agent: Some(Wanted {
            name: "played".to_owned(),
            key: "played".to_owned(),
            command: Vec::new(),
            env: BTreeMap::new(),
            cwd: "/".into(),
        }),
        ask: None,
        principal: None,
    };
    let caller = hub.admit(hello).await.unwrap();
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(theirs);
    let server = hub.server().clone();
    tokio::spawn(async move { server.over_as(caller, reader, writer).await });
    let agent = Client::new().versions(BOTH[1]).connect(ours).await.unwrap();
    let session = agent.new_session("/").await.unwrap();
    assert_eq!(prompt(&session, "one").await.unwrap(), "here");
    drop(session);
    agent.close().await;
    tokio::time::sleep(LONG).await;
    let open = hub.server().sessions().await.len();
    runs.abort();
    (open, started.load(Ordering::Relaxed))
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_ended_if_it_goes_on_with_its_session() {
    assert_eq!(left(true, true).await, (0, 2));
    assert_eq!(left(false, true).await, (0, 2));
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_would_forget_its_session_is_kept() {
    // It is tried once.
    assert_eq!(left(false, false).await, (1, 2));
}
