//! Reading a session back from its journal.

use ply_journal::{Error, Records};
use ply_session::History;

use crate::session::read_back;

/// Reads what happened in a session, for whoever shows or exports it. Also returns how many records cannot be read;
/// everything else is there.
///
/// # Errors
///
/// The journal cannot be read.
///
/// # Cancel safety
///
/// Cancel safe.
pub async fn read_history<R>(records: &R) -> Result<(History, u64), Error>
where
    R: Records + ?Sized,
{
    let opening = read_back(records).await?;
    let damaged = opening.damaged();
    Ok((opening.into_history(), damaged))
}
