//! Framing, JSON-RPC, the schema, extensions and errors.

rules! {
    V1_RPC_01 =>
        Agent Must Documentation("overview").recorded():
            "Every message is one JSON-RPC 2.0 object: a request, a notification or an answer."
            "Clients drop what they cannot tell apart, and the user waits for an answer that was sent."
            "Write `\"jsonrpc\":\"2.0\"` in every message.",
        Client Must Documentation("overview").recorded():
            "Every message is an object with `jsonrpc: \"2.0\"` and is one of request, notification and answer."
            "Agents refuse or drop what they cannot tell apart."
            "Write `jsonrpc`, and either a method or a result or an error.";
    V1_RPC_02 =>
        Agent Must Documentation("overview").recorded():
            "Messages are UTF-8, in both directions."
            "Names, paths and text in other scripts come back broken."
            "Read and write bytes as UTF-8, whatever the locale says, and never cut inside a character.",
        Client Must Documentation("overview").recorded():
            "Every line is UTF-8."
            "Agents drop the line, and what was asked is lost."
            "Encode text as UTF-8 before it is written.";
    V1_RPC_03 =>
        Agent Must Documentation("overview").recorded():
            "An answer has either a `result`, or an `error` with a whole number as `code` and a text as `message`."
            "An answer that is both or neither leaves the client without one."
            "Send exactly one of the two members, and fill both members of an error.",
        Client Must Documentation("overview").recorded():
            "An answer has a result, or an error with an integer code and a message, never both."
            "Agents cannot tell whether it worked."
            "Write exactly one of the two members, and both parts of an error.";
    V1_RPC_04 =>
        Agent Must Documentation("overview").recorded():
            "Notifications get no answer, whatever they hold."
            "An answer nobody asked for ends in an error on the client's side, or in a closed connection."
            "Write nothing when a message has no `id`, not even an error.",
        Client Must Documentation("overview").recorded():
            "Notifications get no answer, whatever they hold."
            "An answer that nobody asked for ends in errors on the agent's side."
            "Write nothing when a message has no id.";
    V1_RPC_05 =>
        Agent Must Schema.recorded():
            "An answer repeats the id of its request, with its type and value."
            "Clients match answers by id; `\"7\"` for `7` is an answer to nothing."
            "Keep the id as the JSON value it was, and write that value back.",
        Client Must Schema.recorded():
            "An answer repeats the id of its request, with the same type."
            "The agent waits forever for an answer that came under another id."
            "Keep the id as the JSON value that it was.";
    V1_RPC_06 =>
        Agent Should Schema.recorded():
            "A request with the id null is answered, with the id null."
            "A client that sends such ids waits for ever instead of showing an error."
            "Tell a request whose id is null from a notification, which has no id.",
        Client Should Schema.recorded():
            "Ids of requests are texts or integers."
            "Some agents refuse other ids."
            "Count requests from 0 or 1.";
    V1_RPC_07 =>
        Agent Must Schema:
            "Each side numbers its own requests; the same id may be open in both directions."
            "Mixed up, the answer of one request ends another."
            "Keep the requests you sent and the requests you got in two tables.",
        Client Must Schema:
            "Each side counts its own requests: the same id may be in use both ways."
            "An answer reaches the wrong request, and both hang."
            "Keep the requests that you sent and those that you got apart.";
    V1_RPC_08 =>
        Agent Must Documentation("overview"):
            "A method that is not known is answered with -32601."
            "Clients ask for optional methods to find out what there is; without this answer they wait."
            "Answer -32601 for every request whose method is not implemented.",
        Client Must Documentation("overview"):
            "A method that is not known is answered with -32601."
            "Agents ask for optional methods to find out what there is; without this answer they wait."
            "Answer -32601 for every request whose method is not implemented.";
    V1_RPC_09 =>
        Agent Should Documentation("overview"):
            "Notifications that are not known are ignored, and the connection goes on."
            "A newer client ends the agent by telling it something new."
            "Drop notifications with an unknown method, of any size, and read on.",
        Client Should Documentation("overview"):
            "Notifications that are not known are ignored."
            "A newer agent cannot be used."
            "Ignore them.";
    V1_RPC_10 =>
        Agent Unspecified Silent("overview").in_both_versions()
            .note("JSON-RPC 2.0 has these codes; the protocol forbids clients to send such lines, and does not say what an agent does about them."):
            "A line that is no JSON is answered with -32700, JSON that is no message with -32600, both with the id null, and the connection goes on."
            "One bad line ends the user's session, or goes by without a trace."
            "Catch errors of the parser for each line, answer them, and read the next line.",
        Client Unspecified Silent("overview"):
            "Lines that are no messages do not end the connection."
            "One stray print of the agent ends the session."
            "Skip the line, or answer -32700 with a null id.";
    V1_RPC_11 =>
        Agent Must Schema:
            "Parameters that do not fit a method are answered with -32602."
            "Whoever writes the client sees an inner error, or nothing, instead of what is wrong with the request."
            "Answer -32602 when the parameters of a known method cannot be read.",
        Client Must Schema:
            "Parameters that do not fit are answered with -32602."
            "The agent waits, or takes the failure for another."
            "Answer -32602 when required members are missing.";
    V1_RPC_12 =>
        Agent Must Documentation("overview").recorded():
            "Members have camelCase names."
            "Clients do not see members with other names, so what they hold is lost."
            "Rename the members as the schema spells them.",
        Client Must Documentation("overview").recorded():
            "Members are spelled in camel case."
            "Agents read a member that they do not know as missing."
            "Take the spelling of the schema.";
    V1_RPC_13 =>
        Agent Must Documentation("overview").recorded():
            "Every path that the agent sends is absolute."
            "Relative paths mean another place for either side, and files are changed where nobody looks."
            "Join paths with the session's directory before they are sent.",
        Client Must Documentation("overview").recorded():
            "Paths are absolute."
            "An agent resolves a relative path against its own directory and works in the wrong place."
            "Make paths absolute before they are sent.";
    V1_RPC_14 =>
        Agent Must Documentation("overview").recorded():
            "Lines are counted from 1."
            "The editor jumps to the line before, or nowhere."
            "Add one to lines that are counted from 0 before they are sent.",
        Client Must Documentation("overview").gate("fs.readTextFile"):
            "Line numbers count from 1."
            "Agents read and change the wrong lines."
            "Take line 1 for the first.";
    V1_RPC_15 =>
        Agent Must Documentation("overview"):
            "Requests of the client are served while the agent waits for an answer itself."
            "An agent that waits for permission and reads nothing cannot be cancelled."
            "Read the input in a task of its own, and never wait for an answer in it.",
        Client Must Documentation("overview"):
            "Requests are answered while the client's own wait for their answers."
            "The turn hangs: the agent waits for the client and the client for the agent."
            "Read and answer while a prompt is open.";
    V1_RPC_16 =>
        Agent Should Documentation("overview"):
            "Members that are not known do no harm."
            "The agent refuses clients that are newer than it is."
            "Ignore unknown members when reading messages.",
        Client Should Documentation("overview"):
            "Members that are not known are ignored."
            "A newer agent cannot be used."
            "Read with a parser that ignores unknown members.";
    V1_RPC_17 =>
        Agent Should Crate:
            "A member that is only for show and has the wrong type counts as left out."
            "A detail for display keeps the user from connecting."
            "Fall back to the default of such members, as the schema marks them.",
        Client Should Crate:
            "Members that are only shown may have the wrong type."
            "One odd member loses a whole message."
            "Fall back to the default of such a member.";
    V1_RPC_18 =>
        Agent Unspecified Silent("overview").recorded():
            "An array is answered with one -32600 with the id null, and nothing in it is done."
            "What a batch does is not defined; half of it done is worse than nothing."
            "Refuse a line that is an array as a whole.",
        Client Unspecified Silent("overview").recorded():
            "Arrays are neither sent nor run."
            "Arrays are no part of the protocol; who runs them is alone."
            "Answer an array with one -32600 with a null id, or skip it.";
    V1_STDIO_01 => Client Must Documentation("transports"):
        "The client starts the agent and talks over its input and output."
        "Nothing works."
        "Start the command with pipes for input and output.";
    V1_STDIO_02 =>
        Agent Must Documentation("transports").recorded():
            "Messages end with a line feed, however the bytes arrive."
            "What works on one machine stalls on another, where pipes cut messages elsewhere."
            "Gather bytes up to the next line feed before parsing, and parse all lines of a read. White space before the line feed is allowed.",
        Client Must Documentation("transports").recorded():
            "Every message stands on a line of its own."
            "Agents read half a message and drop it."
            "Serialise without line breaks, and end each message with one.";
    V1_STDIO_03 => Agent Must Documentation("transports").recorded():
        "The standard output carries messages of the protocol and nothing else."
        "A greeting or a log line on it breaks the connection in many clients."
        "Write logs to the standard error, and keep libraries and child processes off the standard output.";
    V1_STDIO_04 => Client Must Documentation("transports").recorded():
        "Nothing but messages goes to the agent's input."
        "Agents answer such lines with errors, or end."
        "Keep prompts, logs and blank output away from the pipe.";
    V1_STDIO_05 => Client May Documentation("transports"):
        "What the agent writes to standard error is read or thrown away."
        "An agent that logs a lot stops in the middle of its work."
        "Read the pipe all the time, or point it at a file.";
    V1_STDIO_06 =>
        Agent Should Documentation("transports"):
            "The agent can be spoken to over its standard streams."
            "Most clients speak to agents in no other way."
            "Serve the protocol on the standard streams, at least when asked to by an argument.",
        Client Unspecified Silent("transports"):
            "Lines of many megabytes, such as of a file or a picture, are taken in."
            "A large answer of the agent ends the session."
            "Read lines without a limit, or with one well over 16 MiB.";
    V1_STDIO_07 =>
        Agent Should Documentation("transports"):
            "The agent ends when its input ends."
            "Agents whose editor is gone stay behind and eat memory."
            "Take the end of the input as the end of the work: cancel turns, and leave.",
        Client Should Documentation("transports"):
            "The client closes the agent's input before it ends its process."
            "The agent cannot save what it has."
            "Close the pipe, wait a moment, then use signals.";
    V1_SCHEMA_01 =>
        Agent Must Schema.recorded():
            "Every message fits the JSON schema of the version."
            "Clients that read by the schema refuse the message, and what it holds is lost."
            "Send the member that the finding names as the schema has it.",
        Client Must Schema.recorded():
            "Every message fits the JSON schema of the version."
            "Agents that read by the schema refuse the message, and what it holds is lost."
            "Send the member that the finding names as the schema has it.";
    V1_EXT_01 =>
        Agent Must Documentation("extensibility").recorded():
            "Data of one's own goes into `_meta` only."
            "A later version of the protocol may give the member another meaning."
            "Move the member below `_meta`.",
        Client Must Documentation("extensibility").recorded():
            "What the protocol does not know goes into `_meta`."
            "A member of one's own may mean something else in the next version."
            "Move the member into `_meta`.";
    V1_EXT_02 =>
        Agent Must Documentation("extensibility").recorded():
            "Methods of one's own begin with an underscore."
            "A later version of the protocol may give the method another meaning."
            "Put `_` before the name of the method.",
        Client Must Documentation("extensibility").recorded():
            "Methods of one's own begin with `_`."
            "The name may mean something else in the next version."
            "Put `_` before the name.";
    V1_EXT_03 =>
        Agent Must Documentation("extensibility"):
            "Custom requests are answered, those that are not known with -32601."
            "Clients ask for extensions to find out what there is; without this answer they wait."
            "Answer -32601 for every custom method that is not implemented.",
        Client Must Documentation("extensibility"):
            "A request of an extension that is not known is answered with -32601."
            "The agent waits for an answer."
            "Answer -32601, also to methods that begin with `_`.";
    V1_EXT_06 =>
        Agent Must Documentation("extensibility"):
            "Keys of `_meta` that are not known change nothing."
            "Clients that trace their requests are shut out."
            "Ignore what you do not know in `_meta`.",
        Client Must Documentation("extensibility"):
            "Nothing is assumed about what `_meta` holds."
            "Agents that use `_meta` cannot be used."
            "Ignore what you do not know in it.";
    V1_EXT_07 => Client Unspecified Silent("extensibility"):
        "An update of an unknown kind is ignored."
        "The call, and what it did, is not shown; or the connection ends in the middle of a turn."
        "Ignore what you do not know.";
    V1_ERR_01 => Agent Must Documentation("overview#error-handling"):
        "Error codes keep their meaning."
        "Clients choose what to do by the code: log in, load again, give up."
        "Use the codes of JSON-RPC, -32000 for a missing login, -32002 for what is not found, -32800 for what was cancelled.";
    V1_ERR_02 => Agent Should Schema.recorded():
        "The message of an error is one short sentence."
        "It is shown to the user as it is."
        "Put stacks, dumps and other details into `data`.";
    V1_ERR_03 => Client Must Schema:
        "Error codes that are not known are shown like others."
        "One failure of the agent ends the client."
        "Treat every code alike but those that you know.";
}
