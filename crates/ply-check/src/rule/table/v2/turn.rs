//! Prompts, their ends and cancelling.

rules! {
    V2_PROMPT_01 => Client Must Documentation("prompt-lifecycle").recorded():
        "Prompts follow `initialize` and the opening of their session."
        "The agent does not know the session."
        "Wait for the response that opens the session.";
    V2_PROMPT_02 => Client Must Documentation("prompt-lifecycle").recorded():
        "Prompts contain only content that the agent supports."
        "The agent refuses the prompt."
        "Check `session.prompt`.";
    V2_PROMPT_03 => Agent Must Crate:
        "A prompt with an unsupported kind of block is refused with -32602."
        "Users assume that the agent has seen their image."
        "Check every block against your capabilities before the prompt is inserted.";
    V2_PROMPT_04 => Client Must Crate.recorded():
        "A prompt is not empty."
        "The agent refuses the prompt."
        "Do not send an empty prompt.";
    V2_PROMPT_05 => Agent Must Documentation("prompt-lifecycle").recorded():
        "The prompt response is sent when the prompt is inserted, not when the work is done."
        "Clients cannot show the message in order while the agent works."
        "Respond at once; report the work with updates and its end with `idle`.";
    V2_PROMPT_06 => Agent Must Crate:
        "An accepted prompt is in the conversation."
        "Clients show a message as sent that is never inserted."
        "Respond when the prompt is inserted, not while it is queued.";
    V2_PROMPT_07 => Agent Must Documentation("prompt-lifecycle").recorded():
        "The response has the `messageId` of the inserted message."
        "Clients cannot match their own message with the reported one, and show it twice."
        "Return `{\"messageId\": …}` with the id of the reported user message.";
    V2_PROMPT_08 => Client Unspecified Silent("prompt-lifecycle"):
        "A response without a message id, from an older agent, is accepted."
        "Older agents cannot be used."
        "Find the message by the next `user_message`.";
    V2_PROMPT_09 => Agent Must Documentation("prompt-lifecycle").recorded():
        "An accepted prompt is reported once as a user message with that id."
        "The message is missing from the history, or appears twice."
        "Send `user_message` with the same id when the prompt is inserted.";
    V2_PROMPT_12 => Agent Must Documentation("prompt-lifecycle"):
        "A refused prompt is not reported as a user message."
        "Users see a message that the agent did not accept."
        "Validate the prompt before reporting it.";
    V2_PROMPT_13 => Agent Must Crate:
        "A prompt that was inserted does not return an error."
        "Clients remove a message that is in the conversation."
        "Report later failures as `idle` with the stop reason `error`.";
    V2_PROMPT_14 => Agent Must Documentation("prompt-lifecycle").recorded():
        "A prompt is not refused because work is running, and several are inserted in order."
        "Users cannot send another prompt, or prompts arrive in the wrong order."
        "Insert it at a suitable point, or queue it until the work is done.";
    V2_PROMPT_16 => Agent Must Crate:
        "`$/cancel_request` withdraws a queued prompt and does not affect an inserted one."
        "A withdrawn prompt runs, or the wrong work stops."
        "Return -32800 for a queued prompt; ignore the notification for an inserted one.";
    V2_PROMPT_17 => Client Must Documentation("prompt-lifecycle"):
        "The prompt response is not the end of its work."
        "The client stops listening while the agent works."
        "Wait for `idle`.";
    V2_PROMPT_21 => Agent Must Crate:
        "Commands that the agent handles itself report states like other work."
        "Clients wait for a command that never started."
        "Report `running` and `idle` around commands too.";
    V2_PROMPT_22 => Agent Must Documentation("prompt-lifecycle"):
        "Tool results go back to the model until it stops calling tools."
        "Work stops half-way."
        "Loop until the model calls no more tools, then become idle.";
    V2_STATE_01 => Agent Must Documentation("prompt-lifecycle#session-states").recorded():
        "`running` is reported when work starts, or `requires_action` if it starts with a request to the user."
        "Clients show a working session as idle, and offer no stop button."
        "Send `state_update` with `running` or `requires_action` before other updates of the work.";
    V2_STATE_02 => Agent Must Documentation("prompt-lifecycle#session-states").recorded():
        "`idle` is reported when no work is left."
        "Clients show the session as busy forever."
        "Send `state_update` with `idle` at the end of the work.";
    V2_STATE_03 => Agent Should Crate.recorded():
        "The `idle` that ends work has a stop reason."
        "Clients cannot tell a finished turn from a refused or truncated one."
        "Put `stopReason` into the `idle` that follows `running`.";
    V2_STATE_04 => Agent Should Documentation("prompt-lifecycle#session-states"):
        "`requires_action` is reported while all work waits for the user."
        "Users wait for the agent while it waits for them."
        "Send `requires_action` when a request is open and nothing else can proceed.";
    V2_STATE_05 => Agent Must Crate.recorded():
        "After `requires_action` comes `running` or `idle`."
        "Clients keep asking for an answer that was given."
        "Send `running` when the work continues, `idle` when it ends.";
    V2_STATE_07 => Client Must Documentation("prompt-lifecycle#session-states"):
        "Updates while idle do not change the state."
        "The client shows an idle session as busy, or stops listening."
        "Change the state only on state updates.";
    V2_STATE_08 => Client Must Crate:
        "A repeated state changes nothing."
        "The client reports the end twice, or not at all."
        "Act on changes only.";
    V2_STATE_10 => Client Must Crate:
        "An unknown state is not treated as idle."
        "The client stops listening while the agent works."
        "Show it as busy until a known state arrives.";
    V2_STATE_11 => Agent Must Crate.recorded():
        "States are known, including the draft's `unknown`; custom ones begin with `_`."
        "Clients show a busy session without a reason."
        "Report `running`, `requires_action` and `idle`.";
    V2_STATE_12 => Agent Must Crate:
        "Refusing a prompt does not make a working session idle."
        "Clients assume that the work is finished."
        "Send `idle` only when no work is left.";
    V2_STATE_13 => Agent Should Crate:
        "Responses to requests of finished work are ignored."
        "Unexpected work starts."
        "Drop open requests when the work ends.";
    V2_STATE_14 => Client Unspecified Silent("prompt-lifecycle#session-states"):
        "An idle state from before the prompt's work does not end it."
        "The client stops listening while the agent works."
        "Accept idle only after the prompt's own message or a running state.";
    V2_BG_02 => Agent Must Crate.recorded():
        "An agent that lists background work does so with every state."
        "Clients cannot tell whether the work ended or was omitted."
        "Send `background` with each `state_update` of the session, `[]` if there is none.";
    V2_BG_03 => Agent Must Crate.recorded():
        "Background work is reported before it is listed."
        "Clients list work without a name."
        "Send the first update of a call or terminal before a state that lists it.";
    V2_BG_04 => Agent Must Crate.recorded():
        "No work is listed twice."
        "Users see the same work twice."
        "List a call that runs in a terminal only by its terminal.";
    V2_BG_05 => Client Must Crate:
        "Background work of an unknown kind, or an invalid list, is accepted."
        "The connection breaks in the middle of a turn."
        "Show that something runs, or nothing.";
    V2_STOP_01 => Agent Must Documentation("prompt-lifecycle#stop-reasons").recorded():
        "The stop reason is one of the six of version 2, or begins with `_`."
        "A later version may give the name another meaning."
        "Use a known reason, or a custom one that begins with `_`.";
    V2_STOP_02 => Agent Should Crate.recorded():
        "The stop reason `error` includes the error."
        "Users see that it failed, not why."
        "Put a JSON-RPC error object into `error` next to the stop reason.";
    V2_STOP_03 => Agent Must Crate.recorded():
        "`cancelled` is used only for work that the user or the client stopped."
        "Users wonder who stopped it, and do not try again."
        "Use `error` for the agent's own timeouts and for failures.";
    V2_STOP_04 => Agent Must Documentation("prompt-lifecycle#stop-reasons").recorded():
        "Custom stop reasons begin with `_`."
        "A later version may give them another meaning."
        "Prefix custom reasons with `_` and your own name.";
    V2_STOP_05 => Client Should Documentation("prompt-lifecycle#stop-reasons"):
        "An unknown stop reason is shown as a normal end."
        "The turn never ends, or the client crashes."
        "Show it generically.";
    V2_CANCEL_01 => Client May Documentation("prompt-lifecycle#cancellation").recorded():
        "`session/cancel` names the session."
        "The agent cannot tell what to stop."
        "Send `sessionId`.";
    V2_CANCEL_03 => Client Must Documentation("prompt-lifecycle#cancellation"):
        "Permission requests of cancelled work end with `cancelled`."
        "The agent waits forever."
        "Respond to open requests when the cancel is sent, or when the agent cancels them.";
    V2_CANCEL_04 => Agent Must Crate:
        "After a cancel, the agent no longer waits for open requests."
        "Cancelled work never becomes idle if the request stays open."
        "Treat open requests as not approved, and cancel them with `$/cancel_request`.";
    V2_CANCEL_05 => Agent Should Documentation("prompt-lifecycle#cancellation").recorded():
        "Work stops soon after a cancel."
        "Users press stop, and the work continues."
        "Abort requests to the model and end running tools when the notification comes.";
    V2_CANCEL_06 => Agent Must Documentation("prompt-lifecycle#cancellation").recorded():
        "Cancelled work ends with idle and `cancelled`; without work, nothing is reported."
        "Clients do not learn that the work is over."
        "Send `idle` with the stop reason `cancelled` once everything is aborted and reported.";
    V2_CANCEL_07 => Agent Must Documentation("prompt-lifecycle#cancellation").recorded():
        "Exceptions raised by cancelling are reported as `cancelled`, not as `error`."
        "Users see an error after pressing stop."
        "Catch exceptions from aborted work.";
    V2_CANCEL_08 => Agent Must Documentation("prompt-lifecycle#cancellation"):
        "No update of cancelled work follows the idle that ends it."
        "Late updates land in the next turn."
        "Send the remaining updates before `idle`.";
    V2_CANCEL_09 => Client Should Documentation("prompt-lifecycle#cancellation"):
        "Updates after `session/cancel` are still accepted."
        "Results of completed work are lost."
        "Keep reading until the session is idle.";
    V2_CANCEL_10 => Agent Must Crate:
        "A cancel returns -32800 for prompts that were not inserted, and does not affect later ones."
        "A cancelled prompt runs, or a later one is lost."
        "Refuse prompts that are queued at the cancel; accept later ones as usual.";
    V2_CANCEL_12 => Agent Should Crate:
        "A response after a cancel does not resume the work."
        "A cancelled tool runs."
        "Drop open requests when the work ends.";
    V2_CANCEL_13 => Agent Should Crate:
        "A cancel also cancels open elicitations."
        "Users fill in forms that nobody reads."
        "Send `$/cancel_request` for open elicitations of the cancelled work.";
    V2_CANCEL_14 => Agent Should Sdk:
        "A cancel for an unknown or idle session is ignored."
        "The next prompt is cancelled at once, or the connection breaks."
        "Drop the notification if no work of that session runs.";
    V2_CREQ_01 =>
        Agent Must Crate:
            "A cancelled request still gets exactly one response."
            "Clients wait forever for the cancelled request, or get a second response."
            "Return the usual result or -32800, once.",
        Client Must Crate:
            "A request that the agent cancels gets exactly one response."
            "The agent waits, or matches the second response to another request."
            "Respond once.";
    V2_CREQ_02 =>
        Agent Must Crate:
            "A cancel for an unknown or completed id is ignored."
            "Strict clients fail on a second response."
            "Drop the notification if no such request is open.",
        Client Must Crate:
            "`$/cancel_request` for an unknown or completed id is ignored."
            "The connection breaks in a harmless race."
            "Ignore it.";
    V2_CREQ_03 =>
        Agent Must Crate.recorded():
            "Only one's own requests are cancelled."
            "The other side's requests cannot be cancelled."
            "Put the id of your own request in `requestId`.",
        Client Must Crate.recorded():
            "`$/cancel_request` names one's own request."
            "It could cancel the other side's request with the same id."
            "Use the id of the request that you sent.";
    V2_CREQ_04 => Client Must Crate.recorded():
        "A permission request that the agent cancels returns `cancelled`."
        "The dialog stays open although nothing waits for it."
        "Close the dialog and return `cancelled`.";
    V2_ECANCEL_01 => Client Must Crate.recorded():
        "A single tool call or terminal is cancelled only while it offers that."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check `capabilities.cancel` of the call or terminal.";
    V2_ECANCEL_03 => Agent Must Crate:
        "Cancelling an unknown or finished call is refused with -32602."
        "Clients wait for a call that does not exist."
        "Return -32602 for `tool_call/cancel` unless the call runs and can be cancelled.";
    V2_ECANCEL_06 => Client Must Crate:
        "Invalid capabilities of a tool call count as none."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Fall back to none.";
    V2_MSG_01 => Agent Must Documentation("prompt-lifecycle#message-ids").recorded():
        "Every message and every chunk has a `messageId`."
        "Clients cannot match a chunk to its message."
        "Give each message and thought an id, and send it with each chunk.";
    V2_MSG_02 => Client Must Documentation("prompt-lifecycle#message-ids"):
        "A whole message replaces its chunks; null clears it."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Keep messages by their id.";
    V2_MSG_04 => Client Must Documentation("prompt-lifecycle#message-ids"):
        "Chunks of several messages may be interleaved."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Keep messages by their id.";
    V2_MSG_05 => Client Must Crate:
        "A message of the user and one of the agent may share an id."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Keep messages by their kind and id.";
}
