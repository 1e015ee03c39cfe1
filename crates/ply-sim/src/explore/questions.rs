//! Clients that are asked and do not decide.

use ply_session::{AskId, Input, Reply, ViewId};

use super::small::{Small, V1, V2};
use crate::Broken;

impl Small {
    /// A user closes the dialog of the question, which each version says in its own way.
    pub(super) fn dismissed(&mut self, view: ViewId) -> Result<(), Broken> {
        let reply = match view {
            V1 => Reply::CancelTurn,
            _ => Reply::Dismissed,
        };
        self.given_up(view, reply)
    }

    /// A client gives up its copy of the question. That decides for the other client only if this one prompted and dismissed it;
    /// and once both have given it up, nobody may wait for them.
    pub(super) fn given_up(&mut self, view: ViewId, reply: Reply) -> Result<(), Broken> {
        let ask = AskId(1);
        let decides = self.prompter == Some(view) && !matches!(reply, Reply::Failed);
        self.seen.answered(view);
        let is_shown = |world: &Self| [V1, V2].iter().any(|view| world.seen.is_asked(*view));
        let (was_open, was_shown) = (self.is_open(ask), is_shown(self));
        self.feed(Input::Answer { ask, view, reply })?;
        match (was_open, self.is_open(ask)) {
            (true, false) if was_shown && !decides => {
                Err("a client that only gave up its copy ended the question for the other".into())
            }
            (_, true) if decides => {
                Err("whoever prompted dismissed a question that is still open".into())
            }
            (_, true) if !is_shown(self) => {
                Err("a question is open that nobody shows any more".into())
            }
            _ => Ok(()),
        }
    }

    fn is_open(&self, ask: AskId) -> bool {
        self.core.engine().question(ask).is_some()
    }
}
