//! Moving from the official Rust SDK.
//!
//! The crate [`agent-client-protocol`](https://crates.io/crates/agent-client-protocol) (version 5.0.0 here) gives each
//! message of the protocol to a handler of yours and sends the messages you build. Ply has one layer more: it keeps the
//! sessions, their history and the order of prompts, and you write what happens in a turn. The message types are the same,
//! because both use `agent-client-protocol-schema`; here they are [`v1`](crate::agent::v1) and [`v2`](crate::agent::v2).
//!
//! # Connections
//!
//! | Official SDK | Ply |
//! |---|---|
//! | `Agent.v1()`, `Agent.v2()`, `AgentProtocolRouter` | [`serve`](crate::agent::serve) and [`serve_stdio`](crate::agent::serve_stdio) serve both versions |
//! | `Client.v1()`, `Client.v2()`, `ClientProtocolConnector` | [`Client`](crate::client::Client) speaks both; [`versions`](crate::client::Client::versions) restricts it |
//! | `.connect_to(Stdio::new())` | [`serve_stdio`](crate::agent::serve_stdio) |
//! | `AcpAgent`, `AcpAgentConfig` | [`Command`](crate::client::Command) and [`Client::spawn`](crate::client::Client::spawn) |
//! | `AcpAgent::with_debug` | [`Client::on_line`](crate::client::Client::on_line), [`Command::on_stderr`](crate::client::Command::on_stderr) |
//! | `ByteStreams` | [`Server::over`](crate::agent::Server::over), [`Client::connect`](crate::client::Client::connect) |
//! | `.connect_with(transport, async \|cx\| …)` | no scope: [`Agent`](crate::client::Agent) is a handle that you keep and clone |
//! | `Channel::duplex()`, in tests | [`testing::pair`](crate::testing::pair) |
//! | `InitializeRequest` and its answer | done for you; [`About`](crate::agent::About) and [`Client`](crate::client::Client) say what is offered |
//! | `Proxy`, `Conductor` | an [`Agent`](crate::agent::Agent) with a client inside, as in the example `bridge` |
//!
//! # In an agent
//!
//! | Official SDK | Ply |
//! |---|---|
//! | `.on_receive_request(async \|request: PromptRequest, responder, cx\| …)` | [`Agent::prompt`](crate::agent::Agent::prompt) |
//! | `responder.respond(PromptResponse::new(StopReason::EndTurn))` | `Ok(`[`Stop::EndTurn`](crate::agent::Stop::EndTurn)`)` |
//! | handler of `NewSessionRequest` | [`Agent::open`](crate::agent::Agent::open), if there is something to prepare |
//! | handlers of `LoadSessionRequest`, `ResumeSessionRequest`, `ListSessionsRequest`, `CloseSessionRequest` | done for you |
//! | a map from `SessionId` to your own state | [`Session::set_state`](crate::agent::Session::set_state), [`Session::state`](crate::agent::Session::state) |
//! | a list of past updates, for replay | [`Turn::history`](crate::agent::Turn::history); [`Server::journal`](crate::agent::Server::journal) keeps it on disk |
//! | `cx.send_notification(SessionNotification::new(id, …))` | [`Turn::say`](crate::agent::Turn::say), [`think`](crate::agent::Turn::think), [`plan`](crate::agent::Turn::plan), [`update`](crate::agent::Turn::update) |
//! | `SessionUpdate::ToolCall`, then `ToolCallUpdate`s | [`Turn::tool_call`](crate::agent::Turn::tool_call) and the [`ToolCall`](crate::agent::ToolCall) that it returns |
//! | `cx.send_request(RequestPermissionRequest::new(…)).block_task()` | [`ToolCall::ask`](crate::agent::ToolCall::ask), [`Turn::ask`](crate::agent::Turn::ask) |
//! | `send_request` of `ReadTextFileRequest`, `WriteTextFileRequest` | [`Turn::read_text_file`](crate::agent::Turn::read_text_file), [`Turn::write_text_file`](crate::agent::Turn::write_text_file) |
//! | `send_request` of `CreateTerminalRequest` and the four others | [`Turn::terminal`](crate::agent::Turn::terminal) |
//! | `send_request` of `CreateElicitationRequest` | [`Turn::elicit_form`](crate::agent::Turn::elicit_form), [`Turn::elicit_url`](crate::agent::Turn::elicit_url) |
//! | handler of `CancelNotification`, `responder.cancellation()` | [`Turn::cancelled`](crate::agent::Turn::cancelled); everything of the turn that waits fails |
//! | handler of `SetSessionModeRequest` or `SetSessionConfigOptionRequest` | [`Session::set_options`](crate::agent::Session::set_options), [`Agent::set_option`](crate::agent::Agent::set_option) |
//! | handlers of `AuthenticateRequest`, `LogoutRequest` | [`Agent::login`](crate::agent::Agent::login), [`Agent::logout`](crate::agent::Agent::logout) |
//! | `#[derive(JsonRpcRequest)]` on a type of your own | [`Agent::extension`](crate::agent::Agent::extension) |
//! | `Error`, `Error::auth_required()` | [`Error`](crate::agent::Error), [`Error::auth_required`](crate::agent::Error::auth_required) |
//! | `cx.spawn(…)`, so that a handler does not block the connection | not needed: each session has a task of its own, and you may wait anywhere |
//!
//! # In a client
//!
//! | Official SDK | Ply |
//! |---|---|
//! | `cx.build_session(cwd)`, `build_session_cwd()` | [`Agent::new_session`](crate::client::Agent::new_session) |
//! | `cx.load_session(…)`, `cx.resume_session(…)` | [`Agent::load_session`](crate::client::Agent::load_session), [`Agent::resume_session`](crate::client::Agent::resume_session), or [`continue_session`](crate::client::Agent::continue_session) for either |
//! | `ActiveSession` | [`Session`](crate::client::Session) |
//! | `session.send_prompt(…)`, `send_prompt_blocks(…)` | [`Session::prompt`](crate::client::Session::prompt), with a [`Prompt`](crate::client::Prompt) for more than text |
//! | `v1::ActiveSession::read_update()`, `SessionMessage`; in version 2 a handler of updates | [`Turn::next`](crate::client::Turn::next), [`Session::events`](crate::client::Session::events) |
//! | `read_to_string()` | [`Turn::finish`](crate::client::Turn::finish), then [`Transcript::last_agent_text`](crate::client::Transcript::last_agent_text) |
//! | `v2::ActiveSession::cancel_active_work()` | [`Turn::cancel`](crate::client::Turn::cancel), [`Session::cancel`](crate::client::Session::cancel) |
//! | `v2::ActiveSession::set_config_option(…)` | [`Session::set_config_option`](crate::client::Session::set_config_option) |
//! | `v2::ActiveSession::close()` | [`Session::close`](crate::client::Session::close) |
//! | `send_request(ListSessionsRequest::new())` | [`Agent::list_sessions`](crate::client::Agent::list_sessions) |
//! | handler of `RequestPermissionRequest` | [`Event::Permission`](crate::client::Event::Permission), or a policy: [`Permissions`](crate::client::Permissions) |
//! | handlers of `ReadTextFileRequest`, `WriteTextFileRequest` | [`Files`](crate::client::Files), [`Buffers`](crate::client::Buffers), or your own [`FileService`](crate::client::FileService) |
//! | handlers of `CreateTerminalRequest` and the four others | [`Terminals`](crate::client::Terminals), or your own [`TerminalService`](crate::client::TerminalService) |
//! | handler of `CreateElicitationRequest` | [`Event::Elicitation`](crate::client::Event::Elicitation), [`ElicitationService`](crate::client::ElicitationService) |
//! | `#[derive(JsonRpcRequest)]` on a type of your own | [`Extensions`](crate::client::Extensions) |
//! | code that joins chunks and patches tool calls | [`Session::transcript`](crate::client::Session::transcript) |
//! | `is_connection_terminated(&error)` | [`Error::Gone`](crate::client::Error::Gone); the next request starts the agent again |
//!
//! # What Ply does not have
//!
//! - MCP servers inside the process (`mcp_server`, `with_mcp_server`).
//! - Connections without a protocol version (`Builder::new`) and handlers that are added while a connection runs.
//! - Runtimes other than tokio, and WebAssembly.
