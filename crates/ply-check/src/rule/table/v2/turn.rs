//! Prompts, their ends and cancelling.

rules! {
    V2_PROMPT_01 => Client Must Documentation("prompt-lifecycle").recorded():
        "Prompts follow the greeting and the opening of their session."
        "The agent does not know the session."
        "Wait for the answer that opens the session.";
    V2_PROMPT_02 => Client Must Documentation("prompt-lifecycle").recorded():
        "Prompts hold only content that the agent takes."
        "The agent refuses the prompt."
        "Look at `session.prompt`.";
    V2_PROMPT_03 => Agent Must Crate:
        "A block of a kind that is not supported makes the agent refuse the prompt with -32602."
        "Users believe that the agent has seen their picture."
        "Check every block against the own capabilities before the prompt is inserted.";
    V2_PROMPT_04 => Client Must Crate.recorded():
        "A prompt is not empty."
        "The agent refuses the prompt."
        "Do not send what has no content.";
    V2_PROMPT_05 => Agent Must Documentation("prompt-lifecycle").recorded():
        "A prompt is answered when it is inserted, not when the work is done."
        "Clients cannot show the message in its place while the agent works."
        "Answer at once; report the work with updates and its end with `idle`.";
    V2_PROMPT_06 => Agent Must Crate:
        "An accepted prompt is in the conversation."
        "Clients show a message as sent that never gets in."
        "Leave a prompt unanswered while it is held, and answer when it is inserted.";
    V2_PROMPT_07 => Agent Must Documentation("prompt-lifecycle").recorded():
        "The answer has the `messageId` of the inserted message."
        "Clients cannot match their own message with the reported one, and show it twice."
        "Answer `{\"messageId\": …}` with the id that the user message is reported under.";
    V2_PROMPT_08 => Client Unspecified Silent("prompt-lifecycle"):
        "An older agent's answer without a message id is taken."
        "Agents of last season cannot be used."
        "Find the message by the next `user_message`.";
    V2_PROMPT_09 => Agent Must Documentation("prompt-lifecycle").recorded():
        "An accepted prompt is reported once as a user message with that id."
        "The message is missing from the history, or there twice."
        "Send `user_message` with the same id when the prompt is inserted.";
    V2_PROMPT_12 => Agent Must Documentation("prompt-lifecycle"):
        "A refused prompt is not reported as a user message."
        "Users see a message in the history that the agent has not taken."
        "Check the prompt before anything of it is reported.";
    V2_PROMPT_13 => Agent Must Crate:
        "Once inserted, a prompt is not answered with an error."
        "Clients take the message back although it was said."
        "Report what fails later as `idle` with the stop reason `error`.";
    V2_PROMPT_14 => Agent Must Documentation("prompt-lifecycle").recorded():
        "A prompt is not refused because work is running, and several get in by their order."
        "Users cannot go on writing, or their words come in the wrong order."
        "Insert it at a fit point, or hold it until the work is done.";
    V2_PROMPT_16 => Agent Must Crate:
        "`$/cancel_request` withdraws a prompt that is held, and leaves an inserted one alone."
        "A message that was taken back is sent, or work stops that was not to stop."
        "Answer a held prompt with -32800; ignore the notification for one that is inserted.";
    V2_PROMPT_17 => Client Must Documentation("prompt-lifecycle"):
        "The answer to a prompt is not the end of its work."
        "The client stops listening while the agent works."
        "Wait for `idle`.";
    V2_PROMPT_21 => Agent Must Crate:
        "Commands that the agent handles itself are work like any other."
        "Clients wait for the end of a command that never began."
        "Report `running` and `idle` around commands too.";
    V2_PROMPT_22 => Agent Must Documentation("prompt-lifecycle"):
        "Results of tools go back to the model until it asks for no more."
        "Work ends in the middle."
        "Loop until the model's answer has no tool calls, then become idle.";
    V2_STATE_01 => Agent Must Documentation("prompt-lifecycle#session-states").recorded():
        "`running` is reported when work starts, or `requires_action` if it starts with a question."
        "Clients show an idle session while it works, and offer no stop."
        "Send `state_update` with `running` or `requires_action` before anything of the work.";
    V2_STATE_02 => Agent Must Documentation("prompt-lifecycle#session-states").recorded():
        "`idle` is reported when no work is left."
        "Clients show a busy session for ever."
        "Send `state_update` with `idle` at the end of the work.";
    V2_STATE_03 => Agent Should Crate.recorded():
        "The `idle` that ends work has a stop reason."
        "Clients cannot tell a finished turn from a refused or a cut one."
        "Put `stopReason` into the `idle` that follows `running`.";
    V2_STATE_04 => Agent Should Documentation("prompt-lifecycle#session-states"):
        "`requires_action` is reported while all work waits for the user."
        "Users wait for the agent while it waits for them."
        "Send `requires_action` when a question is open and nothing else can go on.";
    V2_STATE_05 => Agent Must Crate.recorded():
        "After `requires_action` comes `running` or `idle`."
        "Clients go on asking for an answer that was given."
        "Send `running` when the work goes on, `idle` when it ends.";
    V2_STATE_07 => Client Must Documentation("prompt-lifecycle#session-states"):
        "Updates while idle do not change the state."
        "The client shows work that is none, or stops listening."
        "Change the state by state updates alone.";
    V2_STATE_08 => Client Must Crate:
        "A state that is told again changes nothing."
        "The client tells of an end twice, or not at all."
        "Act on changes only.";
    V2_STATE_10 => Client Must Crate:
        "A state that is not known is not idle."
        "The client stops listening while the agent works."
        "Show it as busy until a known one comes.";
    V2_STATE_11 => Agent Must Crate.recorded():
        "States are known ones, the draft's `unknown` included; custom ones begin with `_`."
        "Clients show a busy session that they cannot explain."
        "Report `running`, `requires_action` and `idle`.";
    V2_STATE_12 => Agent Must Crate:
        "Refusing a prompt does not make a session idle that is at work."
        "Clients take the work for finished."
        "Send `idle` only when no work is left.";
    V2_STATE_13 => Agent Should Crate:
        "Answers to questions of work that has ended are ignored."
        "Work starts that nobody expects."
        "Forget open questions when the work ends.";
    V2_STATE_14 => Client Unspecified Silent("prompt-lifecycle#session-states"):
        "An idle that was told before the prompt's own work began is not its end."
        "The client stops listening while the agent works."
        "Count an idle only after the prompt's own message or a running state.";
    V2_BG_02 => Agent Must Crate.recorded():
        "An agent that lists work in the background does so with every state."
        "Clients cannot tell whether the work ended or was left out."
        "Send `background` with each `state_update` of the session, `[]` if there is none.";
    V2_BG_03 => Agent Must Crate.recorded():
        "Work in the background is announced before it is listed."
        "Clients list something that they cannot name."
        "Send the first update of a call or terminal before a state that lists it.";
    V2_BG_04 => Agent Must Crate.recorded():
        "No work is listed twice."
        "Users see two pieces of work where there is one."
        "List a call that a process backs by its terminal only.";
    V2_BG_05 => Client Must Crate:
        "Background work of an unknown kind, or a malformed list, is taken."
        "The connection ends in the middle of a turn."
        "Show that something runs, or nothing.";
    V2_STOP_01 => Agent Must Documentation("prompt-lifecycle#stop-reasons").recorded():
        "The stop reason is one of the six of version 2, or begins with `_`."
        "Unknown words without the mark may come to mean something else later."
        "Use a known reason, or a custom one that begins with `_`.";
    V2_STOP_02 => Agent Should Crate.recorded():
        "The stop reason `error` comes with the error."
        "Users see that it failed, not why."
        "Put a JSON-RPC error object into `error` beside the stop reason.";
    V2_STOP_03 => Agent Must Crate.recorded():
        "`cancelled` is said only of work that the user or the client stopped."
        "Users wonder who stopped it, and do not try again."
        "Use `error` for the agent's own limits of time, and for failures.";
    V2_STOP_04 => Agent Must Documentation("prompt-lifecycle#stop-reasons").recorded():
        "Custom stop reasons begin with `_`."
        "They may come to mean something else in a later version."
        "Put `_` and a name of your own before custom reasons.";
    V2_STOP_05 => Client Should Documentation("prompt-lifecycle#stop-reasons"):
        "A stop reason that is not known is shown as a plain end."
        "The turn never ends, or the client crashes."
        "Show it generically.";
    V2_CANCEL_01 => Client May Documentation("prompt-lifecycle#cancellation").recorded():
        "`session/cancel` names the session."
        "The agent cannot tell what to stop."
        "Send `sessionId`.";
    V2_CANCEL_03 => Client Must Documentation("prompt-lifecycle#cancellation"):
        "Permission requests of cancelled work end with `cancelled`."
        "The agent waits for an answer."
        "Answer open requests when the cancel is sent, or when the agent takes them back.";
    V2_CANCEL_04 => Agent Must Crate:
        "After a cancel the agent no longer waits for open questions."
        "Work that was stopped never becomes idle if the question stays unanswered."
        "Take open questions as not approved, and withdraw them with `$/cancel_request`.";
    V2_CANCEL_05 => Agent Should Documentation("prompt-lifecycle#cancellation").recorded():
        "Work stops soon after a cancel."
        "Users press stop and watch it go on."
        "Abort requests to the model and end running tools when the notification comes.";
    V2_CANCEL_06 => Agent Must Documentation("prompt-lifecycle#cancellation").recorded():
        "Cancelled work ends with idle and `cancelled`; without work there is nothing to tell."
        "Clients do not learn that the work is over."
        "Send `idle` with the stop reason `cancelled` when all is aborted and reported.";
    V2_CANCEL_07 => Agent Must Documentation("prompt-lifecycle#cancellation").recorded():
        "What aborting raises is reported as `cancelled`, not as `error`."
        "Users get an error message for pressing stop."
        "Catch errors of aborted work.";
    V2_CANCEL_08 => Agent Must Documentation("prompt-lifecycle#cancellation"):
        "Nothing of cancelled work comes after the idle that ends it."
        "Late updates land in the next turn."
        "Send what is still to tell before `idle`.";
    V2_CANCEL_09 => Client Should Documentation("prompt-lifecycle#cancellation"):
        "Updates after `session/cancel` are still taken."
        "Results of work that was already done are lost."
        "Go on reading until the session is idle.";
    V2_CANCEL_10 => Agent Must Crate:
        "A cancel answers prompts that were not inserted with -32800, and leaves later ones alone."
        "A prompt that was to be stopped runs after all, or one that was not is lost."
        "Refuse what waits when the cancel comes; take prompts that come after it as usual.";
    V2_CANCEL_12 => Agent Should Crate:
        "An answer that comes after a cancel does not revive the work."
        "A tool runs that was stopped."
        "Forget open questions when the work ends.";
    V2_CANCEL_13 => Agent Should Crate:
        "Forms that a cancel makes useless are withdrawn."
        "Users fill in forms that nobody reads."
        "Send `$/cancel_request` for open elicitations of the cancelled work.";
    V2_CANCEL_14 => Agent Should Sdk:
        "A cancel for a session that is unknown or idle is ignored."
        "The next prompt ends before it begins, or the connection breaks."
        "Drop the notification if no work of that session runs.";
    V2_CREQ_01 =>
        Agent Must Crate:
            "A request that is cancelled still gets exactly one answer."
            "Clients wait for ever for what they took back, or get a second answer."
            "Answer with the usual result or with -32800, once.",
        Client Must Crate:
            "A request that the agent takes back is answered exactly once."
            "The agent waits, or takes the second answer for another."
            "Answer once.";
    V2_CREQ_02 =>
        Agent Must Crate:
            "A cancel for an id that is unknown or answered is ignored."
            "A second answer is an error to strict clients."
            "Drop the notification if no such request is open.",
        Client Must Crate:
            "`$/cancel_request` for what is unknown or answered is ignored."
            "The connection ends by a mere race."
            "Ignore it.";
    V2_CREQ_03 =>
        Agent Must Crate.recorded():
            "Only own requests are taken back."
            "Nobody can take back what somebody else asked."
            "Put the id of a request of one's own in `requestId`.",
        Client Must Crate.recorded():
            "`$/cancel_request` names a request of one's own."
            "Requests of the other side would be stopped by chance."
            "Use the id of the request that you sent.";
    V2_CREQ_04 => Client Must Crate.recorded():
        "A permission request that the agent takes back is answered with `cancelled`."
        "The dialog stays though nobody waits for it."
        "Close the dialog and answer `cancelled`.";
    V2_ECANCEL_01 => Client Must Crate.recorded():
        "Single tool calls and terminals are cancelled only while they offer it."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at `capabilities.cancel` of the call or terminal.";
    V2_ECANCEL_03 => Agent Must Crate:
        "A cancel of a call that is unknown or over is refused with -32602."
        "Clients wait for the end of something that is not there."
        "Answer `tool_call/cancel` with -32602 unless the call runs and can be cancelled.";
    V2_ECANCEL_06 => Client Must Crate:
        "Capabilities of a tool call that are malformed mean none."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Fall back to none.";
    V2_MSG_01 => Agent Must Documentation("prompt-lifecycle#message-ids").recorded():
        "Every message and every chunk has a `messageId`."
        "Clients cannot put a chunk to its message."
        "Give each message an id, also thoughts, and repeat it with each chunk.";
    V2_MSG_02 => Client Must Documentation("prompt-lifecycle#message-ids"):
        "A whole message replaces what its chunks said; null clears it."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Keep messages by their id.";
    V2_MSG_04 => Client Must Documentation("prompt-lifecycle#message-ids"):
        "Chunks of several messages may come mixed."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Keep messages by their id.";
    V2_MSG_05 => Client Must Crate:
        "A message of the user and one of the agent may share an id."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Keep messages by their kind and id.";
}
