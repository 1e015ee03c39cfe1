//! What the schema calls unstable: only asked of agents that offer it, and told in one meaning.

use crate::support::{SESSION, Script, open, v1_with, v2_with, within};
use ply_client::{Agent, Client, Error, SessionFilter, Version, v2};
use serde_json::{Value, json};

/// Agents of both versions with these markers of sessions.
async fn both(markers: Value) -> [(Agent, Script); 2] {
    let v1 = json!({ "sessionCapabilities": with(&markers, "list") });
    [
        v1_with(Client::new(), v1).await,
        v2_with(Client::new(), markers).await,
    ]
}

fn with(markers: &Value, more: &str) -> Value {
    let mut markers = markers.clone();
    markers[more] = json!({});
    markers
}

fn everything() -> Value {
    json!({ "fork": {}, "status": {}, "title": {}, "archive": {} })
}

/// Answers the next request, and returns its params.
async fn answers(script: &mut Script, method: &str, answer: Value) -> Value {
    let request = script.expect(method).await;
    script.answer(&request, answer).await;
    request["params"].clone()
}

#[tokio::test]
async fn an_agent_that_does_not_offer_it_is_not_asked() {
    let refused = |result: Result<(), Error>| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::NotOffered { .. }), "{error}");
    };
    for (agent, mut script) in both(json!({})).await {
        let session = open(&agent, &mut script).await;
        refused(session.fork().await.map(drop));
        refused(session.status().await.map(drop));
        refused(session.set_title("Plums").await.map(drop));
        refused(session.archive().await);
        refused(session.unarchive().await);
        let only = SessionFilter::all().archived(v2::SessionArchiveFilter::Only);
        refused(agent.list_sessions(only).await.map(drop));
        script.silent().await;
    }
}

#[tokio::test]
async fn a_fork_is_a_session_like_a_new_one() {
    for (agent, mut script) in both(everything()).await {
        let session = open(&agent, &mut script).await;
        let forking = answers(&mut script, "session/fork", json!({ "sessionId": "s-2" }));
        let (fork, params) = tokio::join!(session.fork(), forking);
        assert_eq!(params["sessionId"], SESSION);
        assert_eq!(params["cwd"], "/work");
        let fork = fork.unwrap();
        assert_eq!(&*fork.id().0, "s-2");
        let turn = fork.prompt("Hello").await.unwrap();
        let prompt = script.expect("session/prompt").await;
        assert_eq!(prompt["params"]["sessionId"], "s-2");
        script.refuse(&prompt, -32603, "no").await;
        assert!(within(turn.finish()).await.is_err());

        // A relative directory is refused here.
        let invalid = agent.fork_session(SESSION, "work").await.unwrap_err();
        assert!(matches!(invalid, Error::Invalid { .. }), "{invalid}");
        script.silent().await;
    }
}

#[tokio::test]
async fn a_status_is_told_in_the_words_of_version_2() {
    for (agent, mut script) in both(everything()).await {
        let answer = match agent.version() {
            Version::V1 => json!({ "status": "open" }),
            Version::V2 => json!({ "status": "open", "state": { "state": "running" } }),
        };
        let asking = answers(&mut script, "session/status", answer);
        let (status, params) = tokio::join!(agent.session_status(SESSION), asking);
        assert_eq!(params, json!({ "sessionId": SESSION }));
        let status = status.unwrap();
        assert_eq!(status.status, v2::SessionStatus::Open);
        assert_eq!(status.state.is_some(), agent.version() == Version::V2);
        let refusing = async {
            let request = script.expect("session/status").await;
            script.refuse(&request, -32002, "no such session").await;
        };
        let (unknown, ()) = tokio::join!(agent.session_status("s-9"), refusing);
        assert!(matches!(unknown, Err(Error::Refused(error)) if error.code == -32002));
    }
}

#[tokio::test]
async fn a_title_is_the_one_that_the_agent_stored() {
    for (agent, mut script) in both(everything()).await {
        let session = open(&agent, &mut script).await;
        let setting = answers(
            &mut script,
            "session/set_title",
            json!({ "title": "Plums" }),
        );
        let (title, params) = tokio::join!(session.set_title(" Plums "), setting);
        let sent = json!({ "sessionId": SESSION, "title": " Plums " });
        assert_eq!(params, sent);
        assert_eq!(title.unwrap(), "Plums");
        let kept = session.with_transcript(|transcript| transcript.info().title.clone());
        assert_eq!(kept.as_deref(), Some("Plums"));
    }
}

#[tokio::test]
async fn a_title_that_was_set_does_not_replace_one_that_came_behind_it() {
    for (agent, mut script) in both(everything()).await {
        let session = open(&agent, &mut script).await;
        let title = || session.with_transcript(|transcript| transcript.info().title.clone());
        let mut setting = std::pin::pin!(session.set_title("Plums"));
        let request = tokio::select! {
            biased;
            set = &mut setting => panic!("{set:?}"),
            request = script.expect("session/set_title") => request,
        };
        script.answer(&request, json!({ "title": "Plums" })).await;
        script
            .update(json!({ "sessionUpdate": "session_info_update", "title": "Pears" }))
            .await;
        while title().as_deref() != Some("Pears") {
            tokio::task::yield_now().await;
        }
        assert_eq!(setting.await.unwrap(), "Plums");
        assert_eq!(title().as_deref(), Some("Pears"));
    }
}

#[tokio::test]
async fn an_archived_session_is_closed_here_and_found_with_a_filter() {
    for (agent, mut script) in both(everything()).await {
        let session = open(&agent, &mut script).await;
        let archiving = answers(&mut script, "session/archive", json!({}));
        let (archived, params) = tokio::join!(session.archive(), archiving);
        archived.unwrap();
        assert_eq!(params, json!({ "sessionId": SESSION }));
        let closed = session.prompt("Hello").await.unwrap_err();
        assert!(matches!(closed, Error::SessionClosed), "{closed}");

        let page = json!({ "sessions": [
            { "sessionId": SESSION, "cwd": "/work", "archived": true },
        ] });
        let only = SessionFilter::all().archived(v2::SessionArchiveFilter::Only);
        let listing = answers(&mut script, "session/list", page);
        let (found, params) = tokio::join!(agent.list_sessions(only), listing);
        assert_eq!(params, json!({ "archived": "only" }));
        assert_eq!(found.unwrap()[0].archived, Some(true));

        let taking_out = answers(&mut script, "session/unarchive", json!({}));
        let (done, params) = tokio::join!(agent.unarchive_session(SESSION), taking_out);
        done.unwrap();
        assert_eq!(params, json!({ "sessionId": SESSION }));
    }
}
