//! Framing, JSON-RPC, the schema, extensions and errors.

rules! {
    V2_RPC_01 =>
        Agent Must Documentation("overview").recorded():
            "The rules of version 1 on framing and JSON-RPC hold."
            "Without them, the two sides cannot communicate."
            "See the version 1 rule in the finding (`V1-RPC-…`, `V1-STDIO-…`).",
        Client Must Documentation("overview").recorded():
            "Lines, messages, ids and responses have the form of version 1."
            "Agents drop invalid messages and wait forever."
            "See the rules V1-RPC and V1-STDIO.";
    V2_RPC_02 =>
        Agent Must Crate.recorded():
            "A request whose id is null, a boolean or a fraction gets error -32600 with the id null, and has no effect."
            "The response cannot be matched, so the client never learns the result."
            "Check the id first: a string or an integer.",
        Client Must Crate.recorded():
            "Request ids are strings or integers, never null."
            "Agents refuse the request."
            "Count requests from 0 or 1.";
    V2_RPC_03 =>
        Agent Must Crate.recorded():
            "An id is not reused while its request is open."
            "Two open requests with the same id get one response."
            "Count ids up for as long as the connection lasts.",
        Client Must Crate.recorded():
            "An id is not reused while its request is open."
            "The agent cannot tell the responses apart."
            "Count up.";
    V2_RPC_04 =>
        Agent Must Crate.recorded():
            "An error always has an `id`, and a result never has a null one."
            "A response without an id matches no request."
            "Write the id of the request, and null only if it could not be read.",
        Client Must Crate.recorded():
            "Every response has an id, and a result never a null one."
            "The agent cannot match the response."
            "Repeat the id of the request.";
    V2_RPC_05 =>
        Agent Must Schema.recorded():
            "An empty result is an object."
            "Typed clients cannot parse null, a string or a missing result, and report a failure."
            "Return `{}`.",
        Client Must Schema.recorded():
            "An empty result is an object."
            "Agents treat null as a missing result."
            "Return `{}`.";
    V2_RPC_06 => Agent Must Documentation("overview"):
        "A known kind with an invalid payload is an error, not an unknown kind."
        "An invalid message is mistaken for a new feature and ignored."
        "Fall back to the unknown kind only if the name is unknown.";
    V2_BATCH_01 =>
        Agent Must Crate:
            "Any array, even an empty one, gets one error -32600 with the id null; nothing in it is executed, and the connection stays open."
            "Batches are undefined; executing half of one is worse than executing none."
            "Refuse the whole array.",
        Client Must Crate:
            "An array gets one error -32600 or nothing, and nothing in it is executed."
            "The protocol has no batches; peers do not expect them to be executed."
            "Do not execute the contents of an array.";
    V2_BATCH_02 =>
        Agent Must Crate.recorded():
            "No line is an array."
            "Clients refuse the whole array."
            "Write each message on its own line.",
        Client Must Crate.recorded():
            "Arrays are not sent."
            "Agents refuse the whole array."
            "Send each message separately.";
    V2_SCHEMA_01 =>
        Agent Must Crate.recorded():
            "Every message fits the JSON schema of the version."
            "Clients that validate refuse the message, and it is lost."
            "Send the member in the finding as the schema defines it.",
        Client Must Crate.recorded():
            "Every message fits the JSON schema of the version."
            "Agents that validate refuse the message, and it is lost."
            "Send the member in the finding as the schema defines it.";
    V2_EXT_01 =>
        Agent Must Documentation("extensibility").recorded():
            "Custom values begin with an underscore."
            "A later version of the protocol may give the value another meaning."
            "Put `_` before kinds of updates, states and types that the protocol does not have.",
        Client Must Documentation("extensibility").recorded():
            "Custom methods begin with `_`."
            "The next version may give the name another meaning."
            "Put `_` before the name.";
    V2_EXT_04 =>
        Agent Must Documentation("extensibility").recorded():
            "Custom methods begin with an underscore, and `_meta` changes nothing."
            "Clients that trace their requests are shut out, and names get a second meaning."
            "Ignore unknown keys in `_meta`, and prefix custom methods with `_`.",
        Client Must Documentation("extensibility").recorded():
            "`_meta` may contain anything, even a non-object; custom members go there."
            "Agents that use `_meta` cannot be used."
            "Ignore unknown contents.";
    V2_EXT_05 => Client Should Documentation("extensibility"):
        "An update of an unknown kind is ignored."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Keep it, and ignore it otherwise.";
    V2_ERR_01 =>
        Agent Must Crate:
            "Error codes keep their meaning, and -32002 for a session has its id in `data.sessionId`."
            "Clients choose what to do by the code: log in, resume, give up."
            "Use the codes of JSON-RPC and of the protocol, -32022 for versions included.",
        Client Must Crate:
            "Errors of every code are accepted."
            "One agent error crashes the client."
            "Handle unknown codes in one generic way.";
    V2_ERR_02 => Agent Must Crate:
        "An unsupported kind of block, server, cursor or value is refused with -32602."
        "The agent guesses, and the user does not learn what was ignored."
        "Refuse the whole request before it has an effect.";
}
