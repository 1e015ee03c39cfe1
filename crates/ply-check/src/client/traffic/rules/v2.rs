//! The rules of version 2 that every message of a client can show.

use super::{LOOK_FIRST, UNOFFERED};
use crate::client::scene::rule;
use crate::rule::Rule;

pub(in crate::client::traffic) const RULES: &[Rule] = &[
    rule(
        "V2-RPC-01",
        "Lines, messages, ids and answers are formed as in version 1.",
        "Agents drop what they cannot read, and wait for what never comes.",
        "See the rules V1-RPC and V1-STDIO.",
    ),
    rule(
        "V2-RPC-02",
        "Ids of requests are texts or integers, never null.",
        "Agents refuse the request.",
        "Count requests from 0 or 1.",
    ),
    rule(
        "V2-RPC-03",
        "An id is not used again while its request is not answered.",
        "The agent cannot tell the answers apart.",
        "Count up.",
    ),
    rule(
        "V2-RPC-04",
        "Every answer has an id, and a result never a null one.",
        "The agent cannot tell what was answered.",
        "Repeat the id of the request.",
    ),
    rule(
        "V2-RPC-05",
        "An empty result is an object.",
        "Agents take null for a missing result.",
        "Answer `{}`.",
    ),
    rule(
        "V2-BATCH-02",
        "No arrays are sent.",
        "Agents refuse them, and nothing in them is done.",
        "Send each message by itself.",
    ),
    rule(
        "V2-INIT-01",
        "`initialize` comes first, with an integer version and capabilities.",
        "Agents refuse the connection.",
        "Send it first and wait for its answer.",
    ),
    rule(
        "V2-INIT-03",
        "The client says its name and version.",
        "Agents refuse the connection.",
        "Send `info` with `name` and `version`.",
    ),
    rule(
        "V2-INIT-07",
        "Only methods of version 2 are used.",
        "The agent answers that it does not know them.",
        "Choose the words after the answer to `initialize`.",
    ),
    rule(
        "V2-INIT-11",
        "Without `capabilities.session` no session is used.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V2-INIT-21",
        "An agent that offers nothing optional can be used.",
        "Simple agents cannot be used at all.",
        "Take every capability as optional.",
    )
    .should(),
    rule(
        "V2-AUTH-02",
        "Without ways to log in, neither login nor logout is called.",
        "The call fails.",
        "Look at `authMethods` first.",
    ),
    rule(
        "V2-SESS-02",
        "`cwd` is an absolute path.",
        "The agent works in the wrong place.",
        "Make the directory absolute before it is sent.",
    ),
    rule(
        "V2-SESS-07",
        "Further directories are absolute, and sent only to agents that take them.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V2-SESS-10",
        "A session is made or resumed on this connection before it is prompted.",
        "The agent does not know the session.",
        "Resume first.",
    ),
    rule(
        "V2-LIST-02",
        "Cursors come back as they were given.",
        "The next page cannot be found.",
        "Keep the cursor as an opaque text.",
    ),
    rule(
        "V2-DEL-01",
        "`session/delete` is called only if it is offered.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V2-PROMPT-01",
        "Prompts follow the greeting and the opening of their session.",
        "The agent does not know the session.",
        "Wait for the answer that opens the session.",
    ),
    rule(
        "V2-PROMPT-02",
        "Prompts hold only content that the agent takes.",
        "The agent refuses the prompt.",
        "Look at `session.prompt`.",
    ),
    rule(
        "V2-PROMPT-04",
        "A prompt is not empty.",
        "The agent refuses the prompt.",
        "Do not send what has no content.",
    ),
    rule(
        "V2-CONTENT-01",
        "Prompts hold known kinds of content, or ones that begin with `_`.",
        "The agent refuses the prompt.",
        "Use the kinds of the schema.",
    ),
    rule(
        "V2-CONTENT-03",
        "Content has the members that its kind needs.",
        "The agent refuses the prompt.",
        "Fill in the members that the schema requires.",
    ),
    rule(
        "V2-CANCEL-01",
        "`session/cancel` names the session.",
        "The agent cannot tell what to stop.",
        "Send `sessionId`.",
    )
    .may(),
    rule(
        "V2-CREQ-03",
        "`$/cancel_request` names a request of one's own.",
        "Requests of the other side would be stopped by chance.",
        "Use the id of the request that you sent.",
    ),
    rule(
        "V2-ECANCEL-01",
        "Single tool calls and terminals are cancelled only while they offer it.",
        UNOFFERED,
        "Look at `capabilities.cancel` of the call or terminal.",
    ),
    rule(
        "V2-CONF-02",
        "A value of an option goes with its type.",
        "The agent cannot tell what is meant.",
        "Send `type: \"id\"` or `type: \"boolean\"`.",
    ),
    rule(
        "V2-MCP-01",
        "A server has a type that the agent takes.",
        UNOFFERED,
        LOOK_FIRST,
    ),
    rule(
        "V2-MCP-02",
        "A server has a name and a command or an address; sse is gone.",
        "The session cannot be made.",
        "Use stdio or http.",
    ),
    rule(
        "V2-EXT-01",
        "Methods of one's own begin with `_`.",
        "The name may mean something else in the next version.",
        "Put `_` before the name.",
    ),
];
