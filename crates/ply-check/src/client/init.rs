//! The greeting: versions, capabilities, and logging in.

use std::time::Duration;

use ply_wire::negotiate::Version;
use serde_json::json;

use super::scene::{Scene, Start, Topic, rule};
use super::stage::Stage;
use crate::peer::{Reply, Stopped};
use crate::recording::Frame;

/// How long a client may take to turn away from a version that it does not speak.
const TURN_AWAY_TIME_MAX: Duration = Duration::from_secs(5);

/// How long a client may take to greet.
const GREETING_TIME_MAX: Duration = Duration::from_secs(10);
/// How long the greeting is left unanswered.
const HOLD_TIME: Duration = Duration::from_millis(150);

pub(super) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V1-INIT-09",
            "A client that does not speak the version answered closes the connection.",
            "Messages of two versions are mixed, and fail in ways that nobody understands.",
            "Compare the answer's `protocolVersion` with what you speak, and tell the user.",
        )
        .should(),
        rule(
            "V1-INIT-13",
            "A capability that is false counts as absent.",
            "Agents that do not offer it answer with an error.",
            "Take false and absent for the same.",
        ),
        rule(
            "V1-INIT-14",
            "A marker that is null counts as absent.",
            "Agents that do not offer it answer with an error.",
            "Take null and absent for the same.",
        ),
        rule(
            "V1-INIT-23",
            "Capabilities that are not known are ignored.",
            "A newer agent cannot be used.",
            "Read with a parser that ignores unknown members.",
        )
        .should(),
        rule(
            "V1-AUTH-05",
            "A session that needs a login is made after one.",
            "The user cannot log in from the client.",
            "Offer the ways of `authMethods` when the answer is -32000, then try again.",
        ),
        rule(
            "V1-AUTH-06",
            "A way to log in without a type is used over the protocol.",
            "The user cannot log in from the client.",
            "Take a missing `type` as `agent`.",
        ),
        rule(
            "V1-AUTH-07",
            "A way to log in of type `terminal` is never passed to `authenticate`.",
            "The login fails.",
            "Run such a login in a terminal.",
        ),
        rule(
            "V2-INIT-06",
            "A client that does not speak the version answered closes the connection.",
            "Messages of two versions are mixed, and fail in ways that nobody understands.",
            "Compare the answer's `protocolVersion` with what you speak, and tell the user.",
        )
        .should(),
        rule(
            "V2-INIT-20",
            "Capabilities of the wrong type count as absent.",
            "One odd member loses the whole connection.",
            "Fall back to absent.",
        )
        .should(),
        rule(
            "V2-AUTH-05",
            "A way to log in of an unknown type is not used like a known one.",
            "The login fails.",
            "Show it plainly or not at all.",
        )
        .should(),
        rule(
            "V2-AUTH-06",
            "A way to log in of type `terminal` is never passed to `auth/login`.",
            "The login fails.",
            "Run such a login in a terminal.",
        ),
    ],
    scenes: &[
        Scene {
            name: "slow-greeting",
            start: Start::AtBeginning,
            rules: &["V1-INIT-01", "V2-INIT-01"],
            leaves: false,
            run: |stage| Box::pin(slow_greeting(stage)),
        },
        Scene {
            name: "unknown-version",
            start: Start::AtBeginning,
            rules: &["V1-INIT-09", "V2-INIT-06"],
            leaves: false,
            run: |stage| Box::pin(unknown_version(stage)),
        },
        Scene {
            name: "null-capabilities",
            start: Start::AtBeginning,
            rules: &["V1-INIT-13", "V1-INIT-14", "V2-INIT-20"],
            leaves: false,
            run: |stage| Box::pin(null_capabilities(stage)),
        },
        Scene {
            name: "needs-login",
            start: Start::AtBeginning,
            rules: &[
                "V1-AUTH-02",
                "V1-AUTH-05",
                "V1-AUTH-06",
                "V1-AUTH-07",
                "V2-AUTH-05",
                "V2-AUTH-06",
            ],
            leaves: false,
            run: |stage| Box::pin(needs_login(stage)),
        },
    ],
};

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
    let saw = "a session was asked for before `initialize` was answered";
    stage.judge(&["V1-INIT-01", "V2-INIT-01"], early.is_none(), &frames, saw);
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
    let hello = stage
        .until(GREETING_TIME_MAX, |frame| {
            frame.method() == Some("initialize")
        })
        .await?;
    let Some(hello) = hello else {
        return Err(Stopped::Other("the client sent no `initialize`".to_owned()));
    };
    let goes_on = |frame: &Frame| {
        frame
            .method()
            .is_some_and(|method| method.starts_with("session/"))
    };
    let rules = ["V1-INIT-09", "V2-INIT-06"];
    match stage.until(TURN_AWAY_TIME_MAX, goes_on).await {
        Err(Stopped::Ended) => stage.judge(&rules, true, &[hello.number], ""),
        Err(stopped) => return Err(stopped),
        Ok(Some(frame)) => {
            let method = frame.method().unwrap_or_default().to_owned();
            let saw = format!("version 99 was answered, and the client sent `{method}`");
            stage.judge(&rules, false, &[hello.number, frame.number], saw);
        }
        Ok(None) => {
            let saw = "version 99 was answered, and the client kept the connection open";
            stage.judge(&rules, false, &[hello.number], saw);
        }
    }
    Ok(())
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
    stage.judge(&["V2-INIT-20"], true, &[], "");
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
        super::stage::merge(
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
    let saw = "after the login no session was made";
    stage.judge(&["V1-AUTH-05"], is_made, &[], saw);
    match is_made {
        true => stage.begin_turn().await,
        false => Ok(()),
    }
}
