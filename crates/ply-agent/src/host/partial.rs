//! Copies that are not whole: the journal has them, but they are no sessions.

use std::sync::Arc;

use ply_journal::{Error, Head, Journal, Opened};
use ply_wire::v2;

use super::{Host, Place};

/// What the head of a copy says until the copy is whole.
pub(super) const PARTIAL: &str = "ply: partial copy";

/// Returns whether an entry of a journal is a copy of a session that is still being made, or was cut off with its process.
/// Agents do not list such an entry, and delete it when nobody makes it any more.
#[must_use]
pub fn is_partial(head: &Head) -> bool {
    head.host.as_deref() == Some(PARTIAL)
}

/// Opens a session; none if there is no such session. What is left of a copy that was cut off is deleted: whoever makes one
/// owns it.
pub(crate) async fn open(journal: &dyn Journal, id: &str) -> Result<Option<Opened>, Error> {
    let Some(opened) = journal.open(id).await? else {
        return Ok(None);
    };
    if !is_partial(&opened.head) {
        return Ok(Some(opened));
    }
    opened.log.close().await?;
    journal.delete(id).await?;
    Ok(None)
}

impl Host {
    /// Deletes a copy in the background, unless somebody makes it.
    pub(super) fn clear_away(&self, id: &str) {
        let id = v2::SessionId::new(id);
        let (journal, place) = (self.journal(), self.alone.queue(&id));
        tokio::spawn(async move {
            if let Err(error) = clear_away(journal, &id, place).await {
                tracing::debug!(session = %id.0, %error, "a partial copy stays for now");
            }
        });
    }
}

async fn clear_away(
    journal: Arc<dyn Journal>,
    id: &v2::SessionId,
    place: Place,
) -> Result<(), Error> {
    place.comes().await;
    // It may be whole by now, and then it is about to be opened.
    let found = journal.look(&id.0).await?;
    if !found.is_some_and(|(head, _)| is_partial(&head)) {
        return Ok(());
    }
    match open(&*journal, &id.0).await? {
        Some(opened) => opened.log.close().await,
        None => Ok(()),
    }
}
