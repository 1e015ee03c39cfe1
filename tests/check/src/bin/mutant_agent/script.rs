//! What a prompt makes the agent do. There is no model: the words decide.

use serde_json::{Value, json};

use crate::tools;
use crate::turn::{Told, Turn};

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Finished,
    Tokens,
    Requests,
    Refused,
    Cancelled,
    Failed,
}

impl End {
    /// Returns the word of the protocol. Version 1 has none for a failure, which is an error there.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Finished => "end_turn",
            Self::Tokens => "max_tokens",
            Self::Requests => "max_turn_requests",
            Self::Refused => "refusal",
            Self::Cancelled => "cancelled",
            Self::Failed => "error",
        }
    }
}

/// Does what the words say.
pub(crate) async fn perform(turn: &mut Turn, words: &str) -> End {
    let lower = words.trim().to_lowercase();
    match lower.split_whitespace().next().unwrap_or_default() {
        "refuse" if turn.agent.is("refusals-end-well") => End::Finished,
        "tokens" if turn.agent.is("token-limits-end-well") => End::Finished,
        "requests" if turn.agent.is("request-limits-end-well") => End::Finished,
        "refuse" => End::Refused,
        "tokens" => End::Tokens,
        "requests" => End::Requests,
        "fail" => End::Failed,
        "notice" => notice(turn),
        "compact" => compact(turn),
        "read" => tools::look(turn, words).await,
        "write" | "create" => tools::change(turn, words).await,
        "plan" => plan(turn),
        "wait" => tools::wait(turn).await,
        "visit" => visit(turn).await,
        _ if lower.contains("`sleep") => tools::wait(turn).await,
        _ if lower.starts_with("run `") => tools::run(turn, words).await,
        _ if lower.contains(" form ") => form(turn).await,
        _ => talk(turn, words),
    }
}

/// Says one message, in parts.
pub(crate) fn say(turn: &Turn, parts: &[&str]) {
    let id = turn.session.new_id("m");
    for part in parts {
        turn.show(json!({"kind": "say", "id": id, "text": part}));
    }
}

fn talk(turn: &Turn, words: &str) -> End {
    let thought = turn.session.new_id("m");
    turn.show(json!({"kind": "think", "id": thought, "text": "A short answer will do."}));
    match words.rsplit_once(": ") {
        Some((_, word)) => say(turn, &[word, "."]),
        None => say(turn, &["You said: ", words]),
    }
    if turn.agent.is("talks-into-another-session") {
        let sessions = turn
            .agent
            .state()
            .sessions
            .keys()
            .cloned()
            .collect::<Vec<_>>();
        let chunk = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello?"}});
        for other in sessions.iter().filter(|id| **id != turn.session.id) {
            turn.agent.update(other, &chunk);
        }
    }
    if turn.agent.is("talks-of-nobodys-session") {
        let chunk = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello?"}});
        turn.agent.update("nobodys-session", &chunk);
    }
    if turn.agent.is("notices-for-all") {
        tell_notice(turn, "The weather is fine");
    }
    if turn.agent.is("notices-without-title") && has_notices(turn) {
        tell_notice(turn, "");
    }
    if turn.agent.is("compacts-for-all") {
        turn.tell(&json!({"sessionUpdate": "compaction_update", "compactionId": "k-1", "status": "completed"}));
    }
    if turn.agent.is("replays-notices") {
        let notice = json!({"kind": "notice"});
        turn.session.state().history.push(notice);
    }
    End::Finished
}

fn has_notices(turn: &Turn) -> bool {
    turn.agent.is_v2() || turn.agent.client_has("/session/notices")
}

fn tell_notice(turn: &Turn, title: &str) {
    turn.tell(&json!({"sessionUpdate": "notice", "severity": "info", "title": title}));
}

fn notice(turn: &Turn) -> End {
    if has_notices(turn) {
        tell_notice(turn, "The weather is fine");
    }
    say(turn, &["Noticed."]);
    End::Finished
}

fn compact(turn: &Turn) -> End {
    if turn.agent.is_v2() || turn.agent.client_has("/session/compaction") {
        let id = turn.session.new_id("k");
        let ends = 1 + usize::from(turn.agent.is("compactions-end-twice"));
        let statuses = std::iter::once("in_progress").chain(std::iter::repeat_n("completed", ends));
        for status in statuses {
            turn.tell(&json!({"sessionUpdate": "compaction_update", "compactionId": id, "status": status}));
        }
    }
    say(turn, &["There was nothing to leave out."]);
    End::Finished
}

fn plan(turn: &Turn) -> End {
    let steps = ["Read the README", "List the files", "Sum up"];
    for done in 0..=steps.len() {
        let entries = steps.iter().enumerate().map(|(number, step)| {
            let status = match number.cmp(&done) {
                std::cmp::Ordering::Equal if turn.agent.is("plans-with-their-own-status") => {
                    "doing"
                }
                std::cmp::Ordering::Less => "completed",
                std::cmp::Ordering::Equal => "in_progress",
                std::cmp::Ordering::Greater => "pending",
            };
            let priority = match turn.agent.is("priorities-of-its-own") {
                true => "urgent",
                false => "medium",
            };
            json!({"content": step, "priority": priority, "status": status})
        });
        let mut entries: Vec<Value> = entries.collect();
        if turn.agent.is("plans-lose-entries") && done == 1 {
            entries.truncate(1);
        }
        turn.show(json!({"kind": "plan", "entries": entries}));
    }
    say(turn, &["That is the plan."]);
    End::Finished
}

async fn form(turn: &mut Turn) -> End {
    if !turn.agent.client_has("/elicitation/form") && !turn.agent.is("forms-for-all") {
        say(turn, &["What is your name?"]);
        return End::Finished;
    }
    let name = match turn.agent.is("forms-are-nested") {
        true => json!({"type": "object", "properties": {"first": {"type": "string"}}}),
        false => json!({"type": "string", "title": "Name"}),
    };
    let field = match turn.agent.is("forms-ask-for-secrets") {
        true => "api_key",
        false => "name",
    };
    let schema = json!({"type": "object", "properties": {field: name}, "required": [field]});
    let mut params = json!({"mode": "form", "sessionId": turn.session.id, "message": "Who are you?", "requestedSchema": schema});
    if let Some(params) = params.as_object_mut() {
        if turn.agent.is("forms-without-mode") {
            params.remove("mode");
        }
        if turn.agent.is("forms-without-scope") {
            params.remove("sessionId");
        }
    }
    turn.state("requires_action");
    let told = turn.ask("elicitation/create", &params).await;
    let Told::Result(told) = told else {
        return come_back(turn, &told);
    };
    turn.state("running");
    let name = told.pointer("/content/name").and_then(Value::as_str);
    match (told.get("action").and_then(Value::as_str), name) {
        (Some("decline"), _) if turn.agent.is("declined-forms-fail") => return End::Failed,
        (Some("accept"), Some(name)) => say(turn, &["Hello, ", name]),
        (_, Some(name)) if turn.agent.is("any-action-is-consent") => say(turn, &["Hello, ", name]),
        _ => say(turn, &["Then I do without a name."]),
    }
    End::Finished
}

fn come_back(turn: &Turn, told: &Told) -> End {
    if matches!(told, Told::Stopped) {
        return End::Cancelled;
    }
    turn.state("running");
    say(turn, &["Then I do without."]);
    End::Finished
}

async fn visit(turn: &mut Turn) -> End {
    if !turn.agent.client_has("/elicitation/url") {
        say(turn, &["Please visit https://example.org/ yourself."]);
        return End::Finished;
    }
    let id = match turn.agent.is("pages-share-an-id") {
        true => "e".to_owned(),
        false => turn.session.new_id("e"),
    };
    let url = match turn.agent.is("pages-with-passwords") {
        true => "https://me:word@example.org/",
        false => "https://example.org/",
    };
    let params = json!({"mode": "url", "sessionId": turn.session.id, "elicitationId": id, "url": url, "message": "Have a look"});
    turn.state("requires_action");
    let told = turn.ask("elicitation/create", &params).await;
    if !matches!(told, Told::Result(_)) {
        return come_back(turn, &told);
    }
    turn.state("running");
    if turn.agent.is("completes-unknown-pages") {
        let unknown = json!({"elicitationId": "nobodys"});
        turn.agent.notify("elicitation/complete", &unknown);
    }
    say(turn, &["Thank you."]);
    End::Finished
}
