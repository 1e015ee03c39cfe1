//! The session engine, sans-IO: events in, ordered actions out.
//!
//! One [`Engine`] is the only writer of one session. A driver feeds it [`Input`]s one at a time and
//! does the [`Action`]s it answers with, in order: whatever [`Action::Append`] holds is in the
//! journal before anything after it is done. The engine knows no clock, no task and no transport,
//! and it has no opinion about who runs the turn.
//!
//! ```
//! use ply_session::{Action, Engine, Input, Outcome, Prompt, PromptId, Stop, ViewId};
//!
//! let mut engine = Engine::new(Default::default());
//! let (view, mut out) = (ViewId(1), Vec::new());
//! engine.step(Input::Attach { view, answers: Default::default() }, &mut out);
//! let prompt = Prompt { id: PromptId(1), view, content: vec!["Hi".into()] };
//! engine.step(Input::Prompt(prompt), &mut out);
//! let turn = out.iter().find_map(|action| match action {
//!     Action::StartTurn(start) => Some(start.turn),
//!     _ => None,
//! });
//! out.clear();
//! let outcome = Outcome::Stopped(Stop::EndTurn);
//! engine.step(Input::TurnEnded { turn: turn.unwrap(), outcome }, &mut out);
//! assert!(matches!(out.last(), Some(Action::Settle { prompt: PromptId(1), .. })));
//! ```

mod action;
mod asks;
mod engine;
mod event;
mod history;
mod input;
mod limits;
mod open;
mod queue;
mod turn;
mod update;

pub use self::{
    action::{Action, Refusal, Start},
    engine::Engine,
    event::{Edit, Event, coalesce, joined},
    history::History,
    input::{
        Accepts, Answer, Answers, Ask, AskId, Input, Outcome, Prompt, PromptId, Question, Reply,
        Settings, Stop, TurnId, ViewId,
    },
    limits::{ASKS_OPEN_MAX, CANCEL_TIME_MAX, PROMPTS_HELD_MAX},
    open::Opening,
};
