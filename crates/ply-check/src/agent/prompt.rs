//! Prompts: what they get, and in which order.

mod busy;
mod plain;

use super::bench::Bench;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-PROMPT-03", "What the model says is reported with `session/update` during the turn.")
            .matters("Users see nothing, or all at once at the end.")
            .fix("Send `agent_message_chunk`s as the model speaks, before the prompt is answered."),
        Rule::agent("V1-PROMPT-05", "Tool calls that the model asks for are reported.")
            .should()
            .matters("Files change and users cannot see why.")
            .fix("Send `tool_call` before the tool does anything."),
        Rule::agent("V1-PROMPT-06", "A turn ends with the answer to its prompt, which has a stop reason.")
            .matters("Clients wait for ever, or cannot tell why it ended.")
            .fix("Answer the id of `session/prompt` with `{\"stopReason\": …}`."),
        Rule::agent("V1-PROMPT-07", "A prompt gets exactly one answer.")
            .matters("A second answer is an error to strict clients, and may hit a later request.")
            .fix("Answer in one place, at the end of the turn."),
        Rule::agent("V1-PROMPT-09", "Results of tools go back to the model until it asks for no more.")
            .matters("Turns end in the middle of the work.")
            .fix("Loop until the model's answer has no tool calls, then end the turn."),
        Rule::agent("V1-PROMPT-10", "Everything of a turn is sent before its answer.")
            .should()
            .matters("Clients lose the last words, or show them in the next turn.")
            .fix("Send updates and the answer through one queue, in order."),
        Rule::agent("V1-PROMPT-13", "A prompt during a turn is answered in some way, and so is the first.")
            .may()
            .matters("Clients wait for ever for one of the two.")
            .fix("Hold it, refuse it or let it cancel the first, but answer both."),
        Rule::agent("V1-PROMPT-14", "A prompt for a session that is not known is refused.")
            .matters("Users talk to nobody.")
            .fix("Answer with an error, such as -32002, and start no turn."),
        Rule::agent("V1-PROMPT-16", "A turn that fails is answered with an error.")
            .unspecified()
            .matters("Clients cannot tell a failure from an end.")
            .fix("Answer the prompt with a JSON-RPC error; version 1 has no stop reason for it."),
        Rule::agent("V2-PROMPT-03", "A block of a kind that is not supported makes the agent refuse the prompt with -32602.")
            .matters("Users believe that the agent has seen their picture.")
            .fix("Check every block against the own capabilities before the prompt is inserted."),
        Rule::agent("V2-PROMPT-05", "A prompt is answered when it is inserted, not when the work is done.")
            .matters("Clients cannot show the message in its place while the agent works.")
            .fix("Answer at once; report the work with updates and its end with `idle`."),
        Rule::agent("V2-PROMPT-06", "An accepted prompt is in the conversation.")
            .matters("Clients show a message as sent that never gets in.")
            .fix("Leave a prompt unanswered while it is held, and answer when it is inserted."),
        Rule::agent("V2-PROMPT-07", "The answer has the `messageId` of the inserted message.")
            .matters("Clients cannot match their own message with the reported one, and show it twice.")
            .fix("Answer `{\"messageId\": …}` with the id that the user message is reported under."),
        Rule::agent("V2-PROMPT-09", "An accepted prompt is reported once as a user message with that id.")
            .matters("The message is missing from the history, or there twice.")
            .fix("Send `user_message` with the same id when the prompt is inserted."),
        Rule::agent("V2-PROMPT-12", "A refused prompt is not reported as a user message.")
            .matters("Users see a message in the history that the agent has not taken.")
            .fix("Check the prompt before anything of it is reported."),
        Rule::agent("V2-PROMPT-13", "Once inserted, a prompt is not answered with an error.")
            .matters("Clients take the message back although it was said.")
            .fix("Report what fails later as `idle` with the stop reason `error`."),
        Rule::agent("V2-PROMPT-14", "A prompt is not refused because work is running, and several get in by their order.")
            .matters("Users cannot go on writing, or their words come in the wrong order.")
            .fix("Insert it at a fit point, or hold it until the work is done."),
        Rule::agent("V2-PROMPT-16", "`$/cancel_request` withdraws a prompt that is held, and leaves an inserted one alone.")
            .matters("A message that was taken back is sent, or work stops that was not to stop.")
            .fix("Answer a held prompt with -32800; ignore the notification for one that is inserted."),
        Rule::agent("V2-PROMPT-21", "Commands that the agent handles itself are work like any other.")
            .matters("Clients wait for the end of a command that never began.")
            .fix("Report `running` and `idle` around commands too."),
        Rule::agent("V2-PROMPT-22", "Results of tools go back to the model until it asks for no more.")
            .matters("Work ends in the middle.")
            .fix("Loop until the model's answer has no tool calls, then become idle."),
    ],
    probes: &[
        Probe {
            name: "a short turn",
            rules: &[
                "V1-PROMPT-03", "V1-PROMPT-06", "V1-PROMPT-07", "V1-PROMPT-10", "V1-STOP-01",
                "V1-STOP-02", "V1-MSGID-01", "V1-CONTENT-01", "V1-CONTENT-02", "V1-CONTENT-08",
                "V2-PROMPT-05", "V2-PROMPT-07", "V2-PROMPT-09", "V2-STATE-01", "V2-STATE-02",
                "V2-STATE-03", "V2-STATE-11", "V2-STOP-01", "V2-STOP-03", "V2-STOP-04", "V2-MSG-01",
                "V2-CONTENT-01", "V2-CONTENT-03",
            ],
            run: |bench| Box::pin(plain::short(bench)),
        },
        Probe {
            name: "prompts that cannot be taken",
            rules: &["V1-PROMPT-14", "V2-PROMPT-12"],
            run: |bench| Box::pin(plain::impossible(bench)),
        },
        Probe {
            name: "prompts during a turn",
            rules: &["V1-PROMPT-13", "V1-PROMPT-07", "V2-PROMPT-06", "V2-PROMPT-14", "V2-STATE-12"],
            run: |bench| Box::pin(busy::more_prompts(bench)),
        },
        Probe {
            name: "a command",
            rules: &["V2-PROMPT-21"],
            run: |bench| Box::pin(plain::command(bench)),
        },
    ],
};
