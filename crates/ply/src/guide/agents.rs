//! Writing an agent.
//!
//! # The smallest agent
//!
//! An agent is a type that implements [`Agent`](crate::agent::Agent), which has one required method. It gets a
//! [`Turn`](crate::agent::Turn) and returns why the turn stops.
//!
//! ```
//! use ply::agent::{Agent, Result, Stop, Turn};
//!
//! struct Echo;
//!
//! impl Agent for Echo {
//!     async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
//!         turn.say(turn.prompt().text()).await?;
//!         Ok(Stop::EndTurn)
//!     }
//! }
//! ```
//!
//! `ply::agent::serve_stdio(Echo).await` in `main` makes it a program that any ACP client can start. Sessions, their
//! history, `session/load`, `resume`, `list` and `close`, prompts that arrive during a turn, and cancellation are handled
//! for you, in both versions of the protocol. Standard output belongs to the protocol: while the agent is served,
//! `println!` goes to standard error.
//!
//! # Saying what happens
//!
//! [`say`](crate::agent::Turn::say) streams: call it for each piece as the model produces it. Consecutive pieces are one
//! message.
//!
//! ```
//! use ply::agent::v2::{PlanEntry, PlanEntryPriority, PlanEntryStatus};
//! use ply::agent::{Result, Turn};
//!
//! async fn work(turn: &Turn) -> Result<()> {
//!     turn.think("The user wants a greeting.").await?;
//!     let step = PlanEntry::new("Greet", PlanEntryPriority::High, PlanEntryStatus::InProgress);
//!     turn.plan(vec![step]).await?;
//!     for piece in ["Hello", ", ", "world"] {
//!         turn.say(piece).await?;
//!     }
//!     Ok(())
//! }
//! ```
//!
//! These calls wait when the client reads slowly, so memory stays bounded without any work on your side. Anything without
//! a method of its own is sent with [`update`](crate::agent::Turn::update).
//!
//! # Tool calls and permission
//!
//! A tool call is announced, reports as it goes, and is finished or failed. One that is dropped on the way, by `?` for
//! example, is reported as failed. [`ask`](crate::agent::ToolCall::ask) asks the user whether the tool may run.
//!
//! ```
//! use ply::agent::v2::ToolKind;
//! use ply::agent::{Decision, Result, Stop, Turn};
//!
//! async fn delete_cache(turn: &Turn) -> Result<Stop> {
//!     let call = turn.tool_call("Delete the cache").kind(ToolKind::Delete).await?;
//!     match call.ask().await? {
//!         decision if decision.is_allowed() => {
//!             call.start().await?;
//!             call.finish_with("Deleted 12 files.").await?;
//!             Ok(Stop::EndTurn)
//!         }
//!         // The user dismissed the question: end the turn instead of trying something else.
//!         Decision::Dismissed => {
//!             call.cancel().await?;
//!             Ok(Stop::Cancelled)
//!         }
//!         _ => {
//!             call.fail("Not allowed.").await?;
//!             Ok(Stop::EndTurn)
//!         }
//!     }
//! }
//! ```
//!
//! [`add_diff`](crate::agent::ToolCall::add_diff) shows a change of a file; give it the old and the new text. The example
//! `edit_file` puts it together.
//!
//! # Files and terminals of the client
//!
//! An editor may offer its files, with unsaved changes, and terminals that the user can watch. Not every client does, and
//! version 2 of the protocol has neither: check first, and have a second way.
//!
//! ```
//! use std::path::Path;
//!
//! use ply::agent::{Result, Turn};
//!
//! async fn read(turn: &Turn, path: &Path) -> Result<Option<String>> {
//!     if turn.can_read_files() {
//!         return Ok(Some(turn.read_text_file(path).await?));
//!     }
//!     Ok(tokio::fs::read_to_string(path).await.ok())
//! }
//!
//! async fn run_tests(turn: &Turn) -> Result<bool> {
//!     if !turn.has_terminals() {
//!         return Ok(false);
//!     }
//!     let call = turn.tool_call("cargo test").await?;
//!     let terminal = turn.terminal("cargo").arg("test").await?;
//!     call.add_terminal(&terminal).await?;
//!     let status = terminal.wait().await?;
//!     call.finish().await?;
//!     Ok(status.exit_code == Some(0))
//! }
//! ```
//!
//! # Cancellation
//!
//! When the user cancels, every call of the turn that waits fails with an error for which
//! [`is_cancelled`](crate::agent::Error::is_cancelled) is true: pass it on with `?`. Wrap other waits in
//! [`unless_cancelled`](crate::agent::Turn::unless_cancelled). The turn ends as cancelled whatever your code returns; two
//! seconds after the cancel its future is dropped.
//!
//! ```
//! use std::time::Duration;
//!
//! use ply::agent::{Result, Turn};
//!
//! async fn slow(turn: &Turn) -> Result<()> {
//!     turn.unless_cancelled(tokio::time::sleep(Duration::from_secs(30))).await
//! }
//! ```
//!
//! # History and state
//!
//! A session remembers everything that was said and done in it; [`history`](crate::agent::Turn::history) returns it. Build
//! the context of a model from it instead of keeping a second copy, and a session that is loaded tomorrow continues where
//! it was. What is not history, such as a connection, is the session's state: set it in
//! [`open`](crate::agent::Agent::open) and find it in every turn.
//!
//! ```
//! use ply::agent::transcript::MessageKind;
//! use ply::agent::{Agent, Result, Session, SessionSetup, Stop, Turn};
//!
//! struct Connection;
//!
//! struct Helper;
//!
//! impl Agent for Helper {
//!     async fn open(&self, session: &Session, setup: &SessionSetup) -> Result<()> {
//!         // `setup` has the directory and the MCP servers that the client wants used.
//!         session.set_state(Connection);
//!         Ok(())
//!     }
//!
//!     async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
//!         let connection: &Connection = turn.session().state();
//!         let history = turn.history().await?;
//!         for message in history.transcript().messages() {
//!             let from_user = message.kind == MessageKind::User;
//!             let text = message.text();
//!             // … put it into the request to the model …
//!         }
//!         Ok(Stop::EndTurn)
//!     }
//! }
//! ```
//!
//! # Options and commands
//!
//! Options, such as the mode or the model, and slash commands belong to the session. The first option of category `mode`
//! is also shown as the modes of version 1. A change by the user goes to
//! [`set_option`](crate::agent::Agent::set_option), where an error refuses it.
//!
//! ```
//! use ply::agent::v2::{
//!     AvailableCommand, Command, SessionConfigOption, SessionConfigOptionCategory,
//!     SessionConfigSelectOption,
//! };
//! use ply::agent::{Result, Session};
//!
//! async fn set_up(session: &Session) -> Result<()> {
//!     let modes = [("ask", "Ask first"), ("code", "Write code")];
//!     let modes = modes.map(|(id, name)| SessionConfigSelectOption::new(id, name));
//!     let mode = SessionConfigOption::select("mode", "Mode", "ask", modes.to_vec())
//!         .category(SessionConfigOptionCategory::Mode);
//!     session.set_options(vec![mode]).await?;
//!     let help = AvailableCommand::Command(Command::new("help", "Explains this agent"));
//!     session.set_commands(vec![help]).await
//! }
//! ```
//!
//! # Sessions on disk
//!
//! By default sessions live as long as the process. With the feature `sqlite` and a path they survive it: accepted prompts,
//! approvals and ends of turns are on disk before anybody hears of them.
//!
//! ```no_run
//! # use ply::agent::{Agent, Result, Stop, Turn};
//! # struct Echo;
//! # impl Agent for Echo {
//! #     async fn prompt(&self, _: &mut Turn) -> Result<Stop> { Ok(Stop::EndTurn) }
//! # }
//! # #[cfg(feature = "sqlite")]
//! # async fn example() -> Result<()> {
//! ply::agent::serve(Echo).journal("sessions.db").stdio().await
//! # }
//! ```
//!
//! With the features `unstable_session_fork`, `unstable_session_status`, `unstable_session_set_title` and
//! `unstable_session_archive`, `About` has methods that let clients fork, look up, name and archive sessions:
//! `About::new("my-agent", "1.0.0").session_fork()`. They need no further code. The protocol may still change or drop these
//! methods, so they are off by default.
//!
//! # Errors
//!
//! An error that `prompt` returns ends the turn and is shown to the user; [`Error::msg`](crate::agent::Error::msg) makes
//! one from words. A panic ends its turn in the same way and touches no other session.
//! [`Error::auth_required`](crate::agent::Error::auth_required) from `open` asks the client to log in.
//!
//! # Messages of your own
//!
//! Requests and notifications whose names begin with an underscore are yours. Those of a client go to
//! [`extension`](crate::agent::Agent::extension):
//!
//! ```
//! use ply::agent::serde_json::json;
//! use ply::agent::{Agent, Error, Extension, Result, Stop, Turn, Value};
//!
//! struct Helper;
//!
//! impl Agent for Helper {
//!     async fn prompt(&self, _: &mut Turn) -> Result<Stop> {
//!         Ok(Stop::EndTurn)
//!     }
//!
//!     async fn extension(&self, request: &Extension) -> Result<Value> {
//!         match request.method() {
//!             "_example.com/status" => Ok(json!({ "ready": true })),
//!             _ => Err(Error::method_not_found()),
//!         }
//!     }
//! }
//! ```
//!
//! # Testing
//!
//! [`testing::pair`](crate::testing::pair) connects a client to your agent in the same process:
//!
//! ```
//! # use ply::agent::{Agent, Result, Stop, Turn};
//! # struct Echo;
//! # impl Agent for Echo {
//! #     async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
//! #         turn.say(turn.prompt().text()).await?;
//! #         Ok(Stop::EndTurn)
//! #     }
//! # }
//! # #[tokio::main]
//! # async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
//! let agent = ply::testing::pair(Echo).await?;
//! let session = agent.new_session("/").await?;
//! session.prompt("Hello").await?.finish().await?;
//! assert_eq!(session.transcript().last_agent_text(), "Hello");
//! # Ok(()) }
//! ```
