//! Reading a session back from its journal.

use ply_journal::{Error, Records};
use ply_session::{Event, History, Opening};

/// Bytes read from a journal at a time.
const READ_BYTES: usize = 256 * 1024;

/// Reads what happened in a session, for whoever shows or exports it. Also returns how many records cannot be read;
/// everything else is there.
///
/// # Errors
///
/// The journal cannot be read.
///
/// # Cancel safety
///
/// Nothing is lost when it is dropped.
pub async fn read_history<R>(records: &mut R) -> Result<(History, u64), Error>
where
    R: Records + ?Sized,
{
    let (opening, damaged) = read_back(records).await?;
    Ok((opening.into_history(), damaged))
}

/// Reads a session, and counts the records that cannot be read. Everything else of it is kept.
pub(super) async fn read_back<R>(records: &mut R) -> Result<(Opening, u64), Error>
where
    R: Records + ?Sized,
{
    let mut opening = Opening::default();
    let (mut from, mut damaged) = (0, 0);
    loop {
        let page = match records.read(from, READ_BYTES).await {
            Ok(page) if page.is_empty() => return Ok((opening, damaged)),
            Ok(page) => page,
            // A journal that does not go on would keep us here for ever.
            Err(Error::Damaged { next, .. }) if next > from => {
                damaged += next - from;
                from = next;
                continue;
            }
            Err(error) => return Err(error),
        };
        from += page.len() as u64;
        for record in page {
            match serde_json::from_slice::<Event>(&record) {
                Ok(event) => opening.event(&event),
                Err(_) => damaged += 1,
            }
        }
    }
}
