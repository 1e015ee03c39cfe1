//! `initialize`: who speaks first, which version comes of it, what each side says of itself.

use std::collections::BTreeSet;

use ply_wire::negotiate::Version;
use serde_json::Value;

use super::Passive;
use super::finding::quote;
use super::link::Open;
use super::message::{given, list, text};
use crate::rule::{Side, id};
use crate::schema::Part;

/// Where version 2 has markers, which are objects.
const MARKERS: &[&str] = &[
    "/capabilities/session",
    "/capabilities/session/prompt/image",
    "/capabilities/session/prompt/audio",
    "/capabilities/session/prompt/embeddedContext",
    "/capabilities/session/mcp/stdio",
    "/capabilities/session/mcp/http",
    "/capabilities/session/delete",
    "/capabilities/session/additionalDirectories",
    "/capabilities/auth/terminal",
    "/capabilities/elicitation/form",
    "/capabilities/elicitation/url",
];

impl Passive {
    /// Judges a request of the client by what came before it.
    pub(super) fn before_hello(&mut self, method: &str, open: &mut Open) {
        if method == "initialize" {
            open.is_repeated = self.link.is_in_use;
            return;
        }
        self.link.is_in_use = true;
        open.is_early = self.link.hello.is_none();
        if method.starts_with("session/") {
            self.look(id::V1_INIT_01, Side::Client);
            if self.link.welcome.is_none() {
                let method = quote(method);
                let what = format!("{method} was sent before the `initialize` response");
                self.find(id::V1_INIT_01, Side::Client, what);
            }
        }
        if self.link.welcome.is_some() {
            self.look(id::V1_INIT_09, Side::Client);
        }
        if std::mem::take(&mut self.link.cannot_go_on) {
            self.goes_on();
        }
    }

    pub(super) fn hello(&mut self, params: &Value, open: &Open) {
        let version = params.get("protocolVersion").and_then(Value::as_u64);
        let version = version.filter(|version| *version <= u64::from(u16::MAX));
        let what = "`protocolVersion` is not an integer from 0 to 65535";
        self.keeps(id::V1_INIT_02, Side::Client, version.is_some(), what);
        if !(open.is_repeated && self.link.is_v2()) {
            self.link.asked = version;
            self.link.hello = Some(params.clone());
        }
        match version {
            None | Some(0 | 1) => {
                let what = "`clientCapabilities` is not an object";
                let capabilities = given(params, "/clientCapabilities");
                let is_kept = capabilities.is_none_or(Value::is_object);
                self.keeps(id::V1_INIT_03, Side::Client, is_kept, what);
                let what = "`clientInfo` lacks a name or a version";
                let is_kept = is_info(params, "/clientInfo");
                self.keeps(id::V1_INIT_04, Side::Client, is_kept, what);
            }
            Some(2) => {
                self.info(params, Side::Client);
                let is_kept = given(params, "/capabilities").is_some_and(Value::is_object);
                let what = "`initialize` lacks the object `capabilities`";
                self.keeps(id::V2_INIT_01, Side::Client, is_kept, what);
                self.markers(params, Side::Client);
            }
            // Nobody knows what newer versions ask for.
            Some(_) => {}
        }
    }

    pub(super) fn welcome(&mut self, open: &Open, result: Option<&Value>) {
        if open.is_repeated {
            self.look(id::V2_INIT_16, Side::Agent);
        }
        let Some(result) = result else {
            return;
        };
        // Version 1 leaves it open; there the latest one counts.
        if open.is_repeated && self.link.is_v2() {
            let what = "a second `initialize` was accepted on a connection in use";
            return self.find_with(id::V2_INIT_16, Side::Agent, open.frame, what);
        }
        let version = result.get("protocolVersion").and_then(Value::as_u64);
        let was_known = self.link.version.is_some();
        self.link.welcome = Some(result.clone());
        self.link.version = Some(version.unwrap_or(1));
        match version {
            _ if was_known => {}
            Some(2) => self.report.settle(Version::V2),
            Some(3..) => {}
            None | Some(_) => self.report.settle(Version::V1),
        }
        let is_above = version > self.link.asked && self.link.asked.is_some();
        self.link.cannot_go_on = is_above;
        self.look(id::V2_INIT_04, Side::Agent);
        if is_above {
            let what = "the chosen version is above the requested one";
            self.find_with(id::V2_INIT_04, Side::Agent, open.frame, what);
        }
        if self.link.is_unknown() {
            return;
        }
        let hello = self
            .link
            .hello
            .clone()
            .filter(|_| version == self.link.asked);
        if let Some(hello) = hello {
            self.fits_at(open.frame, Side::Client, Part::Params, "initialize", &hello);
        }
        self.fits(Side::Agent, Part::Result, "initialize", result);
        match self.link.is_v2() {
            true => self.welcome_v2(result),
            false => self.welcome_v1(result, version),
        }
        self.auth_methods(result);
    }

    fn welcome_v1(&mut self, result: &Value, version: Option<u64>) {
        // The schema has them optional, whatever the documentation says.
        let capabilities = given(result, "/agentCapabilities");
        let is_whole = version.is_some() && capabilities.is_none_or(Value::is_object);
        let what = "the response lacks `protocolVersion`, or `agentCapabilities` is not an object";
        self.keeps(id::V1_INIT_05, Side::Agent, is_whole, what);
        let what = "`agentInfo` lacks a name or a version";
        let is_kept = is_info(result, "/agentInfo");
        self.keeps(id::V1_INIT_06, Side::Agent, is_kept, what);
    }

    fn welcome_v2(&mut self, result: &Value) {
        let is_whole = ["/info", "/capabilities"]
            .iter()
            .all(|at| given(result, at).is_some_and(Value::is_object));
        let what = "the response lacks the object `info` or `capabilities`";
        self.keeps(id::V2_INIT_02, Side::Agent, is_whole, what);
        self.info(result, Side::Agent);
        self.markers(result, Side::Agent);
    }

    fn info(&mut self, said: &Value, side: Side) {
        let is_kept = is_info(said, "/info");
        self.keeps(
            id::V2_INIT_03,
            side,
            is_kept,
            "`info` lacks a name or a version",
        );
    }

    fn markers(&mut self, said: &Value, side: Side) {
        for at in MARKERS {
            if let Some(marker) = given(said, at) {
                self.look(id::V2_INIT_09, side);
                if !marker.is_object() {
                    let what = format!("{} is not an object", quote(at));
                    self.find(id::V2_INIT_09, side, what);
                }
            }
        }
    }

    fn auth_methods(&mut self, result: &Value) {
        let is_v2 = self.link.is_v2();
        let methods = list(result, "/authMethods");
        if methods.is_empty() {
            return;
        }
        let is_named = |method: &Value| text(method, "/name").is_some();
        if is_v2 {
            let is_whole = |method: &Value| {
                let has = |at| text(method, at).is_some();
                has("/methodId") && has("/type") && is_named(method)
            };
            let is_kept = methods.iter().all(is_whole);
            let what = "a login method lacks a member";
            self.keeps(id::V2_AUTH_03, Side::Agent, is_kept, what);
        } else {
            let ids = methods.iter().filter_map(|method| text(method, "/id"));
            let ids: BTreeSet<&str> = ids.collect();
            let is_kept = ids.len() == methods.len() && methods.iter().all(is_named);
            let what = "a login method lacks a member, or two share an id";
            self.keeps(id::V1_AUTH_01, Side::Agent, is_kept, what);
        }
        let gate = match is_v2 {
            true => "capabilities.auth.terminal",
            false => "clientCapabilities.auth.terminal",
        };
        let has_terminal = methods
            .iter()
            .any(|method| text(method, "/type") == Some("terminal"));
        let is_kept = !has_terminal || self.is_advertised(Side::Client, gate);
        let what = "a terminal login is offered to a client that does not support it";
        self.keeps(id::V1_AUTH_08, Side::Agent, is_kept, what);
    }

    /// Judges a login by the methods that were offered.
    pub(super) fn login(&mut self, params: &Value) {
        let is_v2 = self.link.is_v2();
        let id_at = if is_v2 { "/methodId" } else { "/id" };
        let wanted = text(params, "/methodId");
        let welcome = self.link.welcome.as_ref();
        let methods = welcome.map_or(&[][..], |welcome| list(welcome, "/authMethods"));
        if methods.is_empty() {
            return;
        }
        let method = methods.iter().find(|method| text(method, id_at) == wanted);
        let is_offered = method.is_some();
        let kind = method.map(|method| text(method, "/type").map(str::to_owned));
        let has_no_kind = kind == Some(None);
        let kind = kind.flatten().unwrap_or_default();
        let (is_terminal, is_custom) = (kind == "terminal", kind.starts_with('_'));
        let what = "a login method that was not offered";
        self.keeps(id::V1_AUTH_02, Side::Client, is_offered, what);
        let what = "a terminal login was sent to the agent";
        self.keeps(id::V1_AUTH_07, Side::Client, !is_terminal, what);
        if has_no_kind {
            self.look(id::V1_AUTH_06, Side::Client);
        }
        let what = "a login method of an unknown type was used like a known one";
        self.keeps(id::V2_AUTH_05, Side::Client, !is_custom, what);
    }
}

fn is_info(said: &Value, at: &str) -> bool {
    let info = said.pointer(at).unwrap_or(&Value::Null);
    text(info, "/name").is_some() && text(info, "/version").is_some()
}
