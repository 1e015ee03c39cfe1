//! `initialize`: identities and capabilities.
//!
//! A proxy that answers before any agent runs advertises its own abilities and does not need the
//! answers here; an agent that serves both versions, or a connection bound to one agent, does.

use super::auth::{self, TerminalAuth};
use super::elicitation;
use crate::negotiate::UNKNOWN_IDENTITY;
use crate::{ProtocolVersion, v1, v2};

/// Turns a version 2 client's request into the one for a version 1 agent.
///
/// Nothing of version 2 is lost beyond `terminal`; see [`client_capabilities_down`].
#[must_use]
pub fn request_down(
    request: &v2::InitializeRequest,
    terminal: TerminalAuth,
) -> v1::InitializeRequest {
    v1::InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(client_capabilities_down(&request.capabilities, terminal))
        .client_info(info_down(&request.info))
        .meta(request.meta.clone())
}

/// Turns a version 1 client's request into the one for a version 2 agent.
///
/// A client without `clientInfo` is called "unknown". Lost: see [`client_capabilities_up`].
#[must_use]
pub fn request_up(
    request: &v1::InitializeRequest,
    terminal: TerminalAuth,
) -> v2::InitializeRequest {
    let info = info_up(request.client_info.as_ref());
    v2::InitializeRequest::new(ProtocolVersion::V2, info)
        .capabilities(client_capabilities_up(
            &request.client_capabilities,
            terminal,
        ))
        .meta(request.meta.clone())
}

/// Turns a version 2 agent's answer into the one for a version 1 client.
///
/// `loadSession`, `resume`, `list` and `close` are what version 2 promises with `session`, and
/// `logout` what it promises with a non-empty `authMethods`.
///
/// Lost: that a version 2 agent may not take stdio MCP servers, which version 1 demands; such an
/// agent must refuse them when they come. Auth methods: see [`auth::methods_down`].
#[must_use]
pub fn response_down(
    response: &v2::InitializeResponse,
    terminal: TerminalAuth,
) -> v1::InitializeResponse {
    let mut capabilities = agent_capabilities_down(&response.capabilities);
    if !response.auth_methods.is_empty() {
        capabilities.auth.logout = Some(v1::LogoutCapabilities::new());
    }
    v1::InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .auth_methods(auth::methods_down(&response.auth_methods, terminal))
        .agent_info(info_down(&response.info))
        .meta(response.meta.clone())
}

/// Turns a version 1 agent's answer into the one for a version 2 client.
///
/// Version 2 promises resume, list, close and logout whatever the version 1 agent offers; whoever
/// passes this answer on must supply what the agent lacks.
///
/// Lost: `loadSession` and the `resume`, `list`, `close` and `logout` markers, which version 2
/// does not have, and SSE as an MCP transport.
#[must_use]
pub fn response_up(
    response: &v1::InitializeResponse,
    terminal: TerminalAuth,
) -> v2::InitializeResponse {
    let info = info_up(response.agent_info.as_ref());
    v2::InitializeResponse::new(ProtocolVersion::V2, info)
        .capabilities(agent_capabilities_up(&response.agent_capabilities))
        .auth_methods(auth::methods_up(&response.auth_methods, terminal))
        .meta(response.meta.clone())
}

/// Turns a version 2 client's capabilities into those shown to a version 1 agent.
///
/// Boolean options, notices and compaction are part of version 2 and therefore advertised. File
/// and terminal services are off: version 2 clients have none, and a caller that offers its own
/// sets `fs` and `terminal` on the result.
#[must_use]
pub fn client_capabilities_down(
    client: &v2::ClientCapabilities,
    terminal: TerminalAuth,
) -> v1::ClientCapabilities {
    let booleans = v1::SessionConfigOptionsCapabilities::new()
        .boolean(v1::BooleanConfigOptionCapabilities::new());
    let session = v1::ClientSessionCapabilities::new()
        .config_options(booleans)
        .notices(v1::NoticeCapabilities::new())
        .compaction(v1::CompactionCapabilities::new());
    let mut auth = v1::AuthCapabilities::new();
    if let Some(from) = &client.auth {
        auth.terminal = from.terminal.is_some() && terminal == TerminalAuth::Keep;
        auth.meta.clone_from(&from.meta);
    }
    v1::ClientCapabilities::new()
        .session(session)
        .auth(auth)
        .elicitation(
            client
                .elicitation
                .as_ref()
                .map(elicitation::capabilities_down),
        )
        .meta(client.meta.clone())
}

/// Turns a version 1 client's capabilities into those shown to a version 2 agent.
///
/// Lost: `fs` and `terminal`, which version 2 does not have, and the `session` markers, which say
/// how to show version 2 to this client and not what it can do for the agent.
#[must_use]
pub fn client_capabilities_up(
    client: &v1::ClientCapabilities,
    terminal: TerminalAuth,
) -> v2::ClientCapabilities {
    let can_terminal = client.auth.terminal && terminal == TerminalAuth::Keep;
    let auth = (can_terminal || client.auth.meta.is_some()).then(|| {
        v2::ClientAuthCapabilities::new()
            .terminal(can_terminal.then(v2::TerminalAuthCapabilities::new))
            .meta(client.auth.meta.clone())
    });
    v2::ClientCapabilities::new()
        .auth(auth)
        .elicitation(
            client
                .elicitation
                .as_ref()
                .map(elicitation::capabilities_up),
        )
        .meta(client.meta.clone())
}

/// Turns a version 2 agent's capabilities into version 1 markers.
///
/// An agent without `session` gets none of the session markers. Lost: the `_meta` of markers that
/// are booleans in version 1.
#[must_use]
pub fn agent_capabilities_down(agent: &v2::AgentCapabilities) -> v1::AgentCapabilities {
    let mut out = v1::AgentCapabilities::new().meta(agent.meta.clone());
    if let Some(auth) = &agent.auth {
        out.auth.meta.clone_from(&auth.meta);
    }
    let Some(session) = &agent.session else {
        return out;
    };
    out.load_session = true;
    out.session_capabilities = v1::SessionCapabilities::new()
        .resume(v1::SessionResumeCapabilities::new())
        .list(v1::SessionListCapabilities::new())
        .close(v1::SessionCloseCapabilities::new())
        .delete(
            session
                .delete
                .as_ref()
                .map(|delete| v1::SessionDeleteCapabilities::new().meta(delete.meta.clone())),
        )
        .additional_directories(session.additional_directories.as_ref().map(|roots| {
            v1::SessionAdditionalDirectoriesCapabilities::new().meta(roots.meta.clone())
        }))
        .meta(session.meta.clone());
    unstable_down(session, &mut out.session_capabilities);
    if let Some(prompt) = &session.prompt {
        out.prompt_capabilities = v1::PromptCapabilities::new()
            .image(prompt.image.is_some())
            .audio(prompt.audio.is_some())
            .embedded_context(prompt.embedded_context.is_some())
            .meta(prompt.meta.clone());
    }
    if let Some(mcp) = &session.mcp {
        out.mcp_capabilities = v1::McpCapabilities::new()
            .http(mcp.http.is_some())
            .meta(mcp.meta.clone());
    }
    out
}

/// Turns a version 1 agent's capabilities into version 2 markers.
///
/// `session` is always there, since every version 1 agent has sessions, and so is stdio for MCP.
/// Lost: what [`response_up`] lists.
#[must_use]
pub fn agent_capabilities_up(agent: &v1::AgentCapabilities) -> v2::AgentCapabilities {
    let from = &agent.prompt_capabilities;
    let any_prompt = from.image || from.audio || from.embedded_context || from.meta.is_some();
    let prompt = any_prompt.then(|| {
        v2::PromptCapabilities::new()
            .image(from.image.then(v2::PromptImageCapabilities::new))
            .audio(from.audio.then(v2::PromptAudioCapabilities::new))
            .embedded_context(
                from.embedded_context
                    .then(v2::PromptEmbeddedContextCapabilities::new),
            )
            .meta(from.meta.clone())
    });
    let mcp = v2::McpCapabilities::new()
        .stdio(v2::McpStdioCapabilities::new())
        .http(
            agent
                .mcp_capabilities
                .http
                .then(v2::McpHttpCapabilities::new),
        )
        .meta(agent.mcp_capabilities.meta.clone());
    let markers = &agent.session_capabilities;
    let mut session = v2::SessionCapabilities::new()
        .prompt(prompt)
        .mcp(mcp)
        .delete(
            markers
                .delete
                .as_ref()
                .map(|delete| v2::SessionDeleteCapabilities::new().meta(delete.meta.clone())),
        )
        .additional_directories(markers.additional_directories.as_ref().map(|roots| {
            v2::SessionAdditionalDirectoriesCapabilities::new().meta(roots.meta.clone())
        }))
        .meta(markers.meta.clone());
    unstable_up(markers, &mut session);
    let auth = agent
        .auth
        .meta
        .clone()
        .map(|meta| v2::AgentAuthCapabilities::new().meta(meta));
    v2::AgentCapabilities::new()
        .session(session)
        .auth(auth)
        .meta(agent.meta.clone())
}

#[cfg_attr(
    not(feature = "unstable_session_fork"),
    allow(unused_variables, reason = "without features there is nothing to do")
)]
fn unstable_down(from: &v2::SessionCapabilities, to: &mut v1::SessionCapabilities) {
    #[cfg(feature = "unstable_session_fork")]
    {
        let fork = from.fork.as_ref();
        to.fork = fork.map(|it| v1::SessionForkCapabilities::new().meta(it.meta.clone()));
    }
    #[cfg(feature = "unstable_session_status")]
    {
        let status = from.status.as_ref();
        to.status = status.map(|it| v1::SessionStatusCapabilities::new().meta(it.meta.clone()));
    }
    #[cfg(feature = "unstable_session_set_title")]
    {
        let title = from.title.as_ref();
        to.title = title.map(|it| v1::SessionTitleCapabilities::new().meta(it.meta.clone()));
    }
    #[cfg(feature = "unstable_session_archive")]
    {
        let archive = from.archive.as_ref();
        to.archive = archive.map(|it| v1::SessionArchiveCapabilities::new().meta(it.meta.clone()));
    }
}

#[cfg_attr(
    not(feature = "unstable_session_fork"),
    allow(unused_variables, reason = "without features there is nothing to do")
)]
fn unstable_up(from: &v1::SessionCapabilities, to: &mut v2::SessionCapabilities) {
    #[cfg(feature = "unstable_session_fork")]
    {
        let fork = from.fork.as_ref();
        to.fork = fork.map(|it| v2::SessionForkCapabilities::new().meta(it.meta.clone()));
    }
    #[cfg(feature = "unstable_session_status")]
    {
        let status = from.status.as_ref();
        to.status = status.map(|it| v2::SessionStatusCapabilities::new().meta(it.meta.clone()));
    }
    #[cfg(feature = "unstable_session_set_title")]
    {
        let title = from.title.as_ref();
        to.title = title.map(|it| v2::SessionTitleCapabilities::new().meta(it.meta.clone()));
    }
    #[cfg(feature = "unstable_session_archive")]
    {
        let archive = from.archive.as_ref();
        to.archive = archive.map(|it| v2::SessionArchiveCapabilities::new().meta(it.meta.clone()));
    }
}

fn info_down(info: &v2::Implementation) -> v1::Implementation {
    v1::Implementation::new(info.name.clone(), info.version.clone())
        .title(info.title.clone())
        .meta(info.meta.clone())
}

fn info_up(info: Option<&v1::Implementation>) -> v2::Implementation {
    match info {
        Some(info) => v2::Implementation::new(info.name.clone(), info.version.clone())
            .title(info.title.clone())
            .meta(info.meta.clone()),
        None => v2::Implementation::new(UNKNOWN_IDENTITY, UNKNOWN_IDENTITY),
    }
}
