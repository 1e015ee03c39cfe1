//! The whole client with a real agent: a shell script that speaks the protocol.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ply_client::Command;
use ratatui::backend::TestBackend;
use ratatui::{Frame, Terminal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::*;
use crate::options::{AgentChoice, Notify};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// An agent of version 1. What it does depends on the words of the prompt.
const AGENT: &str = r#"
say() {
  printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n' "$1"
}
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^.*"id":\([0-9]*\).*$/\1/p')
  case "$line" in
    *'"initialize"'*) answer '{"protocolVersion":1,"agentCapabilities":{}}';;
    *'"session/new"'*) answer '{"sessionId":"s1"}';;
    *'"session/prompt"'*)
      case "$line" in
        *die*) echo 'out of cheese' >&2; exit 3;;
        *linger*)
          say 'lingering'
          while read -r line; do case "$line" in *'"session/cancel"'*) : > "$1"; break;; esac; done;;
        *flood*) while :; do say 'word '; done;;
        *ask*)
          printf '{"jsonrpc":"2.0","id":900,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t1","title":"Touch it"},"options":[{"optionId":"ok","name":"Allow it","kind":"allow_once"}]}}\n'
          read -r reply
          case "$reply" in *'"ok"'*) say 'allowed by you';; esac;;
        *) say 'hello from the agent';;
      esac
      answer '{"stopReason":"end_turn"}';;
  esac
done
"#;

/// An agent of version 1 with modes, a list that heeds no filter, and loading that takes its time. It notes what it is asked.
const SLOW: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
  printf '%s\n' "$line" >> "$1"
  id=$(printf '%s' "$line" | sed -n 's/^.*"id":\([0-9]*\).*$/\1/p')
  case "$line" in
    *'"initialize"'*) answer '{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"list":{}}}}';;
    *'"session/list"'*) answer '{"sessions":[{"sessionId":"s9","cwd":"/elsewhere","title":"Another","updatedAt":"2026-01-01T00:00:00Z"}]}';;
    *'"session/new"'*) answer '{"sessionId":"s1","modes":{"currentModeId":"m1","availableModes":[{"id":"m1","name":"One"},{"id":"m2","name":"Two"}]}}';;
    *'"session/load"'*) sleep 2; answer '{}';;
    *'"session/prompt"'*)
      case "$line" in
        *die*) exit 3;;
        *broken*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"Internal error","data":{"details":"no quota"}}}\n' "$id";;
        *) answer '{"stopReason":"end_turn"}';;
      esac;;
  esac
done
"#;

struct TestScreen {
    terminal: Terminal<TestBackend>,
    shown: watch::Sender<String>,
}

impl Screen for TestScreen {
    fn draw(&mut self, draw: &mut dyn FnMut(&mut Frame<'_>)) -> io::Result<()> {
        let drawn = self.terminal.draw(|frame| draw(frame));
        drawn.map_err(io::Error::other)?;
        self.shown.send_replace(self.terminal.backend().to_string());
        Ok(())
    }

    fn refresh(&mut self) {}

    fn set_title(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn notify(&mut self, _: &str, _: Notify) -> io::Result<()> {
        Ok(())
    }

    fn leave(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn say_after(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn enter(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Running {
    keys: mpsc::Sender<Event>,
    shown: watch::Receiver<String>,
    client: JoinHandle<Result<(), Error>>,
}

impl Running {
    fn start(command: Command) -> Self {
        Self::start_with(command, |_| {})
    }

    fn start_with(command: Command, change: impl FnOnce(&mut Options)) -> Self {
        let agent = AgentChoice {
            name: "script".to_owned(),
            key: "script".to_owned(),
            command,
            install: Some("write it".to_owned()),
            resume: None,
        };
        let mut options = Options::new(vec![agent], "/");
        change(&mut options);
        let (keys, input) = mpsc::channel(64);
        let (sender, shown) = watch::channel(String::new());
        let terminal = Terminal::new(TestBackend::new(90, 30)).unwrap();
        let screen = TestScreen {
            terminal,
            shown: sender,
        };
        let client = tokio::spawn(drive(options, screen, Input::Test(input), Vec::new()));
        Self {
            keys,
            shown,
            client,
        }
    }

    async fn key(&self, code: KeyCode, modifiers: KeyModifiers) {
        let key = KeyEvent::new(code, modifiers);
        self.keys.send(Event::Key(key)).await.unwrap();
    }

    async fn type_in(&self, text: &str) {
        for char in text.chars() {
            self.key(KeyCode::Char(char), KeyModifiers::NONE).await;
        }
    }

    async fn say(&self, text: &str) {
        self.type_in(text).await;
        self.key(KeyCode::Enter, KeyModifiers::NONE).await;
    }

    async fn wait_for(&mut self, words: &str) {
        let seen = self.shown.wait_for(|shown| shown.contains(words));
        let seen = tokio::time::timeout(PATIENCE, seen).await.is_ok();
        assert!(
            seen,
            "`{words}` is not on the screen:\n{}",
            *self.shown.borrow()
        );
    }

    async fn quit(self) {
        // What is written is cleared first.
        for _ in 0..3 {
            self.key(KeyCode::Char('c'), KeyModifiers::CONTROL).await;
        }
        let end = tokio::time::timeout(PATIENCE, self.client).await;
        end.expect("it ends").expect("no panic").expect("no error");
    }
}

fn script() -> Command {
    Command::new("sh").args(["-c", AGENT])
}

#[tokio::test]
async fn a_prompt_goes_to_a_real_agent_and_its_answer_is_shown() {
    let mut running = Running::start(script());
    running.wait_for("· ready").await;
    running.say("hi").await;
    running.wait_for("hello from the agent").await;
    running.wait_for("· ready").await;
    running.quit().await;
}

#[tokio::test]
async fn a_permission_is_asked_answered_and_the_turn_goes_on() {
    let mut running = Running::start(script());
    running.say("ask me").await;
    running.wait_for("1  Allow it").await;
    running.wait_for("1–9 answer").await;
    running.type_in("1").await;
    running.wait_for("allowed by you").await;
    running.wait_for("· ready").await;
    running.quit().await;
}

#[tokio::test]
async fn a_prompt_that_is_cancelled_at_once_never_reaches_the_agent() {
    let mut running = Running::start(script());
    running.wait_for("· ready").await;
    running.say("hi").await;
    running.key(KeyCode::Esc, KeyModifiers::NONE).await;
    running.wait_for("cancelled before it was sent").await;
    running.wait_for("› hi").await;
    running.key(KeyCode::Enter, KeyModifiers::NONE).await;
    running.wait_for("hello from the agent").await;
    running.quit().await;
}

/// Returns the slow agent and where it notes what it is asked.
fn slow(directory: &tempfile::TempDir) -> (Command, std::path::PathBuf) {
    let notes = directory.path().join("notes");
    let arguments = ["-c", SLOW, "sh", notes.to_str().unwrap()];
    (Command::new("sh").args(arguments), notes)
}

#[tokio::test]
async fn a_prompt_that_is_cancelled_while_its_agent_is_started_again_is_not_sent() {
    let directory = tempfile::tempdir().unwrap();
    let (command, notes) = slow(&directory);
    let mut running = Running::start(command);
    running.wait_for("· ready").await;
    running.say("die").await;
    running.wait_for("script has stopped.").await;
    running.say("unwanted").await;
    let is_loading = || {
        std::fs::read_to_string(&notes)
            .unwrap()
            .contains("session/load")
    };
    while !is_loading() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    running.key(KeyCode::Esc, KeyModifiers::NONE).await;
    running.wait_for("cancelled before it was sent").await;
    running.wait_for("› unwanted").await;
    // One that is wanted comes after it, to an agent that takes it.
    running.type_in("!").await;
    running.key(KeyCode::Enter, KeyModifiers::NONE).await;
    running.wait_for("working").await;
    running.wait_for("· ready").await;
    let asked = std::fs::read_to_string(&notes).unwrap();
    assert!(!asked.contains(r#""unwanted""#), "{asked}");
    assert!(asked.contains(r#""unwanted!""#), "{asked}");
    running.quit().await;
}

#[tokio::test]
async fn a_prompt_is_not_sent_in_another_mode_than_the_one_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let (command, notes) = slow(&directory);
    let mut running = Running::start_with(command, |options| {
        options.set = vec![("mode".into(), "three".into())];
        options.prompt = Some("hello".into());
    });
    running.wait_for("mode cannot be set to three").await;
    running.wait_for("there are: One, Two").await;
    running.wait_for("Enter sends it anyway").await;
    running.wait_for("held 1: hello").await;
    let asked = || std::fs::read_to_string(&notes).unwrap();
    assert!(!asked().contains("session/prompt"));
    running.key(KeyCode::Enter, KeyModifiers::NONE).await;
    while !asked().contains("session/prompt") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    running.quit().await;
}

#[tokio::test]
async fn a_session_of_another_directory_is_not_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let (command, notes) = slow(&directory);
    let mut running = Running::start_with(command, |options| {
        options.open = crate::options::Open::Latest;
    });
    running
        .wait_for("no earlier session of this directory")
        .await;
    running.wait_for("this is a new one").await;
    let asked = std::fs::read_to_string(&notes).unwrap();
    assert!(!asked.contains("session/load"), "{asked}");
    running.quit().await;
}

#[tokio::test]
async fn the_reason_of_a_failure_is_shown() {
    let directory = tempfile::tempdir().unwrap();
    let mut running = Running::start(slow(&directory).0);
    running.say("broken").await;
    running.wait_for("Internal error (-32603): no quota").await;
    running.quit().await;
}

#[tokio::test]
async fn closing_a_session_cancels_its_turn_first() {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("cancelled");
    let arguments = ["-c", AGENT, "sh", mark.to_str().unwrap()];
    let mut running = Running::start(Command::new("sh").args(arguments));
    running.wait_for("· ready").await;
    running.say("linger").await;
    running.wait_for("lingering").await;
    running.key(KeyCode::Char('w'), KeyModifiers::ALT).await;
    let end = tokio::time::timeout(PATIENCE, running.client).await;
    end.expect("it ends").expect("no panic").expect("no error");
    assert!(mark.exists(), "the agent was not told");
}

#[tokio::test]
async fn a_dead_agent_shows_its_last_words() {
    let mut running = Running::start(script());
    running.say("die").await;
    running.wait_for("script has stopped.").await;
    running.wait_for("out of cheese").await;
    running.wait_for("exit status: 3").await;
    running.quit().await;
}

#[tokio::test]
async fn typing_does_not_wait_for_an_agent_that_never_stops_talking() {
    let mut running = Running::start(script());
    running.say("flood").await;
    running.wait_for("word word").await;
    running.type_in("typed meanwhile").await;
    running.wait_for("› typed meanwhile").await;
    running.quit().await;
}

#[tokio::test]
async fn a_missing_program_shows_how_to_get_it() {
    let mut running = Running::start(Command::new("/no/such/agent"));
    running.wait_for("To install it: write it").await;
    running.key(KeyCode::Char('l'), KeyModifiers::ALT).await;
    running.wait_for("wire log").await;
    running.quit().await;
}
