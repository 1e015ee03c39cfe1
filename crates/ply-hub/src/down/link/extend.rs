//! What clients want of the agent itself: to stop one thing, or something that the protocol does not know.

use ply_rpc::RpcError;
use ply_wire::negotiate::Version;
use ply_wire::v2;
use serde::Serialize;
use serde_json::Value;

use super::{Call, Failure, Link, Output};

/// The method by which some agents take words for the turn that runs. Without one they would begin a turn that nobody asked for.
const STEERING: &str = "_session/steering";

impl Link {
    pub(super) fn cancel_call(
        &mut self,
        call: v2::ToolCallId,
        out: &mut Vec<Output>,
    ) -> Option<i64> {
        let request = v2::CancelToolCallRequest::new(self.session()?.clone(), call);
        self.cancel_entity("tool_call/cancel", &request, out)
    }

    pub(super) fn cancel_terminal(
        &mut self,
        terminal: v2::TerminalId,
        out: &mut Vec<Output>,
    ) -> Option<i64> {
        let request = v2::CancelTerminalRequest::new(self.session()?.clone(), terminal);
        self.cancel_entity("terminal/cancel", &request, out)
    }

    fn cancel_entity(
        &mut self,
        method: &str,
        request: &impl Serialize,
        out: &mut Vec<Output>,
    ) -> Option<i64> {
        // Version 1 knows nothing of the kind, so nothing of it offers to be cancelled.
        if self.version()? != Version::V2 {
            return None;
        }
        self.ask_as(method, Call::CancelEntity, request, out)
    }

    /// Passes on a request.
    pub(super) fn extend(
        &mut self,
        method: &str,
        params: &Value,
        out: &mut Vec<Output>,
    ) -> Option<i64> {
        if self.takes(method) {
            return self.ask_as(method, Call::Extend, params, out);
        }
        self.last_call += 1;
        let call = self.last_call;
        let outcome = Err(Failure::Refused {
            method: STEERING,
            error: RpcError::invalid_request("no turn runs; send a prompt instead"),
        });
        out.push(Output::Answered { call, outcome });
        Some(call)
    }

    /// Returns whether the agent is passed on a message of this method now.
    pub(super) fn takes(&self, method: &str) -> bool {
        method != STEERING || self.has_prompt()
    }
}
