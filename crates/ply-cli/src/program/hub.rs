//! The hub: `ply serve`, `ply attach` and `ply hub`.

pub(crate) mod arguments;
mod attach;
mod control;
mod factory;
mod place;
pub(crate) mod questions;
mod queue;
mod send;
mod serve;

pub(crate) use self::attach::run as attach;
pub(crate) use self::control::run as control;
pub(crate) use self::place::directory;
pub(crate) use self::queue::run as queue;
pub(crate) use self::send::run as send;
pub(crate) use self::serve::run as serve;
