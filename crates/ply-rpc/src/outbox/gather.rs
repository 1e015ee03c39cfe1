//! Several frames that are written together.

use super::Outbox;

/// What is left to do when a sender has sent all it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Gathered {
    /// Nothing, or it is for whoever still gathers.
    Nothing,
    /// To write what came: the writer sleeps and was not woken for it.
    Yours,
    /// To wake the writer, which has more to see to than that.
    Wake,
}

impl Outbox {
    /// Wakes the writer for no frame until [`Outbox::end_gathering`], which must follow soon.
    pub(crate) fn begin_gathering(&self) {
        self.lock().gathering += 1;
    }

    pub(crate) fn end_gathering(&self) -> Gathered {
        let mut state = self.lock();
        state.gathering = state.gathering.saturating_sub(1);
        let has_news = !state.segments.is_empty() || !state.waiting.is_empty();
        if state.gathering > 0 || !state.asleep || state.closed || !has_news {
            Gathered::Nothing
        } else if state.rests || !state.waiting.is_empty() || !state.rooms.is_empty() {
            Gathered::Wake
        } else {
            Gathered::Yours
        }
    }
}
