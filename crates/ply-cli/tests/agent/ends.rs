//! However the agent is told to end, it does so at once and takes everything with it.

use std::time::Duration;

use coder_tests::{Gate, ModelServer, Reply};
use rustix::process::Signal;
use serde_json::json;

use crate::place::Place;
use crate::raw::{Raw, prompt};
use crate::tether::Tether;

/// How long an agent may take that has stubborn processes to end: they get a moment to think about it.
const END_TIME_MAX: Duration = Duration::from_millis(2_500);
/// How long a turn may go on by itself when its client will say nothing more.
const HANG_UP_TIME: Duration = Duration::from_secs(3);
/// How long one may take that has nothing to do.
const IDLE_END_TIME_MAX: Duration = Duration::from_secs(1);

/// An MCP server without tools. It stays when its input ends.
const SERVER: &str = r#"
while read -r line; do
    id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case $line in
        *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
        *'"tools/list"'*) result='{"tools":[]}' ;;
        *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
while :; do sleep 1000; done"#;

/// An agent with a command, a process in the background and an MCP server that all ignore being told.
struct Busy {
    agent: Raw,
    tethers: [Tether; 3],
    _place: Place,
    _model: ModelServer,
}

impl Busy {
    async fn start() -> Self {
        let place = Place::new();
        let project = place.project();
        let mut tethers = ["server", "background", "command"].map(|it| Tether::new(&project, it));
        let [server, background, command] = &tethers;
        let call = |line: String, more: bool| json!({ "command": line, "background": more });
        let gate = Gate::new();
        let model = ModelServer::start([
            Reply::call("shell", call(background.hold_stubbornly(), true)),
            Reply::call("shell", call(command.hold_stubbornly(), false)),
            Reply::hang(&gate),
        ])
        .await;
        place.configure_model(&model, "");
        let mut agent = place.agent().raw();
        agent.hello_v1().await;
        let arguments = [
            "-c".to_owned(),
            format!("{}; trap '' TERM INT HUP; {SERVER}", server.hold()),
        ];
        let server = json!({ "name": "s", "command": "/bin/sh", "args": arguments, "env": [] });
        let setup = json!({ "cwd": project, "mcpServers": [server] });
        let opened = agent.call("session/new", setup).await.unwrap();
        let session = opened["sessionId"].as_str().unwrap();
        // In the mode `full` nobody is asked, so nobody has to answer.
        let mode = json!({ "sessionId": session, "modeId": "full" });
        agent.call("session/set_mode", mode).await.unwrap();
        agent.ask("session/prompt", prompt(session, "Go")).await;
        for tether in &mut tethers {
            tether.held().await;
        }
        Self {
            agent,
            tethers,
            _place: place,
            _model: model,
        }
    }

    async fn ends_within(mut self, time_max: Duration) {
        let (status, took) = self.agent.ended().await;
        assert!(status.success(), "{status}");
        assert!(took < time_max, "{took:?}");
        for tether in &mut self.tethers {
            tether.released().await;
        }
    }
}

#[tokio::test]
async fn c6_the_end_of_input_ends_the_agent_and_all_it_started() {
    let mut busy = Busy::start().await;
    busy.agent.hang_up();
    busy.ends_within(HANG_UP_TIME + END_TIME_MAX).await;
}

#[tokio::test]
async fn c6_being_told_to_terminate_ends_the_agent_and_all_it_started() {
    let busy = Busy::start().await;
    busy.agent.signal(Signal::TERM);
    busy.ends_within(END_TIME_MAX).await;
}

#[tokio::test]
async fn c6_being_interrupted_ends_the_agent_and_all_it_started() {
    let busy = Busy::start().await;
    busy.agent.signal(Signal::INT);
    busy.ends_within(END_TIME_MAX).await;
}

#[tokio::test]
async fn an_agent_with_nothing_to_do_ends_at_once() {
    let ways: [fn(&mut Raw); 4] = [
        |agent| agent.hang_up(),
        |agent| agent.signal(Signal::TERM),
        |agent| agent.signal(Signal::INT),
        |agent| agent.signal(Signal::HUP),
    ];
    for end in ways {
        let place = Place::new();
        let mut agent = place.agent().raw();
        agent.hello_v1().await;
        agent.session(&place.project()).await;
        end(&mut agent);
        let (status, took) = agent.ended().await;
        assert!(status.success(), "{status}");
        assert!(took < IDLE_END_TIME_MAX, "{took:?}");
    }
}

#[tokio::test]
async fn an_agent_that_nobody_greeted_ends_with_its_input() {
    let place = Place::new();
    let mut agent = place.agent().raw();
    agent.hang_up();
    let (status, took) = agent.ended().await;
    assert!(
        status.success() && took < IDLE_END_TIME_MAX,
        "{status} {took:?}"
    );
}
