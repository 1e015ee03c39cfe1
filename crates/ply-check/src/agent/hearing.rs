//! What an agent still answers: each time it does not, a probe waits in vain.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::OnceCell;

use super::trial;
use crate::peer::Stopped;

/// How often in a row something may not be answered before it is asked no more.
const MISSED_MAX: u32 = 3;

/// What an agent still answers. Clones are the same one: it is known of all processes of the agent together.
#[derive(Debug, Clone, Default)]
pub(super) struct Hearing(Arc<Missed>);

#[derive(Debug, Default)]
struct Missed {
    sessions: AtomicU32,
    turns: AtomicU32,
    /// Why the agent cannot prompt, once that was tried; none if it can.
    trial: OnceCell<Option<String>>,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// A new session.
    Session,
    /// The end of a turn.
    Turn,
}

impl Hearing {
    /// Refuses to ask once more what was not answered several times in a row.
    pub(super) fn try_for(&self, wish: Wish) -> Result<(), Stopped> {
        if self.missed(wish).load(Ordering::Relaxed) < MISSED_MAX {
            return Ok(());
        }
        let why = match wish {
            Wish::Session => "not tried: no `session/new` is answered",
            Wish::Turn => "not tried: no turn comes to its end",
        };
        Err(Stopped::Other(why.to_owned()))
    }

    /// Refuses to prompt an agent that has no working model: its turns show nothing but that. The first call tries it.
    pub(super) async fn can_prompt(&self, trial: &trial::Trial) -> Result<(), Stopped> {
        match self.0.trial.get_or_init(|| trial.run()).await {
            None => Ok(()),
            Some(why) => Err(Stopped::Other(why.clone())),
        }
    }

    /// Returns why the agent cannot prompt, if that is known.
    pub(super) fn refusal(&self) -> Option<String> {
        self.0.trial.get().cloned().flatten()
    }

    /// Takes in what came of it.
    pub(super) fn learn<T>(&self, wish: Wish, came: &Result<T, Stopped>) {
        let missed = self.missed(wish);
        match came {
            Err(Stopped::Silent { .. } | Stopped::Stuck) => self.miss(wish),
            // A refusal is an answer; an end says nothing about the next process.
            Err(Stopped::Refused { .. }) | Ok(_) => missed.store(0, Ordering::Relaxed),
            Err(_) => {}
        }
    }

    /// Takes in that it was waited for in vain.
    pub(super) fn miss(&self, wish: Wish) {
        self.missed(wish).fetch_add(1, Ordering::Relaxed);
    }

    fn missed(&self, wish: Wish) -> &AtomicU32 {
        match wish {
            Wish::Session => &self.0.sessions,
            Wish::Turn => &self.0.turns,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn silent() -> Result<(), Stopped> {
        Err(Stopped::Silent {
            method: "session/new".to_owned(),
            waited: Duration::ZERO,
        })
    }

    #[test]
    fn what_was_missed_three_times_in_a_row_is_not_asked_again() {
        let hearing = Hearing::default();
        for came in [silent(), silent(), Ok(()), silent(), silent()] {
            hearing.learn(Wish::Session, &came);
        }
        assert_eq!(hearing.try_for(Wish::Session), Ok(()));
        hearing.learn(Wish::Session, &silent());
        assert!(hearing.try_for(Wish::Session).is_err());
        assert_eq!(hearing.try_for(Wish::Turn), Ok(()));
    }
}
