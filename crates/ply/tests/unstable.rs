//! Forks, statuses, titles and archives, with both sides of Ply.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use ply::agent::{About, Agent, Result, Stop, Turn};
use ply::client::{Client, Error, Event, SessionFilter, Supported, v2};

struct Echo;

impl Agent for Echo {
    fn about(&self) -> About {
        About::new("echo", "1")
            .session_fork()
            .session_status()
            .session_set_title()
            .session_archive()
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let history = turn.history().await?;
        let messages = history.transcript().messages().count();
        turn.say(format!("{messages} messages")).await?;
        Ok(Stop::EndTurn)
    }
}

#[tokio::test]
async fn a_session_is_forked_named_and_archived_by_clients_of_both_versions() {
    for versions in [Supported::V1, Supported::V2] {
        let server = ply::agent::serve(Echo);
        let client = || Client::new().versions(versions);
        let agent = ply::testing::pair_with(&server, client()).await.unwrap();
        let session = agent.new_session("/work").await.unwrap();
        session.prompt("One").await.unwrap().finish().await.unwrap();

        let fork = session.fork().await.unwrap();
        fork.prompt("Two").await.unwrap().finish().await.unwrap();
        // The past of the source, its own prompt, and nothing of it in the source.
        assert_eq!(fork.transcript().last_agent_text(), "3 messages");
        assert_eq!(session.transcript().last_agent_text(), "1 messages");
        let status = fork.status().await.unwrap();
        assert_eq!(status.status, v2::SessionStatus::Open);

        // A second client sees the title that the first sets.
        let other = ply::testing::pair_with(&server, client()).await.unwrap();
        let seen = other.resume_session(fork.id().clone(), "/work");
        let seen = seen.await.unwrap();
        let mut events = seen.events();
        assert_eq!(fork.set_title(" Plums ").await.unwrap(), "Plums");
        loop {
            let told = events.next().await.unwrap();
            if let Event::Info(info) = told.event
                && info.title.value().is_some()
            {
                break;
            }
        }
        let title = |session: &ply::client::Session| {
            session.with_transcript(|transcript| transcript.info().title.clone())
        };
        assert_eq!(title(&seen).as_deref(), Some("Plums"));
        assert_eq!(title(&fork).as_deref(), Some("Plums"));

        fork.archive().await.unwrap();
        let closed = fork.prompt("Three").await.unwrap_err();
        assert!(matches!(closed, Error::SessionClosed), "{closed}");
        let only = SessionFilter::all().archived(v2::SessionArchiveFilter::Only);
        let archived = agent.list_sessions(only.clone()).await.unwrap();
        assert_eq!(archived.len(), 1);
        assert_eq!(archived[0].archived, Some(true));
        assert_eq!(archived[0].title.as_deref(), Some("Plums"));
        let all = agent.list_sessions(SessionFilter::all()).await.unwrap();
        assert_eq!(all.len(), 1);
        agent.unarchive_session(fork.id().clone()).await.unwrap();
        assert!(agent.list_sessions(only).await.unwrap().is_empty());
    }
}

struct Plain;

impl Agent for Plain {
    async fn prompt(&self, _: &mut Turn) -> Result<Stop> {
        Ok(Stop::EndTurn)
    }
}

#[tokio::test]
async fn an_agent_that_did_not_opt_in_offers_none_of_it() {
    let agent = ply::testing::pair(Plain).await.unwrap();
    let session = agent.new_session("/work").await.unwrap();
    let refused = session.fork().await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the agent does not offer forking sessions; make a new session"
    );
}
