//! The rules of version 1 that every message of a client can show.

use super::{LOOK_FIRST, UNOFFERED};
use crate::client::scene::rule;
use crate::rule::Rule;

pub(in crate::client::traffic) const RULES: &[Rule] = &[
    rule(
        "V1-RPC-01",
        "Every message is an object with `jsonrpc: \"2.0\"` and is one of request, notification and answer.",
        "Agents refuse or drop what they cannot tell apart.",
        "Write `jsonrpc`, and either a method or a result or an error.",
    ),
    rule(
        "V1-RPC-02",
        "Every line is UTF-8.",
        "Agents drop the line, and what was asked is lost.",
        "Encode text as UTF-8 before it is written.",
    ),
    rule(
        "V1-RPC-03",
        "An answer has a result, or an error with an integer code and a message, never both.",
        "Agents cannot tell whether it worked.",
        "Write exactly one of the two members, and both parts of an error.",
    ),
    rule(
        "V1-RPC-05",
        "An answer repeats the id of its request, with the same type.",
        "The agent waits forever for an answer that came under another id.",
        "Keep the id as the JSON value that it was.",
    ),
    rule(
        "V1-RPC-06",
        "Ids of requests are texts or integers.",
        "Some agents refuse other ids.",
        "Count requests from 0 or 1.",
    )
    .should(),
    rule(
        "V1-RPC-12",
        "Members are spelled in camel case.",
        "Agents read a member that they do not know as missing.",
        "Take the spelling of the schema.",
    ),
    rule(
        "V1-RPC-13",
        "Paths are absolute.",
        "An agent resolves a relative path against its own directory and works in the wrong place.",
        "Make paths absolute before they are sent.",
    ),
    rule(
        "V1-STDIO-02",
        "Every message stands on a line of its own.",
        "Agents read half a message and drop it.",
        "Serialise without line breaks, and end each message with one.",
    ),
    rule(
        "V1-STDIO-04",
        "Nothing but messages goes to the agent's input.",
        "Agents answer such lines with errors, or end.",
        "Keep prompts, logs and blank output away from the pipe.",
    ),
    rule(
        "V1-INIT-01",
        "`initialize` is answered before any session is made.",
        "Agents refuse sessions of clients that they do not know.",
        "Wait for the answer before the next request.",
    ),
    rule(
        "V1-INIT-02",
        "`protocolVersion` is an integer.",
        "Agents refuse the connection.",
        "Send the newest version that you speak as a number.",
    ),
    rule(
        "V1-INIT-03",
        "Capabilities are an object.",
        "Agents take none as offered.",
        "Send `clientCapabilities` as an object.",
    ),
    rule(
        "V1-INIT-04",
        "The client says its name and version.",
        "Agents cannot work around bugs of a client that they cannot name.",
        "Send `clientInfo` with `name` and `version`.",
    )
    .should(),
    rule(
        "V1-INIT-10",
        "Only methods of the version agreed on are used.",
        "The agent answers that it does not know them.",
        "Choose the words after the answer to `initialize`.",
    ),
    rule(
        "V1-INIT-11",
        "What the agent left out is not used.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V1-INIT-12",
        "An agent that offers nothing optional can be used.",
        "Simple agents cannot be used at all.",
        "Take every capability as optional.",
    )
    .should(),
    rule(
        "V1-AUTH-02",
        "Only ways to log in that the agent offers are used.",
        "The login fails.",
        "Choose from `authMethods`, and do not log in where it is empty.",
    ),
    rule(
        "V1-AUTH-12",
        "`logout` is called only if it is offered.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V1-SESS-02",
        "`cwd` is an absolute path.",
        "The agent works in the wrong place.",
        "Make the directory absolute before it is sent.",
    ),
    rule(
        "V1-SESS-06",
        "`mcpServers` is there, also if it is empty.",
        "Agents refuse the session.",
        "Send `[]` if there are none.",
    ),
    rule(
        "V1-SESS-14",
        "Further directories are sent only to agents that take them.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V1-SESS-15",
        "Further directories are absolute paths.",
        "The agent works in the wrong place.",
        "Make them absolute before they are sent.",
    ),
    rule(
        "V1-LOAD-02",
        "`session/load` is called only if it is offered.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V1-LOAD-03",
        "`session/load` has `sessionId`, `cwd` and `mcpServers`.",
        "The session cannot be loaded.",
        "Send all three, `mcpServers` as `[]` if there are none.",
    ),
    rule(
        "V1-RESUME-01",
        "`session/resume` is called only if it is offered.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V1-RESUME-02",
        "`session/resume` has `sessionId` and `cwd`.",
        "The session cannot be resumed.",
        "Send both.",
    ),
    rule(
        "V1-CLOSE-01",
        "`session/close` is called only if it is offered.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V1-LIST-01",
        "`session/list` is called only if it is offered.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V1-LIST-04",
        "Cursors come back as they were given.",
        "The next page cannot be found.",
        "Keep the cursor as an opaque text.",
    ),
    rule(
        "V1-DEL-01",
        "`session/delete` is called only if it is offered.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V1-PROMPT-01",
        "Prompts go to sessions that were made or brought back on this connection.",
        "The agent does not know the session.",
        "Wait for the answer that opens the session, and use its id.",
    ),
    rule(
        "V1-PROMPT-02",
        "Prompts hold only content that the agent takes.",
        "The agent refuses the prompt.",
        "Look at `promptCapabilities`, and link or describe what is not taken.",
    ),
    rule(
        "V1-CONTENT-01",
        "Prompts hold known kinds of content.",
        "The agent refuses the prompt.",
        "Use text, image, audio, resource_link and resource.",
    ),
    rule(
        "V1-CONTENT-04",
        "Images are sent only to agents that take them.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V1-CONTENT-05",
        "Audio is sent only to agents that take it.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V1-CONTENT-06",
        "Embedded resources are sent only to agents that take them.",
        UNOFFERED,
        "Send a `resource_link` instead.",
    ),
    rule(
        "V1-CONTENT-08",
        "Content has the members that its kind needs.",
        "The agent refuses the prompt.",
        "Fill in the members that the schema requires.",
    ),
    rule(
        "V1-CANCEL-01",
        "`session/cancel` names the session.",
        "The agent cannot tell what to stop.",
        "Send `sessionId`.",
    )
    .may(),
    rule(
        "V1-MODE-02",
        "Only available modes are set.",
        "The agent refuses the mode.",
        "Choose from `availableModes`.",
    ),
    rule(
        "V1-CONF-11",
        "A boolean value of an option goes with `type: \"boolean\"`.",
        "The agent takes the value for the id of a choice.",
        "Send the type with boolean values.",
    ),
    rule(
        "V1-MCP-02",
        "Servers over http and sse are given only to agents that take them.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V1-MCP-04",
        "A server on stdio has a name, an absolute command, `args` and `env`.",
        "The session cannot be made, or the server not be started.",
        "Resolve the command, and send empty lists rather than none.",
    ),
    rule(
        "V1-MCP-05",
        "A server over http or sse has `name`, `url` and `headers`.",
        "The session cannot be made.",
        "Send an empty list of headers rather than none.",
    ),
    rule(
        "V1-EXT-01",
        "What the protocol does not know goes into `_meta`.",
        "A member of one's own may mean something else in the next version.",
        "Move the member into `_meta`.",
    ),
    rule(
        "V1-EXT-02",
        "Methods of one's own begin with `_`.",
        "The name may mean something else in the next version.",
        "Put `_` before the name.",
    ),
];
