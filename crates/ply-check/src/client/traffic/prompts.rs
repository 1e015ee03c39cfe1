//! What prompts hold, and what members messages have.

use serde_json::Value;

use super::Watcher;

/// Members of the parameters that a client sends, by method. Others belong into `_meta`.
const MEMBERS: &[(&str, &[&str])] = &[
    ("authenticate", &["methodId"]),
    ("auth/login", &["methodId"]),
    ("session/prompt", &["sessionId", "prompt"]),
    ("session/cancel", &["sessionId"]),
    ("session/close", &["sessionId"]),
    ("session/delete", &["sessionId"]),
    ("session/list", &["cwd", "cursor", "archived"]),
    ("session/set_mode", &["sessionId", "modeId"]),
    (
        "session/set_config_option",
        &["sessionId", "configId", "type", "value"],
    ),
    (
        "session/new",
        &["cwd", "mcpServers", "additionalDirectories", "systemPrompt"],
    ),
    (
        "session/load",
        &["sessionId", "cwd", "mcpServers", "additionalDirectories"],
    ),
    (
        "session/resume",
        &[
            "sessionId",
            "cwd",
            "mcpServers",
            "additionalDirectories",
            "replayFrom",
        ],
    ),
];

impl Watcher {
    /// Looks at a prompt.
    pub(super) fn prompts(&mut self, frame: usize, method: &str, params: &Value) {
        if method != "session/prompt" {
            return;
        }
        let at = [frame];
        let session = params
            .get("sessionId")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let is_known = self.sessions.contains(session);
        let saw = "a prompt went to a session that the client neither made nor brought back";
        self.see(
            &["V1-PROMPT-01", "V2-PROMPT-01", "V2-SESS-10"],
            is_known,
            &at,
            saw,
        );
        let blocks = params.get("prompt").and_then(Value::as_array);
        let is_filled = blocks.is_some_and(|blocks| !blocks.is_empty());
        self.see(&["V2-PROMPT-04"], is_filled, &at, "a prompt is empty");
        for block in blocks.into_iter().flatten() {
            self.block(frame, block);
        }
    }

    fn block(&mut self, frame: usize, block: &Value) {
        let at = [frame];
        let kind = block
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let has = |key: &str| block.get(key).is_some_and(Value::is_string);
        let is_whole = match kind {
            "text" => has("text"),
            "image" | "audio" => has("data") && has("mimeType"),
            "resource_link" => has("uri") && has("name"),
            "resource" => {
                let inner = |key: &str| {
                    block
                        .pointer(&format!("/resource/{key}"))
                        .is_some_and(Value::is_string)
                };
                inner("uri") && (inner("text") || inner("blob"))
            }
            _ => true,
        };
        let saw = format!("a block of type `{kind}` lacks a member that it needs");
        self.see(&["V1-CONTENT-08", "V2-CONTENT-03"], is_whole, &at, &saw);
        let is_known = matches!(
            kind,
            "text" | "image" | "audio" | "resource_link" | "resource"
        );
        let is_own = kind.starts_with('_');
        let saw = format!("a prompt holds a block of type `{kind}`");
        self.see(&["V1-CONTENT-01"], is_known, &at, &saw);
        self.see(&["V2-CONTENT-01"], is_known || is_own, &at, &saw);
        let gates: [(&str, &str, &[&'static str]); 3] = [
            (
                "image",
                "image",
                &["V1-CONTENT-04", "V1-PROMPT-02", "V2-PROMPT-02"],
            ),
            (
                "audio",
                "audio",
                &["V1-CONTENT-05", "V1-PROMPT-02", "V2-PROMPT-02"],
            ),
            (
                "resource",
                "embeddedContext",
                &["V1-CONTENT-06", "V1-PROMPT-02", "V2-PROMPT-02"],
            ),
        ];
        for (gated, capability, rules) in gates {
            let v1 = format!("/agentCapabilities/promptCapabilities/{capability}");
            let v2 = format!("/capabilities/session/prompt/{capability}");
            let is_offered = self.offers(&v1, &v2);
            if gated == kind || !is_offered {
                let saw = format!(
                    "a prompt holds a block of type `{kind}`, which the agent does not take"
                );
                self.see(rules, is_offered || gated != kind, &at, &saw);
            }
        }
    }

    /// Looks for members that the protocol does not know.
    pub(super) fn members(&mut self, frame: usize, method: &str, params: &Value) {
        let known = MEMBERS.iter().find(|(listed, _)| *listed == method);
        let (Some((_, known)), Some(members)) = (known, params.as_object()) else {
            return;
        };
        let is_known = |name: &&String| *name == "_meta" || known.contains(&name.as_str());
        let strange = members.keys().find(|name| !is_known(name));
        let saw = match strange {
            Some(name) => {
                format!("`{method}` has a member `{name}`, which the protocol does not know")
            }
            None => String::new(),
        };
        self.see(
            &["V1-EXT-01", "V2-EXT-04"],
            strange.is_none(),
            &[frame],
            &saw,
        );
    }
}
