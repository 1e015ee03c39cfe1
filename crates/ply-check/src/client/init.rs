//! The greeting: versions, capabilities, and logging in.

use std::time::Duration;

use ply_wire::negotiate::Version;
use serde_json::json;

use super::scene::{Scene, Start};
use super::stage::{Stage, bare, merge};
use crate::peer::{Reply, Stopped};
use crate::recording::Frame;
use crate::rule::id;

/// How long a client may take to turn away from a version that it does not speak.
const TURN_AWAY_TIME_MAX: Duration = Duration::from_secs(5);

/// How long a client may take to greet.
const GREETING_TIME_MAX: Duration = Duration::from_secs(10);
/// How long the greeting is left unanswered.
const HOLD_TIME: Duration = Duration::from_millis(150);

pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "slow-greeting",
        start: Start::AtBeginning,
        rules: &[id::V1_INIT_01, id::V2_INIT_01],
        leaves: false,
        run: |stage| Box::pin(slow_greeting(stage)),
    },
    Scene {
        name: "unknown-version",
        start: Start::AtBeginning,
        rules: &[id::V1_INIT_09, id::V2_INIT_06],
        leaves: false,
        run: |stage| Box::pin(unknown_version(stage)),
    },
    Scene {
        name: "null-capabilities",
        start: Start::AtBeginning,
        rules: &[id::V1_INIT_13, id::V1_INIT_14, id::V2_INIT_20],
        leaves: false,
        run: |stage| Box::pin(null_capabilities(stage)),
    },
    Scene {
        name: "no-sessions",
        start: Start::AtBeginning,
        rules: &[id::V2_INIT_11],
        leaves: false,
        run: |stage| Box::pin(no_sessions(stage)),
    },
    Scene {
        name: "needs-login",
        start: Start::AtBeginning,
        rules: &[
            id::V1_AUTH_02,
            id::V1_AUTH_05,
            id::V1_AUTH_06,
            id::V1_AUTH_07,
            id::V2_AUTH_05,
            id::V2_AUTH_06,
        ],
        leaves: false,
        run: |stage| Box::pin(needs_login(stage)),
    },
];

/// The greeting is answered after a moment; nothing else may come before.
async fn slow_greeting(stage: &mut Stage) -> Result<(), Stopped> {
    stage.service.on("initialize", |_| Reply::Hold);
    let hello = stage
        .until(GREETING_TIME_MAX, |frame| {
            frame.method() == Some("initialize")
        })
        .await?;
    if hello.is_none() {
        return Err(Stopped::Other("the client sent no `initialize`".to_owned()));
    }
    let heard = stage.listen(HOLD_TIME).await?;
    let is_early = |frame: &&Frame| {
        frame
            .method()
            .is_some_and(|method| method.starts_with("session/"))
    };
    let early = heard.iter().find(is_early);
    let frames: Vec<_> = hello
        .iter()
        .chain(early)
        .map(|frame| frame.number)
        .collect();
    let saw = "a session request came before the `initialize` response";
    stage.judge(
        &[id::V1_INIT_01, id::V2_INIT_01],
        early.is_none(),
        &frames,
        saw,
    );
    let is_broken = early.is_some();
    while let Some(held) = stage.service.take_held("initialize") {
        let answer = stage.house.lock().initialize(&held.params);
        if let Reply::Result(result) = answer {
            stage.respond(&held.id, result).await?;
        }
    }
    let house = stage.house.clone();
    stage
        .service
        .on("initialize", move |params| house.lock().initialize(params));
    match is_broken {
        true => Ok(()),
        false => stage.reach_prompt().await,
    }
}

async fn unknown_version(stage: &mut Stage) -> Result<(), Stopped> {
    stage.service.on("initialize", |_| {
        let info = json!({"name": "ply-check", "version": "99"});
        Reply::Result(json!({
            "protocolVersion": 99, "agentInfo": info, "info": info,
            "agentCapabilities": {}, "capabilities": {"session": {}}
        }))
    });
    let rules = [id::V1_INIT_09, id::V2_INIT_06];
    if let Some(hello) = turned_away(stage, &rules, "version 99 was accepted").await? {
        let saw = "version 99 was chosen, and the client kept the connection open";
        stage.judge(&rules, false, &[hello], saw);
    }
    Ok(())
}

/// An agent that offers no sessions, which leaves a client nothing to do. It may wait for that to change.
async fn no_sessions(stage: &mut Stage) -> Result<(), Stopped> {
    let mut welcome = bare(stage.version);
    merge(&mut welcome, &json!({"capabilities": {}}));
    stage.house.lock().welcome = welcome;
    let rules = [id::V2_INIT_11];
    if let Some(hello) = turned_away(stage, &rules, "the agent does not list sessions").await? {
        stage.judge(&rules, true, &[hello], "");
    }
    Ok(())
}

/// Judges that the client goes on with no session after the greeting. Returns the frame of the greeting if it neither does nor ends.
async fn turned_away(
    stage: &mut Stage,
    rules: &[&str],
    why: &str,
) -> Result<Option<usize>, Stopped> {
    let is_hello = |frame: &Frame| frame.method() == Some("initialize");
    let hello = stage.until(GREETING_TIME_MAX, is_hello).await?;
    let Some(hello) = hello else {
        return Err(Stopped::Other("the client sent no `initialize`".to_owned()));
    };
    let goes_on = |frame: &Frame| {
        let method = frame.method();
        method.is_some_and(|method| method.starts_with("session/"))
    };
    match stage.until(TURN_AWAY_TIME_MAX, goes_on).await {
        Err(Stopped::Ended) => stage.judge(rules, true, &[hello.number], ""),
        Err(stopped) => return Err(stopped),
        Ok(Some(frame)) => {
            let method = frame.method().unwrap_or_default().to_owned();
            let saw = format!("{why}, and the client sent `{method}`");
            stage.judge(rules, false, &[hello.number, frame.number], saw);
        }
        Ok(None) => return Ok(Some(hello.number)),
    }
    Ok(None)
}

/// Every way to say no: false, null, and what is no capability at all.
async fn null_capabilities(stage: &mut Stage) -> Result<(), Stopped> {
    let welcome = match stage.version {
        Version::V1 => json!({
            "agentCapabilities": {
                "loadSession": false,
                "promptCapabilities": {"image": false, "audio": false, "embeddedContext": false},
                "mcpCapabilities": {"http": false, "sse": false},
                "sessionCapabilities": {"list": null, "delete": null, "additionalDirectories": null, "resume": null, "close": null},
                "auth": {"logout": null}
            },
            "agentInfo": null
        }),
        Version::V2 => json!({
            "capabilities": {
                "session": {"prompt": {"image": 3, "audio": null}, "mcp": "all", "delete": true, "additionalDirectories": []},
                "auth": null
            },
            "info": {"name": "ply-check", "version": env!("CARGO_PKG_VERSION")}
        }),
    };
    stage.house.lock().welcome = welcome;
    stage.house.lock().setup = json!({});
    stage.reach_prompt().await?;
    stage.judge(&[id::V2_INIT_20], true, &[], "");
    stage
        .say("Hello from an agent that says no in every way.")
        .await?;
    stage.end_turn("end_turn").await.map(drop)
}

/// Sessions can be made only once the client has logged in.
async fn needs_login(stage: &mut Stage) -> Result<(), Stopped> {
    let methods = match stage.version {
        Version::V1 => json!([{"id": "key", "name": "A key"}]),
        Version::V2 => json!([
            {"type": "_stamp", "methodId": "stamp", "name": "A stamp"},
            {"type": "agent", "methodId": "key", "name": "A key"}
        ]),
    };
    if let Some(welcome) = stage.house.lock().welcome.as_object_mut() {
        welcome.insert("authMethods".to_owned(), methods);
    }
    stage.house.lock().has_terminal_login = true;
    let is_in = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    for method in ["authenticate", "auth/login"] {
        let is_in = std::sync::Arc::clone(&is_in);
        stage.service.on(method, move |_| {
            is_in.store(true, std::sync::atomic::Ordering::Relaxed);
            Reply::Result(json!({}))
        });
    }
    let mut count = 0;
    let setup = stage.house.lock().setup.clone();
    let door = std::sync::Arc::clone(&is_in);
    stage.service.on("session/new", move |_| {
        if !door.load(std::sync::atomic::Ordering::Relaxed) {
            return Reply::Error(-32000, "Authentication required");
        }
        count += 1;
        let mut answer = setup.clone();
        merge(
            &mut answer,
            &json!({"sessionId": format!("behind-the-door-{count}")}),
        );
        Reply::Result(answer)
    });
    let login = |frame: &Frame| matches!(frame.method(), Some("authenticate" | "auth/login"));
    match stage.until(Duration::from_secs(5), login).await {
        // A client that says so and ends, or that waits for its user, is as good.
        Err(Stopped::Ended) | Ok(None) => return Ok(()),
        Err(stopped) => return Err(stopped),
        Ok(Some(_)) => {}
    }
    let reached = stage.receive_prompt().await;
    let is_made = reached.is_ok();
    let saw = "after the login, no session was created";
    stage.judge(&[id::V1_AUTH_05], is_made, &[], saw);
    match is_made {
        true => stage.begin_turn().await,
        false => Ok(()),
    }
}
