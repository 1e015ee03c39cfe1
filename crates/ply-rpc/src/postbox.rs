//! Notifications for code that may wait, one after the other.

use std::future::Future;
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::Notification;
use crate::limits::{POSTED_BYTES_MAX, POSTED_MAX};

/// A notification that was kept for later.
#[derive(Debug)]
#[non_exhaustive]
pub struct Posted {
    /// The method.
    pub method: Box<str>,
    /// The params, as they came.
    pub raw_params: Option<Box<RawValue>>,
}

/// Hands notifications to code that may wait, in their order and one at a time.
///
/// A link's own task must not wait, and a peer that sends faster than the code works must not fill the memory. So what does not
/// fit is dropped, which [`Postbox::post`] tells. What was posted is worked on after the postbox is dropped, too.
#[derive(Debug)]
pub struct Postbox {
    posted: mpsc::Sender<(Posted, OwnedSemaphorePermit)>,
    bytes: Arc<Semaphore>,
}

impl Postbox {
    /// Starts a task that gives each notification to `serve`. A panic in `serve` costs one notification.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn new<F, W>(serve: F) -> Self
    where
        F: Fn(Posted) -> W + Send + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let (posted, mut waiting) = mpsc::channel(POSTED_MAX);
        tokio::spawn(async move {
            while let Some((next, _bytes)) = waiting.recv().await {
                if tokio::spawn(serve(next)).await.is_err() {
                    tracing::error!("serving a notification panicked");
                }
            }
        });
        Self {
            posted,
            bytes: Arc::new(Semaphore::new(POSTED_BYTES_MAX)),
        }
    }

    /// Keeps a notification for its turn; returns whether there was room.
    #[must_use]
    pub fn post(&self, notification: Notification<'_>) -> bool {
        let Ok(place) = self.posted.try_reserve() else {
            return false;
        };
        let params = notification.raw_params;
        // One that is larger than all the room takes all of it.
        let bytes = params.map_or(0, |params| params.get().len());
        let bytes = u32::try_from(bytes.min(POSTED_BYTES_MAX)).unwrap_or(u32::MAX);
        let Ok(bytes) = Arc::clone(&self.bytes).try_acquire_many_owned(bytes) else {
            return false;
        };
        let posted = Posted {
            method: notification.method.into(),
            raw_params: params.map(ToOwned::to_owned),
        };
        place.send((posted, bytes));
        true
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Notify;

    use super::*;

    fn note<'a>(method: &'a str, params: &'a RawValue) -> Notification<'a> {
        Notification::new(method, Some(params))
    }

    #[tokio::test]
    async fn notifications_are_served_in_order_and_what_does_not_fit_is_dropped() {
        let (go, (told, mut heard)) = (Arc::new(Notify::new()), mpsc::channel(POSTED_MAX * 2));
        let postbox = Postbox::new({
            let go = Arc::clone(&go);
            move |posted: Posted| {
                let (go, told) = (Arc::clone(&go), told.clone());
                async move {
                    go.notified().await;
                    told.send(posted.method).await.unwrap();
                    assert!(!posted.raw_params.unwrap().get().contains("panic"));
                    go.notify_one();
                }
            }
        });
        let params = serde_json::value::to_raw_value(&[1]).unwrap();
        let mut taken = 0;
        while postbox.post(note(&taken.to_string(), &params)) {
            taken += 1;
        }
        assert_eq!(taken, POSTED_MAX);
        go.notify_one();
        for number in 0..taken {
            assert_eq!(heard.recv().await.unwrap(), number.to_string().into());
        }
        let panics = serde_json::value::to_raw_value("panic").unwrap();
        assert!(postbox.post(note("panics", &panics)));
        assert_eq!(&*heard.recv().await.unwrap(), "panics");
        assert!(postbox.post(note("next", &params)));
        drop(postbox);
        go.notify_one();
        assert_eq!(&*heard.recv().await.unwrap(), "next");
        assert!(heard.recv().await.is_none());
    }

    #[tokio::test]
    async fn large_notifications_that_wait_are_bounded_by_their_bytes() {
        let postbox = Postbox::new(|_| std::future::pending());
        let large = serde_json::value::to_raw_value(&"x".repeat(POSTED_BYTES_MAX)).unwrap();
        let small = serde_json::value::to_raw_value("x").unwrap();
        assert!(postbox.post(note("_x", &large)));
        assert!(!postbox.post(note("_x", &small)));
    }
}
