//! Logins that run in a terminal.

use std::path::PathBuf;

use crate::support::greet;
use ply_client::{Agent, Client, Command, Error};
use serde_json::json;

/// An agent that wants a login, and its login. It writes down how it was run.
const AGENT: &str = r#"
if [ "$1" = login ]; then
    echo "login $* $WHO $OWN" >> "$DIR/log"
    [ "$HOW" = signal ] && kill -TERM $$
    [ "$HOW" = 0 ] && touch "$DIR/in"
    exit "$HOW"
fi
while read -r line; do
    id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    case "$line" in
    *'"initialize"'*)
        echo "initialize $*" >> "$DIR/log"
        printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$HELLO" ;;
    *'"session/new"'*)
        if [ -e "$DIR/in" ]; then
            printf '{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s"}}\n' "$id"
        else
            printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"who?"}}\n' "$id"
        fi ;;
    esac
done
"#;

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let place = std::env::temp_dir().join(format!("ply-login-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        Self(place)
    }

    fn log(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.0.join("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

fn hello(version: u16, twice: bool) -> String {
    let method = match version {
        1 => json!({ "type": "terminal", "id": "shell", "name": "In a terminal",
            "args": ["login", "--now"], "env": { "WHO": "method" } }),
        _ if twice => json!({ "type": "terminal", "methodId": "shell", "name": "T",
            "env": [{ "name": "A", "value": "1" }, { "name": "A", "value": "2" }] }),
        _ => json!({ "type": "terminal", "methodId": "shell", "name": "In a terminal",
            "args": ["login", "--now"], "env": [{ "name": "WHO", "value": "method" }] }),
    };
    let hello = json!({ "protocolVersion": version, "info": { "name": "a", "version": "0" },
        "capabilities": { "session": {} }, "authMethods": [method] });
    hello.to_string()
}

async fn start(place: &Place, version: u16, how: &str) -> Agent {
    let command = Command::from(["sh", "-c", AGENT, "agent"])
        .env("DIR", &place.0)
        .env("HELLO", hello(version, false))
        .env("WHO", "client")
        .env("OWN", "kept")
        .env("HOW", how);
    Client::new().terminal_login().spawn(command).await.unwrap()
}

// Also: V1-AUTH-09.
#[tokio::test]
async fn v2_auth_09_a_login_runs_the_agents_own_command_and_then_it_is_greeted_again() {
    for version in [1, 2] {
        let place = Place::new(&format!("ok-{version}"));
        let agent = start(&place, version, "0").await;
        let refused = agent.new_session("/").await.unwrap_err();
        assert!(matches!(refused, Error::AuthRequired { .. }), "{refused}");
        let through_the_protocol = agent.login("shell").await.unwrap_err();
        assert!(matches!(through_the_protocol, Error::Invalid { .. }));
        agent.terminal_login("shell").unwrap().run().await.unwrap();
        agent.new_session("/").await.unwrap();
        // Its own arguments first, its own variables unless the method has them.
        let expected = [
            "initialize ",
            "login login --now method kept",
            "initialize ",
        ];
        assert_eq!(place.log(), expected);
        agent.close().await;
    }
}

#[tokio::test]
async fn v1_auth_10_only_the_exit_status_0_is_a_login() {
    for how in ["1", "3", "signal"] {
        let place = Place::new(how);
        let agent = start(&place, 1, how).await;
        let failed = agent
            .terminal_login("shell")
            .unwrap()
            .run()
            .await
            .unwrap_err();
        assert!(
            matches!(failed, Error::LoginFailed { .. }),
            "{how}: {failed}"
        );
        let greeted = place
            .log()
            .iter()
            .filter(|line| line.starts_with("initialize"))
            .count();
        assert_eq!(greeted, 1, "nothing is started again");
        let refused = agent.new_session("/").await.unwrap_err();
        assert!(matches!(refused, Error::AuthRequired { .. }));
        agent.close().await;
    }
    // Given up, it is none either.
    let place = Place::new("given-up");
    let agent = start(&place, 1, "0").await;
    drop(agent.terminal_login("shell").unwrap().run());
    assert_eq!(place.log().len(), 1);
    agent.close().await;
}

#[tokio::test]
async fn v2_auth_08_a_method_that_sets_a_variable_twice_is_refused() {
    let answer = serde_json::from_str(&hello(2, true)).unwrap();
    let (agent, mut script, request) = greet(Client::new().terminal_login(), answer).await;
    let agent = agent.unwrap();
    assert_eq!(
        request["params"]["capabilities"]["auth"]["terminal"],
        json!({})
    );
    assert_eq!(
        request["params"]["clientCapabilities"]["auth"]["terminal"],
        true
    );
    assert!(matches!(
        agent.terminal_login("shell"),
        Err(Error::Invalid { .. })
    ));
    script.silent().await;
    // An agent that is not ours has no command to run.
    let answer = serde_json::from_str(&hello(2, false)).unwrap();
    let (agent, _script, _) = greet(Client::new(), answer).await;
    let login = agent.unwrap().terminal_login("shell");
    assert!(matches!(login, Err(Error::NotOffered { .. })));
}
