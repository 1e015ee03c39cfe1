//! Writing a client.
//!
//! # A prompt and its answer
//!
//! ```no_run
//! use ply::client::Event;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = ply::client::spawn(["gemini", "--acp"]).await?;
//! let session = agent.new_session("/home/me/project").await?;
//! let mut turn = session.prompt("Fix the failing test").await?;
//! while let Some(event) = turn.next().await {
//!     match event? {
//!         Event::Message(text) => print!("{text}"),
//!         Event::Permission(ask) => ask.allow_once().await?,
//!         _ => {}
//!     }
//! }
//! println!("{:?}", turn.stop_reason());
//! # Ok(()) }
//! ```
//!
//! [`spawn`](crate::client::spawn) starts the program, agrees on a protocol version and returns an
//! [`Agent`](crate::client::Agent). When the last handle to it, its sessions and its turns is dropped, or
//! [`close`](crate::client::Agent::close) is called, its whole process tree ends. If it dies in between, it is started
//! again when it is next needed, and its sessions are opened again.
//!
//! [`Client`](crate::client::Client) does the same with settings:
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use ply::client::{Client, Command, Files, Terminals};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let command = Command::new("my-agent").arg("--acp").env("MY_AGENT_LOG", "debug");
//! let agent = Client::new()
//!     .info("my-editor", "1.0.0")
//!     .files(Files::new())
//!     .terminals(Terminals::new())
//!     .start_deadline(Duration::from_secs(30))
//!     .spawn(command)
//!     .await?;
//! # Ok(()) }
//! ```
//!
//! What is not set is not offered to the agent, and what the agent does not offer is refused here with a reason, before
//! anything is sent. That includes what the protocol calls unstable: `Session::fork`, `status`, `set_title`, `archive` and
//! `unarchive`, each behind the feature `unstable_session_` and its name.
//!
//! # Events and the transcript
//!
//! There are two ways to follow a session. *Events* tell what happens as it happens: those of one turn come from
//! [`Turn::next`](crate::client::Turn::next), those of the session from [`Session::events`](crate::client::Session::events).
//! The *transcript* is what all updates add up to: messages joined from their chunks, each tool call in its latest state,
//! the plan, the options. It is kept in any case, also for a session that was loaded, so a screen draws from it and uses
//! events only to know when.
//!
//! ```
//! use ply::client::Session;
//!
//! fn draw(session: &Session) -> Vec<String> {
//!     session.with_transcript(|transcript| {
//!         let messages = transcript.messages().map(|message| message.text());
//!         let calls = transcript.tool_calls();
//!         let calls = calls.map(|call| format!("{}: {:?}", call.shown_title(), call.status));
//!         messages.chain(calls).collect()
//!     })
//! }
//! ```
//!
//! If you want only the end, call [`Turn::finish`](crate::client::Turn::finish) and read the transcript; give the client a
//! policy then, because nobody reads the questions. A program that reads too slowly holds up nobody else: it gets
//! [`Event::Lagged`](crate::client::Event::Lagged) and then everything that changed, as it is now.
//!
//! # Permission
//!
//! A permission request goes to the policy first, then to whoever reads the events. Answer
//! [`Event::Permission`](crate::client::Event::Permission) with one of the agent's own options. It stays open until someone
//! answers, the turn ends or the agent takes it back; a session may have several clients, and silence of one is no answer.
//! A policy decides without a user, and sees the whole tool call: kind, title, locations, input, diff.
//!
//! ```
//! use ply::client::transcript::ToolCall;
//! use ply::client::v2::{PermissionOptionKind, RequestPermissionRequest, ToolKind};
//! use ply::client::{Client, Decision};
//!
//! let reads_only = |request: &RequestPermissionRequest, call: Option<&ToolCall>| {
//!     let reads = call.is_some_and(|call| call.kind == ToolKind::Read);
//!     let allow = PermissionOptionKind::AllowOnce;
//!     match request.options.iter().find(|option| reads && option.kind == allow) {
//!         Some(option) => Decision::Select(option.option_id.clone()),
//!         None => Decision::Ask,
//!     }
//! };
//! let client = Client::new().permissions(reads_only);
//! ```
//!
//! [`AllowAll`](crate::client::AllowAll), [`RejectAll`](crate::client::RejectAll) and
//! [`LeaveToOthers`](crate::client::LeaveToOthers), for clients that only watch, are policies, too.
//!
//! # Files and terminals
//!
//! [`Files`](crate::client::Files) serves the text files beneath the session's directories and nothing outside of them,
//! links included. [`Buffers`](crate::client::Buffers) puts an editor's unsaved text before what is on disk; the example
//! `unsaved_buffers` is a complete program. An editor with files of its own implements
//! [`FileService`](crate::client::FileService) instead. [`Terminals`](crate::client::Terminals) runs commands for the agent and ends
//! them with the session. Only version 1 of the protocol has requests for either: a client that depends on them restricts
//! itself with [`versions`](crate::client::Client::versions).
//!
//! # Requests for information
//!
//! An agent may ask for a form to be filled in, or for an address to be opened. [`Elicitations`](crate::client::Elicitations) offers
//! that and asks whoever reads the events. An editor with forms of its own implements
//! [`ElicitationService`](crate::client::ElicitationService), an `async fn` that answers when the user has; it is also asked what
//! belongs to no session, such as the questions of a login.
//!
//! # Cancelling
//!
//! [`Turn::cancel`](crate::client::Turn::cancel) asks the agent to stop; the turn then ends with the stop reason
//! `cancelled`. Dropping a turn cancels nothing: the agent goes on and the transcript grows. Other futures cancel
//! their request when they are dropped, by a timeout for example; those that end something, such as
//! [`Session::close`](crate::client::Session::close), do not. An agent that ignores a cancel
//! is reported as [`Event::CancelOverdue`](crate::client::Event::CancelOverdue), and [`Agent::kill`](crate::client::Agent::kill) ends it.
//!
//! # Old sessions
//!
//! ```no_run
//! use ply::client::{Agent, Error, Session, SessionFilter};
//!
//! async fn continue_latest(agent: &Agent, cwd: &std::path::Path) -> Result<Option<Session>, Error> {
//!     let Some(latest) = agent.latest_session(cwd).await? else {
//!         return Ok(None);
//!     };
//!     // The transcript of the session that is returned holds the whole history.
//!     Ok(Some(agent.load_session(latest.session_id, cwd).await?))
//! }
//!
//! async fn titles(agent: &Agent) -> Result<Vec<String>, Error> {
//!     let sessions = agent.list_sessions(SessionFilter::all()).await?;
//!     Ok(sessions.into_iter().filter_map(|session| session.title).collect())
//! }
//! ```
//!
//! [`continue_session`](crate::client::Agent::continue_session) opens a session in whichever way the agent offers, with its
//! history or without; ask [`can_continue`](crate::client::Agent::can_continue) first.
//!
//! # Agents that break the rules
//!
//! Updates too early or too late, malformed messages, text on standard output that is no JSON: the client survives them
//! and counts them in [`Agent::reports`](crate::client::Agent::reports). Show these to whoever writes the agent.
//!
//! # Messages of your own
//!
//! Requests and notifications whose names begin with an underscore are not the protocol's. Implement
//! [`Extensions`](crate::client::Extensions) for those of agents.
//!
//! # Agents without a process
//!
//! [`Client::connect`](crate::client::Client::connect) takes any byte stream: a socket, or the other end of an agent in the
//! same process. For tests there is [`testing`](crate::testing).
