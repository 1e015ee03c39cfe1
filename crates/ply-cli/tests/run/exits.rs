//! Each exit code, with what it stands for.

use serde_json::Value;

use crate::place::{Place, finish};

/// Runs the agent that breaks the rules and returns the object it comes to.
#[track_caller]
fn object(start: &str, prompt: &str, code: i32) -> Value {
    let place = Place::new();
    let ran = place.run_hostile(start, &["--output", "json", prompt]);
    let object = ran.ends_with(code).json();
    assert_eq!(object["exitCode"], code);
    object
}

#[test]
fn exit_0_is_a_turn_that_ended() {
    let object = object("", "say", 0);
    assert_eq!(object["outcome"], "completed");
    assert_eq!(object["stopReason"], "end_turn");
    assert_eq!(object["text"], "Hello, world.");
    assert_eq!(object["error"], Value::Null);
    assert_eq!(object["protocolVersion"], 1);
    assert_eq!(object["agent"]["name"], "hostile");
}

#[test]
fn exit_1_is_an_agent_that_failed() {
    let object = object("", "fail", 1);
    assert_eq!(object["outcome"], "failed");
    assert_eq!(object["error"]["code"], "turn_failed");
    assert_eq!(object["error"]["retryable"], false);
    let detail = object["error"]["detail"].as_str().unwrap();
    assert!(detail.contains("on fire"), "{detail}");
}

#[test]
fn the_reason_of_a_failure_is_told_and_kept_as_the_agent_sent_it() {
    let error = &object("", "fail why", 1)["error"];
    let detail = "the turn failed: Internal error (-32603): no [31mquota";
    assert_eq!(error["detail"], detail);
    assert_eq!(error["acp"]["code"], -32603);
    assert_eq!(error["acp"]["message"], "Internal error");
    assert_eq!(error["acp"]["data"]["left"], 0);
    let ran = Place::new().run_hostile("", &["fail why"]).ends_with(1);
    assert!(ran.stderr.contains("quota"), "{ran:#?}");
    assert_eq!(object("", "give up", 1)["error"]["acp"], Value::Null);
}

#[test]
fn exit_1_is_also_a_turn_that_the_agent_cancelled_by_itself_or_ended_as_nobody_knows() {
    assert_eq!(
        object("", "give up", 1)["error"]["code"],
        "cancelled_by_agent"
    );
    let odd = object("", "odd stop", 1);
    assert_eq!(odd["error"]["code"], "unknown_stop_reason");
    assert_eq!(odd["stopReason"], "tired");
}

#[test]
fn a_missing_stop_reason_is_no_success() {
    for prompt in ["no stop", "null stop", "null reason"] {
        let object = object("", prompt, 1);
        assert_eq!(object["stopReason"], Value::Null, "{prompt}");
        assert_eq!(object["outcome"], "failed");
        assert_eq!(object["error"]["code"], "no_stop_reason");
    }
}

#[test]
fn a_version_2_turn_that_failed_has_the_stop_reason_error() {
    let place = Place::new();
    let agent = r#"while read -r line; do
        id=${line#*\"id\":}; id=${id%%,*}
        say() { printf '{"jsonrpc":"2.0",%s}\n' "$1"; }
        update() { say "\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":$1}"; }
        case $line in
        *initialize*) say "\"id\":$id,\"result\":{\"protocolVersion\":2,\"info\":{\"name\":\"two\",\"version\":\"1\"},\"capabilities\":{\"session\":{}}}" ;;
        *session/new*) say "\"id\":$id,\"result\":{\"sessionId\":\"s\"}" ;;
        *session/prompt*)
            update '{"sessionUpdate":"user_message","messageId":"m","content":[{"type":"text","text":"x"}]}'
            update '{"sessionUpdate":"state_update","state":"running"}'
            say "\"id\":$id,\"result\":{\"messageId\":\"m\"}"
            update '{"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":-32603,"message":"no quota"}}' ;;
        esac
    done"#;
    let ran = finish(place.ply(["--output", "json", "x", "--", "sh", "-c", agent]));
    let object = ran.ends_with(1).json();
    assert_eq!(object["stopReason"], "error", "{object:#}");
    assert_eq!(object["outcome"], "failed");
    assert_eq!(object["error"]["acp"]["message"], "no quota");
}

#[test]
fn exit_2_is_a_wrong_argument() {
    let place = Place::new();
    let ran = place.run(&["--agent", "cluade", "--output", "json", "hello"]);
    let object = ran.ends_with(2).json();
    assert_eq!(object["error"]["code"], "no_agent");
    let hint = object["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("claude"), "{hint}");
    assert_eq!(object["sessionId"], Value::Null);
}

#[test]
fn a_broken_configuration_does_not_stop_a_command() {
    let place = Place::new();
    place.write("home/.config/ply/config.toml", "[[[");
    place.run_hostile("", &["say"]).ends_with(0);
    place.run(&["-a", "claude", "say"]).ends_with(2);
}

#[test]
fn exit_3_is_a_time_limit_and_the_turn_is_cancelled_first() {
    let place = Place::new();
    let ran = place.run_hostile("", &["--timeout", "500ms", "--output", "json", "work"]);
    let object = ran.ends_with(3).json();
    assert_eq!(
        (&object["outcome"], &object["stopReason"]),
        (&"timeout".into(), &"cancelled".into())
    );
    assert_eq!(object["error"]["code"], "timeout");
    assert!(place.notes().contains("session/cancel"));
    place.agent_ends();
}

#[test]
fn nothing_is_asked_or_allowed_in_a_turn_that_was_cut() {
    let place = Place::new();
    let arguments = [
        "--permit",
        "all",
        "--timeout",
        "500ms",
        "--output",
        "json",
        "nag",
    ];
    let object = place.run_hostile("", &arguments).ends_with(3).json();
    assert_eq!(object["stopReason"], "cancelled", "{object:#}");
    let notes = place.notes();
    let answer = notes.lines().find(|line| line.contains(r#""id":"ask-1""#));
    assert!(answer.unwrap().contains("cancelled"), "{notes}");
}

#[test]
fn exit_3_is_also_silence() {
    let place = Place::new();
    let ran = place.run_hostile("", &["--idle-timeout", "400ms", "--output", "json", "work"]);
    assert_eq!(ran.ends_with(3).json()["error"]["code"], "idle_timeout");
    assert!(place.notes().contains("session/cancel"));
}

#[test]
fn exit_3_is_also_an_agent_that_hangs_at_its_start() {
    let place = Place::new();
    let ran = place.run_hostile("hang", &["--timeout", "500ms", "--output", "json", "say"]);
    let object = ran.ends_with(3).json();
    assert_eq!(object["outcome"], "timeout");
    place.agent_ends();
}

#[test]
fn d10_exit_3_does_not_wait_for_an_agent_that_ignores_its_cancel() {
    let place = Place::new();
    let ran = place.run_hostile("", &["--timeout", "500ms", "--output", "json", "stubborn"]);
    let object = ran.ends_with(3).json();
    let detail = object["error"]["detail"].as_str().unwrap();
    assert!(
        detail.contains("did not end its turn and was stopped"),
        "{detail}"
    );
    place.agent_ends();
}

/// Runs the agent that breaks the rules with a list of sessions.
fn listed(place: &Place, arguments: &[&str]) -> crate::place::Ran {
    let mut command = place.hostile("", arguments);
    let caps = r#"{"loadSession":true,"sessionCapabilities":{"list":{}}}"#;
    let cwd = place.path("tmp");
    let session = |id: &str| format!(r#"{{"sessionId":"{id}","cwd":"{}"}}"#, cwd.display());
    let sessions = [session("s-1abc"), session("s-1abd"), session("s-12")];
    let list = format!(r#"{{"sessions":[{}]}}"#, sessions.join(","));
    command.env("CAPS", caps).env("LIST", list);
    finish(command)
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_id_and_works_where_it_did() {
    let place = Place::new();
    let ran = listed(&place, &["--session", "s-12", "--output", "json", "hi"]);
    let object = ran.ends_with(0).json();
    let elsewhere = place.path("tmp").display().to_string();
    assert_eq!(object["cwd"], elsewhere);
    let ran = listed(
        &place,
        &["--session", "s-1abc", "-C", ".", "--output", "json", "hi"],
    );
    let here = place.path("project").display().to_string();
    assert_eq!(ran.ends_with(0).json()["cwd"], here);
    let ran = listed(&place, &["--session", "s-1a", "--output", "json", "hi"]);
    let error = &ran.ends_with(4).json()["error"];
    assert_eq!(error["code"], "no_session");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("s-1abc") && hint.contains("s-1abd"), "{hint}");
    assert!(!hint.contains("s-12"), "{hint}");
}

#[test]
fn exit_4_is_a_session_that_cannot_be_opened() {
    let place = Place::new();
    for caps in ["{}", r#"{"loadSession":true}"#] {
        let mut command = place.hostile("", &["--session", "s-9", "--output", "json", "say"]);
        command.env("CAPS", caps);
        let object = finish(command).ends_with(4).json();
        assert_eq!(object["error"]["code"], "no_session", "{caps}");
    }
    let ran = place.run_hostile("", &["--continue", "say"]).ends_with(4);
    assert!(ran.stderr.contains("a list of sessions"), "{ran:#?}");
}

#[test]
fn exit_5_is_a_permission_that_nobody_gave() {
    let object = object("", "edit", 5);
    assert_eq!(object["outcome"], "permission_refused");
    assert_eq!(object["stopReason"], "end_turn");
    assert_eq!(object["permissions"][0]["by"], "nobody");
    assert_eq!(object["permissions"][0]["answer"], "reject_once");
}

#[test]
fn exit_6_is_a_login_that_is_needed() {
    for (start, prompt) in [("auth", "say"), ("", "login")] {
        let object = object(start, prompt, 6);
        assert_eq!(object["error"]["code"], "auth_required");
        let hint = object["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("API key: Set HOSTILE_KEY"), "{hint}");
    }
}

#[test]
fn exit_7_is_an_agent_that_cannot_be_started() {
    let place = Place::new();
    let mut command = place.ply(["-a", "claude", "--output", "json", "hello"]);
    command.env("PATH", "/nowhere");
    let object = finish(command).ends_with(7).json();
    assert_eq!(object["error"]["code"], "agent_start");
    let hint = object["error"]["hint"].as_str().unwrap();
    assert!(
        hint.contains("npm install -g @agentclientprotocol/claude-agent-acp"),
        "{hint}"
    );
    for agent in [&["true"][..], &["cat"], &["/no/such/program"]] {
        let arguments = [&["--output", "json", "hello", "--"], agent].concat();
        let object = place.run(&arguments).ends_with(7).json();
        assert_eq!(object["error"]["code"], "agent_start", "{agent:?}");
    }
    let ran = place.run_hostile("dead", &["say"]).ends_with(7);
    assert!(ran.stderr.contains("no configuration"), "{ran:#?}");
}

#[test]
fn exit_8_is_a_refusal() {
    assert_eq!(object("", "refuse", 8)["outcome"], "refused");
}

#[test]
fn exit_9_is_a_limit_of_the_agent() {
    assert_eq!(object("", "tokens", 9)["stopReason"], "max_tokens");
    assert_eq!(object("", "requests", 9)["stopReason"], "max_turn_requests");
}

#[test]
fn c1_exit_10_is_an_agent_that_died_so_that_nobody_knows() {
    let object = object("", "die", 10);
    assert_eq!(object["outcome"], "unknown");
    assert_eq!(object["text"], "About to");
    assert_eq!(object["error"]["code"], "outcome_unknown");
    assert_eq!(object["error"]["retryable"], false);
    let detail = object["error"]["detail"].as_str().unwrap();
    assert!(
        detail.contains("signal: 9") && detail.contains("memory"),
        "{detail}"
    );
}
