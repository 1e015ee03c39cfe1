//! What a program tells the agent.

use std::path::PathBuf;
use std::sync::Arc;

use crate::model::{Effort, Model};
use crate::permission::{Mode, Rule};
use crate::shell::Sandbox;

/// How many requests a turn may make of the model.
pub const TURN_REQUESTS_MAX: u32 = 200;

/// What a program tells the agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The models to choose from, the default first; never empty.
    pub models: Vec<Arc<dyn Model>>,
    /// How hard models are to think at first.
    pub effort: Option<Effort>,
    /// The mode in which sessions begin.
    pub mode: Mode,
    /// The user's permission rules.
    pub rules: Vec<Rule>,
    /// The file that keeps rules which the user allows for good.
    pub user_rules: Option<PathBuf>,
    /// How many requests a turn may make of the model.
    pub turn_requests_max: u32,
    /// Whether the conversation is shortened by itself before it is too long.
    pub compact: bool,
    /// Whether pages may be fetched from the web.
    pub web_fetch: bool,
    /// How commands are confined.
    pub sandbox: Sandbox,
    /// Where whole outputs of commands are kept.
    pub logs: PathBuf,
    /// Further instructions of the user, for every session.
    pub instructions: Option<String>,
}
