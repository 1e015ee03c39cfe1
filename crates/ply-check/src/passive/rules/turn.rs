//! Prompts, states and cancelling.

use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::client("V1-PROMPT-01", "Prompts are for sessions that were set up on the connection.")
        .matters("A prompt for a session that was not set up has no context.")
        .fix("Make or load the session first."),
    Rule::agent("V1-PROMPT-07", "Each prompt is answered once.")
        .matters("The answer to the prompt is the only sign that a turn is over.")
        .fix("Answer every prompt exactly once, also when the agent ends."),
    Rule::agent("V1-PROMPT-10", "Updates of a turn come before its answer.").should()
        .matters("Clients have finished the turn and lose what follows.")
        .fix("Send what is left of the turn, and then the answer."),
    Rule::agent("V1-STOP-01", "A turn ends for one of the five reasons of version 1.")
        .matters("The set is closed: strict clients cannot read another reason.")
        .fix("Answer with the nearest of the five reasons, or with an error."),
    Rule::client("V1-CANCEL-03", "Questions of a cancelled turn are answered with `cancelled`.")
        .matters("A tool that is allowed after a cancel runs against the user's will.")
        .fix("Answer every open question with `cancelled` when a cancel is sent."),
    Rule::agent("V1-CANCEL-05", "A cancelled turn ends with `cancelled`.")
        .matters("The user sees a turn finished that was stopped.")
        .fix("Answer the prompt with `cancelled` once everything is stopped."),
    Rule::agent("V1-CANCEL-06", "A cancelled turn does not end with an error.")
        .matters("The user sees a failure where nothing failed.")
        .fix("Catch what stopping raises, and answer with `cancelled`."),
    Rule::client("V2-PROMPT-01", "Prompts are for sessions that were set up on the connection.")
        .matters("A prompt for a session that was not set up has no context.")
        .fix("Make or resume the session first."),
    Rule::client("V2-PROMPT-02", "Prompts hold only what the agent takes.")
        .matters("Content that the agent does not take makes it refuse the prompt.")
        .fix("Look at `session.prompt` before a block is sent."),
    Rule::client("V2-PROMPT-04", "A prompt is not empty.")
        .matters("There is nothing to insert.")
        .fix("Send at least one block."),
    Rule::agent("V2-PROMPT-05", "A prompt is answered when its message is inserted, not when the work is over.")
        .matters("The client cannot show where its message stands while the work runs.")
        .fix("Answer as soon as the message has its place."),
    Rule::agent("V1-PROMPT-06", "A turn ends with the answer to its prompt, which has a stop reason.")
        .matters("The client cannot tell why the turn ended.")
        .fix("Answer the prompt with `stopReason`."),
    Rule::agent("V1-CANCEL-04", "Work stops soon after a cancel.").should()
        .matters("The user is asked about work that was stopped.")
        .fix("Ask for nothing more once the turn is cancelled."),
    Rule::agent("V2-CANCEL-05", "Work stops soon after a cancel.").should()
        .matters("The user is asked about work that was stopped.")
        .fix("Ask for nothing more once the work is cancelled."),
    Rule::agent("V2-PROMPT-07", "The answer to a prompt names the message.")
        .matters("Without the id the client cannot find its message among others.")
        .fix("Answer with `messageId`."),
    Rule::agent("V2-PROMPT-09", "The message of an accepted prompt is shown under its id.")
        .matters("Other clients, and the history, lack what the user said.")
        .fix("Send `user_message` with the id from the answer."),
    Rule::agent("V2-PROMPT-14", "A prompt is not refused because work is running.")
        .matters("Users type while the agent works, and their words are lost.")
        .fix("Insert the message at the next fit point, or hold it until then."),
    Rule::agent("V2-STATE-01", "Work is told to run before it is told to be over.")
        .matters("Without it the client does not show that work goes on.")
        .fix("Send `running` when work begins."),
    Rule::agent("V2-STATE-03", "The end of work says why.")
        .should()
        .matters("The user does not learn why the work ended.")
        .fix("Send `stopReason` with idle."),
    Rule::agent("V2-BG-02", "Work in the background is told in every state, once it is told at all.")
        .matters("A list that is left out means that nothing is known any more.")
        .fix("Send `background` with every state, also when it is empty."),
    Rule::agent("V2-STOP-04", "Reasons that the version does not know begin with an underscore.")
        .matters("Names without the mark belong to future versions.")
        .fix("Put `_` in front of own reasons."),
    Rule::agent("V2-CANCEL-06", "Cancelled work ends with `cancelled`.")
        .matters("The user sees work finished that was stopped.")
        .fix("Send idle with `cancelled` once everything is stopped."),
    Rule::agent("V2-CANCEL-07", "Cancelled work does not end as an error.")
        .matters("The user sees a failure where nothing failed.")
        .fix("Catch what stopping raises, and end with `cancelled`."),
    Rule::agent("V2-CREQ-03", "Only own requests are taken back.")
        .matters("Nobody can take back what somebody else asked.")
        .fix("Put the id of a request of one's own in `requestId`."),
    Rule::client("V2-CREQ-03", "Only own requests are taken back.")
        .matters("Nobody can take back what somebody else asked.")
        .fix("Put the id of a request of one's own in `requestId`."),
    Rule::client("V2-CREQ-04", "A question that was taken back is answered with `cancelled`.")
        .matters("A choice for a question that is gone may allow what nobody wants any more.")
        .fix("Close the question and answer `cancelled` when it is taken back."),
    Rule::client("V2-ECANCEL-01", "A tool call is cancelled only while it offers that.")
        .matters("A call that cannot be cancelled refuses, and the user waits.")
        .fix("Look for `capabilities.cancel` of the call first."),
    Rule::agent("V2-MSG-01", "Every message and every part of one names its id.")
        .matters("Chunks without an id belong to no message.")
        .fix("Send `messageId` with each of them."),
];
