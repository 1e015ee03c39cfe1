//! Framing, JSON-RPC, the schema, extensions and errors.

rules! {
    V1_RPC_01 =>
        Agent Must Documentation("overview").recorded():
            "Every message is one JSON-RPC 2.0 object: a request, a notification or a response."
            "Clients drop messages that they cannot classify, and the user waits for a response that was sent."
            "Write `\"jsonrpc\":\"2.0\"` in every message.",
        Client Must Documentation("overview").recorded():
            "Every message is an object with `jsonrpc: \"2.0\"`: a request, a notification or a response."
            "Agents refuse or drop messages that they cannot classify."
            "Write `jsonrpc`, and either a method or a result or an error.";
    V1_RPC_02 =>
        Agent Must Documentation("overview").recorded():
            "Messages are UTF-8, in both directions."
            "Non-ASCII names, paths and text are corrupted."
            "Read and write bytes as UTF-8, whatever the locale says, and never cut inside a character.",
        Client Must Documentation("overview").recorded():
            "Every line is UTF-8."
            "Agents drop the line, and the message is lost."
            "Encode text as UTF-8 before it is written.";
    V1_RPC_03 =>
        Agent Must Documentation("overview").recorded():
            "A response has either a `result`, or an `error` with an integer `code` and a string `message`."
            "Clients cannot use a response with both or neither."
            "Send exactly one of the two members, and fill both members of an error.",
        Client Must Documentation("overview").recorded():
            "A response has a result, or an error with an integer code and a message, never both."
            "Agents cannot tell whether the request succeeded."
            "Write exactly one of the two members, and both parts of an error.";
    V1_RPC_04 =>
        Agent Must Documentation("overview").recorded():
            "Notifications get no response, whatever they contain."
            "An unexpected response causes an error in the client, or closes the connection."
            "Send nothing for a message without an `id`, not even an error.",
        Client Must Documentation("overview").recorded():
            "Notifications get no response, whatever they contain."
            "An unexpected response causes errors in the agent."
            "Send nothing for a message without an `id`.";
    V1_RPC_05 =>
        Agent Must Schema.recorded():
            "A response has the id of its request, with the same type and value."
            "Clients match responses by id; `\"7\"` does not match `7`."
            "Keep the id as a JSON value and send it back unchanged.",
        Client Must Schema.recorded():
            "A response has the id of its request, with the same type."
            "The agent waits forever for a response that had another id."
            "Keep the id as a JSON value and send it back unchanged.";
    V1_RPC_06 =>
        Agent Should Schema.recorded():
            "A request with the id null gets a response with the id null."
            "A client that sends such ids waits forever instead of showing an error."
            "Tell a request whose id is null from a notification, which has no id.",
        Client Should Schema.recorded():
            "Request ids are strings or integers."
            "Some agents refuse other ids."
            "Count requests from 0 or 1.";
    V1_RPC_07 =>
        Agent Must Schema:
            "Each side numbers its own requests; the same id may be in use in both directions."
            "A response is matched to the wrong request."
            "Track sent and received requests separately.",
        Client Must Schema:
            "Each side numbers its own requests; the same id may be in use in both directions."
            "A response is matched to the wrong request, and both hang."
            "Track sent and received requests separately.";
    V1_RPC_08 =>
        Agent Must Documentation("overview"):
            "An unknown method gets error -32601."
            "Clients probe optional methods; without this error they wait."
            "Return -32601 for every method that is not implemented.",
        Client Must Documentation("overview"):
            "An unknown method gets error -32601."
            "Agents probe optional methods; without this error they wait."
            "Return -32601 for every method that is not implemented.";
    V1_RPC_09 =>
        Agent Should Documentation("overview"):
            "Unknown notifications are ignored, and the connection stays open."
            "A newer client crashes the agent with a new notification."
            "Drop notifications with an unknown method, of any size, and read on.",
        Client Should Documentation("overview"):
            "Unknown notifications are ignored."
            "A newer agent cannot be used."
            "Ignore them.";
    V1_RPC_10 =>
        Agent Unspecified Silent("overview").in_both_versions()
            .note("JSON-RPC 2.0 has these codes; the protocol forbids such lines, but does not say how an agent handles them."):
            "Invalid JSON gets error -32700, an invalid message -32600, both with the id null, and the connection stays open."
            "One bad line ends the user's session, or is lost without a trace."
            "Catch parse errors per line, return them, and read the next line.",
        Client Unspecified Silent("overview"):
            "Invalid lines do not end the connection."
            "One stray print in the agent ends the session."
            "Skip the line, or return -32700 with a null id.";
    V1_RPC_11 =>
        Agent Must Schema:
            "Invalid parameters get error -32602."
            "Client developers see an internal error, or nothing, instead of the cause."
            "Return -32602 when the parameters of a known method cannot be parsed.",
        Client Must Schema:
            "Invalid parameters get error -32602."
            "The agent waits, or misreads the failure."
            "Return -32602 when required members are missing.";
    V1_RPC_12 =>
        Agent Must Documentation("overview").recorded():
            "Members are named in camelCase."
            "Clients ignore members with other names, so their values are lost."
            "Rename the members as the schema spells them.",
        Client Must Documentation("overview").recorded():
            "Members are named in camelCase."
            "Agents treat a misspelled member as missing."
            "Use the names in the schema.";
    V1_RPC_13 =>
        Agent Must Documentation("overview").recorded():
            "Every path that the agent sends is absolute."
            "Each side resolves a relative path differently, and the wrong file is changed."
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
            "Line 1 is the first line.";
    V1_RPC_15 =>
        Agent Must Documentation("overview"):
            "The agent handles requests while its own are pending."
            "An agent that blocks on a permission request cannot be cancelled."
            "Read input in a separate task that never waits for a response.",
        Client Must Documentation("overview"):
            "The client responds to requests while its own are pending."
            "The turn hangs: the agent waits for the client and the client for the agent."
            "Keep reading and responding while a prompt is open.";
    V1_RPC_16 =>
        Agent Should Documentation("overview"):
            "Unknown members are ignored."
            "The agent refuses clients that are newer than it is."
            "Ignore unknown members when reading messages.",
        Client Should Documentation("overview"):
            "Unknown members are ignored."
            "A newer agent cannot be used."
            "Read with a parser that ignores unknown members.";
    V1_RPC_17 =>
        Agent Should Crate:
            "A display-only member of the wrong type counts as absent."
            "A display detail prevents the connection."
            "Fall back to the default of such members, as the schema marks them.",
        Client Should Crate:
            "Display-only members may have the wrong type."
            "One invalid member drops a whole message."
            "Fall back to the default of such a member.";
    V1_RPC_18 =>
        Agent Unspecified Silent("overview").recorded():
            "An array gets one error -32600 with the id null, and nothing in it is executed."
            "Batches are undefined; executing half of one is worse than executing none."
            "Refuse the whole array.",
        Client Unspecified Silent("overview").recorded():
            "Arrays are neither sent nor executed."
            "The protocol has no batches; peers do not expect them to be executed."
            "Return one -32600 with a null id, or skip the array.";
    V1_STDIO_01 => Client Must Documentation("transports"):
        "The client starts the agent and talks over its input and output."
        "Nothing works."
        "Start the command with pipes for input and output.";
    V1_STDIO_02 =>
        Agent Must Documentation("transports").recorded():
            "Messages end with a line feed, however the bytes are split."
            "The agent stalls where pipes split messages differently."
            "Gather bytes up to the next line feed before parsing, and parse all lines of a read. White space before the line feed is allowed.",
        Client Must Documentation("transports").recorded():
            "Every message is on its own line."
            "Agents read half a message and drop it."
            "Serialise without line breaks, and end each message with one.";
    V1_STDIO_03 => Agent Must Documentation("transports").recorded():
        "Standard output carries only protocol messages."
        "A greeting or a log line on it breaks the connection in many clients."
        "Log to standard error, and keep libraries and child processes off standard output.";
    V1_STDIO_04 => Client Must Documentation("transports").recorded():
        "Nothing but messages goes to the agent's input."
        "Agents return errors for such lines, or exit."
        "Keep prompts, logs and blank output away from the pipe.";
    V1_STDIO_05 => Client May Documentation("transports"):
        "The client reads or discards the agent's standard error."
        "An agent that logs a lot blocks in the middle of its work."
        "Read the pipe all the time, or point it at a file.";
    V1_STDIO_06 =>
        Agent Should Documentation("transports"):
            "The agent works over its standard streams."
            "Most clients support no other transport."
            "Serve the protocol on the standard streams, at least when asked to by an argument.",
        Client Unspecified Silent("transports"):
            "Lines of many megabytes, such as a file or an image, are accepted."
            "A large message from the agent ends the session."
            "Read lines without a limit, or with one well over 16 MiB.";
    V1_STDIO_07 =>
        Agent Should Documentation("transports"):
            "The agent ends when its input ends."
            "Orphaned agents keep running and use memory."
            "At end of input, cancel turns and exit.",
        Client Should Documentation("transports"):
            "The client closes the agent's input before it ends its process."
            "The agent cannot save its state."
            "Close the pipe, wait a moment, then use signals.";
    V1_SCHEMA_01 =>
        Agent Must Schema.recorded():
            "Every message fits the JSON schema of the version."
            "Clients that validate refuse the message, and it is lost."
            "Send the member in the finding as the schema defines it.",
        Client Must Schema.recorded():
            "Every message fits the JSON schema of the version."
            "Agents that validate refuse the message, and it is lost."
            "Send the member in the finding as the schema defines it.";
    V1_EXT_01 =>
        Agent Must Documentation("extensibility").recorded():
            "Custom data goes only into `_meta`."
            "A later version of the protocol may give the member another meaning."
            "Move the member below `_meta`.",
        Client Must Documentation("extensibility").recorded():
            "Custom data goes only into `_meta`."
            "The next version may give the member another meaning."
            "Move the member into `_meta`.";
    V1_EXT_02 =>
        Agent Must Documentation("extensibility").recorded():
            "Custom methods begin with an underscore."
            "A later version of the protocol may give the method another meaning."
            "Put `_` before the name of the method.",
        Client Must Documentation("extensibility").recorded():
            "Custom methods begin with `_`."
            "The next version may give the name another meaning."
            "Put `_` before the name.";
    V1_EXT_03 =>
        Agent Must Documentation("extensibility"):
            "Custom requests get a response; unknown ones get error -32601."
            "Clients probe for extensions; without this error they wait."
            "Return -32601 for every custom method that is not implemented.",
        Client Must Documentation("extensibility"):
            "A request of an unknown extension gets error -32601."
            "The agent waits forever."
            "Return -32601, also for methods that begin with `_`.";
    V1_EXT_06 =>
        Agent Must Documentation("extensibility"):
            "Unknown keys in `_meta` change nothing."
            "Clients that add tracing data cannot connect."
            "Ignore unknown keys in `_meta`.",
        Client Must Documentation("extensibility"):
            "Nothing is assumed about the contents of `_meta`."
            "Agents that use `_meta` cannot be used."
            "Ignore unknown contents.";
    V1_EXT_07 => Client Unspecified Silent("extensibility"):
        "An update of an unknown kind is ignored."
        "The update is not shown, or the connection breaks in the middle of a turn."
        "Ignore unknown kinds.";
    V1_ERR_01 => Agent Must Documentation("overview#error-handling"):
        "Error codes keep their meaning."
        "Clients choose what to do by the code: log in, load again, give up."
        "Use the codes of JSON-RPC, -32000 for a missing login, -32002 for what is not found, -32800 for what was cancelled.";
    V1_ERR_02 => Agent Should Schema.recorded():
        "The message of an error is one short sentence."
        "Clients show it to the user unchanged."
        "Put stacks, dumps and other details into `data`.";
    V1_ERR_03 => Client Must Schema:
        "Unknown error codes are shown like others."
        "One agent error crashes the client."
        "Handle unknown codes in one generic way.";
}
