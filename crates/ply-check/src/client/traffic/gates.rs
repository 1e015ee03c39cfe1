//! What was not offered is not called.

use serde_json::Value;

use super::Watcher;

/// A method, what offers it in either version, and the rules.
type Gate = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const GATES: &[Gate] = &[
    (
        "session/load",
        "/agentCapabilities/loadSession",
        "/none",
        &["V1-LOAD-02"],
    ),
    (
        "session/resume",
        "/agentCapabilities/sessionCapabilities/resume",
        "/capabilities/session",
        &["V1-RESUME-01", "V2-INIT-11"],
    ),
    (
        "session/list",
        "/agentCapabilities/sessionCapabilities/list",
        "/capabilities/session",
        &["V1-LIST-01", "V2-INIT-11"],
    ),
    (
        "session/close",
        "/agentCapabilities/sessionCapabilities/close",
        "/capabilities/session",
        &["V1-CLOSE-01", "V2-INIT-11"],
    ),
    (
        "session/delete",
        "/agentCapabilities/sessionCapabilities/delete",
        "/capabilities/session/delete",
        &["V1-DEL-01", "V2-DEL-01"],
    ),
    (
        "logout",
        "/agentCapabilities/auth/logout",
        "/none",
        &["V1-AUTH-12"],
    ),
];

impl Watcher {
    /// Looks whether a request may be made. Where nothing was offered, a prompt shows that the client goes on without.
    pub(super) fn gates(&mut self, frame: usize, method: &str, params: &Value) {
        let at = [frame];
        if method == "session/prompt" {
            self.gates_were_kept(frame);
        }
        for (gated, v1, v2, rules) in GATES {
            if *gated == method {
                let is_offered = self.offers(v1, v2);
                let saw = format!("`{method}` was called, which the agent does not offer");
                self.see(rules, is_offered, &at, &saw);
                self.see(&["V1-INIT-11"], is_offered, &at, &saw);
                let offer = self.offered(v1, v2);
                if offer.is_boolean() {
                    self.see(&["V1-INIT-13"], is_offered, &at, &saw);
                }
            }
        }
        if method.starts_with("session/") {
            let saw = "sessions were used, which the agent does not offer";
            self.see(
                &["V2-INIT-11"],
                self.offers("/none", "/capabilities/session"),
                &at,
                saw,
            );
        }
        if matches!(method, "authenticate" | "auth/login") {
            self.login(frame, params);
        }
        if method == "auth/logout" {
            let methods = self.offered("/authMethods", "/authMethods");
            let is_offered = methods
                .as_array()
                .is_some_and(|methods| !methods.is_empty());
            let saw = "`auth/logout` was called though there is no way to log in";
            self.see(&["V2-AUTH-02"], is_offered, &at, saw);
        }
        if matches!(method, "tool_call/cancel" | "terminal/cancel") {
            let id = params
                .get("toolCallId")
                .or_else(|| params.get("terminalId"));
            let id = id.and_then(Value::as_str).unwrap_or_default();
            let saw = format!("`{method}` was called for what does not offer it");
            let is_offered = self.cancellable.contains(id);
            self.see(&["V2-ECANCEL-01"], is_offered, &at, &saw);
        }
    }

    fn gates_were_kept(&mut self, frame: usize) {
        for (_, v1, v2, rules) in GATES {
            if !self.offers(v1, v2) {
                self.see(rules, true, &[frame], "");
                self.see(&["V1-INIT-11"], true, &[frame], "");
            }
            if self.offered(v1, v2) == Value::Bool(false) {
                self.see(&["V1-INIT-13"], true, &[frame], "");
            }
            let parent = v1.rsplit_once('/').map_or("", |(parent, _)| parent);
            let is_null = self
                .offered(parent, "/none")
                .as_object()
                .is_some_and(|parent| {
                    let name = v1.rsplit('/').next().unwrap_or_default();
                    parent.get(name).is_some_and(Value::is_null)
                });
            if is_null {
                self.see(&["V1-INIT-14"], true, &[frame], "");
            }
        }
        let methods = self.offered("/authMethods", "/authMethods");
        if methods.as_array().is_none_or(Vec::is_empty) {
            self.see(&["V1-AUTH-02", "V2-AUTH-02"], true, &[frame], "");
        }
        self.see(&["V2-ECANCEL-01"], true, &[frame], "");
    }

    fn login(&mut self, frame: usize, params: &Value) {
        let at = [frame];
        let methods = self.offered("/authMethods", "/authMethods");
        let methods = methods.as_array().cloned().unwrap_or_default();
        let wanted = params.get("methodId").and_then(Value::as_str);
        let id = |method: &Value| {
            let id = method.get("id").or_else(|| method.get("methodId"));
            id.and_then(Value::as_str).map(str::to_owned)
        };
        let chosen = methods
            .iter()
            .find(|method| id(method).as_deref() == wanted);
        let saw = "a way to log in was used that the agent does not offer";
        self.see(&["V1-AUTH-02", "V2-AUTH-02"], chosen.is_some(), &at, saw);
        let kind = chosen
            .and_then(|method| method.get("type"))
            .and_then(Value::as_str);
        if chosen.is_none() {
            return;
        }
        let is_terminal = |kind: Option<&Value>| kind.and_then(Value::as_str) == Some("terminal");
        if methods.iter().any(|method| is_terminal(method.get("type"))) {
            let saw = "a login that belongs into a terminal was asked for over the protocol";
            let is_kept = kind != Some("terminal");
            self.see(&["V1-AUTH-07", "V2-AUTH-06"], is_kept, &at, saw);
        }
        if kind.is_none() {
            self.see(&["V1-AUTH-06"], true, &at, "");
        }
        let is_strange = kind.is_some_and(|kind| kind.starts_with('_'));
        let saw = "a way to log in of an unknown type was used like a known one";
        self.see(&["V2-AUTH-05"], !is_strange, &at, saw);
    }
}
