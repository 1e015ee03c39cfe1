//! A service that answers requests for information, in its own time.

use std::sync::Mutex;

use crate::support::{
    SESSION, Script, elicitation, greet, heard, prompt, v1_session_of, v2_session_of,
};
use ply_client::{
    Client, ElicitationDecision, ElicitationService, Event, Scope, Session, Visit, v2,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

/// A form on the screen of an editor.
#[derive(Debug)]
struct Shown {
    session: Option<String>,
    message: String,
    /// Takes the answer; closed when the form is gone.
    user: oneshot::Sender<ElicitationDecision>,
}

/// An editor that hands its forms to the test.
struct Editor {
    screen: mpsc::Sender<Shown>,
    visited: mpsc::Sender<String>,
    panics: Mutex<bool>,
}

struct Screen {
    forms: mpsc::Receiver<Shown>,
    visited: mpsc::Receiver<String>,
}

impl ElicitationService for Editor {
    fn takes_urls(&self) -> bool {
        true
    }

    async fn elicit(
        &self,
        session: Option<&Scope>,
        request: &v2::CreateElicitationRequest,
    ) -> ElicitationDecision {
        let (user, answer) = oneshot::channel();
        let visit = Visit::of(request).map(|visit| visit.url().to_owned());
        let shown = Shown {
            session: session.map(|session| session.id().to_string()),
            message: visit.unwrap_or_else(|| request.message.clone()),
            user,
        };
        self.screen.try_send(shown).unwrap();
        let answer = answer.await.unwrap();
        assert!(!*self.panics.lock().unwrap(), "the editor has a bug");
        answer
    }

    fn visit_finished(&self, id: &v2::ElicitationId) {
        self.visited.try_send(id.0.to_string()).unwrap();
    }
}

fn editor(panics: bool) -> (Client, Screen) {
    let (screen, forms) = mpsc::channel(16);
    let (visited, visits) = mpsc::channel(16);
    let editor = Editor {
        screen,
        visited,
        panics: Mutex::new(panics),
    };
    let screen = Screen {
        forms,
        visited: visits,
    };
    (Client::new().elicitation(editor), screen)
}

async fn session_of(version: u16, client: Client) -> (Session, Script) {
    match version {
        1 => v1_session_of(client).await,
        _ => v2_session_of(client).await,
    }
}

fn form(scope: &str, id: &Value) -> Value {
    json!({
        "mode": "form",
        scope: id,
        "message": "Who are you?",
        "requestedSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
    })
}

fn me() -> ElicitationDecision {
    let content = [("name".to_owned(), "me".into())].into_iter().collect();
    let accept = v2::ElicitationAcceptAction::new().content(Some(content));
    ElicitationDecision::Answer(v2::ElicitationAction::Accept(accept))
}

/// Asks in a turn, and returns the form that is shown.
async fn shown(script: &mut Script, screen: &mut Screen) -> (Value, Shown) {
    let params = form("sessionId", &json!(SESSION));
    let id = script.ask("elicitation/create", params).await;
    (id, screen.forms.recv().await.unwrap())
}

#[tokio::test]
async fn a_login_waits_for_a_form_that_belongs_to_no_session() {
    for (version, method, field) in [(1, "authenticate", "id"), (2, "auth/login", "methodId")] {
        let (client, mut screen) = editor(false);
        let answer = json!({
            "protocolVersion": version,
            "info": { "name": "script", "version": "0" },
            "capabilities": { "session": {} },
            "authMethods": [{ "type": "agent", field: "key", "name": "API key" }],
        });
        let (agent, mut script, _) = greet(client, answer).await;
        let agent = agent.unwrap();
        let logging_in = async {
            let login = script.expect(method).await;
            let params = form("requestId", &login["id"]);
            let id = script.ask("elicitation/create", params).await;
            let shown = screen.forms.recv().await.unwrap();
            assert_eq!(shown.session, None);
            assert_eq!(shown.message, "Who are you?");
            // Nothing is said before the user answers.
            script.silent().await;
            shown.user.send(me()).unwrap();
            assert_eq!(
                script.answered(&id).await["result"],
                json!({ "action": "accept", "content": { "name": "me" } })
            );
            script.answer(&login, json!({})).await;
        };
        let (login, ()) = tokio::join!(agent.login("key"), logging_in);
        login.unwrap();
    }
}

#[tokio::test]
async fn a_form_of_a_session_is_answered_in_its_own_time_and_is_no_event() {
    for version in [1, 2] {
        let (client, mut screen) = editor(false);
        let (session, mut script) = session_of(version, client).await;
        let mut events = session.events();
        let (turn, _) = prompt(&session, &mut script, "hi").await;
        let (id, shown) = shown(&mut script, &mut screen).await;
        assert_eq!(shown.session.as_deref(), Some(SESSION));
        // Somebody who comes later is not asked either.
        let mut late = session.events();
        shown.user.send(me()).unwrap();
        assert_eq!(script.answered(&id).await["result"]["action"], "accept");
        drop(turn);
        script.die();
        for events in [&mut events, &mut late] {
            while let Some(event) = heard(events).await {
                assert!(!matches!(event, Event::Elicitation(_)), "{event:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_form_that_the_service_passes_on_is_an_event() {
    for version in [1, 2] {
        let (client, mut screen) = editor(false);
        let (session, mut script) = session_of(version, client).await;
        let (mut turn, _) = prompt(&session, &mut script, "hi").await;
        let (id, shown) = shown(&mut script, &mut screen).await;
        shown.user.send(ElicitationDecision::Ask).ok().unwrap();
        elicitation(&mut turn).await.decline().await;
        assert_eq!(script.answered(&id).await["result"]["action"], "decline");
    }
}

/// A stream that begins while the service passes a question on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_that_is_passed_on_is_told_once_to_a_stream_that_begins_meanwhile() {
    let (client, mut screen) = editor(false);
    let (session, mut script) = v1_session_of(client).await;
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    for round in 0..200 {
        let (id, shown) = shown(&mut script, &mut screen).await;
        let beginning = {
            let session = session.clone();
            move || session.events()
        };
        // Both wait for the session, and go on in either order.
        let beginning = session.with_transcript(|_| {
            let beginning = std::thread::spawn(beginning);
            (0..100).for_each(|_| std::thread::yield_now());
            shown.user.send(ElicitationDecision::Ask).ok().unwrap();
            (0..100).for_each(|_| std::thread::yield_now());
            beginning
        });
        let mut events = beginning.join().unwrap();
        elicitation(&mut turn).await.decline().await;
        script.answered(&id).await;
        script.say("done").await;
        let mut told = 0;
        loop {
            match heard(&mut events).await.unwrap() {
                Event::Elicitation(_) => told += 1,
                Event::Message(_) => break,
                _ => {}
            }
        }
        assert_eq!(told, 1, "in round {round}");
    }
}

#[tokio::test]
async fn a_form_goes_away_when_nobody_wants_the_answer() {
    for version in [1, 2] {
        let (client, mut screen) = editor(false);
        let (session, mut script) = session_of(version, client).await;
        let (turn, _) = prompt(&session, &mut script, "hi").await;

        // The agent takes it back.
        let (id, mut form) = shown(&mut script, &mut screen).await;
        script
            .notify("$/cancel_request", json!({ "requestId": id }))
            .await;
        form.user.closed().await;
        script.answered(&id).await;

        // The turn is cancelled.
        let (id, mut form) = shown(&mut script, &mut screen).await;
        turn.cancel().await.unwrap();
        script.expect("session/cancel").await;
        assert_eq!(script.answered(&id).await["result"]["action"], "cancel");
        form.user.closed().await;

        // While it is being cancelled no form is shown.
        let params = self::form("sessionId", &json!(SESSION));
        let id = script.ask("elicitation/create", params).await;
        assert_eq!(script.answered(&id).await["result"]["action"], "cancel");
        screen.forms.try_recv().unwrap_err();
    }
}

#[tokio::test]
async fn a_form_goes_away_with_its_agent() {
    let (client, mut screen) = editor(false);
    let (_session, mut script) = v1_session_of(client).await;
    let params = form("requestId", &json!(7));
    script.ask("elicitation/create", params).await;
    let mut form = screen.forms.recv().await.unwrap();
    script.die();
    form.user.closed().await;
}

#[tokio::test]
async fn a_form_outlives_the_handles_of_its_session() {
    let (client, mut screen) = editor(false);
    let (session, mut script) = v1_session_of(client).await;
    let agent = session.agent().clone();
    let (turn, _) = prompt(&session, &mut script, "hi").await;
    let (id, form) = shown(&mut script, &mut screen).await;
    drop((turn, session));
    form.user.send(me()).ok().unwrap();
    assert_eq!(script.answered(&id).await["result"]["action"], "accept");
    drop(agent);
}

#[tokio::test]
async fn a_service_that_panics_leaves_the_question_to_others() {
    let (client, mut screen) = editor(true);
    let (session, mut script) = v1_session_of(client).await;
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    let (id, form) = shown(&mut script, &mut screen).await;
    form.user.send(me()).ok().unwrap();
    assert_eq!(script.answered(&id).await["error"]["code"], -32603);
}

#[tokio::test]
async fn a_question_about_a_session_that_is_not_open_is_refused() {
    let (client, mut screen) = editor(false);
    let (_session, mut script) = v1_session_of(client).await;
    let params = form("sessionId", &json!("other"));
    let id = script.ask("elicitation/create", params).await;
    assert_eq!(script.answered(&id).await["error"]["code"], -32602);
    screen.forms.try_recv().unwrap_err();
}

#[tokio::test]
async fn the_end_of_a_visit_that_belongs_to_no_session_is_told_once() {
    for version in [1, 2] {
        let (client, mut screen) = editor(false);
        let (_session, mut script) = session_of(version, client).await;
        let params = json!({
            "mode": "url", "requestId": 7, "message": "Log in", "elicitationId": "e1",
            "url": "https://example.com/login",
        });
        let id = script.ask("elicitation/create", params).await;
        let shown = screen.forms.recv().await.unwrap();
        assert_eq!(shown.message, "https://example.com/login");
        let accept = v2::ElicitationAction::Accept(v2::ElicitationAcceptAction::new());
        let answer = ElicitationDecision::Answer(accept);
        shown.user.send(answer).ok().unwrap();
        script.answered(&id).await;
        for name in ["unknown", "e1", "e1"] {
            let over = json!({ "elicitationId": name });
            script.notify("elicitation/complete", over).await;
        }
        script.silent().await;
        assert_eq!(screen.visited.recv().await.unwrap(), "e1");
        screen.visited.try_recv().unwrap_err();
    }
}
