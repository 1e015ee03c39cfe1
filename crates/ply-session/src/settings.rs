//! How a session's host wants it to be treated.

use crate::{Accepts, Limits};

/// How far a record must have come before something that depends on it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Level {
    /// It is in memory, in its place.
    #[default]
    Accepted,
    /// It survives the death of this process.
    Written,
    /// It survives the loss of power.
    Durable,
}

/// What the host of a session decides once for all its sessions. The default suits an agent that
/// serves its own editor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The content that prompts may hold.
    pub accepts: Accepts,
    /// What becomes of the session when its last client leaves and nothing runs.
    pub last_client: LastClient,
    /// What becomes of queued prompts when their sender leaves.
    pub queued_prompts: QueuedPrompts,
    /// What one client's `session/close` does.
    pub close: CloseEffect,
    /// What becomes of questions that only a client which leaves could answer.
    pub questions: Questions,
    /// Whose queued prompts `session/cancel` drops.
    pub cancel: CancelScope,
    /// What the author's code waits for.
    pub pace: Pace,
    /// How far an update must have come before clients see it. What must be durable is, in any case.
    pub shows: Level,
    /// Whether prompts marked as steering are passed to the running turn instead of being queued.
    pub steering: bool,
    /// How much may be in memory.
    pub limits: Limits,
}

/// What becomes of a session without clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LastClient {
    /// It closes when nothing runs. One in which nothing was said stays with its server.
    #[default]
    Closes,
    /// It stays open.
    Stays,
}

/// What becomes of queued prompts whose sender leaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QueuedPrompts {
    /// They are dropped.
    #[default]
    LeaveWithSender,
    /// They stay queued.
    Stay,
}

/// What `session/close` of one client does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CloseEffect {
    /// It closes the session for everybody.
    #[default]
    Closes,
    /// It detaches that client.
    Detaches,
}

/// What becomes of questions when nobody is left who could answer them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Questions {
    /// Permission requests wait for the next client, forms are given up.
    #[default]
    PermissionsWait,
    /// All of them wait.
    Wait,
}

/// Whose queued prompts a cancel drops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CancelScope {
    /// Everybody's.
    #[default]
    All,
    /// Those of the principal that cancels.
    Own,
}

/// What sets the pace of the author's code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// The attached client that reads fastest, and the journal.
    #[default]
    Views,
    /// The journal alone.
    Journal,
}
