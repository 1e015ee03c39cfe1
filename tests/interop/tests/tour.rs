//! The example `tour` of `ply-agent`, word by word, over Ply's client on both versions.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

use std::collections::BTreeMap;
use std::time::Duration;

use ply_client::{
    Agent, AllowAll, Client, Command, ElicitationDecision, Elicitations, Error, Event, Files,
    Prompt, Report, ReportKind, Session, SessionFilter, Supported, Terminals, TurnEnd, TurnError,
    v2,
};
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(20);
const BOTH: [Supported; 2] = [Supported::V1, Supported::V2];

async fn start(client: Client, args: &[&str]) -> Agent {
    let program = Command::new(env!("CARGO_BIN_EXE_tour"));
    let program = args.iter().fold(program, |program, arg| program.arg(*arg));
    timeout(DEADLINE, client.spawn(program))
        .await
        .expect("the agent starts in time")
        .unwrap()
}

async fn finish(agent: Agent) {
    assert!(agent.reports().is_empty(), "{:?}", agent.reports());
    let last = timeout(DEADLINE, agent.close()).await.unwrap();
    let status = last.status;
    assert!(status.is_some_and(|status| status.success()), "{last:?}");
}

/// Prompts, reads to the end and returns the end with every event.
async fn tell(
    session: &Session,
    prompt: impl Into<Prompt>,
) -> (Result<TurnEnd, TurnError>, Vec<Event>) {
    let work = async {
        let mut turn = session.prompt(prompt).await.unwrap();
        let mut events = Vec::new();
        while let Some(event) = turn.next().await {
            match event {
                Ok(event) => events.push(event),
                Err(error) => return (Err(error), events),
            }
        }
        (Ok(turn.end().unwrap().clone()), events)
    };
    timeout(DEADLINE, work).await.expect("the turn ends")
}

/// Prompts and returns the text of the turn's messages; checks that it ended well.
async fn hear(session: &Session, prompt: impl Into<Prompt>) -> String {
    let (end, _) = tell(session, prompt).await;
    assert_eq!(end.unwrap().stop_reason, Some(v2::StopReason::EndTurn));
    session.transcript().last_agent_text()
}

fn accept(request: &v2::CreateElicitationRequest) -> ElicitationDecision {
    let accepted = v2::ElicitationAcceptAction::new();
    let accepted = match request.mode {
        v2::ElicitationMode::Form(_) => {
            let name = ("name".to_owned(), "Ada".into());
            accepted.content(BTreeMap::from([name]))
        }
        _ => accepted,
    };
    ElicitationDecision::Answer(v2::ElicitationAction::Accept(accepted))
}

#[tokio::test]
async fn every_word_is_in_the_help_and_ends_its_turn_well() {
    for version in BOTH {
        let client = Client::new().versions(version).permissions(AllowAll);
        let agent = start(client, &[]).await;
        let session = agent.new_session("/project").await.unwrap();
        let help = hear(&session, "what can you do?").await;
        for (prompt, said) in [
            ("say", "One message in pieces."),
            ("think", "Good question."),
            ("plan", "All done."),
            ("history", "You first said: what can you do?"),
            ("look", "That is all."),
            ("tool", "Nothing was really edited."),
            ("permission", "Done."),
            ("choices", "Done."),
            ("command", "I would run them now."),
            ("read notes.txt", "Your editor shows no files."),
            ("write notes.txt x", "Your editor takes no files."),
            ("run echo hi", "There is no terminal, or no command."),
            ("form", "Your editor has no forms. What is your name?"),
            ("visit", "Please visit https://agentclientprotocol.com/"),
            ("commands", "Try `/greet you`."),
            ("mode", "The mode is ask."),
        ] {
            let word = prompt.split(' ').next().unwrap();
            assert!(help.contains(&format!("- `{word}")), "{word}");
            let heard = hear(&session, prompt).await;
            if prompt != "choices" {
                assert_eq!(heard, said, "{version:?} {prompt}");
            }
        }
        assert_eq!(hear(&session, "/greet Ada").await, "Hello, Ada!");
        let transcript = session.transcript();
        assert!(transcript.tool_calls().all(|call| call.is_finished()));
        finish(agent).await;
    }
}

#[tokio::test]
async fn facts_about_the_session_reach_the_client() {
    for version in BOTH {
        let agent = start(Client::new().versions(version), &[]).await;
        let session = agent.new_session("/project").await.unwrap();
        hear(&session, "title The grand tour").await;
        let listed = agent.list_sessions(SessionFilter::all()).await.unwrap();
        assert_eq!(listed[0].title.as_deref(), Some("The grand tour"));

        hear(&session, "usage").await;
        let usage = session.transcript().usage().cloned().unwrap();
        assert_eq!((usage.used, usage.size), (12_000, 200_000), "{version:?}");

        let (end, events) = tell(&session, "notice").await;
        assert!(end.is_ok());
        let notice = |event: &Event| match event {
            Event::Notice(notice) => notice.title.contains("long"),
            Event::Message(message) => message.text().contains("long"),
            _ => false,
        };
        assert!(events.iter().any(notice), "{version:?} {events:?}");

        let code = v2::SessionConfigOptionValue::id("code");
        session.set_config_option("mode", code).await.unwrap();
        assert_eq!(hear(&session, "mode").await, "The mode is code.");
        assert_eq!(session.commands().len(), 1, "{version:?}");
        hear(&session, "commands").await;
        assert_eq!(session.commands().len(), 2, "{version:?}");
        finish(agent).await;
    }
}

#[tokio::test]
async fn turns_end_in_every_way() {
    for version in BOTH {
        let agent = start(Client::new().versions(version), &[]).await;
        let session = agent.new_session("/project").await.unwrap();
        for (prompt, reason) in [
            ("refuse", v2::StopReason::Refusal),
            ("tokens", v2::StopReason::MaxTokens),
            ("requests", v2::StopReason::MaxTurnRequests),
        ] {
            let (end, _) = tell(&session, prompt).await;
            assert_eq!(end.unwrap().stop_reason, Some(reason), "{version:?}");
        }
        let (failed, _) = tell(&session, "fail").await;
        let failed = failed.unwrap_err().to_string();
        assert!(failed.contains("The tour bus broke down."), "{failed}");
        // The refused turn is not what the user said first.
        assert_eq!(hear(&session, "history").await, "You first said: tokens");

        let mut turn = session.prompt("wait").await.unwrap();
        let work = async {
            while let Some(event) = turn.next().await {
                if matches!(event.unwrap(), Event::ToolCall(_)) {
                    turn.cancel().await.unwrap();
                }
            }
        };
        timeout(DEADLINE, work).await.unwrap();
        assert!(turn.end().unwrap().is_cancelled());
        let transcript = session.transcript();
        let call = transcript.tool_calls().last().unwrap();
        assert!(call.is_finished(), "{call:?}");
        let late = "Waited until you had enough.";
        assert!(call.text().starts_with(late), "{version:?} {call:?}");
        finish(agent).await;
    }
}

#[tokio::test]
async fn what_is_attached_to_a_prompt_is_seen() {
    for version in BOTH {
        let agent = start(Client::new().versions(version), &[]).await;
        let session = agent.new_session("/project").await.unwrap();
        let prompt = Prompt::new("look")
            .resource("file:///project/a.txt", "one\ntwo\n")
            .link("file:///project/b.txt")
            .block(v2::ContentBlock::Image(v2::ImageContent::new(
                "AAAA",
                "image/png",
            )))
            .block(v2::ContentBlock::Audio(v2::AudioContent::new(
                "AAAA",
                "audio/wav",
            )));
        let heard = hear(&session, prompt).await;
        let expected = "I see a text of 2 lines.\nI see a link to b.txt.\nI see an image, image/png.\n\
                        I see a sound, audio/wav.\nThat is all.";
        assert_eq!(heard, expected, "{version:?}");
        finish(agent).await;
    }
}

#[tokio::test]
async fn forms_and_pages_are_shown_where_the_client_has_them() {
    for version in BOTH {
        let policy = Elicitations::new().forms().urls().decide(accept);
        let client = Client::new().versions(version).elicitation(policy);
        let agent = start(client, &[]).await;
        let session = agent.new_session("/project").await.unwrap();
        assert_eq!(hear(&session, "form").await, "Hello, Ada.");
        assert_eq!(hear(&session, "visit").await, "I hope you liked it.");
        finish(agent).await;
    }
}

#[tokio::test]
async fn files_and_terminals_of_a_version_1_client_are_used() {
    let name = format!("ply-tour-{}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let directory = directory.canonicalize().unwrap();
    let client = Client::new()
        .versions(Supported::V1)
        .files(Files::new())
        .terminals(Terminals::new());
    let agent = start(client, &[]).await;
    let session = agent.new_session(&directory).await.unwrap();
    assert_eq!(hear(&session, "write notes.txt hello").await, "Written.");
    assert_eq!(hear(&session, "read notes.txt").await, "hello");
    let heard = hear(&session, "read missing.txt").await;
    assert!(heard.starts_with("It cannot be read: "), "{heard}");
    let heard = hear(&session, "run echo hi").await;
    assert_eq!(heard, "It ended with 0 after 3 bytes of output.");
    finish(agent).await;
    std::fs::remove_dir_all(directory).unwrap();
}

#[tokio::test]
async fn a_turn_of_the_agents_own_comes_later() {
    for version in BOTH {
        let agent = start(Client::new().versions(version), &[]).await;
        let session = agent.new_session("/project").await.unwrap();
        let mut events = session.events();
        assert_eq!(hear(&session, "later").await, "I will be back.");
        let back = async {
            while session.transcript().last_agent_text() != "Here I am." {
                events.next().await.unwrap();
            }
        };
        timeout(DEADLINE, back).await.expect("the agent comes back");
        assert_eq!(hear(&session, "say").await, "One message in pieces.");
        // Version 1 knows no such turn, so the client there takes note of an update after the end of one.
        let known = |report: &Report| report.kind == ReportKind::LateUpdate;
        assert!(agent.reports().iter().all(known), "{:?}", agent.reports());
        timeout(DEADLINE, agent.close()).await.unwrap();
    }
}

#[tokio::test]
async fn a_login_opens_the_door_where_one_is_wanted() {
    for version in BOTH {
        let agent = start(Client::new().versions(version), &["--login"]).await;
        let refused = agent.new_session("/project").await.unwrap_err();
        assert!(matches!(refused, Error::AuthRequired { .. }), "{refused:?}");
        agent.login("tour").await.unwrap();
        let session = agent.new_session("/project").await.unwrap();
        assert_eq!(hear(&session, "think").await, "Good question.");
        agent.logout().await.unwrap();
        assert!(agent.new_session("/project").await.is_err());
        finish(agent).await;
    }
}
