//! A session whose agent died is what it was before anything is prompted.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use ply_client::{Client, Command, Error, Session};

const AGENT: &str = include_str!("restore/agent.sh");
const KINDS: [&str; 3] = ["modes", "options", "v2"];

/// A file that is there once the agent has lived, and gone with the test.
struct Lived(PathBuf);

impl Lived {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!(
            "ply-restore-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Lived {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

/// A session in the mode `plan` whose agent has died.
async fn orphan(kind: &str, second: &str) -> (Session, Lived) {
    let lived = Lived::new();
    let command = Command::from(["sh", "-c", AGENT])
        .env("KIND", kind)
        .env("SECOND", second)
        .env("LIVED", &lived.0);
    let agent = Client::new().spawn(command).await.unwrap();
    let session = agent.new_session("/").await.unwrap();
    session.set_mode("plan").await.unwrap();
    assert!(said(&session).await.starts_with("plan"));
    agent.kill().await;
    (session, lived)
}

/// Prompts, and returns the mode and effort under which the agent worked.
async fn said(session: &Session) -> String {
    session.prompt("x").await.unwrap().finish().await.unwrap();
    session.with_transcript(|transcript| transcript.last_agent_text().clone())
}

fn mode(session: &Session) -> String {
    let options = session.config_options();
    let modes = ply_wire::convert::config::modes_down(&options).unwrap();
    modes.current_mode_id.0.to_string()
}

async fn words_of(session: &Session) -> String {
    let error = session.prompt("x").await.map(drop).unwrap_err();
    assert!(matches!(error, Error::NotRestored { .. }), "{error}");
    error.to_string()
}

#[tokio::test]
async fn a_restart_does_not_change_the_mode() {
    for kind in KINDS {
        for second in ["", "silent", "bare", "kept"] {
            let (session, _lived) = orphan(kind, second).await;
            assert!(said(&session).await.starts_with("plan"), "{kind} {second}");
            assert_eq!(mode(&session), "plan", "{kind} {second}");
        }
    }
}

#[tokio::test]
async fn options_that_setting_the_mode_resets_are_set_back_too() {
    for kind in ["options", "v2"] {
        let (session, _lived) = orphan(kind, "").await;
        // This brings the second life; the third forgets again.
        session.set_config_option("effort", "high").await.unwrap();
        session.agent().kill().await;
        assert_eq!(said(&session).await, "plan high", "{kind}");
    }
}

#[tokio::test]
async fn a_mode_that_cannot_be_set_back_fails_the_prompt_in_words() {
    for kind in KINDS {
        let (session, _lived) = orphan(kind, "refuse").await;
        for _ in 0..2 {
            let words = words_of(&session).await;
            assert!(words.contains("`mode`"), "{words}");
            assert!(words.contains("`plan`"), "{words}");
            assert!(words.contains("not today"), "{words}");
        }
        let stderr = session.agent().kill().await.stderr_tail;
        assert!(!stderr.contains("session/prompt"), "{stderr}");
    }
}

#[tokio::test]
async fn an_agent_that_says_it_set_the_mode_and_did_not_is_not_prompted() {
    for kind in ["options", "v2"] {
        let (session, _lived) = orphan(kind, "ignore").await;
        let words = words_of(&session).await;
        assert!(words.contains("set something else"), "{words}");
    }
}

#[tokio::test]
async fn a_mode_that_is_gone_can_be_replaced_by_another() {
    for kind in KINDS {
        let (session, _lived) = orphan(kind, "without").await;
        let words = words_of(&session).await;
        assert!(words.contains("no longer offers"), "{words}");
        session.set_mode("ask").await.unwrap();
        assert!(said(&session).await.starts_with("ask"), "{kind}");
    }
}

#[tokio::test]
async fn prompts_beside_each_other_wait_until_the_mode_is_set_back() {
    for kind in KINDS {
        let (session, _lived) = orphan(kind, "silent").await;
        let (one, two) = tokio::join!(session.prompt("x"), session.prompt("x"));
        one.unwrap().finish().await.unwrap();
        two.unwrap().finish().await.unwrap();
        session.with_transcript(|transcript| {
            let said = transcript.messages().map(|message| message.text());
            let modes: Vec<_> = said.filter(|text| text.contains("low")).collect();
            assert!(modes.iter().all(|text| text.contains("plan")), "{modes:?}");
        });
    }
}
