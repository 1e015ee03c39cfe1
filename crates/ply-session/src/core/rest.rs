//! What a session gives back when nothing happens in it.

use super::Core;

impl Core {
    /// Gives back memory that is only kept to be used again.
    ///
    /// For the end of a turn: most sessions of an agent are idle, and the lists of one that works are several kilobytes.
    pub fn rest(&mut self) {
        self.actions.shrink_to_fit();
        self.waiting.shrink_to_fit();
        self.gated.shrink_to_fit();
        self.views.shrink_to_fit();
        self.window.rest();
        self.views.iter_mut().for_each(super::view::View::rest);
    }
}
