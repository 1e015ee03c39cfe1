//! What the scripted agent offers, and how it answers the requests that every client makes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use crate::peer::{Reply, Service};

/// The session that every listing shows.
const OLD_SESSION: &str = "old session";
/// The cursor of the second page of a listing: opaque, and awkward on purpose.
const CURSOR: &str = "pg/2 =\u{2603}+&";

/// What the scripted agent offers. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct House(Arc<Mutex<State>>);

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) version: Version,
    /// The version is whatever the client asks for, not that of a scene.
    pub(crate) is_adaptable: bool,
    /// What the client said to `initialize`, last.
    pub(crate) hello: Value,
    /// The version asked for is below the one that the scene is about.
    pub(crate) is_other_version: bool,
    /// What is answered to `initialize` besides the version.
    pub(crate) welcome: Value,
    /// What is answered to requests that open a session, besides its id.
    pub(crate) setup: Value,
    /// A login in a terminal is offered too, to clients that can do that.
    pub(crate) has_terminal_login: bool,
    /// What is added to every answer.
    pub(crate) extra: Value,
    /// The directory of the last session.
    pub(crate) cwd: String,
    sessions: u32,
}

impl House {
    pub(crate) fn new(version: Version) -> Self {
        Self(Arc::new(Mutex::new(State {
            version,
            is_adaptable: false,
            hello: Value::Null,
            is_other_version: false,
            welcome: rich(version),
            setup: setup(version),
            has_terminal_login: false,
            extra: json!({}),
            cwd: String::new(),
            sessions: 0,
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of a scene leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the house to a service: everything that a client may ask for is answered, but for prompts and sessions that are
    /// brought back, which are held for the stage.
    pub(crate) fn open(&self, service: &mut Service) {
        let house = self.clone();
        service.on("initialize", move |params| house.lock().initialize(params));
        let house = self.clone();
        service.on("session/new", move |params| {
            house.lock().new_session(params)
        });
        for method in ["session/load", "session/resume"] {
            let house = self.clone();
            service.on(method, move |params| {
                house.lock().enter(params);
                Reply::Hold
            });
        }
        service.on("session/prompt", |_| Reply::Hold);
        service.on("session/list", list);
        for method in [
            "authenticate",
            "logout",
            "auth/login",
            "auth/logout",
            "session/close",
            "session/delete",
            "session/set_mode",
            "tool_call/cancel",
            "terminal/cancel",
        ] {
            service.on(method, |_| Reply::Result(json!({})));
        }
        let house = self.clone();
        service.on("session/set_config_option", move |_| {
            let options = house.lock().setup.get("configOptions").cloned();
            Reply::Result(json!({"configOptions": options.unwrap_or(json!([]))}))
        });
    }
}

impl State {
    /// Returns the answer to `initialize`.
    pub(crate) fn initialize(&mut self, params: &Value) -> Reply {
        self.hello = params.clone();
        let asked = params.get("protocolVersion").and_then(Value::as_u64);
        if self.is_adaptable {
            self.version = match asked {
                Some(asked) if asked >= 2 => Version::V2,
                _ => Version::V1,
            };
            (self.welcome, self.setup) = (rich(self.version), setup(self.version));
        }
        let wanted = super::number(self.version);
        // What is no version at all is judged by the version that the scene is about.
        self.is_other_version = asked.is_some_and(|asked| asked < wanted);
        let mut answer = self.welcome.clone();
        merge(&mut answer, &self.extra);
        merge(&mut answer, &json!({"protocolVersion": wanted}));
        let is_offered = !matches!(
            self.offer("/auth/terminal"),
            Value::Null | Value::Bool(false)
        );
        let methods = answer.get_mut("authMethods").and_then(Value::as_array_mut);
        if let Some(methods) = methods.filter(|_| self.has_terminal_login && is_offered) {
            let id = match self.version {
                Version::V1 => "id",
                Version::V2 => "methodId",
            };
            let login = json!({"type": "terminal", id: "login", "name": "In a terminal", "args": ["login"]});
            methods.insert(0, login);
        }
        if self.is_other_version {
            let info = json!({"name": "ply-check", "version": env!("CARGO_PKG_VERSION")});
            answer = json!({"protocolVersion": asked.unwrap_or(1).max(1), "agentInfo": info});
        }
        Reply::Result(answer)
    }

    fn enter(&mut self, params: &Value) {
        if let Some(cwd) = params.get("cwd").and_then(Value::as_str) {
            cwd.clone_into(&mut self.cwd);
        }
    }

    fn new_session(&mut self, params: &Value) -> Reply {
        self.enter(params);
        self.sessions += 1;
        let mut answer = self.setup.clone();
        merge(&mut answer, &self.extra);
        merge(
            &mut answer,
            &json!({"sessionId": format!("check-{}", self.sessions)}),
        );
        Reply::Result(answer)
    }

    /// Returns what the client offers under a pointer such as `/fs/readTextFile`, null if it is not there.
    pub(crate) fn offer(&self, pointer: &str) -> Value {
        let root = match self.version {
            Version::V1 => "clientCapabilities",
            Version::V2 => "capabilities",
        };
        let found = self.hello.get(root).and_then(|all| all.pointer(pointer));
        found.cloned().unwrap_or_default()
    }
}

/// Puts the members of one object into another.
pub(crate) fn merge(into: &mut Value, from: &Value) {
    if let (Some(into), Some(from)) = (into.as_object_mut(), from.as_object()) {
        into.extend(from.clone());
    }
}

fn list(params: &Value) -> Reply {
    let session = |name: &str| json!({"sessionId": name, "cwd": "/", "title": "An older session"});
    match params.get("cursor").and_then(Value::as_str) {
        None => Reply::Result(json!({"sessions": [session(OLD_SESSION)], "nextCursor": CURSOR})),
        Some(CURSOR) => Reply::Result(json!({"sessions": [session("older session")]})),
        Some(_) => Reply::Error(-32602, "The cursor is not known"),
    }
}

/// Returns an agent that offers everything.
fn rich(version: Version) -> Value {
    let info =
        json!({"name": "ply-check", "title": "Ply's check", "version": env!("CARGO_PKG_VERSION")});
    match version {
        Version::V1 => json!({
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": {"image": true, "audio": true, "embeddedContext": true},
                "mcpCapabilities": {"http": true, "sse": true},
                "sessionCapabilities": {"list": {}, "delete": {}, "additionalDirectories": {}, "resume": {}, "close": {}},
                "auth": {"logout": {}}
            },
            "agentInfo": info,
            "authMethods": []
        }),
        Version::V2 => json!({
            "capabilities": {
                "session": {
                    "prompt": {"image": {}, "audio": {}, "embeddedContext": {}},
                    "mcp": {"stdio": {}, "http": {}},
                    "delete": {}, "additionalDirectories": {}
                },
                "auth": {}
            },
            "info": info,
            "authMethods": []
        }),
    }
}

/// Returns an agent that offers no more than it must.
pub(crate) fn bare(version: Version) -> Value {
    let info = json!({"name": "ply-check", "version": env!("CARGO_PKG_VERSION")});
    match version {
        Version::V1 => json!({}),
        Version::V2 => json!({"info": info, "capabilities": {"session": {}}}),
    }
}

fn setup(version: Version) -> Value {
    let values = json!([{"value": "ask", "name": "Ask"}, {"value": "code", "name": "Code"}]);
    match version {
        Version::V1 => json!({
            "modes": {
                "currentModeId": "ask",
                "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]
            },
            "configOptions": [{
                "id": "mode", "name": "Mode", "category": "mode", "type": "select",
                "currentValue": "ask", "options": values
            }]
        }),
        Version::V2 => json!({
            "configOptions": [{
                "configId": "mode", "name": "Mode", "category": "mode", "type": "select",
                "currentValue": "ask", "options": values
            }, {
                "configId": "web", "name": "Web search", "type": "boolean", "currentValue": true
            }],
            "availableCommands": [{"type": "command", "name": "plan", "description": "Makes a plan"}]
        }),
    }
}
