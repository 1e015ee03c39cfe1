//! The core of a session, sans-IO: everything that is decided about a session happens here.
//!
//! A session is a journal of [`Event`]s in the meaning of protocol version 2, and every client is a view of it. One [`Core`]
//! owns one session. A driver feeds it [`Input`]s (what clients sent, what the agent's code reported, what the journal said,
//! that time has passed) and does the [`Effect`]s that come of them. The core knows no clock, no task, no disk and no
//! transport, and it has no opinion about who runs the turns.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use ply_session::{Core, Effect, Input, Outcome, RequestId, Settings, Setup, Stop};
//!
//! let (mut core, mut out) = (Core::new("s1".into(), Settings::default(), Arc::new(Setup::new("/work"))), Vec::new());
//! let now = Duration::ZERO;
//! core.step(now, Input::Prepared { outcome: Ok(()) }, &mut out);
//! // The agent starts a turn by itself. Its beginning must be safe first, so the session is created in the journal.
//! core.step(now, Input::Begin { request: RequestId(1) }, &mut out);
//! assert!(matches!(out.pop(), Some(Effect::Create)));
//! ```

mod core;
mod edits;
pub mod engine;
mod event;
mod fork;
mod handover;
mod history;
mod limits;
mod settings;
mod size;
mod types;

pub use self::core::{
    After, Attach, Close, Core, Description, Effect, Empty, Form, How, Input, Json, Keep, Message,
    Opened, OptionChange, Persist, Prompt, Pull, Response, Rights, Setup, Title, Viewer,
    no_such_session, request_cancelled, title_of, title_record, wrong_directory,
};
pub use self::engine::{Opening, Refusal, Start};
pub use self::event::{Connection, Edit, Event, QueueChange, Runner, coalesce, joined};
pub use self::fork::{ForkPoint, Forking, fork_record, is_forked};
pub use self::handover::{Handover, PassedOn, Told};
pub use self::history::{History, QueuedPrompt};
pub use self::limits::*;
pub use self::settings::{
    CancelScope, CloseEffect, LastClient, Level, Pace, Questions, QueuedPrompts, Settings,
};
pub use self::size::{block_bytes, update_bytes};
pub use self::types::{
    Accepts, Answer, Answers, Ask, AskId, Entity, Outcome, PromptId, Question, Reply, RequestId,
    Stop, TurnId, ViewId,
};
