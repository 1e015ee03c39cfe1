//! The handshake and logging in.

rules! {
    V1_INIT_01 => Client Must Documentation("initialization").recorded():
        "`initialize` completes before any session is created."
        "Agents refuse sessions before the handshake."
        "Wait for the response before you send the next request.";
    V1_INIT_02 => Client Must Documentation("initialization").recorded():
        "`protocolVersion` is an integer."
        "Agents refuse the connection."
        "Send the newest version that you speak as a number.";
    V1_INIT_03 => Client Must Documentation("initialization").recorded():
        "Capabilities are an object."
        "Agents assume that the client supports nothing."
        "Send `clientCapabilities` as an object.";
    V1_INIT_04 => Client Should Documentation("initialization").recorded():
        "The client sends its name and version."
        "Agents cannot work around bugs of a client that they cannot name."
        "Send `clientInfo` with `name` and `version`.";
    V1_INIT_05 => Agent Must Documentation("initialization").recorded()
        .note("The documentation asks for the capabilities, and the schema has them optional: leaving them out breaks nothing."):
        "The `initialize` response has the chosen version and the agent's capabilities."
        "Without it, the client cannot know what the agent supports."
        "Send `protocolVersion` as an integer and `agentCapabilities` as an object.";
    V1_INIT_06 => Agent Should Documentation("initialization").recorded():
        "The agent sends its name and version in `agentInfo`."
        "Bug reports cannot name the agent."
        "Send `agentInfo` with `name` and `version`.";
    V1_INIT_07 => Agent Must Documentation("initialization"):
        "An agent that supports the requested version responds with it."
        "Two compatible programs fail to connect."
        "Return the requested version if it is supported.";
    V1_INIT_08 => Agent Must Documentation("initialization"):
        "An agent that does not support the requested version responds with the newest it supports."
        "Newer clients fail to connect, or assume a newer agent."
        "Do not repeat or refuse an unknown version; respond with your newest.";
    V1_INIT_09 => Client Should Documentation("initialization").recorded():
        "A client that does not support the version in the response closes the connection."
        "The two sides speak different versions, and later messages fail for no visible reason."
        "Compare `protocolVersion` in the response with what you support, and tell the user.";
    V1_INIT_10 =>
        Agent Must Documentation("initialization").recorded():
            "After the handshake, only the negotiated version is used."
            "Messages of another version are not understood and get lost."
            "Choose methods and updates by the negotiated version.",
        Client Must Documentation("initialization").recorded():
            "Only methods of the negotiated version are used."
            "The agent returns a \"method not found\" error."
            "Choose methods after the `initialize` response.";
    V1_INIT_11 =>
        Agent Must Documentation("initialization").recorded():
            "The agent does not use features that the client does not offer."
            "The turn fails at a request that the client cannot handle."
            "Use files, terminals and forms only if the client's capabilities include them.",
        Client Must Documentation("initialization").recorded():
            "The client does not use features that the agent does not offer."
            "Agents without the capability return an error, and the user sees an avoidable failure."
            "Check the agent's capabilities in the `initialize` response first.";
    V1_INIT_12 =>
        Agent Should Documentation("initialization"):
            "The agent works with any set of client capabilities."
            "The agent works only in the editor it was tested with."
            "Check each capability separately, and work without it.",
        Client Should Documentation("initialization"):
            "The client works with an agent that offers no optional capability."
            "Simple agents cannot be used at all."
            "Treat every capability as optional.";
    V1_INIT_13 =>
        Agent Must Documentation("initialization"):
            "Capabilities that are yes or no are booleans."
            "Typed clients treat another type as false, or fail to connect."
            "Send `true` or `false`, or leave the member out.",
        Client Must Documentation("initialization").recorded():
            "A capability that is false counts as absent."
            "Agents without the capability return an error."
            "Treat false like absent.";
    V1_INIT_14 =>
        Agent Must Documentation("initialization"):
            "Capabilities that are objects mean yes when present, and are never booleans."
            "Typed clients ignore `true`, so the feature is missing for no visible reason."
            "Send `{}` for yes, and leave the member out for no.",
        Client Must Documentation("initialization").recorded():
            "A marker that is null counts as absent."
            "Agents without the capability return an error."
            "Treat null like absent.";
    V1_INIT_15 => Agent Must Documentation("initialization"):
        "Every agent handles `session/new`, `session/prompt` and `session/cancel`, and sends `session/update`."
        "Without them, the agent cannot be used."
        "Implement these four.";
    V1_INIT_16 => Agent Should Documentation("initialization"):
        "Advertised features work; requests for others get error -32601."
        "Clients show buttons that do nothing, or hide features that work."
        "Derive the capabilities from the implemented methods.";
    V1_INIT_17 => Client Should Documentation("initialization"):
        "Features that the client advertises work."
        "Agents rely on them and fail."
        "Offer only what is implemented.";
    V1_INIT_18 => Agent Should Schema:
        "A client capability with an invalid value counts as absent."
        "One invalid member prevents the connection."
        "Parse each capability separately, and treat invalid ones as absent.";
    V1_INIT_19 => Agent Should Sdk.recorded():
        "Requests before `initialize` are refused."
        "No version has been negotiated yet."
        "Return -32600, and still accept `initialize` afterwards.";
    V1_INIT_20 => Agent May Sdk:
        "A second `initialize` gets a response, and the connection stays open."
        "A client that sends `initialize` again waits forever."
        "Use the latest capabilities, or return an error.";
    V1_INIT_21 => Agent Should Sdk:
        "An `initialize` request of a newer version gets a response with the agent's version."
        "Newer clients cannot fall back to a common version."
        "Read only `protocolVersion` from requests of an unknown version.";
    V1_INIT_23 =>
        Agent Should Documentation("initialization"):
            "Unknown capabilities are ignored."
            "Clients with new features cannot connect."
            "Ignore unknown members of capabilities.",
        Client Should Documentation("initialization"):
            "Unknown capabilities are ignored."
            "A newer agent cannot be used."
            "Read with a parser that ignores unknown members.";
    V1_AUTH_01 => Agent Must Documentation("authentication").recorded():
        "Every authentication method has a unique id and a name."
        "The user cannot choose a method, or gets another one than chosen."
        "Give each entry of `authMethods` a unique `id` and a `name`.";
    V1_AUTH_02 =>
        Agent Unspecified Silent("authentication"):
            "An authentication method that was not offered is refused."
            "The client assumes that the user is logged in."
            "Return -32602 if the id is not one of `authMethods`.",
        Client Must Documentation("authentication").recorded():
            "The client uses only authentication methods that the agent offers."
            "The login fails."
            "Choose from `authMethods`, and do not log in if it is empty.";
    V1_AUTH_03 => Agent Must Documentation("authentication").gate("authMethods"):
        "A successful login returns an empty object."
        "Typed clients report a login that worked as failed."
        "Return `{}`.";
    V1_AUTH_04 => Agent Must Documentation("authentication").gate("authMethods"):
        "After a login, sessions are no longer refused for lack of authentication."
        "The user has to log in again and again."
        "Use the new credentials without a restart.";
    V1_AUTH_05 => Client Must Documentation("authentication"):
        "After a login, the client creates the session that needed it."
        "The user cannot log in from the client."
        "Offer `authMethods` on error -32000, then try again.";
    V1_AUTH_06 => Client Must Documentation("authentication").recorded()
        .hidden("A client may leave out any way to log in, so that it does not use one shows nothing."):
        "An authentication method without a type is used through the protocol."
        "The user cannot log in from the client."
        "Treat a missing `type` as `agent`.";
    V1_AUTH_07 => Client Must Documentation("authentication").recorded():
        "An authentication method of type `terminal` is never passed to `authenticate`."
        "The login fails."
        "Run it in a terminal.";
    V1_AUTH_08 => Agent Must Documentation("authentication").recorded():
        "Terminal logins are offered only to clients that support them."
        "The user chooses a login that the client cannot run."
        "Leave methods of type `terminal` out unless the client has `auth.terminal`.";
    V1_AUTH_12 => Client Must Documentation("authentication").recorded():
        "`logout` is called only if it is offered."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V1_AUTH_13 => Agent Must Documentation("authentication").gate("auth.logout"):
        "Logging out returns an empty object; sessions then need a login again."
        "The user is still logged in."
        "Drop the credentials before returning `{}`.";
    V1_AUTH_15 => Agent Must Schema:
        "The `env` of a terminal login is an object of names and values."
        "The login runs without the variables that it needs."
        "Send an object here; version 2 has an array.";
}
