//! The clock of a session.

use std::future::Future as _;
use std::pin::Pin;
use std::task::Poll;

use tokio::time::{Instant, Sleep, sleep_until};

/// Rings at the time that is next. Set for each request and taken back with its answer, a timer would cost a system call each
/// time, so one that rings too early is left as it is.
#[derive(Debug, Default)]
pub(crate) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Waits for a time; without one, for ever.
    pub(crate) async fn rings(&mut self, time: Option<Instant>) {
        let Some(time) = time else {
            return std::future::pending().await;
        };
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(time)));
        std::future::poll_fn(|cx| {
            loop {
                if sleep.is_elapsed() || sleep.deadline() > time {
                    sleep.as_mut().reset(time);
                }
                if sleep.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                if sleep.deadline() >= time {
                    return Poll::Ready(());
                }
            }
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Waits as a session does: for a time, but something else may come first.
    async fn wait(alarm: &mut Alarm, time: Option<Instant>, other: Instant) -> bool {
        tokio::select! {
            biased;
            () = alarm.rings(time) => true,
            () = sleep_until(other) => false,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_rings_at_its_time_though_it_was_set_to_others_before() {
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let mut alarm = Alarm::default();
        assert!(!wait(&mut alarm, Some(at(30)), at(1)).await);
        // Later than before: the earlier ring tells nobody anything.
        assert!(wait(&mut alarm, Some(at(40)), at(50)).await);
        assert_eq!(begun.elapsed().as_secs(), 40);
        // Earlier than before.
        assert!(!wait(&mut alarm, Some(at(90)), at(41)).await);
        assert!(wait(&mut alarm, Some(at(60)), at(80)).await);
        assert_eq!(begun.elapsed().as_secs(), 60);
        // Without a time it never rings, also if it was set.
        assert!(!wait(&mut alarm, Some(at(70)), at(61)).await);
        assert!(!wait(&mut alarm, None, at(100)).await);
        // A time that has passed rings at once.
        assert!(wait(&mut alarm, Some(at(95)), at(200)).await);
        assert_eq!(begun.elapsed().as_secs(), 100);
    }
}
