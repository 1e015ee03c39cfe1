//! A hub for ACP: it hosts sessions of any agent, and several clients of either version share them. A prompt is queued, a question
//! waits and a turn goes on when the editor is closed.
//!
//! [`Daemon`] is the process behind a socket in a [`Place`], [`Hub`] what it serves, and a [`Factory`] makes the agents.

pub mod ask;
pub mod connect;
mod daemon;
pub mod down;
mod ending;
pub mod hello;
pub mod hold;
mod hub;
mod idle;
mod notify;
mod peer;
pub mod pipe;
mod place;
mod router;
mod runner;
pub mod shim;

pub use self::daemon::{Daemon, DaemonError, Ended};
pub use self::ending::Stop;
pub use self::hello::Wanted;
pub use self::hub::Hub;
pub use self::place::{Place, PlaceError};
pub use self::router::Factory;
pub use self::runner::Runner;
