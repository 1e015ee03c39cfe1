//! The hub: `ply serve`, `ply attach` and `ply hub`.

pub(crate) mod arguments;
mod attach;
mod config;
mod control;
mod doctor;
mod factory;
mod logs;
mod place;
pub(crate) mod questions;
mod queue;
mod send;
mod serve;
pub(crate) mod through;
mod unit;
mod watch;

pub(crate) use self::attach::run as attach;
pub(crate) use self::control::run as control;
pub(crate) use self::place::directory;
pub(crate) use self::queue::run as queue;
pub(crate) use self::send::run as send;
pub(crate) use self::serve::run as serve;
pub(crate) use self::watch::run as watch;
