//! The handshake.

use ply_wire::convert::{self, auth::TerminalAuth};
use ply_wire::negotiate::{AnswerError, InitializeAnswer, Supported, Version, read_answer};
use ply_wire::{v1, v2};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Call, Done, Failure, Greeting, Hello, Link, Output};

/// The hub's name, as agents see it.
const NAME: &str = "ply-hub";

impl Link {
    pub(super) fn greet(&mut self, greeting: Greeting, out: &mut Vec<Output>) -> Option<i64> {
        self.greeting = Some(greeting);
        let call = Call::Greet {
            only_v1: greeting.only_v1,
        };
        self.ask(call, &greeting.params(), out)
    }

    pub(super) fn greeted(&mut self, only_v1: bool, result: &RawValue) -> Result<Done, Failure> {
        let supported = if only_v1 {
            Supported::V1
        } else {
            Supported::Both
        };
        let answer = read_answer(result, supported).map_err(|error| match error {
            AnswerError::Echoed if !only_v1 => Failure::Echoed,
            error => Failure::Unreadable {
                method: "initialize",
                reason: error.to_string(),
            },
        })?;
        let hello = Hello::from_answer(answer);
        self.hello = Some(hello.clone());
        Ok(Done::Greeted(Box::new(hello)))
    }
}

impl Greeting {
    /// Returns the params of `initialize`.
    ///
    /// Who asks for version 2 may be answered with version 1 by an agent that has read the version 1 members of this very
    /// request. So both are in it.
    fn params(self) -> Value {
        let elicitation = self.elicitation.then(|| {
            v2::ElicitationCapabilities::new()
                .form(v2::ElicitationFormCapabilities::new())
                .url(v2::ElicitationUrlCapabilities::new())
        });
        let capabilities = v2::ClientCapabilities::new().elicitation(elicitation);
        let info = v2::Implementation::new(NAME, env!("CARGO_PKG_VERSION"));
        let newest =
            v2::InitializeRequest::new(Version::V2.wire(), info).capabilities(capabilities);
        let mut oldest = convert::initialize::request_down(&newest, TerminalAuth::Drop);
        oldest.client_capabilities.fs = v1::FileSystemCapabilities::new()
            .read_text_file(self.files)
            .write_text_file(self.files);
        oldest.client_capabilities.terminal = self.terminals;
        if self.only_v1 {
            return serde_json::to_value(&oldest).unwrap_or_default();
        }
        let mut params = serde_json::to_value(&newest).unwrap_or_default();
        let oldest = serde_json::to_value(&oldest).unwrap_or_default();
        if let (Value::Object(params), Value::Object(oldest)) = (&mut params, oldest) {
            for (name, value) in oldest {
                params.entry(name).or_insert(value);
            }
        }
        params
    }
}

impl Hello {
    /// Returns what is known of an agent that has not introduced itself.
    pub(crate) fn unknown() -> Self {
        Self {
            version: Version::V1,
            info: v2::Implementation::new("agent", ""),
            capabilities: v2::AgentCapabilities::new(),
            auth_methods: Vec::new(),
            can_close: false,
        }
    }

    fn from_answer(answer: InitializeAnswer) -> Self {
        match answer {
            InitializeAnswer::V1(answer) => {
                let up = convert::initialize::response_up(&answer, TerminalAuth::Drop);
                let sessions = &answer.agent_capabilities.session_capabilities;
                Self {
                    version: Version::V1,
                    info: up.info,
                    capabilities: up.capabilities,
                    auth_methods: up.auth_methods,
                    can_close: sessions.close.is_some(),
                }
            }
            InitializeAnswer::V2(answer) => Self {
                version: Version::V2,
                info: answer.info,
                can_close: answer.capabilities.session.is_some(),
                capabilities: answer.capabilities,
                auth_methods: answer.auth_methods,
            },
        }
    }
}
