//! When the agent and all that it started are ended, and how: end of input, SIGTERM, SIGKILL. Knows no process and no clock.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long the agent may take to end by itself, at each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grace {
    /// After its input was closed.
    pub after_close: Duration,
    /// After SIGTERM; SIGKILL follows.
    pub after_term: Duration,
}

impl Default for Grace {
    fn default() -> Self {
        Self {
            after_close: Duration::from_secs(2),
            after_term: Duration::from_secs(3),
        }
    }
}

/// How long the agent goes on without a hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linger {
    /// While a turn runs or a question is open.
    pub busy: Duration,
    /// Otherwise.
    pub idle: Duration,
}

impl Default for Linger {
    fn default() -> Self {
        Self {
            busy: Duration::from_secs(30 * 60),
            idle: Duration::from_secs(2 * 60),
        }
    }
}

/// Time between attempts to kill what does not die.
const KILL_AGAIN_TIME: Duration = Duration::from_millis(100);
/// Attempts to kill what does not die, such as a process that waits for a broken disk.
const KILL_ROUNDS_MAX: u32 = 50;

/// What is to be done to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    CloseInput,
    Terminate,
    Kill,
    /// Not even SIGKILL helps; go on without waiting for what is left.
    GiveUp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The agent may go on.
    Running,
    /// A step is due.
    Due(Step),
    Closed,
    Terminated,
    Killed {
        rounds: u32,
    },
    Over,
}

/// The way from a running agent to none. Times are counted from any one moment.
#[derive(Debug)]
pub(super) struct Ending {
    grace: Grace,
    linger: Linger,
    stage: Stage,
    /// When the stage is over.
    until: Duration,
    busy: bool,
    /// Since when there is no hub.
    alone_since: Option<Duration>,
}

impl Ending {
    /// Begins at `now` with an agent that runs and no hub.
    pub(super) fn new(grace: Grace, linger: Linger, now: Duration) -> Self {
        Self {
            grace,
            linger,
            stage: Stage::Running,
            until: Duration::ZERO,
            busy: false,
            alone_since: Some(now),
        }
    }

    /// A hub has come.
    pub(super) fn attached(&mut self) {
        self.alone_since = None;
    }

    /// The hub has gone.
    pub(super) fn alone(&mut self, now: Duration) {
        self.alone_since.get_or_insert(now);
    }

    /// The hub says whether there is work worth waiting for.
    pub(super) fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
    }

    /// Ends the agent if no hub came for as long as it was to wait for one, and returns whether that is so.
    pub(super) fn stop_if_abandoned(&mut self, now: Duration) -> bool {
        let abandoned = self.lingers_until().is_some_and(|until| until <= now);
        if abandoned {
            self.alone_since = None;
            self.stop();
        }
        abandoned
    }

    fn lingers_until(&self) -> Option<Duration> {
        let linger = if self.busy {
            self.linger.busy
        } else {
            self.linger.idle
        };
        Some(self.alone_since?.saturating_add(linger))
    }

    /// Ends the agent from its input on.
    pub(super) fn stop(&mut self) {
        if self.stage == Stage::Running {
            self.stage = Stage::Due(Step::CloseInput);
        }
    }

    /// The agent itself has ended; what it started has no more reason to go on.
    pub(super) fn agent_is_gone(&mut self) {
        if matches!(
            self.stage,
            Stage::Running | Stage::Due(Step::CloseInput) | Stage::Closed
        ) {
            self.stage = Stage::Due(Step::Terminate);
        }
    }

    /// Nothing is left to end.
    pub(super) fn tree_is_gone(&mut self) {
        self.stage = Stage::Over;
    }

    /// Returns what is to be done now.
    pub(super) fn step(&mut self, now: Duration) -> Option<Step> {
        let step = match self.stage {
            Stage::Due(step) => step,
            Stage::Running | Stage::Over => return None,
            _ if now < self.until => return None,
            Stage::Closed => Step::Terminate,
            Stage::Terminated => Step::Kill,
            Stage::Killed { rounds } if rounds < KILL_ROUNDS_MAX => Step::Kill,
            Stage::Killed { .. } => Step::GiveUp,
        };
        let (stage, time) = match (step, self.stage) {
            (Step::CloseInput, _) => (Stage::Closed, self.grace.after_close),
            (Step::Terminate, _) => (Stage::Terminated, self.grace.after_term),
            (Step::Kill, Stage::Killed { rounds }) => {
                (Stage::Killed { rounds: rounds + 1 }, KILL_AGAIN_TIME)
            }
            (Step::Kill, _) => (Stage::Killed { rounds: 1 }, KILL_AGAIN_TIME),
            (Step::GiveUp, _) => (Stage::Over, Duration::ZERO),
        };
        self.stage = stage;
        self.until = now.saturating_add(time);
        Some(step)
    }

    /// Returns when to look again, if ever.
    pub(super) fn due(&self) -> Option<Duration> {
        let step = match self.stage {
            Stage::Running | Stage::Over => None,
            Stage::Due(_) => Some(Duration::ZERO),
            _ => Some(self.until),
        };
        [step, self.lingers_until()].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn ending() -> Ending {
        let mut ending = Ending::new(Grace::default(), Linger::default(), at(0));
        ending.attached();
        ending
    }

    #[test]
    fn a_stopped_agent_is_closed_then_asked_then_killed_until_it_is_given_up() {
        let mut ending = ending();
        assert_eq!((ending.step(at(9)), ending.due()), (None, None));
        ending.stop();
        assert_eq!(ending.step(at(10)), Some(Step::CloseInput));
        assert_eq!((ending.step(at(11)), ending.due()), (None, Some(at(12))));
        assert_eq!(ending.step(at(12)), Some(Step::Terminate));
        ending.stop();
        assert_eq!(ending.step(at(14)), None, "a second order changes nothing");
        let mut now = at(15);
        for _ in 0..KILL_ROUNDS_MAX {
            assert_eq!(ending.step(now), Some(Step::Kill));
            assert_eq!(ending.step(now), None);
            now = ending.due().unwrap();
        }
        assert_eq!(ending.step(now), Some(Step::GiveUp));
        assert_eq!((ending.step(at(99)), ending.due()), (None, None));
    }

    #[test]
    fn what_an_agent_leaves_behind_is_asked_at_once() {
        for stopped in [false, true] {
            let mut ending = ending();
            if stopped {
                ending.stop();
                ending.step(at(1));
            }
            ending.agent_is_gone();
            assert_eq!(ending.step(at(1)), Some(Step::Terminate));
            ending.agent_is_gone();
            assert_eq!(ending.step(at(1)), None);
            ending.tree_is_gone();
            assert_eq!((ending.step(at(99)), ending.due()), (None, None));
        }
    }

    #[test]
    fn an_agent_waits_longer_for_a_hub_while_there_is_work() {
        for (busy, seconds) in [(false, 120), (true, 1800)] {
            let mut ending = ending();
            ending.set_busy(busy);
            ending.alone(at(100));
            ending.alone(at(200));
            assert_eq!(ending.due(), Some(at(100 + seconds)));
            assert!(!ending.stop_if_abandoned(at(99 + seconds)));
            assert!(ending.stop_if_abandoned(at(100 + seconds)));
            assert_eq!(ending.step(at(9999)), Some(Step::CloseInput));
        }
    }

    #[test]
    fn an_agent_whose_hub_came_back_goes_on() {
        let mut ending = ending();
        ending.alone(at(100));
        ending.attached();
        assert!(!ending.stop_if_abandoned(at(9999)));
        assert_eq!(ending.due(), None);
    }
}
