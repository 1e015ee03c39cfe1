//! One call or terminal that a client wants to stop.

use ply_wire::v2;

use super::Core;
use super::effect::Effect;
use super::prompt::no_right;
use super::response::{Empty, Response, respond};
use crate::{Entity, RequestId, ViewId};

impl Core {
    /// Passes the wish on, if what it is about can be cancelled by itself. The answer says that it is passed on, and not that
    /// the work has stopped: that is told by its final status (V2-ECANCEL-02). The turn goes on (V2-ECANCEL-04).
    pub(super) fn cancel_entity(
        &mut self,
        request: RequestId,
        view: ViewId,
        entity: Entity,
        out: &mut Vec<Effect>,
    ) {
        if self.view(view).is_none() || self.store.is_gone() {
            let response = Err(self.no_such_session());
            return out.push(Effect::Respond { request, response });
        }
        if !self.may_prompt(view) {
            return respond(self.view(view), request, Err(no_right()), out);
        }
        let transcript = self.engine.history().transcript();
        let can_be_cancelled = match &entity {
            Entity::ToolCall(id) => {
                let call = transcript.tool_call(id);
                call.is_some_and(|call| call.can_be_cancelled())
            }
            Entity::Terminal(id) => {
                let terminal = transcript.terminal(id);
                terminal.is_some_and(|terminal| terminal.can_be_cancelled())
            }
        };
        let response = match can_be_cancelled {
            true => Ok(Response::Cancelled(Empty {})),
            false => Err(not_cancellable()),
        };
        if can_be_cancelled {
            out.push(Effect::CancelEntity { entity });
        }
        respond(self.view(view), request, response, out);
    }
}

fn not_cancellable() -> v2::Error {
    let reason =
        "This cannot be cancelled by itself: it is unknown, has ended, or does not offer it.";
    v2::Error::new(v2::ErrorCode::InvalidParams.into(), reason)
}
