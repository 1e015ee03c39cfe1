//! The chunks of one message, shown as one line.

use super::row::Row;

/// Text of a folded message that is kept to be shown.
const TEXT_BYTES_MAX: usize = 400;

/// Chunks that may go on.
#[derive(Debug, Default)]
pub(super) struct Fold {
    rows: Option<Row>,
}

impl Fold {
    /// Takes the next row and returns what can be shown now.
    pub(super) fn push(&mut self, row: Row) -> Vec<Row> {
        if !super::is_chunk(&row) {
            return self.rows.take().into_iter().chain([row]).collect();
        }
        if let Some(first) = &mut self.rows
            && first.dir == row.dir
            && first.session == row.session
            && first.update == row.update
            && first.message == row.message
        {
            first.count += 1;
            first.bytes += row.bytes;
            first.until = Some(row.t);
            if first.text.len() < TEXT_BYTES_MAX {
                first.text.push_str(&row.text);
            }
            return Vec::new();
        }
        self.rows.replace(row).into_iter().collect()
    }

    /// Returns what is left.
    pub(super) fn finish(&mut self) -> Option<Row> {
        self.rows.take()
    }
}
