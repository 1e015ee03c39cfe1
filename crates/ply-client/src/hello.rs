//! The handshake: what we say of ourselves, and what the agent says it can do.

use ply_wire::convert::{self, auth::TerminalAuth};
use ply_wire::negotiate::{InitializeAnswer, Supported, Version};
use ply_wire::{v1, v2};
use serde_json::Value;

use crate::Error;
use crate::client::Settings;

/// What an agent said when it was greeted.
#[derive(Debug, Clone)]
pub(crate) struct Hello {
    pub(crate) version: Version,
    pub(crate) info: v2::Implementation,
    pub(crate) capabilities: v2::AgentCapabilities,
    pub(crate) auth_methods: Vec<v2::AuthMethod>,
    /// What a version 1 agent says in its own words, where version 2 has none.
    v1: Option<v1::AgentCapabilities>,
}

/// Makes the params of `initialize`.
///
/// Who asks for version 2 may be answered with version 1, and that agent has then read the version 1 members of this very
/// request. So both are in it.
pub(crate) fn request(settings: &Settings) -> Value {
    let newest =
        v2::InitializeRequest::new(settings.versions.newest().wire(), settings.info.clone())
            .capabilities(capabilities_v2(settings));
    let mut oldest = request_v1(settings);
    oldest.protocol_version = settings.versions.newest().wire();
    let encode = |value: Result<Value, serde_json::Error>| value.unwrap_or_default();
    let mut params = match settings.versions {
        Supported::V1 => return encode(serde_json::to_value(&oldest)),
        _ => encode(serde_json::to_value(&newest)),
    };
    if settings.versions == Supported::Both
        && let (Value::Object(params), Value::Object(oldest)) =
            (&mut params, encode(serde_json::to_value(&oldest)))
    {
        for (name, value) in oldest {
            params.entry(name).or_insert(value);
        }
    }
    params
}

/// Makes the params of `initialize` for version 1 alone.
pub(crate) fn request_v1(settings: &Settings) -> v1::InitializeRequest {
    let newest = v2::InitializeRequest::new(Version::V2.wire(), settings.info.clone())
        .capabilities(capabilities_v2(settings));
    let mut oldest = convert::initialize::request_down(&newest, TerminalAuth::Keep);
    let can_write = settings.files.as_ref().is_some_and(|it| it.can_write());
    oldest.client_capabilities.fs = v1::FileSystemCapabilities::new()
        .read_text_file(settings.files.is_some())
        .write_text_file(can_write);
    oldest.client_capabilities.terminal = settings.terminals.is_some();
    oldest
}

fn capabilities_v2(settings: &Settings) -> v2::ClientCapabilities {
    let elicitation = settings.elicitation.as_ref().map(|service| {
        let form = service.takes_forms();
        let url = service.takes_urls();
        v2::ElicitationCapabilities::new()
            .form(form.then(v2::ElicitationFormCapabilities::new))
            .url(url.then(v2::ElicitationUrlCapabilities::new))
    });
    let auth = settings
        .terminal_login
        .then(|| v2::ClientAuthCapabilities::new().terminal(v2::TerminalAuthCapabilities::new()));
    v2::ClientCapabilities::new()
        .auth(auth)
        .elicitation(elicitation)
        .meta(settings.meta.clone())
}

impl Hello {
    pub(crate) fn from_answer(answer: InitializeAnswer) -> Self {
        match answer {
            InitializeAnswer::V1(answer) => {
                let lifted = convert::initialize::response_up(&answer, TerminalAuth::Keep);
                Self {
                    version: Version::V1,
                    info: lifted.info,
                    capabilities: lifted.capabilities,
                    auth_methods: lifted.auth_methods,
                    v1: Some(answer.agent_capabilities),
                }
            }
            InitializeAnswer::V2(answer) => Self {
                version: Version::V2,
                info: answer.info,
                capabilities: answer.capabilities,
                auth_methods: answer.auth_methods,
                v1: None,
            },
        }
    }

    fn session(&self) -> Option<&v2::SessionCapabilities> {
        self.capabilities.session.as_ref()
    }

    fn prompt(&self) -> Option<&v2::PromptCapabilities> {
        self.session()?.prompt.as_ref()
    }

    fn mcp(&self) -> Option<&v2::McpCapabilities> {
        self.session()?.mcp.as_ref()
    }

    pub(crate) fn takes_images(&self) -> bool {
        self.prompt().is_some_and(|prompt| prompt.image.is_some())
    }

    pub(crate) fn takes_audio(&self) -> bool {
        self.prompt().is_some_and(|prompt| prompt.audio.is_some())
    }

    pub(crate) fn takes_resources(&self) -> bool {
        self.prompt()
            .is_some_and(|prompt| prompt.embedded_context.is_some())
    }

    pub(crate) fn takes_mcp_stdio(&self) -> bool {
        self.mcp().is_some_and(|mcp| mcp.stdio.is_some())
    }

    pub(crate) fn takes_mcp_http(&self) -> bool {
        self.mcp().is_some_and(|mcp| mcp.http.is_some())
    }

    /// Whether MCP servers over SSE are taken, which version 2 does not have.
    pub(crate) fn takes_mcp_sse(&self) -> bool {
        let capabilities = self.v1.as_ref().map(|v1| &v1.mcp_capabilities);
        capabilities.is_some_and(|mcp| mcp.sse)
    }

    pub(crate) fn takes_roots(&self) -> bool {
        self.session()
            .is_some_and(|session| session.additional_directories.is_some())
    }

    /// Whether `session/load`, or resuming with a replay, is offered.
    pub(crate) fn can_load(&self) -> bool {
        match &self.v1 {
            Some(v1) => v1.load_session,
            None => self.session().is_some(),
        }
    }

    pub(crate) fn can_resume(&self) -> bool {
        match &self.v1 {
            Some(v1) => v1.session_capabilities.resume.is_some(),
            None => self.session().is_some(),
        }
    }

    pub(crate) fn can_list(&self) -> bool {
        match &self.v1 {
            Some(v1) => v1.session_capabilities.list.is_some(),
            None => self.session().is_some(),
        }
    }

    pub(crate) fn can_close(&self) -> bool {
        match &self.v1 {
            Some(v1) => v1.session_capabilities.close.is_some(),
            None => self.session().is_some(),
        }
    }

    pub(crate) fn can_delete(&self) -> bool {
        self.session()
            .is_some_and(|session| session.delete.is_some())
    }

    #[cfg(feature = "unstable_session_fork")]
    pub(crate) fn can_fork(&self) -> bool {
        self.session().is_some_and(|session| session.fork.is_some())
    }

    #[cfg(feature = "unstable_session_status")]
    pub(crate) fn can_tell_status(&self) -> bool {
        self.session()
            .is_some_and(|session| session.status.is_some())
    }

    #[cfg(feature = "unstable_session_set_title")]
    pub(crate) fn can_set_titles(&self) -> bool {
        self.session()
            .is_some_and(|session| session.title.is_some())
    }

    #[cfg(feature = "unstable_session_archive")]
    pub(crate) fn can_archive(&self) -> bool {
        self.session()
            .is_some_and(|session| session.archive.is_some())
    }

    pub(crate) fn can_log_out(&self) -> bool {
        match &self.v1 {
            Some(v1) => v1.auth.logout.is_some(),
            None => !self.auth_methods.is_empty(),
        }
    }

    pub(crate) fn has_sessions(&self) -> bool {
        self.session().is_some()
    }

    /// Checks that a login with this method goes through the protocol.
    pub(crate) fn check_login(&self, method: &str) -> Result<(), Error> {
        let is_it = |offered: &&v2::AuthMethod| &*offered.method_id().0 == method;
        match self.auth_methods.iter().find(is_it) {
            Some(v2::AuthMethod::Agent(_)) => Ok(()),
            Some(v2::AuthMethod::Terminal(_)) => Err(Error::Invalid {
                what: "this login runs in a terminal: use `terminal_login`",
            }),
            Some(_) => Err(Error::Invalid {
                what: "this client does not know how to log in with a method of this type; choose another one",
            }),
            None => Err(Error::Invalid {
                what: "the agent does not offer this login method; choose one of `auth_methods()`",
            }),
        }
    }
}

/// Fails for something that is not offered.
pub(crate) fn offered(
    is_offered: bool,
    what: &'static str,
    hint: &'static str,
) -> Result<(), Error> {
    is_offered
        .then_some(())
        .ok_or(Error::NotOffered { what, hint })
}
