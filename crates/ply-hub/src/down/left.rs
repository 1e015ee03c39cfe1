//! Agents that go on when their hub ends in an orderly way.

use std::sync::Arc;

use ply_agent::Session;

use super::runner::Runner;

/// Returns whether another hub could go on with what the agent of a session does now.
pub(crate) fn outlives(session: &Session) -> bool {
    let runner = session.try_state::<Arc<Runner>>();
    runner.is_some_and(|runner| runner.outlives())
}

/// Lets go of the agent of a session, if another hub can go on with it. From here on this hub hears nothing of the agent, tells it
/// nothing and does not end it: the session is as if the hub had been killed.
pub(crate) async fn let_go(session: &Session) -> bool {
    match session.try_state::<Arc<Runner>>() {
        Some(runner) => runner.let_go().await,
        None => false,
    }
}

/// Returns whether the agent of a session can be ended and nothing is lost: it has shown that it goes on with sessions in another
/// process. One that has not is tried.
pub(crate) async fn may_end(session: &Session) -> bool {
    match session.try_state::<Arc<Runner>>() {
        Some(runner) => runner.may_end().await,
        // An agent in this process has the journal.
        None => true,
    }
}
