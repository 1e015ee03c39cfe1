//! Framing, JSON-RPC, the schema, extensions and errors.

rules! {
    V2_RPC_01 =>
        Agent Must Documentation("overview").recorded():
            "The rules of version 1 on framing and JSON-RPC hold."
            "Without them no two programs understand each other, in any version."
            "See the same rule of version 1 (`V1-RPC-…`, `V1-STDIO-…`) that the finding speaks of.",
        Client Must Documentation("overview").recorded():
            "Lines, messages, ids and answers are formed as in version 1."
            "Agents drop what they cannot read, and wait for what never comes."
            "See the rules V1-RPC and V1-STDIO.";
    V2_RPC_02 =>
        Agent Must Crate.recorded():
            "A request whose id is null, a boolean or a fraction is refused with -32600 and the id null, and has no effect."
            "Its answer cannot be matched, so the client never learns what it caused."
            "Check the id before anything else: a text or a whole number.",
        Client Must Crate.recorded():
            "Ids of requests are texts or integers, never null."
            "Agents refuse the request."
            "Count requests from 0 or 1.";
    V2_RPC_03 =>
        Agent Must Crate.recorded():
            "An id is not used again while its request is open."
            "Two open requests with one id get one answer."
            "Count ids up for as long as the connection lasts.",
        Client Must Crate.recorded():
            "An id is not used again while its request is not answered."
            "The agent cannot tell the answers apart."
            "Count up.";
    V2_RPC_04 =>
        Agent Must Crate.recorded():
            "An error always has an `id`, and a result never has a null one."
            "An answer without an id belongs to no request."
            "Write the id of the request, and null only if it could not be read.",
        Client Must Crate.recorded():
            "Every answer has an id, and a result never a null one."
            "The agent cannot tell what was answered."
            "Repeat the id of the request.";
    V2_RPC_05 =>
        Agent Must Schema.recorded():
            "An answer with nothing to say is an object."
            "Typed clients cannot read null, text or a missing result, and fail a request that succeeded."
            "Answer `{}`.",
        Client Must Schema.recorded():
            "An empty result is an object."
            "Agents take null for a missing result."
            "Answer `{}`.";
    V2_RPC_06 => Agent Must Documentation("overview"):
        "A known kind with a payload that does not fit is an error, and not an unknown kind."
        "A broken message is taken for a new feature and goes by unseen."
        "Fall back to the unknown kind only if the name is unknown.";
    V2_BATCH_01 =>
        Agent Must Crate:
            "Any array, the empty one too, is answered with one -32600 with the id null; nothing in it is done and the connection goes on."
            "What a batch does is not defined; half of it done is worse than nothing."
            "Refuse a line that is an array as a whole.",
        Client Must Crate:
            "An array gets one -32600 or nothing, and nothing in it is run."
            "Arrays are no part of the protocol; who runs them is alone."
            "Do not run what an array holds.";
    V2_BATCH_02 =>
        Agent Must Crate.recorded():
            "No line is an array."
            "Clients refuse it as a whole, with all that it holds."
            "Write each message as a line of its own.",
        Client Must Crate.recorded():
            "No arrays are sent."
            "Agents refuse them, and nothing in them is done."
            "Send each message by itself.";
    V2_SCHEMA_01 =>
        Agent Must Crate.recorded():
            "Every message fits the JSON schema of the version."
            "Clients that read by the schema refuse the message, and what it holds is lost."
            "Send the member that the finding names as the schema has it.",
        Client Must Crate.recorded():
            "Every message fits the JSON schema of the version."
            "Agents that read by the schema refuse the message, and what it holds is lost."
            "Send the member that the finding names as the schema has it.";
    V2_EXT_01 =>
        Agent Must Documentation("extensibility").recorded():
            "Values of one's own begin with an underscore."
            "A later version of the protocol may give the value another meaning."
            "Put `_` before kinds of updates, states and types that the protocol does not have.",
        Client Must Documentation("extensibility").recorded():
            "Methods of one's own begin with `_`."
            "The name may mean something else in the next version."
            "Put `_` before the name.";
    V2_EXT_04 =>
        Agent Must Documentation("extensibility").recorded():
            "Methods of one's own begin with an underscore, and `_meta` changes nothing."
            "Clients that trace their requests are shut out, and names get a second meaning."
            "Ignore what you do not know in `_meta`, and put `_` before methods of your own.",
        Client Must Documentation("extensibility").recorded():
            "`_meta` may hold anything, also what is no object; members of one's own go there."
            "Agents that use `_meta` cannot be used."
            "Ignore what you do not know in it.";
    V2_EXT_05 => Client Should Documentation("extensibility"):
        "An update of an unknown kind is ignored."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Keep it, and ignore it otherwise.";
    V2_ERR_01 =>
        Agent Must Crate:
            "Error codes keep their meaning, and -32002 for a session names it in `data.sessionId`."
            "Clients choose what to do by the code: log in, resume, give up."
            "Use the codes of JSON-RPC and of the protocol, -32022 for versions included.",
        Client Must Crate:
            "Errors of every code are taken."
            "One failure of the agent ends the client."
            "Treat every code alike but those that you know.";
    V2_ERR_02 => Agent Must Crate:
        "A kind of block, server, cursor or value that is not supported is refused with -32602."
        "The agent guesses, and the user does not learn what was left out."
        "Refuse the whole request before it has an effect.";
}
