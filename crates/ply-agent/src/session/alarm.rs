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
