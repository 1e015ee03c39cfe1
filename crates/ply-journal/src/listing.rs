//! The order of listings, and the cursors that stand for a place in it.

use std::cmp::Reverse;

use crate::{Error, Head};

/// Where a session stands in a listing: the latest first, those of the same time by their id.
pub(crate) type Place<'a> = (Reverse<i64>, &'a str);

pub(crate) fn place(head: &Head) -> Place<'_> {
    (Reverse(head.updated_ms), &head.id)
}

/// Returns the cursor of the page after `head`.
pub(crate) fn cursor(head: &Head) -> String {
    format!("{}.{}", head.updated_ms, head.id)
}

/// Returns the place that a cursor stands for.
pub(crate) fn place_of(cursor: &str) -> Result<Place<'_>, Error> {
    let (updated_ms, id) = cursor.split_once('.').ok_or(Error::BadCursor)?;
    let updated_ms = updated_ms.parse().map_err(|_| Error::BadCursor)?;
    Ok((Reverse(updated_ms), id))
}
