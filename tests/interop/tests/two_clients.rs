//! Two of Ply's clients on one session of Ply's agent, one of them idle.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;
use std::time::Duration;

use ply_agent::{Server, Stop};
use ply_client::{Agent, Client, Event, LeaveToOthers, Permission, Supported, Turn, v2};

const BOTH: [Supported; 2] = [Supported::V1, Supported::V2];
const DEADLINE: Duration = Duration::from_secs(30);

/// Asks whether it may do something, and says what came of it.
struct Asker;

impl ply_agent::Agent for Asker {
    async fn prompt(&self, turn: &mut ply_agent::Turn) -> ply_agent::Result<Stop> {
        let call = turn.tool_call("Remove everything").await?;
        let decision = call.ask().await?;
        let words = match decision.is_allowed() {
            true => "allowed",
            false => "not allowed",
        };
        call.finish().await?;
        turn.say(words).await?;
        Ok(Stop::EndTurn)
    }
}

async fn connect(server: &Arc<Server>, client: Client) -> Agent {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(theirs);
    let server = Arc::clone(server);
    tokio::spawn(async move { server.over(reader, writer).await });
    client.connect(ours).await.unwrap()
}

async fn question(turn: &mut Turn) -> Permission {
    loop {
        if let Event::Permission(ask) = turn.next().await.unwrap().unwrap() {
            return ask;
        }
    }
}

async fn stop(turn: Turn) -> Option<v2::StopReason> {
    turn.finish().await.unwrap().stop_reason
}

#[tokio::test]
async fn an_idle_client_does_not_end_the_turn_of_the_one_that_prompted() {
    for (version, idle_version) in [(BOTH[0], BOTH[1]), (BOTH[1], BOTH[0]), (BOTH[0], BOTH[0])] {
        let work = async {
            let server = Arc::new(ply_agent::serve(Asker));
            let agent = connect(&server, Client::new().versions(version)).await;
            let session = agent.new_session("/").await.unwrap();
            let idle = Client::new().versions(idle_version);
            let idle_agent = connect(&server, idle).await;
            let idle = idle_agent.load_session(session.id().clone(), "/").await;
            let idle = idle.unwrap();
            let looker = Client::new().versions(idle_version);
            let looker = connect(&server, looker.permissions(LeaveToOthers)).await;
            let _looking = looker.load_session(session.id().clone(), "/").await;

            // Nobody reads the idle session, and another client answers that it is not for it.
            let mut turn = session.prompt("go").await.unwrap();
            let ask = question(&mut turn).await;
            assert!(ask.is_open());
            ask.allow_once().await.unwrap();
            assert_eq!(stop(turn).await, Some(v2::StopReason::EndTurn));
            assert_eq!(session.transcript().last_agent_text(), "allowed");

            // One that dismisses the question gives up its own copy.
            let mut events = idle.events();
            let mut turn = session.prompt("again").await.unwrap();
            let theirs = loop {
                let told = events.next().await.unwrap();
                if let Event::Permission(ask) = told.event
                    && ask.is_open()
                {
                    break ask;
                }
            };
            let ask = question(&mut turn).await;
            theirs.cancel().await;
            // Whatever the idle client asks for next is answered behind that.
            let listed = idle_agent.list_sessions(ply_client::SessionFilter::all());
            listed.await.unwrap();
            assert!(ask.is_open());
            ask.allow_once().await.unwrap();
            assert_eq!(stop(turn).await, Some(v2::StopReason::EndTurn));
            assert_eq!(session.transcript().last_agent_text(), "allowed");

            // A late look shows what is open, and an answer from there counts.
            drop(events);
            let mut turn = session.prompt("once more").await.unwrap();
            let ask = question(&mut turn).await;
            let mut late = idle.events();
            let theirs = loop {
                let told = late.next().await.unwrap();
                if let Event::Permission(ask) = told.event {
                    break ask;
                }
            };
            theirs.reject_once().await.unwrap();
            ask.closed().await;
            assert_eq!(stop(turn).await, Some(v2::StopReason::EndTurn));
            assert_eq!(session.transcript().last_agent_text(), "not allowed");
        };
        tokio::time::timeout(DEADLINE, work).await.unwrap();
    }
}
