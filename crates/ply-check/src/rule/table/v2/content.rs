//! Blocks of content, options, commands and reports.

rules! {
    V2_CONTENT_01 =>
        Agent Must Documentation("content").recorded():
            "Agent content is one of the five kinds of blocks, or a custom kind that begins with `_`."
            "Clients cannot show the block."
            "Send a known kind with its members, or mark custom ones with `_`.",
        Client Must Documentation("content").recorded():
            "Prompts contain known kinds of content, or custom ones that begin with `_`."
            "The agent refuses the prompt."
            "Use the kinds of the schema.";
    V2_CONTENT_02 => Client May Documentation("content"):
        "Resource links may have icons."
        "The update is not shown, or the connection breaks in the middle of a turn."
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
        "An option value is sent with its type."
        "The agent cannot tell how to read the value."
        "Send `type: \"id\"` or `type: \"boolean\"`.";
    V2_CONF_03 => Agent Must Documentation("session-config-options").gate("configOptions").recorded():
        "Setting an option returns all options."
        "Clients replace their list with the response and lose the rest."
        "Return the complete `configOptions`.";
    V2_CONF_04 => Agent Must Crate.gate("configOptions"):
        "An unknown option, value or value type is refused with -32602, and nothing changes."
        "The client shows one value, and the agent works with another."
        "Check all three before any change.";
    V2_CONF_05 => Agent Must Crate.gate("configOptions").recorded():
        "The current value is one of the values, which are unique and not empty."
        "The selector is empty, or shows a choice twice."
        "Give every option a default, and every value once.";
    V2_CONF_06 => Client Should Documentation("session-config-options"):
        "Options of an unknown type are ignored."
        "One unknown option hides all of them."
        "Skip the option.";
    V2_CMD_01 => Agent Must Crate.recorded():
        "A command has the type `command`, a unique name without slash or white space, and a description."
        "Clients cannot show the command, or run another."
        "Send `type`, `name` and `description`, with unique names.";
    V2_CMD_02 => Agent Must Documentation("slash-commands").recorded():
        "The input of a command has the type `text` and a hint."
        "Clients cannot show what to type."
        "Send `input` with the type `text` and a `hint`, or none.";
    V2_CMD_03 => Client Must Crate:
        "Commands may come with the session and be replaced later."
        "The client offers outdated commands."
        "Replace the whole list with each update.";
    V2_CMD_04 => Client Should Documentation("slash-commands"):
        "Commands and inputs of an unknown type are shown generically or hidden."
        "One unknown command hides all of them."
        "Skip what you cannot show.";
    V2_USAGE_01 => Client Must Crate:
        "Usage may come without a cost, or with null."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Keep the last cost, or clear it.";
    V2_NOTICE_01 => Client May Crate:
        "Notices may be ignored, and change nothing."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Show it, or ignore it.";
    V2_COMPACT_01 => Client Must Crate:
        "Compactions may come at any time."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Show it, or ignore it.";
    V2_ELIC_01 =>
        Agent Must Documentation("elicitation").recorded():
            "Elicitations follow the rules of version 1: offered modes, one scope, flat forms without secrets."
            "Clients cannot, or should not, show the elicitation."
            "Check `capabilities.elicitation`, and see the rules of version 1.",
        Client Must Documentation("elicitation").recorded():
            "Elicitations are answered as in version 1."
            "The agent waits, or cannot tell what the user wants."
            "See the rules V1-ELIC.";
    V2_ELIC_02 => Agent Must Crate:
        "An elicitation changes the session state like a permission request: `requires_action`, then `running` or `idle`."
        "Users wait for the agent while it waits for them."
        "Report the same states for elicitations as for permission requests.";
    V2_ELIC_04 => Agent Must Crate:
        "Unknown actions are treated as `cancel`."
        "The agent continues with an answer that nobody gave."
        "Treat only `accept` as acceptance.";
}
