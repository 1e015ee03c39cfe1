//! Messages as such: framing, JSON-RPC, names of one's own.

use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::agent("V1-RPC-01", "A message says `jsonrpc`: \"2.0\" and is one of request, notification and answer.")
        .matters("A message that is not of one kind reaches nobody.")
        .fix("Write `jsonrpc`: \"2.0\" and the members of one kind only."),
    Rule::client("V1-RPC-01", "A message says `jsonrpc`: \"2.0\" and is one of request, notification and answer.")
        .matters("A message that is not of one kind reaches nobody.")
        .fix("Write `jsonrpc`: \"2.0\" and the members of one kind only."),
    Rule::agent("V1-RPC-02", "Lines are UTF-8.")
        .matters("A line in another encoding cannot be read by the other side.")
        .fix("Encode what is written as UTF-8."),
    Rule::client("V1-RPC-02", "Lines are UTF-8.")
        .matters("A line in another encoding cannot be read by the other side.")
        .fix("Encode what is written as UTF-8."),
    Rule::agent("V1-RPC-03", "An answer has either a result, or an error with a whole number as code and a text as message.")
        .matters("A caller that gets neither result nor error does not know what happened.")
        .fix("Write `result` or `error`, and in an error `code` and `message`."),
    Rule::client("V1-RPC-03", "An answer has either a result, or an error with a whole number as code and a text as message.")
        .matters("A caller that gets neither result nor error does not know what happened.")
        .fix("Write `result` or `error`, and in an error `code` and `message`."),
    Rule::agent("V1-RPC-04", "Notifications get no answer.")
        .matters("An answer to a notification looks like the answer to something else.")
        .fix("Write nothing when a message has no `id`, not even an error."),
    Rule::client("V1-RPC-04", "Notifications get no answer.")
        .matters("An answer to a notification looks like the answer to something else.")
        .fix("Write nothing when a message has no `id`, not even an error."),
    Rule::agent("V1-RPC-05", "An answer repeats the id of its request as it was, and comes once.")
        .matters("Without its id, and once, an answer does not reach whoever waits for it.")
        .fix("Keep the id of a request as it came, and answer with it once."),
    Rule::client("V1-RPC-05", "An answer repeats the id of its request as it was, and comes once.")
        .matters("Without its id, and once, an answer does not reach whoever waits for it.")
        .fix("Keep the id of a request as it came, and answer with it once."),
    Rule::agent("V1-RPC-06", "Ids of requests are texts or whole numbers.").should()
        .matters("A null or fractional id is changed or lost by many readers.")
        .fix("Count requests with whole numbers."),
    Rule::client("V1-RPC-06", "Ids of requests are texts or whole numbers.").should()
        .matters("A null or fractional id is changed or lost by many readers.")
        .fix("Count requests with whole numbers."),
    Rule::agent("V1-RPC-14", "Lines of a file are counted from 1.")
        .matters("A line too low opens the wrong place.")
        .fix("Add one to positions that are counted from 0."),
    Rule::agent("V1-RPC-18", "Every line is one message, never an array of several.")
            .unspecified()
        .matters("A peer without batches runs none of the messages in one.")
        .fix("Write each message on its own line."),
    Rule::client("V1-RPC-18", "Every line is one message, never an array of several.")
            .unspecified()
        .matters("A peer without batches runs none of the messages in one.")
        .fix("Write each message on its own line."),
    Rule::agent("V1-STDIO-03", "Standard output carries messages and nothing else.").in_both_versions()
        .matters("Output of libraries on standard output breaks clients.")
        .fix("Write logs to standard error."),
    Rule::client("V1-STDIO-04", "The agent's standard input gets messages and nothing else.").in_both_versions()
        .matters("An agent cannot tell stray text from a broken message.")
        .fix("Write nothing but messages to the agent."),
    Rule::agent("V1-EXT-02", "Methods of one's own begin with an underscore.")
        .matters("Names without the mark belong to future versions.")
        .fix("Put `_` in front of the names of own methods."),
    Rule::client("V1-EXT-02", "Methods of one's own begin with an underscore.")
        .matters("Names without the mark belong to future versions.")
        .fix("Put `_` in front of the names of own methods."),
    Rule::agent("V2-RPC-01", "What version 1 says of lines, envelopes, answers and paths holds.")
        .matters("The other side cannot read the message, or takes it for another one.")
        .fix("Follow the framing rules of version 1."),
    Rule::client("V2-RPC-01", "What version 1 says of lines, envelopes, answers and paths holds.")
        .matters("The other side cannot read the message, or takes it for another one.")
        .fix("Follow the framing rules of version 1."),
    Rule::agent("V2-RPC-02", "Ids of requests are texts or whole numbers, never null.")
        .matters("Such an id has to be refused, so the request is lost.")
        .fix("Count requests with whole numbers."),
    Rule::client("V2-RPC-02", "Ids of requests are texts or whole numbers, never null.")
        .matters("Such an id has to be refused, so the request is lost.")
        .fix("Count requests with whole numbers."),
    Rule::agent("V2-RPC-03", "An id is not used again before its request is answered.")
        .matters("Two answers with one id cannot be told apart.")
        .fix("Give each request a new id."),
    Rule::client("V2-RPC-03", "An id is not used again before its request is answered.")
        .matters("Two answers with one id cannot be told apart.")
        .fix("Give each request a new id."),
    Rule::agent("V2-RPC-04", "A result names its request, and an error always has the member `id`.")
        .matters("An answer without id reaches nobody.")
        .fix("Write the id of the request; null only in an error about what could not be read."),
    Rule::client("V2-RPC-04", "A result names its request, and an error always has the member `id`.")
        .matters("An answer without id reaches nobody.")
        .fix("Write the id of the request; null only in an error about what could not be read."),
    Rule::agent("V2-RPC-05", "Results are objects, also empty ones.")
        .matters("Readers expect an object, with room for what comes later.")
        .fix("Answer `{}` where there is nothing to say."),
    Rule::client("V2-RPC-05", "Results are objects, also empty ones.")
        .matters("Readers expect an object, with room for what comes later.")
        .fix("Answer `{}` where there is nothing to say."),
    Rule::agent("V2-BATCH-02", "Every line is one message, never an array of several.")
        .matters("None of the messages of a batch is run.")
        .fix("Write each message on its own line."),
    Rule::client("V2-BATCH-02", "Every line is one message, never an array of several.")
        .matters("None of the messages of a batch is run.")
        .fix("Write each message on its own line."),
    Rule::agent("V2-EXT-01", "Values that the version does not know begin with an underscore.")
        .matters("Names without the mark belong to future versions.")
        .fix("Put `_` in front of own values."),
    Rule::agent("V2-EXT-04", "Methods of one's own begin with an underscore.")
        .matters("Names without the mark belong to future versions.")
        .fix("Put `_` in front of the names of own methods."),
    Rule::client("V2-EXT-04", "Methods of one's own begin with an underscore.")
        .matters("Names without the mark belong to future versions.")
        .fix("Put `_` in front of the names of own methods."),
    Rule::agent("V1-SCHEMA-01", "Every message fits the JSON schema of the version.")
        .matters("Clients that read by the schema refuse the message, and what it holds is lost.")
        .fix("Send the member that the finding names as the schema has it."),
    Rule::client("V1-SCHEMA-01", "Every message fits the JSON schema of the version.")
        .matters("Agents that read by the schema refuse the message, and what it holds is lost.")
        .fix("Send the member that the finding names as the schema has it."),
    Rule::agent("V2-SCHEMA-01", "Every message fits the JSON schema of the version.")
        .matters("Clients that read by the schema refuse the message, and what it holds is lost.")
        .fix("Send the member that the finding names as the schema has it."),
    Rule::client("V2-SCHEMA-01", "Every message fits the JSON schema of the version.")
        .matters("Agents that read by the schema refuse the message, and what it holds is lost.")
        .fix("Send the member that the finding names as the schema has it."),
];
