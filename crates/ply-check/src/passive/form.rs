//! Forms that agents ask users to fill in, and pages that they send users to.

use serde_json::Value;

use super::Passive;
use super::message::{given, text};
use crate::rule::{Side, id};

/// Words in the name of a field that mean a secret.
const SECRETS: [&str; 6] = [
    "password",
    "passwd",
    "secret",
    "apikey",
    "accesstoken",
    "privatekey",
];
/// Pages that are remembered.
const PAGES_MAX: usize = 10_000;

impl Passive {
    pub(super) fn elicitation(&mut self, params: &Value) {
        let scopes = [given(params, "/sessionId"), given(params, "/requestId")];
        let is_kept = scopes.iter().flatten().count() == 1;
        let what = "a form belongs to one session or one request";
        self.keeps(id::V1_ELIC_04, Side::Agent, is_kept, what);
        let mode = text(params, "/mode");
        let what = "an elicitation has no `mode`";
        self.keeps(id::V1_ELIC_03, Side::Agent, mode.is_some(), what);
        let parent = match self.link.is_v2() {
            true => "capabilities.elicitation",
            false => "clientCapabilities.elicitation",
        };
        // Without any of it the method itself was found to be one too many.
        if let Some(mode) = mode
            && self.is_advertised(Side::Client, parent)
        {
            let is_kept = self.is_advertised(Side::Client, &format!("{parent}.{mode}"));
            let what = "an elicitation in a mode that was not advertised";
            self.keeps(id::V1_ELIC_01, Side::Agent, is_kept, what);
        }
        match mode {
            Some("form") => self.form(params),
            Some("url") => self.page(params),
            _ => {}
        }
    }

    fn form(&mut self, params: &Value) {
        let fields = params.pointer("/requestedSchema/properties");
        let fields = fields.and_then(Value::as_object);
        let is_flat = fields.is_some_and(|fields| fields.values().all(is_plain));
        let what = "a form is not a flat object of strings, numbers, booleans and choices";
        self.keeps(id::V1_ELIC_13, Side::Agent, is_flat, what);
        let is_secret = |name: &String| {
            let letters = name.chars().filter(char::is_ascii_alphanumeric);
            let name = letters.collect::<String>().to_ascii_lowercase();
            SECRETS.iter().any(|secret| name.contains(secret))
        };
        let mut names = fields.into_iter().flat_map(|fields| fields.keys());
        let is_kept = !names.any(is_secret);
        self.keeps(
            id::V1_ELIC_12,
            Side::Agent,
            is_kept,
            "a form asks for a secret",
        );
    }

    fn page(&mut self, params: &Value) {
        let url = text(params, "/url").unwrap_or_default();
        // That the address is `https` is only recommended.
        let what = "a URL contains credentials";
        self.keeps(id::V1_ELIC_25, Side::Agent, is_clean(url), what);
        if let Some(id) = text(params, "/elicitationId")
            && self.link.pages.len() < PAGES_MAX
        {
            let is_new = self.link.pages.insert(id.to_owned());
            self.keeps(
                id::V1_ELIC_19,
                Side::Agent,
                is_new,
                "two URL elicitations have the same id",
            );
        }
    }

    /// Judges that a page which is done with was one that was asked for here.
    pub(super) fn page_done(&mut self, params: &Value) {
        let id = text(params, "/elicitationId");
        let is_full = self.link.pages.len() >= PAGES_MAX;
        let is_known = is_full || id.is_some_and(|id| self.link.pages.contains(id));
        let what = "`elicitation/complete` names an unknown URL elicitation";
        self.keeps(id::V1_ELIC_20, Side::Agent, is_known, what);
    }
}

fn is_plain(field: &Value) -> bool {
    match text(field, "/type") {
        Some("string" | "number" | "integer" | "boolean") => true,
        // A choice of several is a list of texts.
        Some("array") => field.pointer("/items/properties").is_none(),
        _ => false,
    }
}

/// Returns whether an address is one, without credentials in it.
fn is_clean(url: &str) -> bool {
    let host = url
        .split_once("://")
        .map(|(_, rest)| rest.split(['/', '?', '#']).next());
    host.flatten().is_some_and(|host| !host.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_no_credentials() {
        assert!(is_clean("https://example.org/a@b") && is_clean("http://localhost:80/"));
        assert!(!is_clean("https://me:word@example.org") && !is_clean("example.org"));
    }
}
