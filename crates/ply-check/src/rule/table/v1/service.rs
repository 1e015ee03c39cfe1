//! Services of the client: files, terminals and forms.

rules! {
    V1_FS_01 => Agent Must Documentation("file-system").recorded():
        "Files of the client are used only after looking at its capabilities."
        "Every tool that needs a file fails in clients without files."
        "Read `clientCapabilities.fs` of `initialize`, and use own access if it is not there.";
    V1_FS_02 => Agent Must Documentation("file-system").recorded():
        "A method whose flag is not set is never called."
        "Tools fail in clients that only show files."
        "Check `readTextFile` and `writeTextFile` one by one.";
    V1_FS_03 => Agent Must Documentation("file-system").recorded():
        "Calls for files have a session and an absolute path, and lines count from 1."
        "Clients refuse the call, or read another file."
        "Join paths with the session's directory, and send `sessionId`.";
    V1_FS_04 => Client Must Documentation("file-system").gate("fs.readTextFile"):
        "`line` and `limit` choose the lines that are read."
        "Agents read the wrong lines."
        "Begin at `line`, and return at most `limit` lines.";
    V1_FS_06 => Client Must Documentation("file-system").gate("fs.readTextFile").recorded():
        "A file is answered as a text, an empty one too."
        "The agent takes the answer for a failure."
        "Answer `content` as a string.";
    V1_FS_07 => Client Must Documentation("file-system").gate("fs.writeTextFile"):
        "Writing makes a file that is not there."
        "Agents cannot make files."
        "Create the file, and its content as given.";
    V1_FS_08 =>
        Agent Must Documentation("file-system"):
            "An empty object and null both mean that a write worked."
            "The tool is reported as failed although the file was written."
            "Take any result as success, and only an error as failure.",
        Client Must Documentation("file-system").gate("fs.writeTextFile"):
            "Writing is answered with an empty result."
            "The agent takes the answer for a failure."
            "Answer `{}`.";
    V1_FS_09 => Client Should Schema.gate("fs.readTextFile"):
        "A file that is not there is told with -32002."
        "The agent cannot tell a missing file from a failure."
        "Answer -32002 for missing files.";
    V1_FS_10 => Client Unspecified Silent("file-system"):
        "Methods that were not offered are refused with -32601, and do nothing."
        "Agents read or change files that the user did not give."
        "Answer -32601 before anything is touched.";
    V1_FS_11 => Client Should Draft("file-system").gate("fs"):
        "Paths outside of the session's directories are refused."
        "An agent reads or changes files that the user did not give."
        "Compare the real path with the roots.";
    V1_FS_12 => Client Should Crate.gate("fs.readTextFile"):
        "A `line` or `limit` of the wrong type is refused with -32602."
        "Agents read other lines than they asked for."
        "Check the types.";
    V1_TERM_01 => Agent Must Documentation("terminals").recorded():
        "Terminals of the client are used only if it offers them."
        "Every command fails in clients without terminals."
        "Read `clientCapabilities.terminal`, and run commands in the agent if it is not set.";
    V1_TERM_02 => Client Must Documentation("terminals").gate("terminal"):
        "A client that offers terminals serves all five methods."
        "Agents that run commands in the client's terminals hang or fail."
        "Implement create, output, wait_for_exit, kill and release.";
    V1_TERM_03 => Client Must Documentation("terminals").gate("terminal").recorded():
        "A terminal is answered at once, not when its command ends."
        "Agents that run commands in the client's terminals hang or fail."
        "Answer when the command was started.";
    V1_TERM_04 => Agent Must Documentation("terminals").recorded():
        "A terminal's `cwd` is absolute, its `env` a list of names and values."
        "Clients refuse the call, or run the command in the wrong place."
        "Send an absolute `cwd`, and `env` as `[{\"name\": …, \"value\": …}]`.";
    V1_TERM_05 => Client Must Documentation("terminals").gate("terminal"):
        "Past the limit the oldest output is dropped."
        "Agents miss the end of the output, where the errors are."
        "Keep the newest bytes, and set `truncated`.";
    V1_TERM_06 => Client Must Documentation("terminals").gate("terminal"):
        "Output is never cut inside a character."
        "The output cannot be read."
        "Cut at the next character.";
    V1_TERM_07 => Client Must Documentation("terminals").gate("terminal").recorded():
        "The exit status comes with the output once the command has ended, not before."
        "Agents that run commands in the client's terminals hang or fail."
        "Leave `exitStatus` out while it runs.";
    V1_TERM_08 => Client Must Documentation("terminals").gate("terminal"):
        "Waiting is answered when the command ends, with its code or signal."
        "Agents that run commands in the client's terminals hang or fail."
        "Answer `exitCode`, or `signal` where there is no code.";
    V1_TERM_09 => Client Must Documentation("terminals").gate("terminal"):
        "Waiting does not keep other requests from being answered."
        "A command that hangs cannot be stopped."
        "Wait beside the reading of requests.";
    V1_TERM_10 => Client Must Documentation("terminals").gate("terminal"):
        "A killed terminal can still be read."
        "Agents cannot tell what a command did before it was stopped."
        "Keep the terminal until it is released.";
    V1_TERM_11 => Agent Must Documentation("terminals").recorded():
        "Every terminal that was made is released."
        "Clients keep processes and their output for ever."
        "Call `terminal/release` when the command is done, also after `terminal/kill`.";
    V1_TERM_12 => Client Must Documentation("terminals").gate("terminal"):
        "A released terminal is gone, and what it ran has ended."
        "Processes are left behind."
        "Kill the command on release, and forget the id.";
    V1_TERM_13 => Agent Must Schema:
        "A terminal is shown in a tool call before it is released, not after."
        "Clients have nothing left to show."
        "Put the terminal into the call's content as soon as it is there.";
    V1_TERM_15 => Client Unspecified Silent("terminals"):
        "What terminals run ends with the connection."
        "Processes are left behind that nobody knows of."
        "End the process groups of all terminals when the connection ends.";
    V1_ELIC_01 => Agent Must Documentation("elicitation").recorded():
        "Only those modes are used that the client offers."
        "The user is never asked, and the turn fails."
        "Look for `elicitation.form` and `elicitation.url`; an empty object offers neither.";
    V1_ELIC_02 => Agent Should Documentation("elicitation"):
        "Without forms the agent goes on in another way."
        "Turns fail in clients without forms."
        "Ask in a message, or leave the question out.";
    V1_ELIC_03 => Agent Must Documentation("elicitation").recorded():
        "A question says its mode."
        "Clients cannot tell a form from a page."
        "Send `mode` with every `elicitation/create`.";
    V1_ELIC_04 => Agent Must Documentation("elicitation").recorded():
        "A question belongs to a session or to a request, not to both or neither."
        "Clients do not know where to show it."
        "Send `sessionId`, or `requestId`, and one of them only.";
    V1_ELIC_12 => Agent Must Documentation("elicitation").recorded():
        "Forms do not ask for secrets."
        "Passwords go through the client and into its logs."
        "Use a page (`url`) for everything secret.";
    V1_ELIC_13 => Agent Must Documentation("elicitation").recorded():
        "Forms are flat: objects of texts, numbers, booleans and choices."
        "Clients cannot show the form."
        "Ask for nested values one by one.";
    V1_ELIC_14 => Client Should Documentation("elicitation").gate("elicitation.form"):
        "What the user gives fits the form."
        "The agent refuses what the user typed, without the user knowing why."
        "Check the values before they are sent.";
    V1_ELIC_16 => Client Must Documentation("elicitation").gate("elicitation").recorded():
        "The answer's action is accept, decline or cancel."
        "The agent cannot tell what the user wants."
        "Use one of the three.";
    V1_ELIC_17 => Agent Must Documentation("elicitation"):
        "A question that is declined, dismissed or fails does not break the turn."
        "Users get an error for saying no."
        "Go on without the answer, or end the turn.";
    V1_ELIC_19 => Agent Must Documentation("elicitation").recorded():
        "Pages that are open at the same time have ids of their own."
        "The end of one is taken for the end of the other."
        "Make a new `elicitationId` for each page.";
    V1_ELIC_20 => Agent Must Documentation("elicitation").recorded():
        "`elicitation/complete` names a page that was asked for on this connection."
        "Clients close the wrong page."
        "Send the id of the original question.";
    V1_ELIC_21 => Client Must Documentation("elicitation"):
        "Ids of addresses that are unknown are ignored."
        "The connection ends by a mere race."
        "Ignore them.";
    V1_ELIC_22 => Client Must Documentation("elicitation"):
        "A request in a mode that was not offered is refused with -32602."
        "The agent waits for an answer that never comes."
        "Answer -32602; -32601 if no mode is offered at all.";
    V1_ELIC_25 => Agent Must Documentation("elicitation").recorded()
        .note("That addresses are `https` is only recommended, and not judged."):
        "Addresses of pages hold no user names or passwords."
        "Secrets end up in logs and histories."
        "Leave credentials out of the address.";
    V1_ELIC_27 => Client Must Crate:
        "A request in an unknown mode is not shown as a known one."
        "The user consents to what was never meant."
        "Answer -32602.";
    V1_ELIC_28 => Agent Must Crate:
        "An action that is not known is not taken as acceptance."
        "The agent goes on with an answer that nobody gave."
        "Take only `accept` as acceptance, and everything unknown as `cancel`.";
}
