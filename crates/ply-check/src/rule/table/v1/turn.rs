//! Prompts, their ends and cancelling.

rules! {
    V1_PROMPT_01 => Client Must Documentation("prompt-turn").recorded():
        "Prompts go to sessions that were made or brought back on this connection."
        "The agent does not know the session."
        "Wait for the answer that opens the session, and use its id.";
    V1_PROMPT_02 => Client Must Documentation("prompt-turn").recorded():
        "Prompts hold only content that the agent takes."
        "The agent refuses the prompt."
        "Look at `promptCapabilities`, and link or describe what is not taken.";
    V1_PROMPT_03 => Agent Must Documentation("prompt-turn"):
        "What the model says is reported with `session/update` during the turn."
        "Users see nothing, or all at once at the end."
        "Send `agent_message_chunk`s as the model speaks, before the prompt is answered.";
    V1_PROMPT_05 => Agent Should Documentation("prompt-turn"):
        "Tool calls that the model asks for are reported."
        "Files change and users cannot see why."
        "Send `tool_call` before the tool does anything.";
    V1_PROMPT_06 => Agent Must Documentation("prompt-turn").recorded():
        "A turn ends with the answer to its prompt, which has a stop reason."
        "Clients wait for ever, or cannot tell why it ended."
        "Answer the id of `session/prompt` with `{\"stopReason\": …}`.";
    V1_PROMPT_07 => Agent Must Documentation("prompt-turn").recorded():
        "A prompt gets exactly one answer."
        "A second answer is an error to strict clients, and may hit a later request."
        "Answer in one place, at the end of the turn.";
    V1_PROMPT_09 => Agent Must Documentation("prompt-turn"):
        "Results of tools go back to the model until it asks for no more."
        "Turns end in the middle of the work."
        "Loop until the model's answer has no tool calls, then end the turn.";
    V1_PROMPT_10 => Agent Should Documentation("prompt-turn").recorded():
        "Everything of a turn is sent before its answer."
        "Clients lose the last words, or show them in the next turn."
        "Send updates and the answer through one queue, in order.";
    V1_PROMPT_11 => Client Unspecified Silent("prompt-turn"):
        "Updates may come outside of a turn."
        "Background work and command lists of agents are lost, or the connection ends."
        "Show them like any other.";
    V1_PROMPT_13 => Agent May Documentation("prompt-turn"):
        "A prompt during a turn is answered in some way, and so is the first."
        "Clients wait for ever for one of the two."
        "Hold it, refuse it or let it cancel the first, but answer both.";
    V1_PROMPT_14 => Agent Must Documentation("prompt-turn"):
        "A prompt for a session that is not known is refused."
        "Users talk to nobody."
        "Answer with an error, such as -32002, and start no turn.";
    V1_PROMPT_16 => Agent Unspecified Silent("prompt-turn"):
        "A turn that fails is answered with an error."
        "Clients cannot tell a failure from an end."
        "Answer the prompt with a JSON-RPC error; version 1 has no stop reason for it.";
    V1_PROMPT_17 => Client Should Documentation("prompt-turn"):
        "A prompt that fails is told to the user, and the client goes on."
        "One failure of the agent ends the client."
        "Show the error's message, and keep the session.";
    V1_PROMPT_18 => Client Unspecified Silent("prompt-turn"):
        "When the agent is gone, its open prompt is over at once."
        "The client shows a turn that never ends."
        "End everything that waits when the pipe closes.";
    V1_STOP_01 => Agent Must Documentation("prompt-turn#stop-reasons").recorded():
        "The stop reason is one of the five of version 1."
        "Typed clients cannot read the answer, and the turn seems to fail."
        "Use `end_turn` where nothing else fits, and an error where the turn failed.";
    V1_STOP_02 => Agent Must Documentation("prompt-turn#stop-reasons"):
        "A turn that the model finished ends with `end_turn`."
        "Clients show a limit or a refusal where all is well."
        "Answer with `end_turn` when the model asks for no more tools.";
    V1_STOP_03 => Agent Must Documentation("prompt-turn#stop-reasons"):
        "A turn that met the limit of tokens ends with `max_tokens`."
        "Users take half an answer for a whole one."
        "Map the model's own stop for length to `max_tokens`.";
    V1_STOP_04 => Agent Must Documentation("prompt-turn#stop-reasons"):
        "A turn that met the limit of requests to the model ends with `max_turn_requests`."
        "Users do not learn that they can go on by asking again."
        "Answer with `max_turn_requests` when the agent stops its own loop.";
    V1_STOP_05 => Agent Must Documentation("prompt-turn#stop-reasons"):
        "A turn that the agent declined ends with `refusal`."
        "Clients cannot mark what is left out of the conversation from then on."
        "Answer with `refusal`, and leave the turn out of the next prompt's context.";
    V1_STOP_07 => Agent Must Documentation("prompt-turn#stop-reasons"):
        "A turn that the client cancelled ends with `cancelled`."
        "Clients report a failure, or a finished turn, where the user stopped it."
        "Catch what aborting raises, and answer with `cancelled`.";
    V1_CANCEL_01 => Client May Documentation("prompt-turn#cancellation").recorded():
        "`session/cancel` names the session."
        "The agent cannot tell what to stop."
        "Send `sessionId`.";
    V1_CANCEL_03 => Client Must Documentation("prompt-turn#cancellation").recorded():
        "After `session/cancel` every open permission request is answered with `cancelled`."
        "The agent waits for an answer, and the turn never ends."
        "Answer all open requests of the session when the cancel is sent.";
    V1_CANCEL_04 => Agent Should Documentation("prompt-turn#cancellation").recorded():
        "Work stops soon after a cancel."
        "Users press stop and watch it go on."
        "Abort requests to the model and end running tools when the notification comes.";
    V1_CANCEL_05 => Agent Must Documentation("prompt-turn#cancellation").recorded():
        "The prompt of a cancelled turn is answered with `cancelled`."
        "Clients wait for the end of the turn before they take the next prompt."
        "When all is aborted and reported, answer the prompt with the stop reason `cancelled`.";
    V1_CANCEL_06 => Agent Must Documentation("prompt-turn#cancellation").recorded():
        "What aborting raises does not become an error of the prompt."
        "Users get an error message for pressing stop."
        "Catch errors of aborted work, and answer with a result.";
    V1_CANCEL_07 => Agent Must Documentation("prompt-turn#cancellation"):
        "Nothing of a cancelled turn comes after its answer."
        "Late updates land in the next turn."
        "Send what is still to tell, then answer the prompt, then be silent.";
    V1_CANCEL_08 => Client Should Documentation("prompt-turn#cancellation"):
        "Updates after `session/cancel` are still taken."
        "Results of work that was already done are lost, or the connection ends."
        "Go on reading until the prompt is answered.";
    V1_CANCEL_09 => Agent Must Documentation("prompt-turn#cancellation"):
        "`session/cancel` itself gets no answer."
        "An answer nobody asked for is an error to strict clients."
        "Write nothing for a notification.";
    V1_CANCEL_10 => Agent Must Documentation("prompt-turn#cancellation"):
        "The session can be used after a cancelled turn."
        "One press of stop costs the whole conversation."
        "Reset what marks the turn as cancelled before the next prompt.";
    V1_CANCEL_11 => Agent Unspecified Silent("prompt-turn#cancellation"):
        "A cancel with nothing to cancel does nothing, also to the next prompt."
        "The next prompt ends before it begins."
        "Drop the notification if no turn of that session runs.";
    V1_CANCEL_12 => Agent Unspecified Silent("prompt-turn#cancellation"):
        "The outcome `cancelled` of a question ends the turn as cancelled."
        "The agent works around an answer that meant stop."
        "Take the outcome as a cancel of the turn, not as a refusal of one tool.";
    V1_CANCEL_13 => Agent Must Documentation("prompt-turn#cancellation"):
        "A cancel touches only the session that it names."
        "Stopping one conversation stops another."
        "Keep what can be cancelled by session, not for the whole process.";
    V1_CREQ_03 =>
        Agent Must Documentation("cancellation"):
            "A request that is cancelled still gets one answer: a result, or -32800."
            "Clients wait for ever for what they took back."
            "Answer the request when its work is stopped; the notification itself gets nothing.",
        Client Must Documentation("cancellation"):
            "A request that the agent takes back is still answered, once."
            "The agent waits for the answer, and its turn hangs."
            "Answer -32800, or `cancelled` for a permission.";
    V1_CREQ_07 => Agent Should Documentation("cancellation"):
        "When a turn is cancelled, the agent withdraws its own open requests."
        "Questions of a turn that is over stay on the screen."
        "Send `$/cancel_request` for each open request of the turn.";
    V1_CREQ_08 =>
        Agent Should Crate:
            "A cancel for an id that is unknown or answered is ignored."
            "The connection breaks when both sides are done at the same time."
            "Drop the notification if no such request is open.",
        Client Should Crate:
            "`$/cancel_request` for what is unknown or answered is ignored."
            "The connection ends by a mere race."
            "Ignore it.";
    V1_CREQ_09 => Agent Must Documentation("cancellation"):
        "A question that comes back with -32800 is not approved."
        "A tool runs that nobody allowed."
        "Take the error as the outcome `cancelled`.";
    V1_MSGID_01 => Agent May Documentation("prompt-turn").recorded():
        "`messageId`, if given, is a string."
        "Clients cannot tell where one message ends."
        "Give the same string with all chunks of a message, or none.";
    V1_MSGID_02 => Client Must Documentation("prompt-turn"):
        "Ids of messages are opaque texts; null is none."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Compare ids as texts, and read null as absent.";
}
