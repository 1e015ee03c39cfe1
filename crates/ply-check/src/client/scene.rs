//! What is played to a client.

use ply_wire::negotiate::Version;

use super::stage::Stage;
use crate::topic::Running;

/// When a scene begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Before anything was said.
    AtBeginning,
    /// The client has a session and sent a prompt.
    AtPrompt,
}

/// One scene: what the scripted agent does, and which rules it finds out about.
pub(crate) struct Scene {
    /// Its name, one word for command lines and prompts.
    pub(crate) name: &'static str,
    /// When it begins.
    pub(crate) start: Start,
    /// The rules that it can find out about, of both versions.
    pub(crate) rules: &'static [&'static str],
    /// Whether the agent ends with the scene, without waiting for the client.
    pub(crate) leaves: bool,
    /// What it does.
    pub(crate) run: for<'a> fn(&'a mut Stage) -> Running<'a>,
}

impl Scene {
    /// Returns whether it has something to find out in a version.
    pub(crate) fn is_for(&self, version: Version) -> bool {
        self.rules.iter().any(|rule| is_of(rule, version))
    }
}

/// Returns whether a rule belongs to a version.
pub(crate) fn is_of(rule: &str, version: Version) -> bool {
    rule.starts_with(match version {
        Version::V1 => "V1-",
        Version::V2 => "V2-",
    })
}
