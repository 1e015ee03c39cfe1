//! Everything that happens in a session, inside turns and outside.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use crate::event::Event;
use crate::fate::Fate;
use crate::session::cell::SessionCell;
use crate::session::readers::Taken;

/// The events of a session from now on. Whoever holds it must read it: when it is full the agent has to wait.
#[derive(Debug)]
#[must_use = "events that are not read slow the agent down"]
pub struct Events {
    session: Arc<SessionCell>,
    fate: Arc<Fate>,
    id: u64,
    batch: VecDeque<Event>,
}

impl Events {
    pub(crate) fn new(session: Arc<SessionCell>, fate: Arc<Fate>) -> Self {
        let id = session.add_stream();
        Self {
            session,
            fate,
            id,
            batch: VecDeque::new(),
        }
    }

    /// Waits for the next event; none after the session was closed, or when its agent is gone and is not started again: it was
    /// closed, or was not started by this client.
    ///
    /// # Cancel safety
    ///
    /// No event is lost when it is dropped.
    pub async fn next(&mut self) -> Option<Event> {
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

    async fn take(&mut self) -> Option<Event> {
        poll_fn(|cx| {
            if let Some(event) = self.batch.pop_front() {
                return Poll::Ready(Some(event));
            }
            match self.session.poll_take(self.id, &mut self.batch, cx) {
                Poll::Ready(Some(Taken::Events)) => Poll::Ready(self.batch.pop_front()),
                Poll::Ready(_) => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
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
