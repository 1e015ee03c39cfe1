//! Making, loading, listing and ending sessions.

rules! {
    V1_SESS_01 => Agent Must Documentation("session-setup").recorded():
        "Every session has an id of its own."
        "Two conversations run into one."
        "Make ids at random, or count up over all sessions there ever were.";
    V1_SESS_02 =>
        Agent Unspecified Silent("session-setup"):
            "A session in a directory that is not absolute is refused."
            "The agent works in another directory than the user sees."
            "Answer -32602 if `cwd` is relative.",
        Client Must Documentation("session-setup").recorded():
            "`cwd` is an absolute path."
            "The agent works in the wrong place."
            "Make the directory absolute before it is sent.";
    V1_SESS_03 => Agent Must Documentation("session-setup"):
        "The session is in the directory that the client names, wherever the agent was started."
        "Files are read and changed in the wrong project."
        "Keep `cwd` with the session and use it, and not the directory of the process.";
    V1_SESS_06 => Client Must Documentation("session-setup").recorded():
        "`mcpServers` is there, also if it is empty."
        "Agents refuse the session."
        "Send `[]` if there are none.";
    V1_SESS_07 => Agent Should Documentation("session-setup"):
        "The agent connects to the MCP servers that the client names."
        "The tools that the user has set up are not there."
        "Connect to each of them when the session begins.";
    V1_SESS_09 => Agent Must Documentation("session-setup").recorded():
        "Several sessions live side by side on one connection."
        "A second conversation stops the first, or speaks into it."
        "Keep everything that belongs to a conversation under its session id.";
    V1_SESS_10 => Agent May Documentation("session-setup"):
        "`modes` and `configOptions` have their shapes if they are there."
        "The client shows no selectors, or refuses the session."
        "Send an object and an array, or leave them out.";
    V1_SESS_11 => Agent Unspecified Silent("session-setup").recorded():
        "Updates about a new session follow the answer that names it."
        "Clients drop updates for a session they have not heard of, so commands are missing."
        "Write the answer to `session/new` first.";
    V1_SESS_12 => Client Unspecified Silent("session-setup"):
        "Updates of a session may come before the answer that names it."
        "Commands and messages that agents send early are lost, or the connection ends."
        "Keep such updates until the answer comes.";
    V1_SESS_13 => Agent Must Documentation("session-setup"):
        "A request for a session that is not known fails with an error."
        "The user waits for an answer from a session that is gone."
        "Answer with -32002.";
    V1_SESS_14 => Client Must Documentation("session-setup").recorded():
        "Further directories are sent only to agents that take them."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V1_SESS_15 =>
        Agent Unspecified Silent("session-setup").gate("sessionCapabilities.additionalDirectories"):
            "Additional directories that are not absolute are refused."
            "The agent works in another directory than the user allowed."
            "Answer -32602 if an entry is relative.",
        Client Must Documentation("session-setup").recorded():
            "Further directories are absolute paths."
            "The agent works in the wrong place."
            "Make them absolute before they are sent.";
    V1_SESS_18 => Agent Unspecified Silent("session-setup"):
        "A server that cannot be started does not keep the session from beginning."
        "One broken entry in the settings shuts the user out."
        "Begin the session without the server, and say what failed.";
    V1_LOAD_02 => Client Must Documentation("session-setup#loading-sessions").recorded():
        "`session/load` is called only if it is offered."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V1_LOAD_03 => Client Must Documentation("session-setup#loading-sessions").recorded():
        "`session/load` has `sessionId`, `cwd` and `mcpServers`."
        "The session cannot be loaded."
        "Send all three, `mcpServers` as `[]` if there are none.";
    V1_LOAD_04 => Agent Must Documentation("session-setup#loading-sessions").gate("loadSession"):
        "Loading replays the whole conversation, oldest first."
        "The user sees an empty or torn conversation."
        "Keep every message and tool call, and send them as `session/update` in order.";
    V1_LOAD_05 => Agent Must Documentation("session-setup#loading-sessions").gate("loadSession").recorded():
        "The answer to `session/load` comes after the whole replay."
        "Clients take what comes later for something new, and show it twice or as live."
        "Write all entries first, then the answer.";
    V1_LOAD_06 => Agent Must Documentation("session-setup#loading-sessions").gate("loadSession"):
        "The user's words are replayed as the user's, and the agent's as the agent's."
        "The conversation reads as if one side had said it all."
        "Replay prompts as `user_message_chunk` and answers as `agent_message_chunk`.";
    V1_LOAD_07 => Client Must Documentation("session-setup#loading-sessions"):
        "The replay of a loaded session is taken in before its answer."
        "Old sessions look empty."
        "Route updates by their session from the moment that the load is sent.";
    V1_LOAD_08 =>
        Agent Must Documentation("session-setup#loading-sessions").gate("loadSession"):
            "The result of `session/load` is an object or null."
            "Typed clients take a session that was loaded for one that was not."
            "Answer with an object.",
        Client Must Documentation("session-setup#loading-sessions"):
            "The answer to `session/load` may be null."
            "Old sessions cannot be opened."
            "Take null for an empty object.";
    V1_LOAD_09 => Agent Must Documentation("session-setup#loading-sessions").gate("loadSession"):
        "A loaded session takes prompts."
        "The user can read the conversation and not go on with it."
        "Restore what the session needs before answering.";
    V1_LOAD_11 => Agent May Documentation("session-setup#loading-sessions").gate("loadSession"):
        "Message ids in a replay are different for different messages."
        "Clients join messages that have nothing to do with each other."
        "Give each message an id of its own, or none.";
    V1_LOAD_12 => Agent Should Documentation("session-setup#loading-sessions").gate("loadSession"):
        "Notices are not replayed."
        "Warnings of long ago look like new ones."
        "Leave notices out of what is kept.";
    V1_LOAD_13 => Agent Should Proposal.gate("loadSession"):
        "The use of the context is told after loading, if it is known."
        "The user cannot see how full the context is until the next turn."
        "Send a `usage_update` around the answer.";
    V1_LOAD_14 => Agent Must Schema.gate("loadSession"):
        "Loading a session that is not known fails with an error."
        "The user goes on in an empty conversation and believes it to be the old one."
        "Answer with -32002.";
    V1_RESUME_01 => Client Must Documentation("session-setup#resuming-sessions").recorded():
        "`session/resume` is called only if it is offered."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V1_RESUME_02 => Client Must Documentation("session-setup#resuming-sessions").recorded():
        "`session/resume` has `sessionId` and `cwd`."
        "The session cannot be resumed."
        "Send both.";
    V1_RESUME_03 => Agent Must Documentation("session-setup#resuming-sessions").gate("sessionCapabilities.resume").recorded():
        "Resuming replays nothing."
        "Clients that still have the conversation show it twice."
        "Restore the session without sending its messages.";
    V1_RESUME_04 => Agent Must Documentation("session-setup#resuming-sessions").gate("sessionCapabilities.resume"):
        "A resumed session takes prompts."
        "The user cannot go on."
        "Answer once the session is ready.";
    V1_CLOSE_01 => Client Must Documentation("session-setup#closing-active-sessions").recorded():
        "`session/close` is called only if it is offered."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V1_CLOSE_02 => Agent Must Documentation("session-setup#closing-active-sessions").gate("sessionCapabilities.close"):
        "Closing a session cancels what runs in it."
        "Work goes on that nobody sees, and the prompt is never answered."
        "Do what `session/cancel` does, answer the prompt with `cancelled`, then free the session.";
    V1_CLOSE_03 => Agent Must Documentation("session-setup#closing-active-sessions").gate("sessionCapabilities.close"):
        "Closing a session returns an empty object."
        "Typed clients take a session that was closed for one that was not."
        "Answer `{}`.";
    V1_CLOSE_04 => Agent May Documentation("session-setup#closing-active-sessions").gate("sessionCapabilities.close"):
        "Closing a session that is not open is answered, one way or the other."
        "The client waits and cannot clean up."
        "Answer `{}` or an error.";
    V1_LIST_01 => Client Must Documentation("session-list").recorded():
        "`session/list` is called only if it is offered."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V1_LIST_02 => Agent Must Documentation("session-list").gate("sessionCapabilities.list").recorded():
        "A listing has an array of sessions, which may be empty."
        "The user does not find the session to go on with."
        "Answer with `sessions`, as `[]` if nothing fits.";
    V1_LIST_04 => Client Must Documentation("session-list").recorded():
        "Cursors come back as they were given."
        "The next page cannot be found."
        "Keep the cursor as an opaque text.";
    V1_LIST_05 => Agent Should Documentation("session-list").gate("sessionCapabilities.list"):
        "A cursor that was not given out is an error."
        "The client shows the first page again as if it were the next."
        "Answer -32602 to cursors that cannot be read.";
    V1_LIST_06 => Agent Should Documentation("session-list").gate("sessionCapabilities.list"):
        "A listing comes in pages, and the pages end."
        "The picker hangs on long listings."
        "Limit the entries of a page, and leave `nextCursor` out on the last.";
    V1_LIST_07 => Agent Must Documentation("session-list").gate("sessionCapabilities.list"):
        "A listing for a directory has the sessions of that directory only."
        "The user opens the session of another project."
        "Compare the session's `cwd` with the asked one.";
    V1_LIST_09 => Agent Must Documentation("session-list").gate("sessionCapabilities.list"):
        "Listing changes nothing."
        "Sessions change places in the picker by being looked at."
        "Do not write when listing.";
    V1_LIST_10 => Agent Must Documentation("session-list").gate("sessionCapabilities.list").recorded():
        "Every entry has an absolute `cwd`, and an `updatedAt` in ISO 8601 if it has one."
        "The client cannot sort the sessions or match them with its projects."
        "Send the directory as it was given, and times such as `2025-01-31T12:00:00Z`.";
    V1_DEL_01 => Client Must Documentation("session-delete").recorded():
        "`session/delete` is called only if it is offered."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V1_DEL_02 => Agent Must Documentation("session-delete").gate("sessionCapabilities.delete"):
        "A deleted session is not listed any more."
        "What the user deleted is still there."
        "Leave deleted sessions out of listings before answering.";
    V1_DEL_03 => Agent Should Documentation("session-delete").gate("sessionCapabilities.delete"):
        "Deleting a session that is not there succeeds."
        "Two clients that delete the same session show an error to one user."
        "Answer `{}`.";
    V1_INFO_02 => Client Must Documentation("session-list"):
        "Members of session info that are null are cleared."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Take null as cleared, absent as unchanged.";
    V1_INFO_03 => Agent Must Documentation("session-list").recorded():
        "What changes about a session is told without its id, directory or roots inside the update."
        "Clients cannot tell which of two directories is meant."
        "Send `title`, `updatedAt` and `_meta` only.";
    V1_MCP_01 => Agent Must Documentation("session-setup#mcp-servers"):
        "MCP servers on standard streams are supported."
        "The tools that the user has set up are not there."
        "Start the command of each server and speak MCP with it.";
    V1_MCP_02 => Client Must Documentation("session-setup#mcp-servers").recorded():
        "Servers over http and sse are given only to agents that take them."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V1_MCP_04 => Client Must Documentation("session-setup#mcp-servers").recorded():
        "A server on stdio has a name, an absolute command, `args` and `env`."
        "The session cannot be made, or the server not be started."
        "Resolve the command, and send empty lists rather than none.";
    V1_MCP_05 => Client Must Documentation("session-setup#mcp-servers").recorded():
        "A server over http or sse has `name`, `url` and `headers`."
        "The session cannot be made."
        "Send an empty list of headers rather than none.";
    V1_MCP_06 => Agent Must Crate:
        "An entry of `mcpServers` that cannot be read is refused with -32602."
        "A server is missing and nobody says so."
        "Read all entries before the session is made, and refuse the request if one does not fit.";
}
