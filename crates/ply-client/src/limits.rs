//! Every limit of the client, in one place.

use std::time::Duration;

/// How long an agent may take to answer `initialize`.
pub const START_TIME_MAX: Duration = Duration::from_secs(60);
/// How long an agent may take to answer a request that is neither a prompt nor a login.
pub const CALL_TIME_MAX: Duration = Duration::from_secs(300);
/// How long opening a session waits for the agent's answer to an earlier request to open it that was given up.
pub const OPENING_WAIT_MAX: Duration = Duration::from_secs(30);
/// Updates kept for sessions whose `session/new` answer has not come yet.
pub const EARLY_UPDATES_MAX: usize = 1000;
/// Bytes of updates kept for sessions whose `session/new` answer has not come yet.
pub(crate) const EARLY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Prompts of a session that wait for their turn.
pub const HELD_PROMPTS_MAX: usize = 64;
/// Events waiting for one reader before they are dropped and told as [`Event::Lagged`](crate::Event::Lagged).
pub const QUEUED_EVENTS_MAX: usize = 1024;
/// Bytes of events waiting for one reader before they are dropped.
pub const QUEUED_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Events waiting before text of one message is joined into fewer events.
pub const JOIN_FROM_EVENTS: usize = 256;
/// Longest text made by joining.
pub const JOINED_TEXT_BYTES_MAX: usize = 16 * 1024;
/// Silence in a running turn that is worth telling.
pub const QUIET_TIME: Duration = Duration::from_secs(30);
/// How long a cancelled turn may take to end before the caller hears of it.
pub const CANCEL_TIME_MAX: Duration = Duration::from_secs(5);
/// How long [`Turn::finish`](crate::Turn::finish) waits for a cancelled turn to end.
pub const CANCEL_IGNORED_TIME_MAX: Duration = Duration::from_secs(30);
/// How long the exit status and the last words of an agent that closed its output are waited for.
pub(crate) const LAST_WORDS_TIME_MAX: Duration = Duration::from_millis(90);
/// Pages of one session list.
pub const LIST_PAGES_MAX: usize = 1000;
/// Sessions of one session list.
pub const LISTED_SESSIONS_MAX: usize = 100_000;
/// Kinds of rule breaks kept; more of a kind are counted.
pub const REPORTS_MAX: usize = 100;
/// Characters of the agent's standard error kept in an error.
pub const STDERR_CHARS_SHOWN: usize = 2000;
/// Characters shown of the data of an agent's error.
pub const REASON_CHARS_SHOWN: usize = 1000;
/// User messages remembered while a prompt is not answered.
pub(crate) const SEEN_MESSAGES_MAX: usize = 64;
/// First wait before an agent that crashed at its start is started again; it doubles.
pub const RESTART_WAIT_MIN: Duration = Duration::from_millis(500);
/// Longest wait before an agent that crashed is started again.
pub const RESTART_WAIT_MAX: Duration = Duration::from_secs(30);
/// Crashes within [`RESTART_WINDOW`] after which an agent is not started again.
pub const RESTARTS_MAX: usize = 5;
/// The time in which crashes are counted.
pub const RESTART_WINDOW: Duration = Duration::from_secs(120);
/// How often options are set back after an agent was started again, as setting one may change another.
pub(crate) const RESTORE_ROUNDS_MAX: usize = 3;
/// How long a version 1 agent may take to answer a second greeting that tells it of our services.
pub(crate) const SECOND_GREETING_TIME_MAX: Duration = Duration::from_secs(10);
/// Sessions kept in a list of recent ones.
pub const RECENT_SESSIONS_MAX: usize = 500;
/// Characters kept of the title of a recent session.
pub const RECENT_TITLE_CHARS_MAX: usize = 200;
/// Visits to URLs remembered until the agent says that they are over, and ends of visits that wait for one reader.
pub const VISITS_MAX: usize = 64;
