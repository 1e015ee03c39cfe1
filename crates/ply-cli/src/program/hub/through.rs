//! Other commands of this program as clients of the hub.

use std::path::Path;
use std::time::Duration;

use ply_hub::ask::{Ask, Live, Told};

use super::place;
use crate::program::{Error, home};

/// How long a hub may take to say that it is there. A command does not wait longer for one that hangs, and goes on without it.
const GREETING_TIME_MAX: Duration = Duration::from_secs(2);

/// How long the hub may take to close a session.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(2);

/// Returns whether a hub runs that has the user's sessions.
pub(crate) async fn runs() -> bool {
    if !has_place() {
        return false;
    }
    let asked = tokio::time::timeout(GREETING_TIME_MAX, place::ask(None, Ask::Status));
    matches!(asked.await, Ok(Ok(Some(Told::Status(_)))))
}

/// Returns whether a hub may run here. Looking for one makes no directory for it.
fn has_place() -> bool {
    place::directory(home::variable).is_some_and(|path| path.exists())
}

/// Returns the sessions of a store that the hub has open.
pub(crate) async fn live(store: &Path) -> Vec<Live> {
    if !has_place() {
        return Vec::new();
    }
    let asked = place::ask(Some(store.to_owned()), Ask::Sessions);
    match tokio::time::timeout(GREETING_TIME_MAX, asked).await {
        Ok(Ok(Some(Told::Sessions(sessions)))) => sessions,
        // None runs, or one with another store.
        _ => Vec::new(),
    }
}

/// Leaves a prompt in a session that the hub has open.
pub(crate) async fn post(session: &str, text: String) -> Result<(), Error> {
    let session = session.to_owned();
    match place::ask(None, Ask::Send { session, text }).await? {
        Some(_) => Ok(()),
        None => Err(Error::Hub("no hub runs".to_owned())),
    }
}

/// Closes a session that only this program saw. A hub that does not gives it back when it has been idle for long.
pub(crate) async fn close(session: &str) {
    let session = session.to_owned();
    let closed = tokio::time::timeout(CLOSE_TIME_MAX, place::ask(None, Ask::Close { session }));
    drop(closed.await);
}
