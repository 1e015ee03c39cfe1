//! What an agent asks of its client, and MCP servers.

use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::agent("V1-FS-02", "Files are asked only of clients that serve them.")
        .matters("A client that does not serve files answers with an error.")
        .fix("Look for the flag in `clientCapabilities.fs` first."),
    Rule::agent("V1-FS-03", "A file is named by its absolute path, with the session.")
        .matters("The client does not know which file is meant.")
        .fix("Send `sessionId` and an absolute `path`."),
    Rule::client("V1-FS-06", "What is read is answered as `content`.").gate("fs.readTextFile")
        .matters("The agent takes a missing text for an empty file, or fails.")
        .fix("Answer with `content`, also when it is empty."),
    Rule::agent("V1-TERM-01", "Terminals are asked only of clients that have them.")
        .matters("A client without terminals answers with an error.")
        .fix("Look for `clientCapabilities.terminal` first."),
    Rule::client("V1-TERM-03", "A new terminal is answered with its id.").gate("terminal")
        .matters("Without an id the command can be neither watched nor ended.")
        .fix("Answer with `terminalId`."),
    Rule::agent("V1-TERM-04", "The directory of a terminal is absolute.")
        .matters("The command runs in another place than meant.")
        .fix("Make `cwd` absolute, or leave it out."),
    Rule::client("V1-TERM-07", "The output of a terminal says whether it was cut.").gate("terminal")
        .matters("The agent cannot tell whether it has seen all output.")
        .fix("Answer with `output` and `truncated`."),
    Rule::agent("V1-TERM-11", "Every terminal is released before its session is over.")
        .matters("Terminals that are not released pile up in the client.")
        .fix("Send `terminal/release` for each terminal, also after a kill."),
    Rule::agent("V1-ELIC-01", "A form or link is asked only in a mode that the client offers.").in_both_versions()
        .matters("A client without that mode cannot show the form, and the turn hangs.")
        .fix("Look for the mode in the capability `elicitation` first."),
    Rule::agent("V1-ELIC-03", "A form or link says its mode.").in_both_versions()
        .matters("The client would have to guess what to show.")
        .fix("Send `mode` each time."),
    Rule::agent("V1-ELIC-04", "A form or link belongs to one session or to one request.").in_both_versions()
        .matters("The client does not know where the form belongs.")
        .fix("Send either `sessionId` or `requestId`."),
    Rule::client("V1-ELIC-16", "A form or link is answered with accept, decline or cancel.").in_both_versions().gate("elicitation")
        .matters("The agent cannot tell yes from no.")
        .fix("Answer with `action`."),
    Rule::client("V1-MCP-02", "MCP servers over http and sse go only to agents that reach them.")
        .matters("The agent cannot reach the server, and its tools are missing.")
        .fix("Look for the transport in `mcpCapabilities` first."),
    Rule::client("V1-MCP-04", "An MCP server that is a command has a name, an absolute command, arguments and variables.")
        .matters("The agent cannot start the server.")
        .fix("Send `name`, an absolute `command`, `args` and `env`."),
    Rule::client("V1-MCP-05", "An MCP server over http or sse has a name, a URL and headers.")
        .matters("The agent cannot reach the server.")
        .fix("Send `name`, `url` and `headers`."),
    Rule::client("V2-MCP-01", "An MCP server has a type that the agent takes.")
        .matters("The agent refuses the session, or lacks the tools of the server.")
        .fix("Send `type`, and look for it in `session.mcp` first."),
    Rule::client("V2-MCP-02", "No MCP server is reached over sse.")
        .matters("The transport is gone, and the agent refuses the session.")
        .fix("Use http."),
];
