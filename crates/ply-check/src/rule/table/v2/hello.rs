//! The handshake and logging in.

rules! {
    V2_INIT_01 => Client Must Documentation("initialization").recorded():
        "`initialize` comes first, with an integer version and capabilities."
        "Agents refuse the connection."
        "Send it first and wait for the response.";
    V2_INIT_02 => Agent Must Documentation("initialization").recorded():
        "The `initialize` response has `protocolVersion`, `info` and `capabilities`."
        "Without it, the client knows neither the agent nor what it supports."
        "Send all three members.";
    V2_INIT_03 =>
        Agent Must Documentation("initialization").recorded():
            "`info` has a name and a version, and a client without it is refused."
            "Bug reports cannot name the programs."
            "Send `name` and `version`, and return -32602 for `initialize` without `info`.",
        Client Must Documentation("initialization").recorded():
            "The client sends its name and version."
            "Agents refuse the connection."
            "Send `info` with `name` and `version`.";
    V2_INIT_04 => Agent Must Crate.recorded():
        "The agent chooses its highest version that is not above the requested one."
        "Newer clients fail to connect, or assume a newer agent."
        "Choose your highest version at or below the requested one.";
    V2_INIT_05 => Agent Must Crate:
        "An agent without a version at or below the requested one returns -32022 with its supported versions."
        "The client cannot tell the user which side is too old."
        "Return -32022 with `requested` and `supported` in `data`.";
    V2_INIT_06 => Client Should Documentation("initialization").recorded():
        "A client that does not support the version in the response closes the connection."
        "The two sides speak different versions, and later messages fail for no visible reason."
        "Compare `protocolVersion` in the response with what you support, and tell the user.";
    V2_INIT_07 =>
        Agent Must Documentation("initialization").recorded():
            "Version 1 methods do not exist on a version 2 connection."
            "Messages of two versions on one connection are ambiguous."
            "Return -32601 for methods of the other version.",
        Client Must Documentation("initialization").recorded():
            "Only methods of version 2 are used."
            "The agent returns a \"method not found\" error."
            "Choose methods after the `initialize` response.";
    V2_INIT_08 => Agent Should Documentation("initialization"):
        "The agent supports version 1 as well as version 2."
        "Most clients support only version 1."
        "Keep version 1, and choose by the `initialize` request.";
    V2_INIT_09 =>
        Agent Must Documentation("initialization").recorded():
            "Capabilities are objects; there are no booleans."
            "Typed clients ignore `true`, so the feature is missing for no visible reason."
            "Send `{}` for yes, and leave the member out for no.",
        Client Must Documentation("initialization").recorded():
            "Capabilities are objects, or left out."
            "A boolean counts as unsupported."
            "Write `{}` for what is supported.";
    V2_INIT_10 => Agent Must Documentation("initialization").gate("session"):
        "`capabilities.session` means that sessions can be created, listed, resumed, closed, prompted and cancelled."
        "Clients rely on all of them once the capability is there."
        "Implement all of them, or leave the capability out.";
    V2_INIT_11 => Client Must Documentation("initialization").recorded():
        "Without `capabilities.session`, the client uses no sessions."
        "Agents without the capability return an error, and the user sees an avoidable failure."
        "Check the agent's capabilities in the `initialize` response first.";
    V2_INIT_12 => Agent Must Documentation("initialization").gate("session"):
        "Prompts with text and resource links are accepted."
        "Clients send these two without asking."
        "Accept `text` and `resource_link` blocks in every prompt.";
    V2_INIT_14 =>
        Agent Must Documentation("initialization").recorded():
            "Client capabilities for files and terminals do not exist and are ignored."
            "No version 2 client has these methods."
            "Ignore `fs` and `terminal` in the client's capabilities.",
        Client Must Documentation("initialization"):
            "Version 2 clients have no file and terminal methods."
            "Agents read or change files without the user's consent."
            "Return -32601.";
    V2_INIT_16 => Agent Should Sdk.recorded():
        "A second `initialize` after other requests is refused with -32600 and changes nothing."
        "Sessions would continue under a version that was not negotiated for them."
        "Return -32600 once another request was accepted.";
    V2_INIT_17 => Agent Should Sdk.recorded():
        "Before `initialize`, requests get -32600 and notifications are ignored."
        "No version has been negotiated yet."
        "Return -32600 for every other request until `initialize`.";
    V2_INIT_18 => Agent Should Sdk:
        "The agent ignores unreadable members of a newer client."
        "Newer clients cannot fall back to a common version."
        "Ignore invalid `info`, capabilities and `_meta` if the requested version is above yours.";
    V2_INIT_20 =>
        Agent Should Schema:
            "A client capability with an invalid value counts as absent."
            "One invalid member prevents the connection."
            "Parse each capability separately, and treat invalid ones as absent.",
        Client Should Schema:
            "Capabilities of the wrong type count as absent."
            "One invalid member breaks the connection."
            "Fall back to absent.";
    V2_INIT_21 =>
        Agent Should Documentation("initialization"):
            "The agent works with any set of client capabilities."
            "The agent works only in the editor it was tested with."
            "Check each capability separately, and work without it.",
        Client Should Documentation("initialization"):
            "The client works with an agent that offers no optional capability."
            "Simple agents cannot be used at all."
            "Treat every capability as optional.";
    V2_AUTH_01 => Agent Must Documentation("authentication").gate("authMethods"):
        "An agent with `authMethods` implements `auth/login` and `auth/logout`."
        "The client shows a login that does not work."
        "Implement both methods, or offer none.";
    V2_AUTH_02 => Client Must Documentation("authentication").recorded():
        "Without authentication methods, the client calls neither login nor logout."
        "The call fails."
        "Check `authMethods` first.";
    V2_AUTH_03 => Agent Must Documentation("authentication").recorded():
        "Every authentication method has `methodId`, `type` and `name`."
        "The client cannot show the method, or cannot tell how it works."
        "Send all three members in each entry of `authMethods`.";
    V2_AUTH_04 => Agent Must Documentation("authentication"):
        "Custom authentication types begin with an underscore."
        "A later version of the protocol may give the name another meaning."
        "Put `_` before the name of the type.";
    V2_AUTH_05 => Client Should Documentation("authentication").recorded():
        "An authentication method of an unknown type is not used like a known one."
        "The login fails."
        "Show it generically or not at all.";
    V2_AUTH_06 => Client Must Documentation("authentication").recorded():
        "An authentication method of type `terminal` is never passed to `auth/login`."
        "The login fails."
        "Run it in a terminal.";
    V2_AUTH_07 => Agent Must Documentation("authentication").recorded():
        "Terminal logins are offered only to clients that support them."
        "The user chooses a login that the client cannot run."
        "Leave methods of type `terminal` out unless the client has `auth.terminal`.";
    V2_AUTH_08 => Agent Must Documentation("authentication"):
        "The `env` of a terminal login is an array with unique names."
        "The login runs without the variables that it needs."
        "Send an array of `name` and `value`, with unique names.";
    V2_AUTH_10 => Agent Must Documentation("authentication").gate("authMethods"):
        "After a logout, sessions need a login again."
        "The user is still logged in."
        "Drop the credentials before the `auth/logout` response.";
}
