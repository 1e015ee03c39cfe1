//! What the SDKs are measured on, and how much of it.

use super::Sdk;

/// A piece of work that every SDK does.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Work {
    /// One turn of many updates, each read by the client.
    Updates,
    /// `session/list`, one request after the other, both processes on one core.
    Roundtrip,
    /// `session/set_config_option` in the same way: a request that changes a session.
    Option,
    /// `session/list`, [`IN_FLIGHT`](crate::measure::IN_FLIGHT) of them at any time.
    Inflight,
    /// The mode of a session, set by one call of the client after the other, both processes on one core.
    SetMode,
    /// The same, [`IN_FLIGHT`](crate::measure::IN_FLIGHT) calls at any time.
    #[value(name = "set_mode64")]
    SetMode64,
    /// The request `session/set_mode` as it is in the protocol, by `Agent::call`; of this project, whose clients set a mode by
    /// `session/set_config_option` where the agent offers options.
    SetModeRaw,
    /// The same, [`IN_FLIGHT`](crate::measure::IN_FLIGHT) requests at any time.
    #[value(name = "set_mode_raw64")]
    SetModeRaw64,
    /// One turn of many permission requests, each allowed at once, both processes on one core.
    Permission,
    /// [`CHUNKS`] updates, in turns of ten sessions at a time.
    Sessions10,
    /// The same updates, in turns of a thousand sessions at a time.
    Sessions1000,
    /// The same updates, in turns of 98 sessions beside one that nobody reads and one that is read slowly; of this project.
    Fair,
    /// From before the agent's process to the answer to `initialize`.
    Start,
    /// A prompt of 16 MiB, and an update of 16 MiB.
    Large,
    /// Only the prompt of that; for counting.
    #[value(hide = true)]
    LargePrompt,
    /// Only the update of that; for counting.
    #[value(hide = true)]
    LargeUpdate,
    /// `session/resume` of a session that the agent has open, one request after the other; of this project, for counting.
    #[value(hide = true)]
    Resume,
    /// What both programs allocate for a prompt and for an update of 16 MiB.
    Allocated,
    /// A turn of updates that nobody reads, until somebody does.
    SlowReader,
    /// Many sessions on disk, each after one turn, while nothing happens; of this project.
    Idle,
    /// A request and a cancel in the middle of a turn that streams as fast as it can.
    Interrupt,
}

/// Updates of a stream, over all sessions together.
pub(crate) const CHUNKS: u64 = 200_000;

/// Round trips before the measured ones.
const WARM_UP: u64 = 1_000;
/// The same when the caller sets the count, as under a tool that makes every instruction slow.
const WARM_UP_SHORT: u64 = 100;

/// One work and its size.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) work: Work,
    pub(crate) count: u64,
    pub(crate) warm_up: u64,
}

impl Plan {
    pub(crate) fn new(sdk: Sdk, work: Work, count: Option<u64>) -> Self {
        let usual = match work {
            // A rate needs a few seconds of work; all of it would take minutes here.
            Work::Updates | Work::Sessions10 if sdk == Sdk::Documented => CHUNKS / 5,
            Work::Sessions1000 if sdk == Sdk::Documented => CHUNKS / 40,
            Work::Updates => CHUNKS,
            Work::Roundtrip
            | Work::Option
            | Work::SetMode
            | Work::SetModeRaw
            | Work::Resume
            | Work::Permission => 10_000,
            Work::Inflight | Work::SetMode64 | Work::SetModeRaw64 => 20_000,
            Work::Sessions10 | Work::Sessions1000 | Work::Fair => CHUNKS,
            Work::Start => 30,
            Work::Large | Work::LargePrompt | Work::LargeUpdate => 5,
            Work::Allocated => 1,
            Work::SlowReader => 2_000_000,
            Work::Idle => 10_000,
            Work::Interrupt => 60,
        };
        let warm_up = match count {
            Some(_) => WARM_UP_SHORT,
            None => WARM_UP,
        };
        Plan {
            work,
            count: count.unwrap_or(usual),
            warm_up,
        }
    }

    /// Unpinned, work in which one waits for the other is bimodal: it depends on whether the scheduler puts both processes on one core.
    pub(crate) fn pinned(&self) -> bool {
        use Work::{Option, Permission, Resume, Roundtrip, SetMode, SetModeRaw};
        matches!(
            self.work,
            Roundtrip | Option | SetMode | SetModeRaw | Resume | Permission
        )
    }
}
