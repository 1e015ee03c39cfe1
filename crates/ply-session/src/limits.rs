//! Every limit of the engine, in one place.

use std::time::Duration;

/// Prompts that may wait for their turn; more are refused.
pub const PROMPTS_HELD_MAX: usize = 256;
/// Questions that may wait for an answer at once; more are answered as unanswered.
pub const ASKS_OPEN_MAX: usize = 256;
/// How long a cancelled turn may take to end before the driver says that it is overdue.
pub const CANCEL_TIME_MAX: Duration = Duration::from_secs(2);
