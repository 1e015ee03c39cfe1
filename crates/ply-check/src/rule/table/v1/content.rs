//! Blocks of content, options, commands and reports.

rules! {
    V1_CONTENT_01 =>
        Agent Must Documentation("content").recorded():
            "Agent content is one of the five kinds of blocks."
            "Clients cannot show the block."
            "Send `text`, `image`, `audio`, `resource_link` or `resource`.",
        Client Must Documentation("content").recorded():
            "Prompts contain known kinds of content."
            "The agent refuses the prompt."
            "Use text, image, audio, resource_link and resource.";
    V1_CONTENT_02 => Agent Must Documentation("content"):
        "Every agent accepts text."
        "Users cannot send prompts."
        "Accept blocks of type `text` in every prompt.";
    V1_CONTENT_03 => Agent Must Documentation("content"):
        "Every agent accepts resource links."
        "Clients send mentioned files as links, and the whole prompt is refused."
        "Accept blocks of type `resource_link`, and at least tell the model about the URI.";
    V1_CONTENT_04 => Client Must Documentation("content").recorded():
        "Images are sent only to agents that support them."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V1_CONTENT_05 => Client Must Documentation("content").recorded():
        "Audio is sent only to agents that support it."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V1_CONTENT_06 => Client Must Documentation("content").recorded():
        "Embedded resources are sent only to agents that support them."
        "Agents without the capability return an error, and the user sees an avoidable failure."
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
            "Annotations of a block are tolerated."
            "Prompts with annotations are refused."
            "Treat annotations as hints, and ignore unknown ones.",
        Client May Documentation("content"):
            "Annotations are hints and may be invalid."
            "The update is not shown, or the connection breaks in the middle of a turn."
            "Ignore annotations that you do not know.";
    V1_CONTENT_11 => Agent Unspecified Silent("content"):
        "A prompt with an unsupported kind of block is refused with -32602."
        "Users assume that the agent has seen their image."
        "Check every block against your `promptCapabilities` before the turn starts.";
    V1_CONTENT_12 => Client Unspecified Silent("content"):
        "Messages may contain any kind of content."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Show a placeholder for what you cannot show.";
    V1_MODE_01 => Agent May Documentation("session-modes").gate("modes").recorded():
        "`modes` lists the modes, including the current one."
        "The client shows no mode, or one that does not exist."
        "Send `currentModeId` and `availableModes`, each with `id` and `name`.";
    V1_MODE_02 =>
        Agent Unspecified Silent("session-modes").gate("modes"):
            "An unknown mode is refused."
            "The client shows a mode that the agent is not in."
            "Return -32602 if the id is not in `availableModes`.",
        Client Must Documentation("session-modes").recorded():
            "Only available modes are set."
            "The agent refuses the mode."
            "Choose from `availableModes`.";
    V1_MODE_03 => Agent Must Documentation("session-modes").gate("modes"):
        "The mode can be changed at any time."
        "The user cannot stop an agent from editing while it works."
        "Serve `session/set_mode` while a turn runs, without ending it.";
    V1_MODE_04 => Agent Must Schema.gate("modes").recorded():
        "A mode change is reported with `currentModeId`."
        "Clients do not see the change."
        "Name the member `currentModeId`.";
    V1_MODE_05 => Agent Should Documentation("session-modes").gate("modes"):
        "A mode set through its option is also reported as a mode."
        "Clients that show modes keep showing the old one."
        "Send a `current_mode_update` when the option of the mode changes.";
    V1_MODE_07 => Agent Should Documentation("session-modes").gate("modes"):
        "`modes` and the mode option agree."
        "Two selectors show two modes, and one of them is wrong."
        "Send an option with the category `mode` along with `modes`, and keep both in sync.";
    V1_CONF_01 => Agent May Documentation("session-config-options").gate("configOptions").recorded():
        "Options have an id, a name, a type and a current value."
        "The client cannot show them."
        "Send these members with each option.";
    V1_CONF_04 => Agent Must Documentation("session-config-options").gate("configOptions").recorded():
        "Boolean options are sent only to clients that support them."
        "Older clients refuse the session, or lose all options."
        "Omit them, or send a select with two values, unless the client has `session.configOptions.boolean`.";
    V1_CONF_05 => Agent Must Documentation("session-config-options").gate("configOptions").recorded():
        "Every option has a current value that is one of its values."
        "The selector is empty, and the agent cannot work until the user chooses."
        "Give every option a default.";
    V1_CONF_06 => Client Should Documentation("session-config-options"):
        "Options of an unknown type are ignored."
        "One unknown option hides all of them."
        "Skip the option.";
    V1_CONF_07 => Client Must Documentation("session-config-options"):
        "Categories may be missing or unknown."
        "One unknown option hides all of them."
        "Treat an unknown category as none.";
    V1_CONF_08 => Agent Must Documentation("session-config-options").gate("configOptions").recorded():
        "Categories are known, or begin with an underscore."
        "A later version of the protocol may give the name another meaning."
        "Put `_` before the name of the category.";
    V1_CONF_09 => Agent Must Documentation("session-config-options").gate("configOptions").recorded():
        "Setting an option returns all options."
        "Clients replace their list with the response and lose the rest."
        "Return the complete `configOptions`.";
    V1_CONF_10 => Agent Unspecified Silent("session-config-options").gate("configOptions"):
        "A value that is not offered is refused, and nothing changes."
        "The client shows one value, and the agent works with another."
        "Return -32602 for unknown options and values.";
    V1_CONF_11 => Client Must Documentation("session-config-options").recorded():
        "A boolean option value is sent with `type: \"boolean\"`."
        "The agent takes the value for the id of a select value."
        "Send the type with boolean values.";
    V1_CONF_12 => Agent Must Documentation("session-config-options").gate("configOptions"):
        "An update of options carries all of them, with their current values."
        "Clients replace their list with the update, lose the rest, and show wrong values."
        "Send the complete `configOptions` as they are after the change.";
    V1_CONF_13 => Agent Must Documentation("session-config-options").gate("configOptions"):
        "Options can be changed in the middle of a turn."
        "The user has to stop the agent to change a setting."
        "Serve `session/set_config_option` while a turn runs.";
    V1_CMD_01 => Agent May Documentation("slash-commands").recorded():
        "Commands are reported with `available_commands_update`."
        "The user does not see the commands."
        "Send the list as `availableCommands`, after the `session/new` response.";
    V1_CMD_02 => Client Must Documentation("slash-commands"):
        "A list of commands, even an empty one, replaces the previous one."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Replace the whole list.";
    V1_CMD_03 => Agent Must Documentation("slash-commands").recorded():
        "A command has a name and a description, and its input a hint."
        "Clients cannot show the command, or drop all of them."
        "Send `name` and `description`, and `input.hint` if there is an `input`.";
    V1_USAGE_02 => Agent Must Documentation("prompt-turn").recorded():
        "`usage_update` has the counts `used` and `size`."
        "Clients cannot show how full the context is."
        "Send both as integers, and no update while the size is unknown.";
    V1_USAGE_03 => Agent Must Documentation("prompt-turn").recorded():
        "A cost has an amount and a currency."
        "Users cannot tell cents from euros."
        "Give `amount` as a number and `currency` as a code such as `USD`.";
    V1_NOTICE_01 => Agent Must Crate.recorded():
        "`notice` is sent only to clients that support notices."
        "Other version 1 clients do not know the update."
        "Send it only if the client has `session.notices`; otherwise put it in a message.";
    V1_NOTICE_02 => Agent Must Crate.recorded():
        "A notice has a severity and a title."
        "Clients show an empty box."
        "Give `severity` and a `title` that is not empty.";
    V1_COMPACT_01 => Agent Must Crate.recorded():
        "Compaction updates are sent only to clients that support them."
        "Other version 1 clients do not know the updates."
        "Send them only if the client has `session.compaction`.";
    V1_COMPACT_02 => Agent Must Crate.recorded():
        "A compaction has one final status, and its summary comes before it."
        "Clients show a compaction that never ends, or a summary out of place."
        "Report `in_progress`, then chunks of the summary, then one final status.";
}
