//! Services of the client: files, terminals and forms.

rules! {
    V1_FS_01 => Agent Must Documentation("file-system").recorded():
        "The agent checks the client's capabilities before using its files."
        "Every file tool fails in clients without file access."
        "Check `clientCapabilities.fs`, and access files directly if it is absent.";
    V1_FS_02 => Agent Must Documentation("file-system").recorded():
        "A method is called only if its flag is set."
        "Tools fail in clients that only show files."
        "Check `readTextFile` and `writeTextFile` one by one.";
    V1_FS_03 => Agent Must Documentation("file-system").recorded():
        "File requests have a session and an absolute path, and lines count from 1."
        "Clients refuse the call, or read another file."
        "Join paths with the session's directory, and send `sessionId`.";
    V1_FS_04 => Client Must Documentation("file-system").gate("fs.readTextFile"):
        "`line` and `limit` choose the lines that are read."
        "Agents read the wrong lines."
        "Begin at `line`, and return at most `limit` lines.";
    V1_FS_06 => Client Must Documentation("file-system").gate("fs.readTextFile").recorded():
        "The content of a file is returned as a string, even if empty."
        "The agent treats the response as a failure."
        "Return `content` as a string.";
    V1_FS_07 => Client Must Documentation("file-system").gate("fs.writeTextFile"):
        "Writing creates a missing file."
        "Agents cannot create files."
        "Create the file with the given content.";
    V1_FS_08 =>
        Agent Must Documentation("file-system"):
            "An empty object and null both mean that a write worked."
            "The tool is reported as failed although the file was written."
            "Treat any result as success, and only an error as failure.",
        Client Must Documentation("file-system").gate("fs.writeTextFile"):
            "A write returns an empty object."
            "The agent treats the response as a failure."
            "Return `{}`.";
    V1_FS_09 => Client Should Schema.gate("fs.readTextFile"):
        "A missing file gets error -32002."
        "The agent cannot tell a missing file from a failure."
        "Return -32002 for missing files.";
    V1_FS_10 => Client Unspecified Silent("file-system"):
        "Methods that were not advertised are refused with -32601 and have no effect."
        "Agents read or change files without the user's consent."
        "Return -32601 before any effect.";
    V1_FS_11 => Client Should Draft("file-system").gate("fs"):
        "Paths outside of the session's directories are refused."
        "Agents read or change files without the user's consent."
        "Compare the real path with the roots.";
    V1_FS_12 => Client Should Crate.gate("fs.readTextFile"):
        "A `line` or `limit` of the wrong type is refused with -32602."
        "Agents read the wrong lines."
        "Check the types.";
    V1_TERM_01 => Agent Must Documentation("terminals").recorded():
        "The client's terminals are used only if it offers them."
        "Every command fails in clients without terminals."
        "Read `clientCapabilities.terminal`, and run commands in the agent if it is not set.";
    V1_TERM_02 => Client Must Documentation("terminals").gate("terminal"):
        "A client that offers terminals implements all five methods."
        "Agents that run commands in the client's terminals hang or fail."
        "Implement create, output, wait_for_exit, kill and release.";
    V1_TERM_03 => Client Must Documentation("terminals").gate("terminal").recorded():
        "`terminal/create` returns at once, not when the command ends."
        "Agents that run commands in the client's terminals hang or fail."
        "Respond once the command has started.";
    V1_TERM_04 => Agent Must Documentation("terminals").recorded():
        "A terminal's `cwd` is absolute, its `env` a list of names and values."
        "Clients refuse the call, or run the command in the wrong place."
        "Send an absolute `cwd`, and `env` as `[{\"name\": …, \"value\": …}]`.";
    V1_TERM_05 => Client Must Documentation("terminals").gate("terminal"):
        "Past the limit the oldest output is dropped."
        "Agents miss the end of the output, where the errors are."
        "Keep the newest bytes, and set `truncated`.";
    V1_TERM_06 => Client Must Documentation("terminals").gate("terminal"):
        "Output is never truncated inside a character."
        "The output cannot be read."
        "Truncate at a character boundary.";
    V1_TERM_07 => Client Must Documentation("terminals").gate("terminal").recorded():
        "The exit status comes with the output once the command has ended, not before."
        "Agents that run commands in the client's terminals hang or fail."
        "Leave `exitStatus` out while it runs.";
    V1_TERM_08 => Client Must Documentation("terminals").gate("terminal"):
        "`terminal/wait_for_exit` returns when the command ends, with its exit code or signal."
        "Agents that run commands in the client's terminals hang or fail."
        "Return `exitCode`, or `signal` if there is no exit code.";
    V1_TERM_09 => Client Must Documentation("terminals").gate("terminal"):
        "Waiting does not block other requests."
        "A command that hangs cannot be stopped."
        "Wait in a separate task.";
    V1_TERM_10 => Client Must Documentation("terminals").gate("terminal"):
        "A killed terminal can still be read."
        "Agents cannot tell what a command did before it was stopped."
        "Keep the terminal until it is released.";
    V1_TERM_11 => Agent Must Documentation("terminals").recorded():
        "Every created terminal is released."
        "Clients keep processes and their output forever."
        "Call `terminal/release` when the command is done, also after `terminal/kill`.";
    V1_TERM_12 => Client Must Documentation("terminals").gate("terminal"):
        "A released terminal is gone, and its process has ended."
        "Processes are left behind."
        "Kill the command on release, and forget the id.";
    V1_TERM_13 => Agent Must Schema:
        "A terminal is shown in a tool call before it is released, not after."
        "Clients have nothing left to show."
        "Add the terminal to the call's content as soon as it exists.";
    V1_TERM_15 => Client Unspecified Silent("terminals"):
        "Terminal processes end with the connection."
        "Orphaned processes are left behind."
        "End the process groups of all terminals when the connection ends.";
    V1_ELIC_01 => Agent Must Documentation("elicitation").recorded():
        "Only modes that the client offers are used."
        "The user is never asked, and the turn fails."
        "Check `elicitation.form` and `elicitation.url`; an empty object offers neither.";
    V1_ELIC_02 => Agent Should Documentation("elicitation"):
        "Without forms, the agent continues in another way."
        "Turns fail in clients without forms."
        "Ask in a message, or skip the question.";
    V1_ELIC_03 => Agent Must Documentation("elicitation").recorded():
        "An elicitation has a mode."
        "Clients cannot tell a form from a URL."
        "Send `mode` with every `elicitation/create`.";
    V1_ELIC_04 => Agent Must Documentation("elicitation").recorded():
        "An elicitation belongs to a session or to a request, not both or neither."
        "Clients do not know where to show it."
        "Send `sessionId`, or `requestId`, and one of them only.";
    V1_ELIC_12 => Agent Must Documentation("elicitation").recorded():
        "Forms do not request secrets."
        "Passwords end up in the client and its logs."
        "Use URL mode for secrets.";
    V1_ELIC_13 => Agent Must Documentation("elicitation").recorded():
        "Forms are flat objects of strings, numbers, booleans and choices."
        "Clients cannot show the form."
        "Ask for nested values one by one.";
    V1_ELIC_14 => Client Should Documentation("elicitation").gate("elicitation.form"):
        "The submitted values match the form."
        "The agent refuses the input, and the user does not see why."
        "Check the values before they are sent.";
    V1_ELIC_16 => Client Must Documentation("elicitation").gate("elicitation").recorded():
        "The response's action is accept, decline or cancel."
        "The agent cannot tell what the user wants."
        "Use one of the three.";
    V1_ELIC_17 => Agent Must Documentation("elicitation"):
        "An elicitation that is declined, cancelled or fails does not break the turn."
        "Users see an error after saying no."
        "Continue without the values, or end the turn.";
    V1_ELIC_19 => Agent Must Documentation("elicitation").recorded():
        "URL elicitations that are open at the same time have unique ids."
        "One is mistaken for the other."
        "Use a new `elicitationId` for each URL.";
    V1_ELIC_20 => Agent Must Documentation("elicitation").recorded():
        "`elicitation/complete` names a URL elicitation of this connection."
        "Clients close the wrong dialog."
        "Send the id of the original elicitation.";
    V1_ELIC_21 => Client Must Documentation("elicitation"):
        "Unknown elicitation ids are ignored."
        "The connection breaks in a harmless race."
        "Ignore them.";
    V1_ELIC_22 => Client Must Documentation("elicitation"):
        "A request in a mode that was not offered is refused with -32602."
        "The agent waits forever."
        "Return -32602, or -32601 if no mode is offered.";
    V1_ELIC_25 => Agent Must Documentation("elicitation").recorded()
        .note("Under \"URL security\", credentials in the address are a MUST NOT and `https` a SHOULD, which is not judged. The schema crate requires neither."):
        "URLs contain no user names or passwords."
        "Secrets end up in logs and histories."
        "Leave credentials out of the URL.";
    V1_ELIC_27 => Client Must Crate:
        "A request with an unknown mode is not shown as a known one."
        "The user consents to something else."
        "Return -32602.";
    V1_ELIC_28 => Agent Must Crate:
        "An unknown action is not treated as acceptance."
        "The agent continues with an answer that nobody gave."
        "Treat only `accept` as acceptance, and anything unknown as `cancel`.";
}
