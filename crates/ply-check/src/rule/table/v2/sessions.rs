//! Making, loading, listing and ending sessions.

rules! {
    V2_SESS_01 => Agent Must Documentation("session-setup").gate("session").recorded():
        "Every session has a unique id."
        "Two conversations are mixed up."
        "Use random ids, or never reuse a number.";
    V2_SESS_02 =>
        Agent Must Crate.gate("session"):
            "A session in a relative directory is refused with -32602."
            "The agent works in another directory than the one shown."
            "Return -32602 if `cwd` is relative or a URI.",
        Client Must Crate.recorded():
            "`cwd` is an absolute path."
            "The agent works in the wrong place."
            "Make the directory absolute before it is sent.";
    V2_SESS_03 => Agent Must Documentation("session-setup").gate("session"):
        "A missing `mcpServers` means no servers."
        "Clients without MCP servers cannot create a session."
        "Treat a missing `mcpServers` as an empty array.";
    V2_SESS_04 => Agent Must Crate.gate("session"):
        "A request with an unsupported kind of MCP server is refused with -32602."
        "A server is missing without an error."
        "Check the type of each entry before creating the session.";
    V2_SESS_05 => Agent Must Crate.gate("session").recorded():
        "`configOptions` and `availableCommands` are arrays or absent, never null."
        "Typed clients refuse the session."
        "Leave them out if there are none.";
    V2_SESS_06 => Client Must Crate:
        "A state reported before the `session/new` response is kept."
        "The client shows a running session as idle."
        "Treat the session as idle only if no other state was reported.";
    V2_SESS_07 => Client Must Documentation("session-setup").recorded():
        "Additional directories are absolute, and sent only to agents that support them."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V2_SESS_08 => Agent Must Documentation("session-setup").gate("session"):
        "The session uses the directory that the client names, wherever the agent was started."
        "Files are read and changed in the wrong project."
        "Store `cwd` per session; do not use the process's directory.";
    V2_SESS_09 => Agent Must Crate.gate("session").recorded():
        "A request for a session that is unknown or not open on this connection is refused with -32002 and the id in `data.sessionId`."
        "Clients cannot tell that a session must be resumed, and the user is stuck."
        "Return -32002 with `data: {\"sessionId\": …}`.";
    V2_SESS_10 => Client Must Crate.recorded():
        "A session is created or resumed on this connection before it is prompted."
        "The agent does not know the session."
        "Resume first.";
    V2_RESUME_01 => Agent Must Documentation("session-setup#resuming-sessions").gate("session"):
        "Sessions can be resumed."
        "The user cannot continue after an editor restart."
        "Implement `session/resume` for all stored sessions.";
    V2_RESUME_02 => Agent Must Documentation("session-setup#resuming-sessions").gate("session").recorded():
        "Without `replayFrom` nothing is replayed."
        "Clients that still have the conversation show it twice."
        "Send messages and tool calls only if a replay is requested.";
    V2_RESUME_03 => Agent Must Documentation("session-setup#resuming-sessions").gate("session"):
        "With `replayFrom` at the start, the whole conversation is replayed."
        "The user sees an empty or incomplete conversation."
        "Store every entry, and send all in order before the response.";
    V2_RESUME_04 => Agent Must Documentation("session-setup#resuming-sessions").gate("session"):
        "The replay includes the entry that the cursor names."
        "The first message of the conversation is missing."
        "Start with the entry itself, not after it.";
    V2_RESUME_05 => Agent Must Crate.gate("session"):
        "An unknown or invalid cursor is refused with -32602."
        "The client assumes a replay that it did not get."
        "Check `replayFrom` before restoring anything.";
    V2_RESUME_06 => Agent Must Documentation("session-setup#resuming-sessions").gate("session"):
        "Messages have the same ids in a replay as they had live."
        "Clients that know some of the messages show them twice."
        "Keep the ids with the messages.";
    V2_RESUME_07 => Agent Must Documentation("session-setup#resuming-sessions").gate("session"):
        "The `session/resume` response comes after the whole replay."
        "Clients treat later entries as new."
        "Send all entries first, then the response.";
    V2_RESUME_08 => Agent Must Documentation("session-setup#resuming-sessions").gate("session").recorded():
        "The session state is reported after the replay and before the response."
        "The client does not know whether the agent works or waits."
        "Send a `state_update` before each `session/resume` response.";
    V2_RESUME_13 => Agent Should Documentation("session-setup#resuming-sessions").gate("session"):
        "Notices are not replayed."
        "Old warnings look new."
        "Do not store notices.";
    V2_RESUME_15 => Agent Unspecified Silent("session-setup#resuming-sessions").gate("session"):
        "A resume reports the current options."
        "The client's selectors are empty or outdated."
        "Send `configOptions` in the response, as for `session/new`.";
    V2_CLOSE_01 => Agent Must Documentation("session-setup#closing-active-sessions").gate("session"):
        "Closing a session ends its work."
        "Work continues unseen."
        "Cancel the turn and background work.";
    V2_CLOSE_02 => Agent Must Crate.gate("session").recorded():
        "Work that a close cancels ends with an idle state before the response."
        "The client shows a turn that never ends."
        "Send the last updates and `idle` with `cancelled`, then the response.";
    V2_CLOSE_03 => Agent Must Crate.gate("session"):
        "Prompts that are pending when a session closes get a response: error -32800 if they never started, their message id if they did."
        "The client does not learn what happened to the user's prompt."
        "Respond to every open prompt before the `session/close` response.";
    V2_CLOSE_04 => Agent Must Crate.gate("session").recorded():
        "After the `session/close` response, nothing is sent for the session."
        "Clients get updates for a closed session."
        "Stop all work of the session before responding.";
    V2_CLOSE_05 => Agent Should Crate.gate("session"):
        "Closing a session that is not open succeeds."
        "The user sees an error for a harmless second close."
        "Return `{}`.";
    V2_CLOSE_07 => Agent Should Sdk.gate("session"):
        "Open requests are cancelled before the `session/close` response."
        "A dialog stays open although nothing waits for it."
        "First send `$/cancel_request` for each open request of the session.";
    V2_LIST_01 => Agent Must Documentation("session-list").gate("session").recorded():
        "Sessions can be listed, as in version 1."
        "The user cannot find the session to continue."
        "See the rules `V1-LIST-02`, `V1-LIST-07`, `V1-LIST-09` and `V1-LIST-10`.";
    V2_LIST_02 => Client Must Crate.recorded():
        "Cursors are sent back unchanged."
        "The next page cannot be loaded."
        "Treat the cursor as an opaque string.";
    V2_LIST_03 => Agent Must Crate.gate("session"):
        "A listing for a directory leaves out its subdirectories."
        "The user opens the session of another project."
        "Compare whole paths, not prefixes.";
    V2_LIST_04 => Agent Must Documentation("session-list").gate("session").recorded():
        "Times are RFC 3339."
        "The client cannot sort the sessions."
        "Send times such as `2025-01-31T12:00:00Z`.";
    V2_DEL_01 =>
        Agent Must Documentation("session-delete").gate("session.delete"):
            "A deleted session is no longer listed, and deleting it again succeeds."
            "Deleted sessions are still shown."
            "Remove the session from listings before responding.",
        Client Must Documentation("session-delete").recorded():
            "`session/delete` is called only if it is offered."
            "Agents without the capability return an error, and the user sees an avoidable failure."
            "Check the agent's capabilities in the `initialize` response first.";
    V2_INFO_01 => Client Must Documentation("session-list"):
        "A null member of session info clears the value."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Treat null as cleared and absent as unchanged.";
    V2_MCP_01 => Client Must Documentation("session-setup#mcp-servers").recorded():
        "Every server has a type that the agent supports."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V2_MCP_02 =>
        Agent Must Documentation("session-setup#mcp-servers").gate("session.mcp"):
            "`args`, `env` and `headers` of a server may be left out."
            "Clients that send the shortest form cannot make a session."
            "Treat a missing list as an empty array.",
        Client Must Documentation("session-setup#mcp-servers").recorded():
            "A server has a name and a command or an address; sse is gone."
            "The session cannot be created."
            "Use stdio or http.";
    V2_MCP_03 => Agent Should Crate.gate("session.mcp.stdio"):
        "A variable that is named twice is refused, or its last value counts."
        "A server runs with settings that the user has overwritten."
        "Return -32602, or use the last value.";
    V2_MCP_04 => Agent Should Documentation("session-setup#mcp-servers").gate("session.mcp"):
        "The agent connects to the MCP servers that the client names."
        "The user's configured tools are missing."
        "Connect to each server when the session starts.";
}
