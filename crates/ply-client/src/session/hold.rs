//! Who holds a session.

use std::ops::Deref;
use std::sync::Arc;

use super::cell::SessionCell;

/// Held by every handle of a session, its turns and its streams. When the last of them is gone, so is everybody who could answer
/// a question, though the session itself lives until its running prompt is answered.
#[derive(Debug, Clone)]
pub(crate) struct Hold(Arc<Last>);

#[derive(Debug)]
struct Last(Arc<SessionCell>);

impl Hold {
    pub(crate) fn new(cell: Arc<SessionCell>) -> Self {
        Self(Arc::new(Last(cell)))
    }

    pub(crate) fn cell(&self) -> &Arc<SessionCell> {
        &self.0.0
    }
}

impl Deref for Hold {
    type Target = Arc<SessionCell>;

    fn deref(&self) -> &Arc<SessionCell> {
        self.cell()
    }
}

impl Drop for Last {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
