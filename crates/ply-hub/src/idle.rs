//! What is given back when nobody needs it: sessions, and in the end the hub.

use std::collections::HashMap;
use std::time::Duration;

use ply_agent::{Overview, v2};

/// How long a session stays open that nobody sees and in which nothing goes on. Whoever comes later opens it again.
pub(crate) const SESSION_IDLE_MAX: Duration = Duration::from_secs(30 * 60);
/// How long a hub that was started for a client stays when it has neither clients nor sessions.
pub(crate) const HUB_IDLE_MAX: Duration = Duration::from_secs(30 * 60);
/// How often that is looked at.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Since when sessions are idle, by a clock that begins anywhere.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    sessions: HashMap<v2::SessionId, Duration>,
    hub: Option<Duration>,
}

impl Idle {
    /// Looks at all open sessions, and returns those that have been idle for long.
    pub(crate) fn look(&mut self, now: Duration, open: &[Overview]) -> Vec<v2::SessionId> {
        let idle = open.iter().filter(|session| is_idle(session));
        let was = std::mem::take(&mut self.sessions);
        self.sessions = idle
            .map(|session| {
                let since = was.get(&session.id).copied().unwrap_or(now);
                (session.id.clone(), since)
            })
            .collect();
        let is_long = |since: &Duration| now.saturating_sub(*since) >= SESSION_IDLE_MAX;
        let long = self.sessions.iter().filter(|(_, since)| is_long(since));
        long.map(|(id, _)| id.clone()).collect()
    }

    /// Returns whether a hub that is this busy has been idle for long.
    pub(crate) fn is_over(&mut self, now: Duration, clients: usize, sessions: usize) -> bool {
        if clients > 0 || sessions > 0 {
            self.hub = None;
            return false;
        }
        let since = *self.hub.get_or_insert(now);
        now.saturating_sub(since) >= HUB_IDLE_MAX
    }
}

/// Returns whether nobody sees the session, and nothing of it would end with it.
pub(crate) fn is_idle(session: &Overview) -> bool {
    session.clients == 0
        // Also one that is paused: who looks for it looks at open sessions.
        && session.queue.is_empty()
        && matches!(session.state, v2::StateUpdate::Idle(_))
        && session.questions.is_empty()
        && session.background == 0
}

#[cfg(test)]
mod tests {
    use ply_agent::event::QueuedPrompt;

    use super::*;

    fn session(id: &str, clients: usize) -> Overview {
        let state = v2::StateUpdate::Idle(v2::IdleStateUpdate::new());
        let mut session = Overview::new(v2::SessionId::new(id.to_owned()), "/", state);
        session.clients = clients;
        session
    }

    #[test]
    fn a_session_that_nobody_needs_is_closed_after_a_while() {
        let mut idle = Idle::default();
        let minute = Duration::from_secs(60);
        let open = [session("left", 0), session("seen", 1)];
        assert_eq!(idle.look(minute, &open), []);
        assert_eq!(idle.look(30 * minute, &open), []);
        assert_eq!(idle.look(31 * minute, &open), [open[0].id.clone()]);
        // Seen again, it begins anew.
        idle.look(32 * minute, &[session("left", 1)]);
        assert_eq!(idle.look(33 * minute, &open), []);
        assert_eq!(idle.look(62 * minute, &open), []);
    }

    #[test]
    fn work_in_the_background_and_queued_prompts_keep_a_session_open() {
        let mut idle = Idle::default();
        let mut busy = session("busy", 0);
        busy.background = 1;
        let mut runs = session("runs", 0);
        runs.state = v2::StateUpdate::Running(v2::RunningStateUpdate::new());
        let mut queued = session("queued", 0);
        let content = vec![v2::ContentBlock::from("later")];
        queued.queue = vec![QueuedPrompt::new("queued-1", content)];
        queued.is_paused = true;
        let open = [busy, runs, queued];
        idle.look(Duration::ZERO, &open);
        assert_eq!(idle.look(2 * SESSION_IDLE_MAX, &open), []);
    }

    #[test]
    fn a_hub_with_nothing_to_do_ends() {
        let mut idle = Idle::default();
        let minute = Duration::from_secs(60);
        assert!(!idle.is_over(minute, 0, 0));
        assert!(!idle.is_over(20 * minute, 1, 0));
        assert!(!idle.is_over(40 * minute, 0, 0));
        assert!(!idle.is_over(69 * minute, 0, 0));
        assert!(idle.is_over(70 * minute, 0, 0));
    }
}
