//! What the journal is told of a connection, so that another hub can go on with it.
//!
//! A wish is in the journal before the agent hears of it. The state of the link is written down now and then; the agent's lines up
//! to there need not be kept any more. That does not happen while a request of the agent is open, since the state does not say
//! what it asks: the line with the request is kept until its answer is written. Nor does it happen while the agent was not written
//! something: the state would take it for sent, and a hub that ends then would leave the agent without it.

use std::future::Future;
use std::pin::Pin;

use ply_agent::Session;
use ply_agent::event::Connection;
use tokio::sync::oneshot;

use super::link::{Link, Wish};
use super::queue::Event;

/// Bytes of lines after which the state is written down again, at least.
const STATE_EVERY_BYTES: usize = 256 * 1024;
/// The same as a multiple of the last state: what is written down is a small part of what comes.
const STATE_EVERY_STATES: usize = 4;

/// Says whether something is in the journal, when that is known.
pub(super) type Noted = Pin<Box<dyn Future<Output = bool> + Send>>;

/// The records of one connection.
#[derive(Default)]
pub(super) struct Book {
    /// The session, once there is something to go on with.
    session: Option<Session>,
    /// The number of the last wish.
    told: u64,
    /// Bytes of lines since the last state, and of that state.
    bytes: usize,
    state_bytes: usize,
    /// A state that is being written down.
    writing: Option<Writing>,
}

struct Writing {
    upto: u64,
    noted: Noted,
    done: Option<oneshot::Sender<bool>>,
}

/// Returns whether the state of a link says everything that another hub has to know.
fn is_whole(link: &Link, written: u64) -> bool {
    link.open_requests() == 0 && link.last_out() <= written
}

/// A state that was written down.
pub(super) struct Written {
    /// The number of the last line that is part of it.
    pub(super) upto: u64,
    /// Who waits for it, to be told whether it was.
    pub(super) done: Option<oneshot::Sender<bool>>,
    pub(super) is_kept: bool,
}

impl Book {
    /// Returns the records of a connection that another hub began.
    pub(super) fn go_on(session: Session, told: u64, state_bytes: usize) -> Self {
        Self {
            session: Some(session),
            told,
            state_bytes,
            ..Self::default()
        }
    }

    /// Returns whether anything is recorded.
    pub(super) fn is_open(&self) -> bool {
        self.session.is_some()
    }

    /// Begins to record. Returns the state to be reported in its place; none if that cannot be done now.
    pub(super) fn begin(
        &mut self,
        session: Session,
        link: &Link,
        done: oneshot::Sender<bool>,
    ) -> Option<Event> {
        if self.is_open() || link.open_requests() > 0 {
            // Whoever waits may have gone away.
            done.send(self.is_open()).ok();
            return None;
        }
        self.session = Some(session);
        self.write(link, Some(done))
    }

    /// Notes a wish before it is done. Its lines may be sent once that is in the journal.
    pub(super) fn told(&mut self, link: &Link, wish: &Wish) -> Option<Noted> {
        let session = self.session.as_ref()?;
        let what = match wish {
            Wish::Prompt { message, .. } => serde_json::to_string(&Wish::Prompt {
                message: message.clone(),
                content: Vec::new(),
            }),
            wish => serde_json::to_string(wish),
        };
        self.told += 1;
        let told = Connection::Told {
            number: self.told,
            after: link.last_in(),
            // Wishes are made of strings and numbers. One without words could not be done again, and is found then.
            what: what.unwrap_or_default(),
            // Without power its process is gone, and another one would be sent a prompt that nobody knows of.
            once: matches!(wish, Wish::Prompt { .. }),
        };
        Some(Box::pin(session.note_connection(told)))
    }

    /// Notes a line, and returns the state if it is time to write it down. The agent was written lines up to `written`.
    pub(super) fn line(&mut self, link: &Link, bytes: usize, written: u64) -> Option<Event> {
        self.bytes += bytes;
        let enough = STATE_EVERY_BYTES.max(STATE_EVERY_STATES * self.state_bytes);
        let is_due = self.is_open() && self.bytes >= enough && self.writing.is_none();
        if !is_due || !is_whole(link, written) {
            return None;
        }
        self.write(link, None)
    }

    fn write(&mut self, link: &Link, done: Option<oneshot::Sender<bool>>) -> Option<Event> {
        let state = serde_json::to_string(link).ok()?;
        (self.bytes, self.state_bytes) = (0, state.len());
        let (tell, told) = oneshot::channel::<Noted>();
        let noted = async move {
            match told.await {
                Ok(noted) => noted.await,
                Err(_) => false,
            }
        };
        self.writing = Some(Writing {
            upto: link.last_in(),
            noted: Box::pin(noted),
            done,
        });
        let connection = Connection::State {
            state,
            told: self.told,
            requests: link.last_request(),
        };
        Some(Event::State(Box::new(connection), tell))
    }

    /// Returns whether a state is on its way.
    pub(super) fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Waits until the state is in the journal, or is not going to be.
    pub(super) async fn written(&mut self) -> Option<Written> {
        let is_kept = match &mut self.writing {
            Some(writing) => writing.noted.as_mut().await,
            None => return None,
        };
        let Writing { upto, done, .. } = self.writing.take()?;
        Some(Written {
            upto,
            done,
            is_kept,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::down::link::Greeting;

    #[test]
    fn a_state_is_not_whole_while_the_agent_was_not_written_a_line() {
        let mut link = Link::new();
        assert!(is_whole(&link, 0));
        let mut out = Vec::new();
        let greeting = Greeting {
            only_v1: false,
            files: false,
            terminals: false,
            elicitation: false,
        };
        link.wish(Wish::Greet(greeting), &mut out);
        let sent = link.last_out();
        assert!(sent > 0 && !is_whole(&link, sent - 1));
        assert!(is_whole(&link, sent));
    }
}
