//! Starting an agent again after it died, without ending in a crash loop.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

use crate::agent::AgentInner;
use crate::connection::{Connection, Start, runtime};
use crate::limits::{RESTART_WAIT_MAX, RESTART_WAIT_MIN, RESTART_WINDOW, RESTARTS_MAX};
use crate::{Error, PostMortem};

/// The crashes of an agent: lives that ended before they were of any use.
#[derive(Debug, Default)]
pub(crate) struct Crashes {
    recent: VecDeque<Instant>,
    pub(crate) last: PostMortem,
}

/// Whether to start again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// After this time.
    Start(Duration),
    /// Not before this time is over.
    Refuse(Duration),
}

impl Crashes {
    pub(crate) fn crashed(&mut self, now: Instant) {
        self.recent.push_back(now);
        if self.recent.len() > RESTARTS_MAX {
            self.recent.pop_front();
        }
    }

    /// A life that answered a prompt is no part of a crash loop.
    pub(crate) fn useful(&mut self) {
        self.recent.clear();
    }

    pub(crate) fn verdict(&mut self, now: Instant) -> Verdict {
        self.recent
            .retain(|crash| now.duration_since(*crash) < RESTART_WINDOW);
        let count = self.recent.len();
        match self.recent.front() {
            Some(first) if count >= RESTARTS_MAX => {
                Verdict::Refuse(RESTART_WINDOW - now.duration_since(*first))
            }
            Some(_) => {
                let doublings = u32::try_from(count - 1).unwrap_or(u32::MAX);
                let wait = RESTART_WAIT_MIN.saturating_mul(2_u32.saturating_pow(doublings));
                Verdict::Start(wait.min(RESTART_WAIT_MAX))
            }
            None => Verdict::Start(Duration::ZERO),
        }
    }
}

impl AgentInner {
    /// Returns a connection that lives, starting the agent again if it has to.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, Error> {
        runtime()?;
        if let Some(current) = self.living() {
            return Ok(current);
        }
        // One at a time: whoever comes second finds the agent running.
        let mut crashes = self.crashes.lock().await;
        if let Some(current) = self.living() {
            return Ok(current);
        }
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(Error::Closed);
        }
        let old = self.current();
        let end = old.parts.end().await;
        let Some(command) = &self.command else {
            return Err(Error::Gone(Box::new(end)));
        };
        // No two lives at once: the old one may still hold files, locks and ports.
        old.parts.last().await;
        if old.parts.epoch != self.counted.load(Ordering::SeqCst) {
            self.counted.store(old.parts.epoch, Ordering::SeqCst);
            if old.parts.routes.useful.load(Ordering::Relaxed) {
                crashes.useful();
            } else {
                crashes.crashed(Instant::now());
            }
            crashes.last = end;
        }
        match crashes.verdict(Instant::now()) {
            Verdict::Start(wait) => tokio::time::sleep(wait).await,
            Verdict::Refuse(retry_after) => {
                return Err(Error::CrashLoop {
                    crashes: RESTARTS_MAX,
                    retry_after,
                    last: Box::new(crashes.last.clone()),
                });
            }
        }
        let epoch = self.epochs.fetch_add(1, Ordering::SeqCst) + 1;
        let start = Start {
            // Those of its last life, which may have learned what the agent does not speak.
            settings: Arc::clone(&old.parts.routes.settings),
            reports: Arc::clone(&self.reports),
            fate: Arc::clone(&self.fate),
            epoch,
        };
        match start.spawn(command).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                self.set_current(Arc::clone(&connection));
                if self.is_closed.load(Ordering::SeqCst) {
                    // Whoever closed the agent meanwhile saw only its old life.
                    connection.parts.kill();
                    return Err(Error::Closed);
                }
                Ok(connection)
            }
            Err(error) => {
                crashes.crashed(Instant::now());
                if let Error::Start { end, .. } = &error {
                    crashes.last = (**end).clone();
                }
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_a_crash_loop_is_slowed_down_and_then_refused() {
        let start = Instant::now();
        let mut crashes = Crashes::default();
        assert_eq!(crashes.verdict(start), Verdict::Start(Duration::ZERO));
        for wait_ms in [500, 1000, 2000, 4000] {
            crashes.crashed(start);
            let wait = Duration::from_millis(wait_ms);
            assert_eq!(crashes.verdict(start), Verdict::Start(wait));
        }
        crashes.crashed(start);
        assert_eq!(crashes.verdict(start), Verdict::Refuse(RESTART_WINDOW));
        let later = start + RESTART_WINDOW;
        assert_eq!(crashes.verdict(later), Verdict::Start(Duration::ZERO));
    }

    #[test]
    fn a_life_that_was_of_use_ends_the_count() {
        let start = Instant::now();
        let mut crashes = Crashes::default();
        for _ in 0..100 {
            crashes.crashed(start);
            crashes.useful();
            assert_eq!(crashes.verdict(start), Verdict::Start(Duration::ZERO));
        }
    }
}
