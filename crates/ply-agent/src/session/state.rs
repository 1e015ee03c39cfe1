//! What an agent's author keeps for a session.

use std::any::{Any, type_name};
use std::fmt;
use std::sync::OnceLock;

use super::Session;

/// A value of the author's own type, set at most once.
#[derive(Default)]
pub(super) struct State(OnceLock<Kept>);

struct Kept {
    value: Box<dyn Any + Send + Sync>,
    /// For the words of a panic.
    type_name: &'static str,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.0.get().map(|kept| kept.type_name);
        f.debug_tuple("State").field(&kept).finish()
    }
}

impl Session {
    /// Gives the session a value of the agent's own, to be found again with [`state`](Self::state). The place for it is
    /// [`Agent::open`](crate::Agent::open), which is called once each time the session is created or opened again.
    ///
    /// The value is dropped with the last clone of the session, so it must not hold one.
    ///
    /// ```
    /// # use std::sync::Mutex;
    /// # use ply_agent::{Agent, Result, Session, SessionSetup, Stop, Turn};
    /// struct Counter;
    ///
    /// struct Count(Mutex<u64>);
    ///
    /// impl Agent for Counter {
    ///     async fn open(&self, session: &Session, _: &SessionSetup) -> Result<()> {
    ///         session.set_state(Count(Mutex::new(0)));
    ///         Ok(())
    ///     }
    ///
    ///     async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
    ///         let Count(count) = turn.session().state();
    ///         let count = count.lock().map(|mut count| {
    ///             *count += 1;
    ///             *count
    ///         });
    ///         turn.say(format!("Prompt number {}", count.unwrap_or(0))).await?;
    ///         Ok(Stop::EndTurn)
    ///     }
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the session has a state already.
    #[track_caller]
    pub fn set_state<T: Send + Sync + 'static>(&self, state: T) {
        let kept = Kept {
            value: Box::new(state),
            type_name: type_name::<T>(),
        };
        let is_set = self.0.state.0.set(kept).is_err();
        assert!(
            !is_set,
            "the session has a state already; keep what changes inside of it"
        );
    }

    /// Returns the value that [`set_state`](Self::set_state) gave the session.
    ///
    /// # Panics
    ///
    /// Panics if there is none, or one of another type. [`try_state`](Self::try_state) does not.
    #[must_use]
    #[track_caller]
    pub fn state<T: Send + Sync + 'static>(&self) -> &T {
        self.try_state().unwrap_or_else(|| {
            let wanted = type_name::<T>();
            match self.0.state.0.get() {
                Some(kept) => panic!("the state of the session is a {}, not a {wanted}", kept.type_name),
                None => panic!("the session has no state: call `session.set_state` with a {wanted} in `Agent::open`"),
            }
        })
    }

    /// Returns the value that [`set_state`](Self::set_state) gave the session, if there is one of this type.
    #[must_use]
    pub fn try_state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.state.0.get()?.value.downcast_ref()
    }
}

#[cfg(test)]
mod tests {
    use ply_wire::v2;

    use super::*;

    fn session() -> Session {
        Session::new(v2::SessionId::new("s"), "/work".into(), Vec::new())
    }

    #[test]
    fn the_state_of_a_session_is_found_by_its_type() {
        let session = session();
        assert_eq!(session.try_state::<u8>(), None);
        session.set_state(7_u8);
        assert_eq!(*session.clone().state::<u8>(), 7);
        assert_eq!(session.try_state::<u16>(), None);
    }

    #[test]
    #[should_panic(expected = "is a u8, not a u16")]
    fn a_state_of_another_type_is_told_with_both_types() {
        let session = session();
        session.set_state(7_u8);
        assert_eq!(*session.state::<u16>(), 7);
    }

    #[test]
    #[should_panic(expected = "call `session.set_state` with a u8 in `Agent::open`")]
    fn a_state_that_was_never_set_is_told_with_what_to_do() {
        assert_eq!(*session().state::<u8>(), 7);
    }

    #[test]
    #[should_panic(expected = "has a state already")]
    fn a_session_has_one_state() {
        let session = session();
        session.set_state(7_u8);
        session.set_state(8_u8);
    }
}
