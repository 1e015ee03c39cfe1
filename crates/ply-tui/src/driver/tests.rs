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
        let agent = AgentChoice {
            name: "script".to_owned(),
            command,
            install: Some("write it".to_owned()),
        };
        let options = Options::new(vec![agent], "/");
        let (keys, input) = mpsc::channel(64);
        let (sender, shown) = watch::channel(String::new());
        let terminal = Terminal::new(TestBackend::new(90, 30)).unwrap();
        let screen = TestScreen {
            terminal,
            shown: sender,
        };
        let client = tokio::spawn(drive(options, screen, Input::Test(input)));
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
        for _ in 0..2 {
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
    running.wait_for("[1] Allow it").await;
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
    running.key(KeyCode::Char('l'), KeyModifiers::CONTROL).await;
    running.wait_for("wire log").await;
    running.quit().await;
}
