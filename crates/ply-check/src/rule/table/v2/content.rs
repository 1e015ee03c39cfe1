//! Blocks of content, options, commands and reports.

rules! {
    V2_CONTENT_01 =>
        Agent Must Documentation("content").recorded():
            "What an agent says is one of the five kinds of blocks, or a custom kind that begins with `_`."
            "Clients cannot show the block."
            "Send a known kind with its members, or mark custom ones with `_`.",
        Client Must Documentation("content").recorded():
            "Prompts hold known kinds of content, or ones that begin with `_`."
            "The agent refuses the prompt."
            "Use the kinds of the schema.";
    V2_CONTENT_02 => Client May Documentation("content"):
        "Links to resources may have icons."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Ignore icons that you cannot show.";
    V2_CONTENT_03 =>
        Agent Must Documentation("content").recorded():
            "Data is base64, priorities lie between 0 and 1, URIs are not empty."
            "Clients drop the block."
            "Encode data with padding, and keep priorities in their range.",
        Client Must Documentation("content").recorded():
            "Content has the members that its kind needs."
            "The agent refuses the prompt."
            "Fill in the members that the schema requires.";
    V2_CONF_01 => Agent Must Documentation("session-config-options").gate("configOptions").recorded():
        "Options have `configId`, and groups of values `groupId`."
        "Clients cannot name the option that they want to set."
        "Use the names of version 2.";
    V2_CONF_02 => Client Must Documentation("session-config-options").recorded():
        "A value of an option goes with its type."
        "The agent cannot tell what is meant."
        "Send `type: \"id\"` or `type: \"boolean\"`.";
    V2_CONF_03 => Agent Must Documentation("session-config-options").gate("configOptions").recorded():
        "Setting an option returns all options."
        "Clients replace their list by the answer and lose the rest."
        "Answer with the complete `configOptions`.";
    V2_CONF_04 => Agent Must Crate.gate("configOptions"):
        "An option, a value or a type of value that is not known is refused with -32602, and nothing changes."
        "The client shows one value, and the agent works with another."
        "Check all three before anything is changed.";
    V2_CONF_05 => Agent Must Crate.gate("configOptions").recorded():
        "The current value is one of the values, of which there is at least one and none twice."
        "The selector is empty, or shows a choice twice."
        "Give every option a default, and every value once.";
    V2_CONF_06 => Client Should Documentation("session-config-options"):
        "Options of an unknown type are ignored."
        "One option loses all of them."
        "Skip the option.";
    V2_CMD_01 => Agent Must Crate.recorded():
        "A command has the type `command`, a name of its own without slash or white space, and a description."
        "Clients cannot show the command, or run another."
        "Fill `type`, `name` and `description`, each name once.";
    V2_CMD_02 => Agent Must Documentation("slash-commands").recorded():
        "The input of a command is a text with a hint."
        "Clients cannot show what to type."
        "Send `input` with the type `text` and a `hint`, or none.";
    V2_CMD_03 => Client Must Crate:
        "Commands may come with the session and be replaced later."
        "The client offers commands that are gone."
        "Replace the whole list with each update.";
    V2_CMD_04 => Client Should Documentation("slash-commands"):
        "Commands and inputs of an unknown type are shown plainly or hidden."
        "One command loses all of them."
        "Skip what you cannot show.";
    V2_USAGE_01 => Client Must Crate:
        "Usage may come without a cost, or with a null one."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Keep the last cost, or clear it.";
    V2_NOTICE_01 => Client May Crate:
        "Notices may be ignored, and change nothing."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Show it, or ignore it.";
    V2_COMPACT_01 => Client Must Crate:
        "Compactions may come at any time."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Show it, or ignore it.";
    V2_ELIC_01 =>
        Agent Must Documentation("elicitation").recorded():
            "Questions keep the rules of version 1: offered modes, one scope, flat forms without secrets."
            "Clients cannot show the question, or should not."
            "Look for `capabilities.elicitation`, and see the rules of version 1.",
        Client Must Documentation("elicitation").recorded():
            "Requests for information are answered as in version 1."
            "The agent waits, or cannot tell what the user wants."
            "See the rules V1-ELIC.";
    V2_ELIC_02 => Agent Must Crate:
        "A question of the session changes its state as one for permission does: `requires_action`, then `running` or `idle`."
        "Users wait for the agent while it waits for them."
        "Report states around forms as around questions for permission.";
    V2_ELIC_04 => Agent Must Crate:
        "Unknown actions are handled as `cancel`."
        "The agent goes on with an answer that nobody gave."
        "Take only `accept` as acceptance.";
}
