//! What a message says, in a few words.

use serde_json::Value;

/// Returns what a call is about.
pub(super) fn of_call(method: &str, params: &Value) -> String {
    let text = |at: &str| {
        params
            .pointer(at)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match method {
        "initialize" => {
            let name = first([text("/clientInfo/name"), text("/info/name")]);
            format!("version {} {name}", params["protocolVersion"])
        }
        "session/prompt" => blocks(&params["prompt"]),
        "session/update" => of_update(&params["update"]),
        "session/request_permission" => {
            let options = params["options"].as_array().map_or(0, Vec::len);
            let title = [
                text("/title"),
                text("/toolCall/title"),
                text("/toolCall/toolCallId"),
            ];
            let title = title.iter().find(|title| !title.is_empty());
            format!("{} ({options} options)", title.unwrap_or(&""))
        }
        "session/new" | "session/load" | "session/resume" => text("/cwd").to_owned(),
        "session/set_mode" => text("/modeId").to_owned(),
        "session/set_config_option" => format!("{} = {}", text("/configId"), params["value"]),
        "fs/read_text_file" | "fs/write_text_file" => text("/path").to_owned(),
        "terminal/create" => text("/command").to_owned(),
        "$/cancel_request" => format!("request {}", params["requestId"]),
        _ => String::new(),
    }
}

/// Returns what an update says.
fn of_update(update: &Value) -> String {
    let text = |at: &str| {
        update
            .pointer(at)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match text("/sessionUpdate") {
        kind if kind.ends_with("_chunk") => match &update["content"] {
            Value::Array(_) => blocks(&update["content"]),
            content => block(content),
        },
        "user_message" | "agent_message" | "agent_thought" => blocks(&update["content"]),
        "tool_call" | "tool_call_update" => {
            let parts = [text("/toolCallId"), text("/status"), text("/title")];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            parts.join(" ")
        }
        "state_update" => format!("{} {}", text("/state"), text("/stopReason"))
            .trim_end()
            .to_owned(),
        "plan" => format!(
            "{} entries",
            update["entries"].as_array().map_or(0, Vec::len)
        ),
        "current_mode_update" => text("/currentModeId").to_owned(),
        "session_info_update" => text("/title").to_owned(),
        "usage_update" => format!("{} of {}", update["used"], update["size"]),
        "available_commands_update" => {
            let commands = update["availableCommands"].as_array();
            format!("{} commands", commands.map_or(0, Vec::len))
        }
        _ => String::new(),
    }
}

/// Returns what a result says.
pub(super) fn of_result(method: &str, result: &Value) -> String {
    let text = |at: &str| {
        result
            .pointer(at)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match method {
        "initialize" => {
            let name = first([text("/agentInfo/name"), text("/info/name")]);
            format!("version {} {name}", result["protocolVersion"])
        }
        "session/new" => text("/sessionId").to_owned(),
        "session/prompt" => [text("/stopReason"), text("/messageId")].concat(),
        "session/list" => format!(
            "{} sessions",
            result["sessions"].as_array().map_or(0, Vec::len)
        ),
        "session/request_permission" => {
            format!("{} {}", text("/outcome/outcome"), text("/outcome/optionId"))
        }
        _ => String::new(),
    }
}

/// Returns what an error says.
pub(super) fn of_error(error: &Value) -> String {
    let message = error["message"].as_str().unwrap_or_default();
    format!("{} {message}", error["code"])
}

/// Returns the first that says anything: a greeting may carry what both versions want.
fn first<const N: usize>(texts: [&str; N]) -> &str {
    let found = texts.into_iter().find(|text| !text.is_empty());
    found.unwrap_or_default()
}

fn blocks(blocks: &Value) -> String {
    let blocks = blocks.as_array().map_or(&[][..], Vec::as_slice);
    let shown: Vec<String> = blocks.iter().map(block).collect();
    shown.join(" ")
}

fn block(block: &Value) -> String {
    match (block["type"].as_str(), block["text"].as_str()) {
        (Some("text"), Some(text)) => text.to_owned(),
        (Some(kind), _) => format!("({kind})"),
        _ => String::new(),
    }
}
