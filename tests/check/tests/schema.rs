//! The schema that the checker holds messages against is that of the official crate.
//!
//! `PLY_WRITE_SCHEMA=1 cargo test -p check-tests --test schema` writes it anew after the crate has changed.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;

use ply_wire::{v1, v2};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// What only explains, or says how a lenient reader copes.
const WORDS: &[&str] = &[
    "$schema",
    "title",
    "description",
    "examples",
    "default",
    "deprecated",
    "format",
    "discriminator",
];

struct Book {
    generator: SchemaGenerator,
    params: Map<String, Value>,
    results: Map<String, Value>,
}

impl Book {
    fn new() -> Self {
        Self {
            generator: SchemaSettings::draft2020_12().into_generator(),
            params: Map::new(),
            results: Map::new(),
        }
    }

    fn params<T: schemars::JsonSchema>(&mut self, method: &str) {
        let schema = self.generator.subschema_for::<T>().to_value();
        self.params.insert(method.to_owned(), schema);
    }

    fn result<T: schemars::JsonSchema>(&mut self, method: &str) {
        let schema = self.generator.subschema_for::<T>().to_value();
        self.results.insert(method.to_owned(), schema);
    }

    fn finish(mut self) -> Value {
        let defs = self.generator.take_definitions(true);
        let mut book = json!({"$defs": defs, "params": self.params, "results": self.results});
        strip(&mut book, true);
        book
    }
}

/// Takes out what explains. Names of members are not keywords.
fn strip(value: &mut Value, is_names: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| strip(item, false)),
        Value::Object(members) => {
            if !is_names {
                members.retain(|key, _| !WORDS.contains(&key.as_str()) && !key.starts_with("x-"));
            }
            for (key, member) in members.iter_mut() {
                let is_book = is_names && matches!(key.as_str(), "$defs" | "params" | "results");
                strip(member, key == "properties" && !is_names || is_book);
            }
        }
        _ => {}
    }
}

macro_rules! book {
    ($version:ident;
     requests { $($method:literal: $request:ident -> $response:ident),* $(,)? }
     notifications { $($told:literal: $notification:ident),* $(,)? }) => {{
        let mut book = Book::new();
        $(
            book.params::<$version::$request>($method);
            book.result::<$version::$response>($method);
        )*
        $(book.params::<$version::$notification>($told);)*
        book.finish()
    }};
}

fn first() -> Value {
    book! { v1;
        requests {
            "initialize": InitializeRequest -> InitializeResponse,
            "authenticate": AuthenticateRequest -> AuthenticateResponse,
            "logout": LogoutRequest -> LogoutResponse,
            "session/new": NewSessionRequest -> NewSessionResponse,
            "session/load": LoadSessionRequest -> LoadSessionResponse,
            "session/resume": ResumeSessionRequest -> ResumeSessionResponse,
            "session/list": ListSessionsRequest -> ListSessionsResponse,
            "session/close": CloseSessionRequest -> CloseSessionResponse,
            "session/delete": DeleteSessionRequest -> DeleteSessionResponse,
            "session/prompt": PromptRequest -> PromptResponse,
            "session/set_mode": SetSessionModeRequest -> SetSessionModeResponse,
            "session/set_config_option": SetSessionConfigOptionRequest -> SetSessionConfigOptionResponse,
            "session/request_permission": RequestPermissionRequest -> RequestPermissionResponse,
            "fs/read_text_file": ReadTextFileRequest -> ReadTextFileResponse,
            "fs/write_text_file": WriteTextFileRequest -> WriteTextFileResponse,
            "terminal/create": CreateTerminalRequest -> CreateTerminalResponse,
            "terminal/output": TerminalOutputRequest -> TerminalOutputResponse,
            "terminal/wait_for_exit": WaitForTerminalExitRequest -> WaitForTerminalExitResponse,
            "terminal/kill": KillTerminalRequest -> KillTerminalResponse,
            "terminal/release": ReleaseTerminalRequest -> ReleaseTerminalResponse,
            "elicitation/create": CreateElicitationRequest -> CreateElicitationResponse,
        }
        notifications {
            "session/cancel": CancelNotification,
            "session/update": SessionNotification,
            "elicitation/complete": CompleteElicitationNotification,
            "$/cancel_request": CancelRequestNotification,
        }
    }
}

fn second() -> Value {
    book! { v2;
        requests {
            "initialize": InitializeRequest -> InitializeResponse,
            "auth/login": LoginAuthRequest -> LoginAuthResponse,
            "auth/logout": LogoutAuthRequest -> LogoutAuthResponse,
            "session/new": NewSessionRequest -> NewSessionResponse,
            "session/resume": ResumeSessionRequest -> ResumeSessionResponse,
            "session/list": ListSessionsRequest -> ListSessionsResponse,
            "session/close": CloseSessionRequest -> CloseSessionResponse,
            "session/delete": DeleteSessionRequest -> DeleteSessionResponse,
            "session/prompt": PromptRequest -> PromptResponse,
            "session/set_config_option": SetSessionConfigOptionRequest -> SetSessionConfigOptionResponse,
            "tool_call/cancel": CancelToolCallRequest -> CancelToolCallResponse,
            "terminal/cancel": CancelTerminalRequest -> CancelTerminalResponse,
            "session/request_permission": RequestPermissionRequest -> RequestPermissionResponse,
            "elicitation/create": CreateElicitationRequest -> CreateElicitationResponse,
        }
        notifications {
            "session/cancel": CancelSessionNotification,
            "session/update": UpdateSessionNotification,
            "elicitation/complete": CompleteElicitationNotification,
            "$/cancel_request": CancelRequestNotification,
        }
    }
}

#[test]
fn the_checker_has_the_schema_of_the_official_crate() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/ply-check/src/schema");
    for (name, book) in [("v1.json", first()), ("v2.json", second())] {
        let path = place.join(name);
        let text = format!("{book}\n");
        if std::env::var_os("PLY_WRITE_SCHEMA").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == text,
            "{name} is not what the schema crate says; see the top of this test"
        );
    }
}
