//! Prompts, their ends and cancelling.

rules! {
    V1_PROMPT_01 => Client Must Documentation("prompt-turn").recorded():
        "Prompts go to sessions that were created, loaded or resumed on this connection."
        "The agent does not know the session."
        "Wait for the response that opens the session, and use its id.";
    V1_PROMPT_02 => Client Must Documentation("prompt-turn").recorded():
        "Prompts contain only content that the agent supports."
        "The agent refuses the prompt."
        "Check `promptCapabilities`, and link or describe other content.";
    V1_PROMPT_03 => Agent Must Documentation("prompt-turn"):
        "Model output is sent with `session/update` during the turn."
        "Users see nothing, or all at once at the end."
        "Stream `agent_message_chunk`s before the prompt response.";
    V1_PROMPT_05 => Agent Should Documentation("prompt-turn"):
        "Tool calls of the model are reported."
        "Files change, and users cannot see why."
        "Send `tool_call` before the tool does anything.";
    V1_PROMPT_06 => Agent Must Documentation("prompt-turn").recorded():
        "A turn ends with the prompt response, which has a stop reason."
        "Clients wait forever, or cannot tell why the turn ended."
        "Respond to `session/prompt` with `{\"stopReason\": …}`.";
    V1_PROMPT_07 => Agent Must Documentation("prompt-turn").recorded():
        "A prompt gets exactly one response."
        "Strict clients fail on a second response, or match it to a later request."
        "Respond in one place, at the end of the turn.";
    V1_PROMPT_09 => Agent Must Documentation("prompt-turn"):
        "Tool results go back to the model until it stops calling tools."
        "Turns end in the middle of the work."
        "Loop until the model calls no more tools, then end the turn.";
    V1_PROMPT_10 => Agent Should Documentation("prompt-turn").recorded():
        "All updates of a turn are sent before the prompt response."
        "Clients lose the last output, or show it in the next turn."
        "Send updates and the response through one queue, in order.";
    V1_PROMPT_11 => Client Unspecified Silent("prompt-turn"):
        "Updates may come outside of a turn."
        "Background work and command lists of agents are lost, or the connection ends."
        "Show them like any other.";
    V1_PROMPT_13 => Agent May Documentation("prompt-turn"):
        "A prompt during a turn gets a response, and so does the first."
        "Clients wait forever for one of the two."
        "Queue it, refuse it or let it cancel the first, but respond to both.";
    V1_PROMPT_14 => Agent Must Documentation("prompt-turn"):
        "A prompt for an unknown session is refused."
        "The user's prompt is lost."
        "Return an error, such as -32002, and start no turn.";
    V1_PROMPT_16 => Agent Unspecified Silent("prompt-turn"):
        "A failed turn returns an error."
        "Clients cannot tell a failure from a normal end."
        "Return a JSON-RPC error; version 1 has no stop reason for failures.";
    V1_PROMPT_17 => Client Should Documentation("prompt-turn"):
        "The client reports a failed prompt to the user and keeps working."
        "One agent error crashes the client."
        "Show the error's message, and keep the session.";
    V1_PROMPT_18 => Client Unspecified Silent("prompt-turn"):
        "When the agent exits, its open prompt ends at once."
        "The client shows a turn that never ends."
        "Fail all pending requests when the pipe closes.";
    V1_STOP_01 => Agent Must Documentation("prompt-turn#stop-reasons").recorded():
        "The stop reason is one of the five of version 1."
        "Typed clients cannot parse the response, and the turn seems to fail."
        "Use `end_turn` where nothing else fits, and an error where the turn failed.";
    V1_STOP_02 => Agent Must Documentation("prompt-turn#stop-reasons"):
        "A turn that the model completes ends with `end_turn`."
        "Clients show a limit or a refusal although the turn succeeded."
        "Use `end_turn` when the model calls no more tools.";
    V1_STOP_03 => Agent Must Documentation("prompt-turn#stop-reasons"):
        "A turn that reaches the token limit ends with `max_tokens`."
        "Users take a cut answer for a complete one."
        "Map the model's own stop for length to `max_tokens`.";
    V1_STOP_04 => Agent Must Documentation("prompt-turn#stop-reasons"):
        "A turn that reaches the limit of model requests ends with `max_turn_requests`."
        "Users do not learn that another prompt continues the work."
        "Use `max_turn_requests` when the agent stops its own loop.";
    V1_STOP_05 => Agent Must Documentation("prompt-turn#stop-reasons"):
        "A turn that the agent declined ends with `refusal`."
        "Clients cannot mark what is left out of the conversation from then on."
        "Use `refusal`, and leave the turn out of the next prompt's context.";
    V1_STOP_07 => Agent Must Documentation("prompt-turn#stop-reasons"):
        "A turn that the client cancelled ends with `cancelled`."
        "Clients report a failure, or a finished turn, where the user stopped it."
        "Catch exceptions from aborted work, and return `cancelled`.";
    V1_CANCEL_01 => Client May Documentation("prompt-turn#cancellation").recorded():
        "`session/cancel` names the session."
        "The agent cannot tell what to stop."
        "Send `sessionId`.";
    V1_CANCEL_03 => Client Must Documentation("prompt-turn#cancellation").recorded():
        "After `session/cancel`, the client answers every open permission request with `cancelled`."
        "The agent keeps waiting, and the turn never ends."
        "Answer all open requests of the session when the cancel is sent.";
    V1_CANCEL_04 => Agent Should Documentation("prompt-turn#cancellation").recorded():
        "Work stops soon after a cancel."
        "Users press stop, and the work continues."
        "Abort requests to the model and end running tools when the notification comes.";
    V1_CANCEL_05 => Agent Must Documentation("prompt-turn#cancellation").recorded():
        "The prompt of a cancelled turn ends with `cancelled`."
        "Clients wait for the end of the turn before they accept the next prompt."
        "Once everything is aborted and reported, return the stop reason `cancelled`.";
    V1_CANCEL_06 => Agent Must Documentation("prompt-turn#cancellation").recorded():
        "Exceptions raised by cancelling must not fail the prompt."
        "Users see an error after pressing stop."
        "Catch exceptions from aborted work, and return a result.";
    V1_CANCEL_07 => Agent Must Documentation("prompt-turn#cancellation"):
        "No update of a cancelled turn follows the prompt response."
        "Late updates land in the next turn."
        "Send the remaining updates, then the response, then nothing.";
    V1_CANCEL_08 => Client Should Documentation("prompt-turn#cancellation"):
        "Updates after `session/cancel` are still accepted."
        "Results of completed work are lost, or the connection breaks."
        "Keep reading until the prompt response arrives.";
    V1_CANCEL_09 => Agent Must Documentation("prompt-turn#cancellation"):
        "`session/cancel` itself gets no response."
        "Strict clients fail on an unexpected response."
        "Send nothing for a notification.";
    V1_CANCEL_10 => Agent Must Documentation("prompt-turn#cancellation"):
        "The session can be used after a cancelled turn."
        "Pressing stop once makes the session unusable."
        "Reset the cancel state before the next prompt.";
    V1_CANCEL_11 => Agent Unspecified Silent("prompt-turn#cancellation"):
        "A cancel without a running turn has no effect, also not on the next prompt."
        "The next prompt is cancelled at once."
        "Drop the notification if no turn of that session runs.";
    V1_CANCEL_12 => Agent Unspecified Silent("prompt-turn#cancellation"):
        "The permission outcome `cancelled` ends the turn as cancelled."
        "The agent treats \"stop\" as \"no\" and tries something else."
        "Treat the outcome as cancelling the turn, not as refusing one tool.";
    V1_CANCEL_13 => Agent Must Documentation("prompt-turn#cancellation"):
        "A cancel touches only the session that it names."
        "Stopping one session stops another."
        "Track cancellation per session, not per process.";
    V1_CREQ_03 =>
        Agent Must Documentation("cancellation"):
            "A cancelled request still gets one response: a result or error -32800."
            "Clients wait forever for the cancelled request."
            "Respond to the request once its work has stopped; the notification gets no response.",
        Client Must Documentation("cancellation"):
            "A request that the agent cancels still gets one response."
            "The agent waits for the response, and its turn hangs."
            "Return -32800, or the outcome `cancelled` for a permission request.";
    V1_CREQ_07 => Agent Should Documentation("cancellation"):
        "When a turn is cancelled, the agent cancels its own open requests."
        "Dialogs of a finished turn stay on the screen."
        "Send `$/cancel_request` for each open request of the turn.";
    V1_CREQ_08 =>
        Agent Should Crate:
            "A cancel for an unknown or completed id is ignored."
            "The connection breaks in a harmless race."
            "Drop the notification if no such request is open.",
        Client Should Crate:
            "`$/cancel_request` for an unknown or completed id is ignored."
            "The connection breaks in a harmless race."
            "Ignore it.";
    V1_CREQ_09 => Agent Must Documentation("cancellation"):
        "A permission request that fails with -32800 is not approved."
        "A tool runs without permission."
        "Treat the error as the outcome `cancelled`.";
    V1_MSGID_01 => Agent May Documentation("prompt-turn").recorded():
        "`messageId`, if given, is a string."
        "Clients cannot tell where one message ends."
        "Send the same string with all chunks of a message, or none.";
    V1_MSGID_02 => Client Must Documentation("prompt-turn"):
        "Message ids are opaque strings; null means no id."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Compare ids as strings, and treat null as absent.";
}
