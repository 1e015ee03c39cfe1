//! Commands: processes of their own group, bounded output, a sandbox.

/// Processes that run in the background of a session.
#[derive(Debug, Default)]
pub struct Processes;

/// How commands are confined.
#[derive(Debug, Clone, Default)]
pub struct Sandbox;
