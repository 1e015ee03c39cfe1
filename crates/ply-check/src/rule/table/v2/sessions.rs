//! Making, loading, listing and ending sessions.

rules! {
    V2_SESS_01 => Agent Must Documentation("session-setup").gate("session").recorded():
        "Every session has an id of its own."
        "Two conversations run into one."
        "Make ids at random, or count up over all sessions there ever were.";
    V2_SESS_02 =>
        Agent Must Crate.gate("session"):
            "A session in a directory that is not absolute is refused with -32602."
            "The agent works in another directory than the user sees."
            "Answer -32602 if `cwd` is relative or a URI.",
        Client Must Crate.recorded():
            "`cwd` is an absolute path."
            "The agent works in the wrong place."
            "Make the directory absolute before it is sent.";
    V2_SESS_03 => Agent Must Documentation("session-setup").gate("session"):
        "MCP servers that are left out are none."
        "Clients without MCP servers cannot make a session."
        "Take a missing `mcpServers` for an empty array.";
    V2_SESS_04 => Agent Must Crate.gate("session"):
        "A kind of MCP server that is not supported makes the agent refuse the request with -32602."
        "A server is missing and nobody says so."
        "Compare the type of each entry with the offered ones before the session is made.";
    V2_SESS_05 => Agent Must Crate.gate("session").recorded():
        "`configOptions` and `availableCommands` are arrays or left out, never null."
        "Typed clients refuse the session."
        "Leave them out if there are none.";
    V2_SESS_06 => Client Must Crate:
        "A state that was told before the answer to `session/new` is kept."
        "The client shows an idle session that works."
        "Take the session as idle only if nothing else was told.";
    V2_SESS_07 => Client Must Documentation("session-setup").recorded():
        "Further directories are absolute, and sent only to agents that take them."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V2_SESS_08 => Agent Must Documentation("session-setup").gate("session"):
        "The session is in the directory that the client names, wherever the agent was started."
        "Files are read and changed in the wrong project."
        "Keep `cwd` with the session and use it, and not the directory of the process.";
    V2_SESS_09 => Agent Must Crate.gate("session").recorded():
        "A session that is not known, or not open on this connection, is refused with -32002 and its id in `data.sessionId`."
        "Clients cannot tell that a session must be resumed, and the user is stuck."
        "Answer -32002 with `data: {\"sessionId\": …}`.";
    V2_SESS_10 => Client Must Crate.recorded():
        "A session is made or resumed on this connection before it is prompted."
        "The agent does not know the session."
        "Resume first.";
    V2_RESUME_01 => Agent Must Documentation("session-setup#resuming-sessions").gate("session"):
        "Sessions can be resumed."
        "The user cannot go on after the editor was restarted."
        "Implement `session/resume` for all sessions that are kept.";
    V2_RESUME_02 => Agent Must Documentation("session-setup#resuming-sessions").gate("session").recorded():
        "Without `replayFrom` nothing is replayed."
        "Clients that still have the conversation show it twice."
        "Send messages and tool calls only if a replay is asked for.";
    V2_RESUME_03 => Agent Must Documentation("session-setup#resuming-sessions").gate("session"):
        "With `replayFrom` at the start the whole conversation is replayed."
        "The user sees an empty or torn conversation."
        "Keep every entry, and send them in order before the answer.";
    V2_RESUME_04 => Agent Must Documentation("session-setup#resuming-sessions").gate("session"):
        "The entry that a cursor names is replayed too."
        "The first message of the conversation is missing."
        "Begin with the entry itself, and not after it.";
    V2_RESUME_05 => Agent Must Crate.gate("session"):
        "A cursor that is not known or cannot be read is refused with -32602."
        "The client believes to have a replay that it did not get."
        "Check `replayFrom` before anything is restored.";
    V2_RESUME_06 => Agent Must Documentation("session-setup#resuming-sessions").gate("session"):
        "Messages have the same ids in a replay as they had live."
        "Clients that know some of the messages show them twice."
        "Keep the ids with the messages.";
    V2_RESUME_07 => Agent Must Documentation("session-setup#resuming-sessions").gate("session"):
        "The answer to `session/resume` comes after the whole replay."
        "Clients take what comes later for something new."
        "Write all entries first, then the answer.";
    V2_RESUME_08 => Agent Must Documentation("session-setup#resuming-sessions").gate("session").recorded():
        "The state of the session is told after the replay and before the answer."
        "The client does not know whether the agent works or waits."
        "Send a `state_update` before each answer to `session/resume`.";
    V2_RESUME_13 => Agent Should Documentation("session-setup#resuming-sessions").gate("session"):
        "Notices are not replayed."
        "Warnings of long ago look like new ones."
        "Leave notices out of what is kept.";
    V2_RESUME_15 => Agent Unspecified Silent("session-setup#resuming-sessions").gate("session"):
        "Options are brought up to date around a resume."
        "The selectors of the client are empty, or show what was before."
        "Send `configOptions` with the answer, as with that to `session/new`.";
    V2_CLOSE_01 => Agent Must Documentation("session-setup#closing-active-sessions").gate("session"):
        "Closing a session ends what runs in it."
        "Work goes on that nobody sees."
        "Cancel the turn and stop what runs beside it.";
    V2_CLOSE_02 => Agent Must Crate.gate("session").recorded():
        "Work that closing cancels ends with an idle state before the answer."
        "The client shows a turn that never ends."
        "Send the last updates and `idle` with `cancelled`, then answer.";
    V2_CLOSE_03 => Agent Must Crate.gate("session"):
        "Prompts that wait when a session is closed are answered: with -32800 if they never began, with their message id if they did."
        "The client does not learn what became of the user's words."
        "Answer every open prompt of the session before `session/close`.";
    V2_CLOSE_04 => Agent Must Crate.gate("session").recorded():
        "After the answer to `session/close` nothing more is sent for the session."
        "Clients get updates for something that is gone."
        "End all that writes for the session before answering.";
    V2_CLOSE_05 => Agent Should Crate.gate("session"):
        "Closing a session that is not open succeeds."
        "Cleaning up twice shows an error to the user."
        "Answer `{}`.";
    V2_CLOSE_07 => Agent Should Sdk.gate("session"):
        "Open questions are withdrawn before the answer to `session/close`."
        "A dialog stays open that nobody waits for."
        "Send `$/cancel_request` for each open request of the session first.";
    V2_LIST_01 => Agent Must Documentation("session-list").gate("session").recorded():
        "Sessions can be listed, as in version 1."
        "The user does not find the session to go on with."
        "See the rules `V1-LIST-02`, `V1-LIST-07`, `V1-LIST-09` and `V1-LIST-10`.";
    V2_LIST_02 => Client Must Crate.recorded():
        "Cursors come back as they were given."
        "The next page cannot be found."
        "Keep the cursor as an opaque text.";
    V2_LIST_03 => Agent Must Crate.gate("session"):
        "A listing for a directory leaves out its subdirectories."
        "The user opens the session of another project."
        "Compare whole paths, and not their beginnings.";
    V2_LIST_04 => Agent Must Documentation("session-list").gate("session").recorded():
        "Times are RFC 3339."
        "The client cannot sort the sessions."
        "Send times such as `2025-01-31T12:00:00Z`.";
    V2_DEL_01 =>
        Agent Must Documentation("session-delete").gate("session.delete"):
            "A deleted session is not listed any more, and deleting it again succeeds."
            "What the user deleted is still there."
            "Leave deleted sessions out of listings before answering.",
        Client Must Documentation("session-delete").recorded():
            "`session/delete` is called only if it is offered."
            "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
            "Look at what the agent answered to `initialize` before calling it.";
    V2_INFO_01 => Client Must Documentation("session-list"):
        "Members of session info that are null are cleared."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Take null as cleared, absent as unchanged.";
    V2_MCP_01 => Client Must Documentation("session-setup#mcp-servers").recorded():
        "A server has a type that the agent takes."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V2_MCP_02 =>
        Agent Must Documentation("session-setup#mcp-servers").gate("session.mcp"):
            "`args`, `env` and `headers` of a server may be left out."
            "Clients that send the shortest form cannot make a session."
            "Take a missing one for an empty array.",
        Client Must Documentation("session-setup#mcp-servers").recorded():
            "A server has a name and a command or an address; sse is gone."
            "The session cannot be made."
            "Use stdio or http.";
    V2_MCP_03 => Agent Should Crate.gate("session.mcp.stdio"):
        "A variable that is named twice is refused, or its last value counts."
        "A server runs with settings that the user has overwritten."
        "Answer -32602, or take the last value.";
    V2_MCP_04 => Agent Should Documentation("session-setup#mcp-servers").gate("session.mcp"):
        "The agent connects to the MCP servers that the client names."
        "The tools that the user has set up are not there."
        "Connect to each of them when the session begins.";
}
