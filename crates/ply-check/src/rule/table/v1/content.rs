//! Blocks of content, options, commands and reports.

rules! {
    V1_CONTENT_01 =>
        Agent Must Documentation("content").recorded():
            "What an agent says is one of the five kinds of blocks."
            "Clients cannot show the block."
            "Send `text`, `image`, `audio`, `resource_link` or `resource`.",
        Client Must Documentation("content").recorded():
            "Prompts hold known kinds of content."
            "The agent refuses the prompt."
            "Use text, image, audio, resource_link and resource.";
    V1_CONTENT_02 => Agent Must Documentation("content"):
        "Every agent takes text."
        "Users cannot say anything."
        "Accept blocks of type `text` in every prompt.";
    V1_CONTENT_03 => Agent Must Documentation("content"):
        "Every agent takes links to resources."
        "Clients send mentioned files as links, and the whole prompt is refused."
        "Accept blocks of type `resource_link`, and at least tell the model about the URI.";
    V1_CONTENT_04 => Client Must Documentation("content").recorded():
        "Images are sent only to agents that take them."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V1_CONTENT_05 => Client Must Documentation("content").recorded():
        "Audio is sent only to agents that take it."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V1_CONTENT_06 => Client Must Documentation("content").recorded():
        "Embedded resources are sent only to agents that take them."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Send a `resource_link` instead.";
    V1_CONTENT_08 =>
        Agent Must Documentation("content").recorded():
            "Blocks have the members that their kind needs."
            "Typed clients cannot read the update."
            "Give `text` for text, `data` and `mimeType` for images and audio, `uri` and `name` for links, `resource` for embedded ones.",
        Client Must Documentation("content").recorded():
            "Content has the members that its kind needs."
            "The agent refuses the prompt."
            "Fill in the members that the schema requires.";
    V1_CONTENT_09 =>
        Agent May Documentation("content"):
            "Annotations of a block do no harm."
            "Prompts of clients that annotate are refused."
            "Read annotations as advice, and ignore what is not known.",
        Client May Documentation("content"):
            "Annotations are advice, and may be odd."
            "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
            "Ignore annotations that you do not know.";
    V1_CONTENT_11 => Agent Unspecified Silent("content"):
        "A prompt with a kind of block that was not announced is refused with -32602."
        "Users believe that the agent has seen their picture."
        "Check every block against the own `promptCapabilities` before the turn starts.";
    V1_CONTENT_12 => Client Unspecified Silent("content"):
        "Messages may hold every kind of content."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Show a placeholder for what you cannot show.";
    V1_MODE_01 => Agent May Documentation("session-modes").gate("modes").recorded():
        "`modes` has the modes there are, and the current one is among them."
        "The client shows no mode, or one that is not there."
        "Send `currentModeId` and `availableModes`, each with `id` and `name`.";
    V1_MODE_02 =>
        Agent Unspecified Silent("session-modes").gate("modes"):
            "A mode that is not there is refused."
            "The client shows a mode that the agent is not in."
            "Answer -32602 if the id is none of `availableModes`.",
        Client Must Documentation("session-modes").recorded():
            "Only available modes are set."
            "The agent refuses the mode."
            "Choose from `availableModes`.";
    V1_MODE_03 => Agent Must Documentation("session-modes").gate("modes"):
        "The mode can be changed at any time."
        "The user cannot stop an agent from editing while it works."
        "Serve `session/set_mode` while a turn runs, without ending it.";
    V1_MODE_04 => Agent Must Schema.gate("modes").recorded():
        "A change of the mode is told with `currentModeId`."
        "Clients do not see the change."
        "Name the member `currentModeId`.";
    V1_MODE_05 => Agent Should Documentation("session-modes").gate("modes"):
        "A mode that was changed by an option is told as a mode too."
        "Clients that show modes keep showing the old one."
        "Send a `current_mode_update` when the option of the mode changes.";
    V1_MODE_07 => Agent Should Documentation("session-modes").gate("modes"):
        "Modes and the option for the mode say the same."
        "Two selectors show two modes, and one of them is wrong."
        "Send an option with the category `mode` beside `modes`, and change both at once.";
    V1_CONF_01 => Agent May Documentation("session-config-options").gate("configOptions").recorded():
        "Options have an id, a name, a type and a current value."
        "The client cannot show them."
        "Fill these members of each option.";
    V1_CONF_04 => Agent Must Documentation("session-config-options").gate("configOptions").recorded():
        "Boolean options go only to clients that know them."
        "Older clients refuse the session, or lose all options."
        "Leave them out, or send them as a choice of two, unless the client has `session.configOptions.boolean`.";
    V1_CONF_05 => Agent Must Documentation("session-config-options").gate("configOptions").recorded():
        "Every option has a current value that is one of its values."
        "The selector is empty, and the agent does not work until the user has chosen."
        "Give every option a default.";
    V1_CONF_06 => Client Should Documentation("session-config-options"):
        "Options of an unknown type are ignored."
        "One option loses all of them."
        "Skip the option.";
    V1_CONF_07 => Client Must Documentation("session-config-options"):
        "Categories may be missing or unknown."
        "One option loses all of them."
        "Take an unknown category for none.";
    V1_CONF_08 => Agent Must Documentation("session-config-options").gate("configOptions").recorded():
        "Categories are known ones, or begin with an underscore."
        "A later version of the protocol may give the name another meaning."
        "Put `_` before the name of the category.";
    V1_CONF_09 => Agent Must Documentation("session-config-options").gate("configOptions").recorded():
        "Setting an option returns all options."
        "Clients replace their list by the answer and lose the rest."
        "Answer with the complete `configOptions`.";
    V1_CONF_10 => Agent Unspecified Silent("session-config-options").gate("configOptions"):
        "A value that is not offered is refused, and nothing changes."
        "The client shows one value, and the agent works with another."
        "Answer -32602 for unknown options and values.";
    V1_CONF_11 => Client Must Documentation("session-config-options").recorded():
        "A boolean value of an option goes with `type: \"boolean\"`."
        "The agent takes the value for the id of a choice."
        "Send the type with boolean values.";
    V1_CONF_12 => Agent Must Documentation("session-config-options").gate("configOptions"):
        "An update of options carries all of them."
        "Clients replace their list by the update and lose the rest."
        "Send the complete `configOptions`.";
    V1_CONF_13 => Agent Must Documentation("session-config-options").gate("configOptions"):
        "Options can be changed in the middle of a turn."
        "The user has to stop the agent to change a setting."
        "Serve `session/set_config_option` while a turn runs.";
    V1_CMD_01 => Agent May Documentation("slash-commands").recorded():
        "Commands are told with `available_commands_update`."
        "The user does not see the commands there are."
        "Send the list as `availableCommands`, after the answer to `session/new`.";
    V1_CMD_02 => Client Must Documentation("slash-commands"):
        "A list of commands replaces the one before it, also by an empty one."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Replace the whole list.";
    V1_CMD_03 => Agent Must Documentation("slash-commands").recorded():
        "A command has a name and a description, and its input a hint."
        "Clients cannot show the command, or drop all of them."
        "Fill `name` and `description`, and `input.hint` if there is an `input`.";
    V1_USAGE_02 => Agent Must Documentation("prompt-turn").recorded():
        "`usage_update` has the counts `used` and `size`."
        "Clients cannot show how full the context is."
        "Send both as whole numbers, and no update while the size is not known.";
    V1_USAGE_03 => Agent Must Documentation("prompt-turn").recorded():
        "A cost has an amount and a currency."
        "Users cannot tell cents from euros."
        "Give `amount` as a number and `currency` as a code such as `USD`.";
    V1_NOTICE_01 => Agent Must Crate.recorded():
        "`notice` goes only to clients that asked for notices."
        "Clients of version 1 do not know the update."
        "Send it only if the client has `session.notices`; else say it in a message.";
    V1_NOTICE_02 => Agent Must Crate.recorded():
        "A notice has a severity and a title."
        "Clients show an empty box."
        "Give `severity` and a `title` that is not empty.";
    V1_COMPACT_01 => Agent Must Crate.recorded():
        "Updates about compaction go only to clients that asked for them."
        "Clients of version 1 do not know the updates."
        "Send them only if the client has `session.compaction`.";
    V1_COMPACT_02 => Agent Must Crate.recorded():
        "A compaction has one final status, and its summary comes before it."
        "Clients show a compaction that never ends, or a summary out of place."
        "Report `in_progress`, then chunks of the summary, then one final status.";
}
