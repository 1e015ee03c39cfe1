//! How a hub ends: at once, when nothing goes on any more, or so that the next hub goes on with its agents.

use std::time::Duration;

use ply_agent::NewPrompts;
use tokio::time::Instant;

use crate::ask::{Live, Stopping, Wait};
use crate::{Factory, Hub, down};

/// How long to wait before looking again whether turns have ended.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(200);
/// How long a hub that is replaced waits for turns that would end with it. Service managers kill what takes longer than 90 seconds.
const HAND_OVER_TIME_MAX: Duration = Duration::from_secs(60);
/// How long sessions that are being opened may delay the end of a hub that is replaced.
const LEAVE_TIME_MAX: Duration = Duration::from_secs(10);

/// What clients are told that prompt a hub which is about to end.
const NO_PROMPTS: &str = "The hub is stopping and accepts no new prompts. `ply hub status` shows what it is waiting for, and \
     `ply hub stop --now` ends it at once. Send the prompt again afterwards.";

/// What somebody wants of a hub that is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// To end with all its agents, once nothing goes on. Wanted again, it does not wait any longer.
    WhenIdle,
    /// To end with all its agents now.
    Now,
    /// To leave its agents to the next hub, once the turns in this process have ended. Wanted again, it does not wait any longer.
    HandOver,
    /// What a service manager wants: a hub that is ending already ends now, and any other leaves its agents to the next.
    Terminate,
}

/// How a hub ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ending {
    /// Whether agents are left to the next hub.
    pub(crate) hands_over: bool,
    /// Whether it waits for what goes on.
    pub(crate) waits: bool,
}

impl Ending {
    pub(crate) const NOW: Self = Self {
        hands_over: false,
        waits: false,
    };

    /// Returns how a hub ends of which something more is wanted.
    pub(crate) fn after(before: Option<Self>, wanted: Stop) -> Self {
        let hands_over = match (wanted, before) {
            (Stop::WhenIdle | Stop::Now, _) => false,
            (Stop::HandOver, _) | (Stop::Terminate, None) => true,
            (Stop::Terminate, Some(before)) => before.hands_over,
        };
        let is_repeated = before.is_some_and(|before| before.hands_over == hands_over);
        Self {
            hands_over,
            waits: wanted != Stop::Now && !is_repeated,
        }
    }
}

impl<F: Factory> Hub<F> {
    /// Has the hub end.
    pub fn stop(&self, wanted: Stop) {
        self.ending.send_modify(|ending| {
            let now = Ending::after(*ending, wanted);
            tracing::info!(
                hands_over = now.hands_over,
                waits = now.waits,
                "the hub is to end"
            );
            self.server().new_prompts(match now.hands_over {
                // Whoever sends them again finds the next hub.
                true => NewPrompts::Wait,
                false => NewPrompts::Refused(NO_PROMPTS.into()),
            });
            *ending = Some(now);
        });
    }

    /// Waits until the hub is to end and nothing goes on that it waits for.
    pub(crate) async fn over(&self) -> Ending {
        let mut wanted = self.ending.subscribe();
        // It never ends before the hub does.
        drop(wanted.wait_for(Option::is_some).await);
        let mut until = Instant::now() + HAND_OVER_TIME_MAX;
        loop {
            let ending = wanted.borrow_and_update().unwrap_or(Ending::NOW);
            if !ending.waits || self.waits_for(ending, &self.live().await).is_empty() {
                return ending;
            }
            if !ending.hands_over {
                until = Instant::now() + HAND_OVER_TIME_MAX;
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_AGAIN_AFTER) => {}
                () = tokio::time::sleep_until(until) => {
                    tracing::warn!("turns are cut off that would end with the hub anyway");
                    return ending;
                }
                _ = wanted.changed() => {}
            }
        }
    }

    /// Returns whether the hub is to end, and what it waits for.
    pub(crate) fn stopping(&self, open: &[Live]) -> Option<Stopping> {
        let ending = (*self.ending.borrow())?;
        Some(Stopping {
            hands_over: ending.hands_over,
            waits_for: self.waits_for(ending, open),
        })
    }

    fn waits_for(&self, ending: Ending, open: &[Live]) -> Vec<Wait> {
        let keeps_it = |live: &&Live| live.is_busy() && !(ending.hands_over && self.outlives(live));
        open.iter().filter(keeps_it).map(Wait::from).collect()
    }

    /// Returns whether what goes on in a session does not end with the hub.
    fn outlives(&self, live: &Live) -> bool {
        let session = self.server().session(&live.session_id());
        session.is_some_and(|session| down::outlives(&session))
    }

    /// Closes the sessions whose agents end with the hub, and lets go of the others.
    pub(crate) async fn hand_over(&self) {
        let leaving = async {
            let mut left = Vec::new();
            // Those that are being opened answer when they are open.
            for open in self.server().sessions().await {
                let session = self.server().session(&open.id);
                if let Some(session) = session
                    && down::let_go(&session).await
                {
                    left.push(open.id);
                }
            }
            left
        };
        match tokio::time::timeout(LEAVE_TIME_MAX, leaving).await {
            Ok(left) => self.server().shutdown_leaving(&left).await,
            // An agent that is taken over just now must not find the journal closed. What was shown is written.
            Err(_) => tracing::warn!("a session was not opened in time; the hub leaves as it is"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wanted: &[Stop], hands_over: bool, waits: bool) {
        let mut ending = None;
        for wanted in wanted {
            ending = Some(Ending::after(ending, *wanted));
        }
        assert_eq!(ending, Some(Ending { hands_over, waits }), "{wanted:?}");
    }

    #[test]
    fn a_hub_that_is_stopped_again_waits_no_longer() {
        use Stop::{HandOver, Now, Terminate, WhenIdle};
        check(&[WhenIdle], false, true);
        check(&[WhenIdle, WhenIdle], false, false);
        check(&[WhenIdle, Terminate], false, false);
        check(&[WhenIdle, Now], false, false);
        check(&[Now], false, false);
        check(&[Terminate], true, true);
        check(&[Terminate, Terminate], true, false);
        check(&[HandOver], true, true);
        check(&[HandOver, HandOver], true, false);
        check(&[HandOver, Terminate], true, false);
        // Another way to end begins to wait again.
        check(&[HandOver, WhenIdle], false, true);
        check(&[WhenIdle, HandOver], true, true);
        check(&[HandOver, Now], false, false);
    }
}
