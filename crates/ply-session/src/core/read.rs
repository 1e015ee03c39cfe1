//! What clients read: records of the window, each at its own pace, while the window stays small.

use std::time::Duration;

use super::effect::{Effect, Pull};
use super::view::{Cursor, Source, Step, View, question_name};
use super::{Core, window};
use crate::{AskId, Pace, Reply, ViewId};

impl Core {
    /// Returns what a view's client is sent next. To be asked for until it is nothing, while the client can take more.
    pub fn pull(&mut self, now: Duration, view: ViewId, out: &mut Vec<Effect>) -> Pull {
        self.now = now.max(self.now);
        if self.attach_waits(view) {
            // It is about to see everything anew.
            return Pull::Nothing;
        }
        loop {
            let Some(view) = self.views.iter_mut().find(|open| open.id == view) else {
                return Pull::Nothing;
            };
            let (engine, now) = (&self.engine, self.now);
            let source = Source {
                window: &self.window,
                history: engine.history(),
                question: &|ask| engine.question(ask),
                now,
            };
            let id = view.id;
            match view.next(&source) {
                Step::Message(message) => return Pull::Message(message),
                Step::Read(from) => return Pull::Read { from },
                Step::Nothing => return Pull::Nothing,
                Step::CannotAsk(ask) => {
                    let reply = Reply::Failed;
                    self.answer(ask, id, reply, out);
                    self.settle(out);
                }
            }
        }
    }

    /// Returns how far a view's client is with the last message that was pulled for it, if the client wants to know; for
    /// [`After::cursor`](super::After::cursor), also in another process.
    #[must_use]
    pub fn cursor(&self, view: ViewId) -> Option<String> {
        let view = self.views.iter().find(|open| open.id == view)?;
        view.cursor(&self.session, self.epoch)
    }

    /// Returns a name for an open question, which it has in every process.
    #[must_use]
    pub fn question_name(&self, ask: AskId) -> Option<String> {
        let question = self.engine.question(ask)?;
        Some(question_name(ask, question))
    }

    /// Sees to it that records have their numbers when clients are told them, also before there is a journal.
    pub(super) fn keep_numbers(&mut self) {
        let is_unkept = self.store.is_new();
        self.window.set_unkept(is_unkept);
        if is_unkept && self.has_traced() {
            self.window.seal();
        }
    }

    /// Returns whether some client is told how far it is.
    pub(super) fn has_traced(&self) -> bool {
        self.views.iter().any(View::is_traced)
    }

    /// Returns whether a view may have something for its client.
    #[must_use]
    pub fn has_news(&self, view: ViewId) -> bool {
        let mut views = self.views.iter();
        let open = views.find(|open| open.id == view);
        open.is_some_and(|open| open.has_news(&self.window)) && !self.attach_waits(view)
    }

    /// Returns whether the agent's code has to wait before it reports more: every client is behind, or the journal is.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        let is_failed = !self.store.is_usable() && !self.closing.is_closed;
        let is_full = self.window.unwritten_bytes() > self.limits().unwritten_bytes;
        if is_failed || is_full || self.has_waiting_reports() {
            return true;
        }
        let by_views = self.engine.settings().pace == Pace::Views && !self.views.is_empty();
        by_views && self.views.iter().all(|view| self.is_behind(view))
    }

    fn is_behind(&self, view: &View) -> bool {
        match view.cursor {
            Cursor::Window(place) => {
                let enough = self.limits().pace_bytes;
                // What is not safe yet is nothing that the client could have read.
                place < self.window.visible() && self.window.bytes_from(place, enough) >= enough
            }
            Cursor::Journal(_) => true,
        }
    }

    /// Brings the snapshot forward, so that it does not hold a full window: there may be no moment at which everything is
    /// safe.
    fn advance_snapshot(&mut self) {
        let visible = self.window.visible();
        while let Some(at) = self.engine.snapshot().map(|snapshot| snapshot.at)
            && at < visible
            && let Some(slot) = self.window.get(at)
        {
            let event = match &slot.kind {
                window::Kind::Event(event) => Some(event),
                window::Kind::Told(_) => None,
            };
            self.engine.advance_snapshot(event);
        }
    }

    pub(super) fn evict(&mut self) {
        if self.window.bytes() > self.limits().window_bytes {
            self.advance_snapshot();
        }
        let pinned = self
            .engine
            .snapshot()
            .map_or(u64::MAX, |snapshot| snapshot.at);
        let places = self.views.iter().map(|view| match view.cursor {
            Cursor::Window(place) => place,
            Cursor::Journal(_) => u64::MAX,
        });
        let passed = places.min().unwrap_or(u64::MAX);
        let limits = self.limits();
        let above = self
            .window
            .above(limits.window_bytes, limits.window_records);
        let upto = passed.max(above);
        let views = &mut self.views;
        self.window.evict(upto.min(pinned), |place, slot| {
            for view in views.iter_mut() {
                view.evicted(place, slot);
            }
        });
    }

    /// Returns about how many bytes of the newest records are kept for views and for the journal.
    #[must_use]
    pub fn window_bytes(&self) -> usize {
        self.window.bytes()
    }
}
