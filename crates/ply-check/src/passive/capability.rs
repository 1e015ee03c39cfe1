//! Which methods there are, and what has to be advertised before they are used.

use ply_wire::method::{Kind, MethodInfo, Side as Sender, v1, v2};
use serde_json::Value;

use super::Passive;
use super::finding::quote;
use crate::rule::{Side, id};

/// Whether a call wants an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    Answer,
    Nothing,
}

impl Asks {
    fn other(self) -> Self {
        match self {
            Self::Answer => Self::Nothing,
            Self::Nothing => Self::Answer,
        }
    }
}

/// Methods of drafts that no version has yet. They are nobody's invention, and nothing is known of them.
const DRAFTS: &[&str] = &[
    "auth/status",
    "auth/status_update",
    "mcp/connect",
    "mcp/disconnect",
    "mcp/message",
    "providers/disable",
    "providers/list",
    "providers/set",
    "proxy/initialize",
    "proxy/successor",
    "session/archive",
    "session/fork",
    "session/set_model",
    "session/set_title",
    "session/status",
    "session/unarchive",
];

impl Passive {
    /// Judges whether a method may be used here.
    pub(super) fn method(&mut self, from: Side, method: &str, asks: Asks) {
        let free = method.starts_with('_') || method.starts_with("$/") || DRAFTS.contains(&method);
        let draft = method.starts_with("nes/") || method.starts_with("document/");
        if free || draft || method == "initialize" {
            return;
        }
        let Some(here) = self.rows() else {
            return;
        };
        self.look(id::V1_INIT_10, from);
        self.look(id::V1_EXT_02, from);
        self.look(id::V2_EXT_01, from);
        if from == Side::Agent {
            let is_of_files = method.starts_with("fs/") || method.starts_with("terminal/");
            let what = "the client's files or terminals were used";
            self.keeps(id::V2_INIT_14, from, !is_of_files, what);
        }
        let Some(row) = find(here, from, method, asks) else {
            return self.not_a_method(from, method, asks);
        };
        let rule = gate_rule(self.link.is_v2(), method);
        let (Some(gate), Some(rule)) = (row.gate, rule) else {
            return;
        };
        let is_kept = self.is_advertised(from.other(), gate);
        let what = format!(
            "{} is used, but {} was not advertised",
            quote(method),
            quote(gate)
        );
        for rule in [rule, id::V1_INIT_11] {
            self.keeps(rule, from, is_kept, &what);
        }
        if method.starts_with("fs/") {
            self.keeps(id::V1_FS_01, from, is_kept, &what);
        }
        if from == Side::Client
            && let Some(rule) = self.refused_by(gate)
        {
            self.keeps(rule, from, is_kept, &what);
        }
    }

    /// Returns the rule that says what a flag or a marker which is there and off means; none if it is on or left out.
    fn refused_by(&self, gate: &str) -> Option<&'static str> {
        let welcome = self.link.welcome.as_ref()?;
        match welcome.pointer(&format!("/{}", gate.replace('.', "/"))) {
            Some(Value::Bool(false)) => Some(id::V1_INIT_13),
            Some(Value::Null) => Some(id::V1_INIT_14),
            _ => None,
        }
    }

    /// Notes that a client goes on without what the agent does not offer: a prompt shows it.
    pub(super) fn goes_without(&mut self) {
        let is_v2 = self.link.is_v2();
        for row in self.rows().unwrap_or_default() {
            let (Some(gate), Some(rule)) = (row.gate, gate_rule(is_v2, row.name)) else {
                continue;
            };
            if row.sender == Sender::Client && !self.is_advertised(Side::Agent, gate) {
                for rule in [rule, id::V1_INIT_11] {
                    self.look(rule, Side::Client);
                }
                if let Some(rule) = self.refused_by(gate) {
                    self.look(rule, Side::Client);
                }
            }
        }
        self.look(id::V2_ECANCEL_01, Side::Client);
    }

    /// Returns whether a request is for something that the other side does not offer.
    pub(super) fn is_ungated(&self, from: Side, method: &str) -> bool {
        let row = self
            .rows()
            .and_then(|rows| find(rows, from, method, Asks::Answer));
        let gate = row.and_then(|row| row.gate);
        gate.is_some_and(|gate| !self.is_advertised(from.other(), gate))
    }

    fn rows(&self) -> Option<&'static [MethodInfo]> {
        match self.link.version? {
            0 | 1 => Some(v1::METHODS),
            _ => Some(v2::METHODS),
        }
    }

    fn not_a_method(&mut self, from: Side, method: &str, asks: Asks) {
        let (other, version) = match self.link.is_v2() {
            true => (v1::METHODS, 2),
            false => (v2::METHODS, 1),
        };
        let is_known = |rows: &[MethodInfo]| rows.iter().any(|row| row.name == method);
        if find(other, from, method, asks).is_some() {
            let what = format!("{} is not a method of version {version}", quote(method));
            self.find(id::V1_INIT_10, from, what);
        } else if find(self.rows().unwrap_or_default(), from, method, asks.other()).is_some() {
            let (method, kind) = match asks {
                Asks::Nothing => (quote(method), "a request, and was sent without an id"),
                Asks::Answer => (quote(method), "a notification, and was sent with an id"),
            };
            self.find(id::V1_SCHEMA_01, from, format!("{method} is {kind}"));
        } else if !is_known(v1::METHODS) && !is_known(v2::METHODS) {
            let method = quote(method);
            let what = format!("{method} is not a method, and custom ones begin with `_`");
            self.find(id::V1_EXT_02, from, what.as_str());
            self.find(id::V2_EXT_01, from, what);
        }
    }

    /// Returns whether a side said that it supports something.
    pub(super) fn is_advertised(&self, side: Side, path: &str) -> bool {
        let said = match side {
            Side::Agent => &self.link.welcome,
            Side::Client => &self.link.hello,
        };
        let Some(mut value) = said.as_ref() else {
            return false;
        };
        for part in path.split('.') {
            match value.get(part) {
                Some(inner) => value = inner,
                None => return false,
            }
        }
        match value {
            Value::Bool(is_on) => *is_on,
            Value::Array(items) => !items.is_empty(),
            Value::Object(_) => true,
            _ => false,
        }
    }
}

fn find(
    rows: &'static [MethodInfo],
    from: Side,
    method: &str,
    asks: Asks,
) -> Option<&'static MethodInfo> {
    rows.iter().find(|row| {
        let may_send = match row.sender {
            Sender::Client => from == Side::Client,
            Sender::Agent => from == Side::Agent,
            Sender::Either => true,
        };
        row.name == method && may_send && (row.kind == Kind::Request) == (asks == Asks::Answer)
    })
}

/// Returns whether a request is one of version 2, which says what its result is.
pub(super) fn is_method_of_v2(from: Side, method: &str) -> bool {
    find(v2::METHODS, from, method, Asks::Answer).is_some()
}

/// Returns the rule that is broken when a method is used that was not advertised.
fn gate_rule(is_v2: bool, method: &str) -> Option<&'static str> {
    Some(match (is_v2, method) {
        (_, "elicitation/create") => id::V1_ELIC_01,
        (false, "authenticate") => id::V1_AUTH_02,
        (false, "logout") => id::V1_AUTH_12,
        (false, "session/load") => id::V1_LOAD_02,
        (false, "session/resume") => id::V1_RESUME_01,
        (false, "session/list") => id::V1_LIST_01,
        (false, "session/close") => id::V1_CLOSE_01,
        (false, "session/delete") => id::V1_DEL_01,
        (false, method) if method.starts_with("fs/") => id::V1_FS_02,
        (false, method) if method.starts_with("terminal/") => id::V1_TERM_01,
        (true, method) if method.starts_with("auth/") => id::V2_AUTH_02,
        (true, "session/delete") => id::V2_DEL_01,
        (true, method) if method.starts_with("session/") => id::V2_INIT_11,
        _ => return None,
    })
}
