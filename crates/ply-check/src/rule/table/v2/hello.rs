//! The handshake and logging in.

rules! {
    V2_INIT_01 => Client Must Documentation("initialization").recorded():
        "`initialize` comes first, with an integer version and capabilities."
        "Agents refuse the connection."
        "Send it first and wait for its answer.";
    V2_INIT_02 => Agent Must Documentation("initialization").recorded():
        "The answer to `initialize` has `protocolVersion`, `info` and `capabilities`."
        "Without it a client cannot know what it may ask for, or whom."
        "Send all three members.";
    V2_INIT_03 =>
        Agent Must Documentation("initialization").recorded():
            "`info` has a name and a version, and a client without it is refused."
            "Reports of users do not say which programs they are about."
            "Send `name` and `version`, and answer -32602 to a greeting without `info`.",
        Client Must Documentation("initialization").recorded():
            "The client says its name and version."
            "Agents refuse the connection."
            "Send `info` with `name` and `version`.";
    V2_INIT_04 => Agent Must Crate.recorded():
        "The agent chooses the highest version it has that is not above the asked one."
        "Newer clients fail to connect, or believe that the agent is newer than it is."
        "Compare the asked version with your own list, and take the highest at or below it.";
    V2_INIT_05 => Agent Must Crate:
        "An agent with no version at or below the asked one says so with -32022 and what it supports."
        "The client cannot tell the user which side is too old."
        "Answer -32022 with `requested` and `supported` in `data`.";
    V2_INIT_06 => Client Should Documentation("initialization").recorded():
        "A client that does not speak the version answered closes the connection."
        "Messages of two versions are mixed, and fail in ways that nobody understands."
        "Compare the answer's `protocolVersion` with what you speak, and tell the user.";
    V2_INIT_07 =>
        Agent Must Documentation("initialization").recorded():
            "Methods of version 1 are not there on a connection of version 2."
            "Two versions on one connection cannot be told apart in what they mean."
            "Answer -32601 for methods of the other version.",
        Client Must Documentation("initialization").recorded():
            "Only methods of version 2 are used."
            "The agent answers that it does not know them."
            "Choose the words after the answer to `initialize`.";
    V2_INIT_08 => Agent Should Documentation("initialization"):
        "Version 1 is still spoken beside version 2."
        "Most clients speak version 1 only."
        "Keep version 1 and choose by the greeting.";
    V2_INIT_09 =>
        Agent Must Documentation("initialization").recorded():
            "Capabilities are objects; there are no booleans."
            "Typed clients read `true` as no, so the feature is missing for no visible reason."
            "Send `{}` for yes, and leave the member out for no.",
        Client Must Documentation("initialization").recorded():
            "Capabilities are objects, or left out."
            "A boolean in place of a marker counts as unsupported."
            "Write `{}` for what is supported.";
    V2_INIT_10 => Agent Must Documentation("initialization").gate("session"):
        "`capabilities.session` means that sessions can be made, listed, resumed, closed, prompted and cancelled."
        "Clients rely on all of them once the capability is there."
        "Implement all of them, or leave the capability out.";
    V2_INIT_11 => Client Must Documentation("initialization").recorded():
        "Without `capabilities.session` no session is used."
        "Agents that do not offer it answer with an error, and the user sees a failure that need not be."
        "Look at what the agent answered to `initialize` before calling it.";
    V2_INIT_12 => Agent Must Documentation("initialization").gate("session"):
        "Prompts of text and of links are taken."
        "Clients send these two without asking."
        "Accept `text` and `resource_link` blocks in every prompt.";
    V2_INIT_14 =>
        Agent Must Documentation("initialization").recorded():
            "Client capabilities for files and terminals do not exist; such members change nothing."
            "The agent would ask for what no client of version 2 has."
            "Ignore `fs` and `terminal` in the client's capabilities.",
        Client Must Documentation("initialization"):
            "There are no files and terminals of the client in version 2."
            "Agents read or change files that the user did not give."
            "Answer -32601.";
    V2_INIT_16 => Agent Should Sdk.recorded():
        "A second `initialize` after other requests is refused with -32600 and changes nothing."
        "Sessions would go on under rules that their client did not agree on."
        "Answer -32600 once any other request was taken.";
    V2_INIT_17 => Agent Should Sdk.recorded():
        "Before `initialize`, requests get -32600 and notifications are ignored."
        "They would be served by rules that nobody has agreed on."
        "Answer everything else with -32600 until the greeting.";
    V2_INIT_18 => Agent Should Sdk:
        "From a client of a newer version the agent takes what it can read."
        "Newer clients cannot fall back to what both know."
        "Drop `info`, capabilities and `_meta` that cannot be read if the asked version is above yours.";
    V2_INIT_20 =>
        Agent Should Schema:
            "A capability of the client with a strange value counts as not there."
            "One odd member keeps the user from connecting."
            "Read each capability on its own, and take what cannot be read for no.",
        Client Should Schema:
            "Capabilities of the wrong type count as absent."
            "One odd member loses the whole connection."
            "Fall back to absent.";
    V2_INIT_21 =>
        Agent Should Documentation("initialization"):
            "The agent works with any set of client capabilities."
            "It runs in the editor it was tried with, and in no other."
            "Take every capability on its own, and have a way without it.",
        Client Should Documentation("initialization"):
            "An agent that offers nothing optional can be used."
            "Simple agents cannot be used at all."
            "Take every capability as optional.";
    V2_AUTH_01 => Agent Must Documentation("authentication").gate("authMethods"):
        "Whoever has `authMethods` has `auth/login` and `auth/logout`."
        "The client shows a login that cannot be done."
        "Implement both methods, or offer none.";
    V2_AUTH_02 => Client Must Documentation("authentication").recorded():
        "Without ways to log in, neither login nor logout is called."
        "The call fails."
        "Look at `authMethods` first.";
    V2_AUTH_03 => Agent Must Documentation("authentication").recorded():
        "Every way to log in has `methodId`, `type` and `name`."
        "The client cannot show it, or cannot tell how it is done."
        "Fill the three members of each entry of `authMethods`.";
    V2_AUTH_04 => Agent Must Documentation("authentication"):
        "Types of login of one's own begin with an underscore."
        "A later version of the protocol may give the name another meaning."
        "Put `_` before the name of the type.";
    V2_AUTH_05 => Client Should Documentation("authentication").recorded():
        "A way to log in of an unknown type is not used like a known one."
        "The login fails."
        "Show it plainly or not at all.";
    V2_AUTH_06 => Client Must Documentation("authentication").recorded():
        "A way to log in of type `terminal` is never passed to `auth/login`."
        "The login fails."
        "Run such a login in a terminal.";
    V2_AUTH_07 => Agent Must Documentation("authentication").recorded():
        "Logins in a terminal are offered only to clients that can do them."
        "The user chooses a login that the client cannot run."
        "Leave methods of type `terminal` out unless the client has `auth.terminal`.";
    V2_AUTH_08 => Agent Must Documentation("authentication"):
        "The `env` of a login in a terminal is an array in which no name is there twice."
        "The login runs without the variables that it needs."
        "Send an array of `name` and `value`, each name once.";
    V2_AUTH_10 => Agent Must Documentation("authentication").gate("authMethods"):
        "After logging out, sessions need a login again."
        "The user believes to be logged out and is not."
        "Drop the credentials before answering `auth/logout`.";
}
