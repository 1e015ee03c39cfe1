//! Sessions: made, opened again, listed, closed.

use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::agent("V1-SESS-01", "A new session has an id of its own.")
        .matters("Two sessions with one id mix their conversations.")
        .fix("Make ids that do not repeat."),
    Rule::client("V1-SESS-02", "The directory of a session is absolute.")
        .matters("A relative directory means another place to the agent.")
        .fix("Make `cwd` absolute before it is sent."),
    Rule::client("V1-SESS-06", "`mcpServers` is there when a session is made or loaded.")
        .matters("Strict agents refuse the request without the list.")
        .fix("Send an empty list if there are no servers."),
    Rule::agent("V1-SESS-09", "Several sessions live side by side on one connection.")
        .matters("One conversation speaks into another.")
        .fix("Tell everything under the id of the session that it belongs to."),
    Rule::agent("V1-SESS-11", "Updates of a new session follow the answer that names it.")
            .unspecified()
        .matters("Clients drop updates of sessions that they do not know yet.")
        .fix("Send the first updates after the answer to `session/new`."),
    Rule::client("V1-SESS-14", "Further directories are sent only to agents that take them.")
        .matters("An agent that ignores the directories works without them.")
        .fix("Look for `sessionCapabilities.additionalDirectories` first."),
    Rule::client("V1-SESS-15", "Further directories are absolute.")
        .matters("A relative directory means another place to the agent.")
        .fix("Make each directory absolute before it is sent."),
    Rule::client("V1-LOAD-02", "Sessions are loaded only from agents that offer it.")
        .matters("An agent that cannot load fails or makes something up.")
        .fix("Look for `loadSession` first."),
    Rule::agent("V1-LOAD-05", "The history is replayed before the answer to `session/load`.").gate("loadSession")
        .matters("A client takes what follows the answer for new messages.")
        .fix("Answer when the last entry was sent."),
    Rule::client("V1-RESUME-01", "Sessions are resumed only with agents that offer it.")
        .matters("An agent that cannot resume fails or starts anew.")
        .fix("Look for `sessionCapabilities.resume` first."),
    Rule::agent("V1-RESUME-03", "A session is resumed without its history.").gate("sessionCapabilities.resume")
        .matters("History that nobody asked for is shown twice.")
        .fix("Send no messages and tool calls before the answer to `session/resume`."),
    Rule::client("V1-CLOSE-01", "Sessions are closed only with agents that offer it.")
        .matters("The session would stay open where the client believes it closed.")
        .fix("Look for `sessionCapabilities.close` first."),
    Rule::client("V1-LIST-01", "Sessions are listed only by agents that offer it.")
        .matters("An agent without a list answers with an error.")
        .fix("Look for `sessionCapabilities.list` first."),
    Rule::agent("V1-LIST-02", "A list of sessions is a list, if an empty one.").gate("sessionCapabilities.list")
        .matters("Without the list the client shows nothing or fails.")
        .fix("Answer with `sessions`, also when there are none."),
    Rule::agent("V1-LIST-10", "Listed sessions have absolute directories.").gate("sessionCapabilities.list")
        .matters("A session with a relative directory cannot be opened again.")
        .fix("Store the directory as it was given."),
    Rule::client("V1-DEL-01", "Sessions are deleted only with agents that offer it.")
        .matters("The user believes something deleted that is not.")
        .fix("Look for `sessionCapabilities.delete` first."),
    Rule::agent("V1-INFO-03", "News about a session do not name its id or directories again.")
        .matters("A session cannot change its identity or its place.")
        .fix("Leave `sessionId`, `cwd` and further directories out of the update."),
    Rule::agent("V2-SESS-01", "A new session has an id of its own.")
        .matters("Two sessions with one id mix their conversations.")
        .fix("Make ids that do not repeat."),
    Rule::client("V2-SESS-02", "The directory of a session is absolute.")
        .matters("A relative directory means another place to the agent.")
        .fix("Make `cwd` absolute before it is sent."),
    Rule::agent("V2-SESS-05", "Options and commands of a session are lists, or left out.")
        .matters("Readers expect a list, if anything.")
        .fix("Leave the member out, or send `[]`."),
    Rule::client("V2-SESS-07", "Further directories are absolute, and go only to agents that take them.")
        .matters("An agent that ignores the directories works without them.")
        .fix("Look for `session.additionalDirectories` first, and make each one absolute."),
    Rule::agent("V2-SESS-09", "Requests for sessions that are not active on the connection fail.")
        .matters("Success for a session that is not there hides a lost one.")
        .fix("Answer -32002 for a session that was neither made nor resumed here."),
    Rule::agent("V2-RESUME-02", "A session is resumed without its history unless it is asked for.")
        .matters("History that nobody asked for is shown twice.")
        .fix("Replay only if `replayFrom` is given."),
    Rule::agent("V2-RESUME-08", "The state of a session is told before the answer that resumes it.")
        .matters("The answer alone does not say whether work is running.")
        .fix("Send a `state_update` before the answer to `session/resume`."),
    Rule::agent("V2-CLOSE-02", "Work that closing stops is told to be over before the answer.")
        .matters("The client never learns how the work ended.")
        .fix("Send idle with `cancelled`, and then answer `session/close`."),
    Rule::agent("V2-CLOSE-04", "Nothing is sent for a session after it was closed.")
        .matters("Updates of a closed session reach nobody.")
        .fix("Stop all updates of the session before the answer to `session/close`."),
    Rule::agent("V2-LIST-01", "A list of sessions is as in version 1: a list, with absolute directories.")
        .matters("The client shows nothing, or sessions that cannot be opened.")
        .fix("Answer with `sessions`, each with the directory as it was given."),
    Rule::client("V2-DEL-01", "Sessions are deleted only with agents that offer it.")
        .matters("The user believes something deleted that is not.")
        .fix("Look for `session.delete` first."),
];
