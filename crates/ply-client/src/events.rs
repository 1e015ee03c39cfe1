//! Everything that happens in a session, inside turns and outside.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use crate::event::SessionEvent;
use crate::fate::Fate;
use crate::session::hold::Hold;
use crate::session::readers::{Queue, Taken, next_of};

/// The events of a session from now on, each with the turn it belongs to.
///
/// A stream that is not read holds up nobody: when too much waits, events are dropped, and the reader goes on with
/// [`Event::Lagged`](crate::Event::Lagged) and the transcript.
#[derive(Debug)]
#[must_use = "events do nothing unless they are read"]
pub struct Events {
    session: Hold,
    fate: Arc<Fate>,
    id: u64,
    batch: Queue,
}

impl Events {
    pub(crate) fn new(session: Hold, fate: Arc<Fate>) -> Self {
        let id = session.add_stream();
        Self {
            session,
            fate,
            id,
            batch: Queue::new(),
        }
    }

    /// Waits for the next event; none after the session was closed, or when its agent is gone and is not started again: it was
    /// closed, or was not started by this client.
    ///
    /// # Cancel safety
    ///
    /// No event is lost when it is dropped.
    pub async fn next(&mut self) -> Option<SessionEvent> {
        let fate = Arc::clone(&self.fate);
        tokio::select! {
            biased;
            event = self.take() => return event,
            () = fate.over() => {}
        }
        // What came before the end is still told.
        self.session.end_reader(self.id);
        self.take().await
    }

    async fn take(&mut self) -> Option<SessionEvent> {
        poll_fn(|cx| {
            loop {
                if let Some((turn, event)) = next_of(&mut self.batch) {
                    return Poll::Ready(Some(SessionEvent { turn, event }));
                }
                match self.session.poll_take(self.id, &mut self.batch, cx) {
                    Poll::Ready(Some(Taken::Events)) => {}
                    Poll::Ready(_) => return Poll::Ready(None),
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.session.remove_reader(self.id);
    }
}
