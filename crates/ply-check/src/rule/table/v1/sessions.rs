//! Making, loading, listing and ending sessions.

rules! {
    V1_SESS_01 => Agent Must Documentation("session-setup").recorded():
        "Every session has a unique id."
        "Two conversations are mixed up."
        "Use random ids, or never reuse a number.";
    V1_SESS_02 =>
        Agent Unspecified Silent("session-setup"):
            "A session in a relative directory is refused."
            "The agent works in another directory than the one shown."
            "Return -32602 if `cwd` is relative.",
        Client Must Documentation("session-setup").recorded():
            "`cwd` is an absolute path."
            "The agent works in the wrong place."
            "Make the directory absolute before it is sent.";
    V1_SESS_03 => Agent Must Documentation("session-setup"):
        "The session uses the directory that the client names, wherever the agent was started."
        "Files are read and changed in the wrong project."
        "Store `cwd` per session; do not use the process's directory.";
    V1_SESS_06 => Client Must Documentation("session-setup").recorded():
        "`mcpServers` is present, even if empty."
        "Agents refuse the session."
        "Send `[]` if there are none.";
    V1_SESS_07 => Agent Should Documentation("session-setup"):
        "The agent connects to the MCP servers that the client names."
        "The user's configured tools are missing."
        "Connect to each server when the session starts.";
    V1_SESS_09 => Agent Must Documentation("session-setup").recorded():
        "Several sessions can be open on one connection."
        "A second conversation stops or disturbs the first."
        "Keep all conversation state per session id.";
    V1_SESS_10 => Agent May Documentation("session-setup"):
        "`modes` and `configOptions`, if present, have the right types."
        "The client shows no selectors, or refuses the session."
        "Send an object and an array, or leave them out.";
    V1_SESS_11 => Agent Unspecified Silent("session-setup").recorded():
        "Updates about a new session follow the response that names it."
        "Clients drop updates for a session they have not heard of, so commands are missing."
        "Send the `session/new` response first.";
    V1_SESS_12 => Client Unspecified Silent("session-setup"):
        "Updates of a session may come before the response that names it."
        "Commands and messages that agents send early are lost, or the connection ends."
        "Keep such updates until the response arrives.";
    V1_SESS_13 => Agent Must Documentation("session-setup"):
        "A request for an unknown session fails with an error."
        "The user waits for a session that no longer exists."
        "Return -32002.";
    V1_SESS_14 => Client Must Documentation("session-setup").recorded():
        "Additional directories are sent only to agents that support them."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V1_SESS_15 =>
        Agent Unspecified Silent("session-setup").gate("sessionCapabilities.additionalDirectories"):
            "Additional directories that are not absolute are refused."
            "The agent works in another directory than the user allowed."
            "Return -32602 if an entry is relative.",
        Client Must Documentation("session-setup").recorded():
            "Additional directories are absolute paths."
            "The agent works in the wrong place."
            "Make them absolute before they are sent.";
    V1_SESS_18 => Agent Unspecified Silent("session-setup"):
        "A server that fails to start does not prevent the session."
        "One broken setting makes all sessions fail."
        "Start the session without the server, and report what failed.";
    V1_LOAD_02 => Client Must Documentation("session-setup#loading-sessions").recorded():
        "`session/load` is called only if it is offered."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V1_LOAD_03 => Client Must Documentation("session-setup#loading-sessions").recorded():
        "`session/load` has `sessionId`, `cwd` and `mcpServers`."
        "The session cannot be loaded."
        "Send all three, `mcpServers` as `[]` if there are none.";
    V1_LOAD_04 => Agent Must Documentation("session-setup#loading-sessions").gate("loadSession"):
        "Loading replays the whole conversation, oldest first."
        "The user sees an empty or incomplete conversation."
        "Keep every message and tool call, and send them as `session/update` in order.";
    V1_LOAD_05 => Agent Must Documentation("session-setup#loading-sessions").gate("loadSession").recorded():
        "The `session/load` response comes after the whole replay."
        "Clients treat later entries as new, and show them twice or as live."
        "Send all entries first, then the response.";
    V1_LOAD_06 => Agent Must Documentation("session-setup#loading-sessions").gate("loadSession"):
        "User messages are replayed as the user's, and agent messages as the agent's."
        "The conversation shows the wrong speakers."
        "Replay prompts as `user_message_chunk` and replies as `agent_message_chunk`.";
    V1_LOAD_07 => Client Must Documentation("session-setup#loading-sessions"):
        "The client accepts the replay of a loaded session before the response."
        "Old sessions look empty."
        "Route updates by their session from the moment that the load is sent.";
    V1_LOAD_08 =>
        Agent Must Documentation("session-setup#loading-sessions").gate("loadSession"):
            "The result of `session/load` is an object or null."
            "Typed clients report a loaded session as failed."
            "Return an object.",
        Client Must Documentation("session-setup#loading-sessions"):
            "The `session/load` result may be null."
            "Old sessions cannot be opened."
            "Treat null like an empty object.";
    V1_LOAD_09 => Agent Must Documentation("session-setup#loading-sessions").gate("loadSession"):
        "A loaded session accepts prompts."
        "The user can read the conversation but not continue it."
        "Restore the session fully before responding.";
    V1_LOAD_11 => Agent May Documentation("session-setup#loading-sessions").gate("loadSession"):
        "Message ids in a replay are different for different messages."
        "Clients merge unrelated messages."
        "Give each message a unique id, or none.";
    V1_LOAD_12 => Agent Should Documentation("session-setup#loading-sessions").gate("loadSession"):
        "Notices are not replayed."
        "Old warnings look new."
        "Do not store notices.";
    V1_LOAD_13 => Agent Should Proposal.gate("loadSession"):
        "Context usage is reported after loading, if known."
        "The user cannot see how full the context is until the next turn."
        "Send a `usage_update` with the response.";
    V1_LOAD_14 => Agent Must Schema.gate("loadSession"):
        "Loading an unknown session fails with an error."
        "The user continues in an empty conversation and takes it for the old one."
        "Return -32002.";
    V1_RESUME_01 => Client Must Documentation("session-setup#resuming-sessions").recorded():
        "`session/resume` is called only if it is offered."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V1_RESUME_02 => Client Must Documentation("session-setup#resuming-sessions").recorded():
        "`session/resume` has `sessionId` and `cwd`."
        "The session cannot be resumed."
        "Send both.";
    V1_RESUME_03 => Agent Must Documentation("session-setup#resuming-sessions").gate("sessionCapabilities.resume").recorded():
        "Resuming replays nothing."
        "Clients that still have the conversation show it twice."
        "Restore the session without sending its messages.";
    V1_RESUME_04 => Agent Must Documentation("session-setup#resuming-sessions").gate("sessionCapabilities.resume"):
        "A resumed session accepts prompts."
        "The user cannot continue."
        "Respond once the session is ready.";
    V1_CLOSE_01 => Client Must Documentation("session-setup#closing-active-sessions").recorded():
        "`session/close` is called only if it is offered."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V1_CLOSE_02 => Agent Must Documentation("session-setup#closing-active-sessions").gate("sessionCapabilities.close"):
        "Closing a session cancels its work."
        "Work continues unseen, and the prompt never gets a response."
        "Cancel the turn, end the prompt with `cancelled`, then free the session.";
    V1_CLOSE_03 => Agent Must Documentation("session-setup#closing-active-sessions").gate("sessionCapabilities.close"):
        "Closing a session returns an empty object."
        "Typed clients report a closed session as failed."
        "Return `{}`.";
    V1_CLOSE_04 => Agent May Documentation("session-setup#closing-active-sessions").gate("sessionCapabilities.close"):
        "Closing a session that is not open gets a response, success or error."
        "The client waits and cannot clean up."
        "Return `{}` or an error.";
    V1_LIST_01 => Client Must Documentation("session-list").recorded():
        "`session/list` is called only if it is offered."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V1_LIST_02 => Agent Must Documentation("session-list").gate("sessionCapabilities.list").recorded():
        "A listing has an array of sessions, which may be empty."
        "The user cannot find the session to continue."
        "Return `sessions`, or `[]` if nothing matches.";
    V1_LIST_04 => Client Must Documentation("session-list").recorded():
        "Cursors are sent back unchanged."
        "The next page cannot be loaded."
        "Treat the cursor as an opaque string.";
    V1_LIST_05 => Agent Should Documentation("session-list").gate("sessionCapabilities.list"):
        "An unknown cursor is an error."
        "The client shows the first page as the next one."
        "Return -32602 for invalid cursors.";
    V1_LIST_06 => Agent Should Documentation("session-list").gate("sessionCapabilities.list"):
        "Pages of a listing come to an end."
        "The picker hangs on long listings."
        "Limit the entries of a page, and omit `nextCursor` on the last one.";
    V1_LIST_07 => Agent Must Documentation("session-list").gate("sessionCapabilities.list"):
        "A listing for a directory has the sessions of that directory only."
        "The user opens the session of another project."
        "Compare the session's `cwd` with the asked one.";
    V1_LIST_09 => Agent Must Documentation("session-list").gate("sessionCapabilities.list"):
        "Listing changes nothing."
        "Listing sessions reorders the session picker."
        "Do not write when listing.";
    V1_LIST_10 => Agent Must Documentation("session-list").gate("sessionCapabilities.list").recorded():
        "Every entry has an absolute `cwd`, and an `updatedAt` in ISO 8601 if it has one."
        "The client cannot sort the sessions or match them with its projects."
        "Send the directory as it was given, and times such as `2025-01-31T12:00:00Z`.";
    V1_DEL_01 => Client Must Documentation("session-delete").recorded():
        "`session/delete` is called only if it is offered."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V1_DEL_02 => Agent Must Documentation("session-delete").gate("sessionCapabilities.delete"):
        "A deleted session is no longer listed."
        "Deleted sessions are still shown."
        "Remove the session from listings before responding.";
    V1_DEL_03 => Agent Should Documentation("session-delete").gate("sessionCapabilities.delete"):
        "Deleting a missing session succeeds."
        "If two clients delete the same session, one user sees an error."
        "Return `{}`.";
    V1_INFO_02 => Client Must Documentation("session-list"):
        "A null member of session info clears the value."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Treat null as cleared and absent as unchanged.";
    V1_INFO_03 => Agent Must Documentation("session-list").recorded():
        "Updates of session info do not contain the id, directory or roots."
        "Clients cannot tell which of two directories is meant."
        "Send `title`, `updatedAt` and `_meta` only.";
    V1_MCP_01 => Agent Must Documentation("session-setup#mcp-servers"):
        "MCP servers on standard streams are supported."
        "The user's configured tools are missing."
        "Start the command of each server and speak MCP with it.";
    V1_MCP_02 => Client Must Documentation("session-setup#mcp-servers").recorded():
        "HTTP and SSE servers are sent only to agents that support them."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V1_MCP_04 => Client Must Documentation("session-setup#mcp-servers").recorded():
        "A server on stdio has a name, an absolute command, `args` and `env`."
        "The session cannot be created, or the server cannot be started."
        "Resolve the command, and send empty lists rather than none.";
    V1_MCP_05 => Client Must Documentation("session-setup#mcp-servers").recorded():
        "A server over http or sse has `name`, `url` and `headers`."
        "The session cannot be created."
        "Send an empty list of headers rather than none.";
    V1_MCP_06 => Agent Must Crate:
        "A session with an invalid entry of `mcpServers` is refused."
        "A server is missing without an error."
        "Validate all entries before creating the session.";
}
