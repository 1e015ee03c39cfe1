//! The handshake and logging in.

rules! {
    V1_INIT_01 => Client Must Documentation("initialization").recorded():
        "`initialize` is answered before any session is made."
        "Agents refuse sessions of clients that they do not know."
        "Wait for the answer before the next request.";
    V1_INIT_02 => Client Must Documentation("initialization").recorded():
        "`protocolVersion` is an integer."
        "Agents refuse the connection."
        "Send the newest version that you speak as a number.";
    V1_INIT_03 => Client Must Documentation("initialization").recorded():
        "Capabilities are an object."
        "Agents take none as offered."
        "Send `clientCapabilities` as an object.";
    V1_INIT_04 => Client Should Documentation("initialization").recorded():
        "The client says its name and version."
        "Agents cannot work around bugs of a client that they cannot name."
        "Send `clientInfo` with `name` and `version`.";
    V1_INIT_05 => Agent Must Documentation("initialization").recorded()
        .note("The documentation asks for the capabilities, and the schema has them optional: leaving them out breaks nothing."):
        "The answer to `initialize` names the chosen version and what the agent can do."
        "Without it a client cannot know what it may ask for."
        "Answer with `protocolVersion` as a whole number and `agentCapabilities` as an object.";
    V1_INIT_06 => Agent Should Documentation("initialization").recorded():
        "The agent says its name and version in `agentInfo`."
        "Reports of users do not say which agent they are about."
        "Send `agentInfo` with `name` and `version`.";
    V1_INIT_07 => Agent Must Documentation("initialization"):
        "An agent that knows the asked version answers with it."
        "Two programs that could talk do not."
        "Answer with the version of the request if it is supported.";
    V1_INIT_08 => Agent Must Documentation("initialization"):
        "An agent that does not know the asked version answers with the newest that it knows."
        "Newer clients fail to connect, or believe that the agent is newer than it is."
        "Never repeat an unknown version and never refuse it: answer with your newest.";
    V1_INIT_09 => Client Should Documentation("initialization").recorded():
        "A client that does not speak the version answered closes the connection."
        "Messages of two versions are mixed, and fail in ways that nobody understands."
        "Compare the answer's `protocolVersion` with what you speak, and tell the user.";
    V1_INIT_10 =>
        Agent Must Documentation("initialization").recorded():
            "After the handshake only the agreed version is spoken."
            "What belongs to another version is not understood and is lost."
            "Choose the methods and updates by the version of the connection.",
        Client Must Documentation("initialization").recorded():
            "Only methods of the version agreed on are used."
            "The agent answers that it does not know them."
            "Choose the words after the answer to `initialize`.";
    V1_INIT_11 =>
        Agent Must Documentation("initialization").recorded():
            "What a client does not offer is not asked of it."
            "A turn stops at a request that the client cannot answer."
            "Ask for files, terminals and forms only if the client's capabilities name them.",
        Client Must Documentation("initialization").recorded():
            "What the agent left out is not used."
            "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
            "Look at what the agent answered to `initialize` before calling it.";
    V1_INIT_12 =>
        Agent Should Documentation("initialization"):
            "The agent works with any set of client capabilities."
            "It runs in the editor it was tried with, and in no other."
            "Take every capability on its own, and have a way without it.",
        Client Should Documentation("initialization"):
            "An agent that offers nothing optional can be used."
            "Simple agents cannot be used at all."
            "Take every capability as optional.";
    V1_INIT_13 =>
        Agent Must Documentation("initialization"):
            "Capabilities that are yes or no are booleans."
            "Typed clients read another type as no, or fail to connect."
            "Send `true` or `false`, or leave the member out.",
        Client Must Documentation("initialization").recorded():
            "A capability that is false counts as absent."
            "Agents that do not offer it answer with an error."
            "Take false and absent for the same.";
    V1_INIT_14 =>
        Agent Must Documentation("initialization"):
            "Capabilities that are objects mean yes when present, and are never booleans."
            "Typed clients read `true` as no, so the feature is missing for no visible reason."
            "Send `{}` for yes, and leave the member out for no.",
        Client Must Documentation("initialization").recorded():
            "A marker that is null counts as absent."
            "Agents that do not offer it answer with an error."
            "Take null and absent for the same.";
    V1_INIT_15 => Agent Must Documentation("initialization"):
        "Every agent has `session/new`, `session/prompt`, `session/cancel` and sends `session/update`."
        "Without one of them nothing can be done with the agent."
        "Implement these four.";
    V1_INIT_16 => Agent Should Documentation("initialization"):
        "What is offered works, and what is not offered is answered with -32601."
        "Clients show buttons that do nothing, or hide what would work."
        "Derive the capabilities from the methods that are there.";
    V1_INIT_17 => Client Should Documentation("initialization"):
        "What the client offers works."
        "Agents rely on what is offered, and fail."
        "Offer only what is implemented.";
    V1_INIT_18 => Agent Should Schema:
        "A capability of the client with a strange value counts as not there."
        "One odd member keeps the user from connecting."
        "Read each capability on its own, and take what cannot be read for no.";
    V1_INIT_19 => Agent Should Sdk.recorded():
        "Requests before `initialize` are refused."
        "They would be served by rules that nobody has agreed on."
        "Answer them with -32600, and take `initialize` afterwards.";
    V1_INIT_20 => Agent May Sdk:
        "A second `initialize` is answered, and the connection goes on."
        "A client that greets again after a change is left hanging."
        "Take the latest capabilities, or refuse with an error.";
    V1_INIT_21 => Agent Should Sdk:
        "A greeting in the words of a newer version is answered with the agent's own version."
        "Newer clients cannot fall back to what both know."
        "Read no more than `protocolVersion` from a greeting of a version that you do not know.";
    V1_INIT_23 =>
        Agent Should Documentation("initialization"):
            "Capabilities that are not known are ignored."
            "Clients with new features are shut out."
            "Ignore unknown members of capabilities.",
        Client Should Documentation("initialization"):
            "Capabilities that are not known are ignored."
            "A newer agent cannot be used."
            "Read with a parser that ignores unknown members.";
    V1_AUTH_01 => Agent Must Documentation("authentication").recorded():
        "Every way to log in has an id of its own and a name."
        "The user cannot choose, or chooses one and gets another."
        "Give each entry of `authMethods` a unique `id` and a `name`.";
    V1_AUTH_02 =>
        Agent Unspecified Silent("authentication"):
            "A way to log in that was not offered is refused."
            "The client believes that the user is logged in."
            "Answer `authenticate` with -32602 if the id is not one of `authMethods`.",
        Client Must Documentation("authentication").recorded():
            "Only ways to log in that the agent offers are used."
            "The login fails."
            "Choose from `authMethods`, and do not log in where it is empty.";
    V1_AUTH_03 => Agent Must Documentation("authentication").gate("authMethods"):
        "A successful login returns an empty object."
        "Typed clients report a login that worked as failed."
        "Answer `{}`.";
    V1_AUTH_04 => Agent Must Documentation("authentication").gate("authMethods"):
        "After a login, sessions are not refused for want of one."
        "The user logs in again and again."
        "Look at the new credentials in the running process.";
    V1_AUTH_05 => Client Must Documentation("authentication"):
        "A session that needs a login is made after one."
        "The user cannot log in from the client."
        "Offer the ways of `authMethods` when the answer is -32000, then try again.";
    V1_AUTH_06 => Client Must Documentation("authentication").recorded()
        .hidden("A client may leave out any way to log in, so that it does not use one shows nothing."):
        "A way to log in without a type is used over the protocol."
        "The user cannot log in from the client."
        "Take a missing `type` as `agent`.";
    V1_AUTH_07 => Client Must Documentation("authentication").recorded():
        "A way to log in of type `terminal` is never passed to `authenticate`."
        "The login fails."
        "Run such a login in a terminal.";
    V1_AUTH_08 => Agent Must Documentation("authentication").recorded():
        "Logins in a terminal are offered only to clients that can do them."
        "The user chooses a login that the client cannot run."
        "Leave methods of type `terminal` out unless the client has `auth.terminal`.";
    V1_AUTH_12 => Client Must Documentation("authentication").recorded():
        "`logout` is called only if it is offered."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V1_AUTH_13 => Agent Must Documentation("authentication").gate("auth.logout"):
        "Logging out returns an empty object, and sessions need a login again."
        "The user believes to be logged out and is not."
        "Drop the credentials before answering `{}`.";
    V1_AUTH_15 => Agent Must Schema:
        "The `env` of a login in a terminal is an object of names and values."
        "The login runs without the variables that it needs."
        "Send an object here; version 2 has an array.";
}
