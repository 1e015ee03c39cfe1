//! `initialize` and logging in.

use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::client("V1-INIT-01", "No session is asked for before `initialize` is answered.")
        .matters("Before the answer nobody knows which version is spoken.")
        .fix("Wait for the answer to `initialize`."),
    Rule::client("V1-INIT-02", "`protocolVersion` is a whole number from 0 to 65535.")
        .matters("A version that is no number cannot be negotiated.")
        .fix("Send the newest version that is spoken, as a number."),
    Rule::client("V1-INIT-04", "The client says its name and version in `clientInfo`.").should()
        .matters("Agents adapt to, and report, who is using them.")
        .fix("Send `clientInfo` with `name` and `version`."),
    Rule::agent("V1-INIT-05", "The answer to `initialize` names the version and the capabilities.")
        .matters("Without version and capabilities the client has to guess.")
        .fix("Answer with `protocolVersion` and `agentCapabilities`."),
    Rule::agent("V1-INIT-06", "The agent says its name and version in `agentInfo`.").should()
        .matters("Users want to know which agent, and which version of it, they talk to.")
        .fix("Send `agentInfo` with `name` and `version`."),
    Rule::client("V1-INIT-09", "A client that cannot speak the answered version does not go on.").should()
        .matters("A client that goes on with rules it does not know misreads everything.")
        .fix("Compare the answered version with those that are spoken, and close the connection if it is none of them."),
    Rule::agent("V1-INIT-10", "Only methods and updates of the agreed version are used.")
        .matters("Messages of another version are lost or break the connection.")
        .fix("Choose messages by the version that was agreed on."),
    Rule::client("V1-INIT-10", "Only methods and updates of the agreed version are used.")
        .matters("Messages of another version are lost or break the connection.")
        .fix("Choose messages by the version that was agreed on."),
    Rule::agent("V1-INIT-19", "Requests before `initialize` are refused.").should()
        .matters("What is served before the handshake follows no agreed version.")
        .fix("Answer -32600 until `initialize` was served."),
    Rule::agent("V1-AUTH-01", "Each login method has an id of its own and a name.")
        .matters("Two methods with one id cannot be told apart.")
        .fix("Give each entry of `authMethods` its own `id` and a `name`."),
    Rule::client("V1-AUTH-02", "A login names a method that was offered.")
        .matters("A login that was not offered cannot succeed.")
        .fix("Send `authenticate` only with an id from `authMethods`."),
    Rule::client("V1-AUTH-07", "A terminal login is not sent to the agent.")
        .matters("A terminal login happens in a terminal, not in a request.")
        .fix("Run the command of a terminal method in place of `authenticate`."),
    Rule::agent("V1-AUTH-08", "Terminal logins are offered only to clients that have terminals for it.")
        .matters("A user cannot log in through a terminal that the client does not have.")
        .fix("Leave terminal methods out unless `clientCapabilities.auth.terminal` is true."),
    Rule::client("V1-AUTH-12", "`logout` is sent only to agents that offer it.")
        .matters("A logout that is not supported leaves the user logged in.")
        .fix("Look for `agentCapabilities.auth.logout` first."),
    Rule::client("V2-INIT-01", "`initialize` comes first, with a version and capabilities.")
        .matters("Without it nothing optional may be used, and nobody knows which version is spoken.")
        .fix("Send `initialize` with `protocolVersion`, `info` and `capabilities`, and wait for its answer."),
    Rule::agent("V2-INIT-02", "The answer to `initialize` has `info` and `capabilities`.")
        .matters("The client has to know whom it talks to and what it can do.")
        .fix("Answer with `protocolVersion`, `info` and `capabilities`."),
    Rule::agent("V2-INIT-03", "`info` has a name and a version.")
        .matters("Both sides show, and adapt to, who is at the other end.")
        .fix("Send `info` with `name` and `version`."),
    Rule::client("V2-INIT-03", "`info` has a name and a version.")
        .matters("Both sides show, and adapt to, who is at the other end.")
        .fix("Send `info` with `name` and `version`."),
    Rule::agent("V2-INIT-04", "The version that is chosen is not above the one that was asked for.")
        .matters("A version above the newest of the client cannot be spoken.")
        .fix("Choose among the versions up to the one that was asked for."),
    Rule::client("V2-INIT-06", "A client that cannot speak the answered version does not go on.").should()
        .matters("A client that goes on with rules it does not know misreads everything.")
        .fix("Compare the answered version with those that are spoken, and disconnect if it is none of them."),
    Rule::agent("V2-INIT-07", "Only methods and updates of the agreed version are used.")
        .matters("Messages of another version are lost or break the connection.")
        .fix("Choose messages by the version that was agreed on."),
    Rule::client("V2-INIT-07", "Only methods and updates of the agreed version are used.")
        .matters("Messages of another version are lost or break the connection.")
        .fix("Choose messages by the version that was agreed on."),
    Rule::agent("V2-INIT-09", "Capabilities are objects, or left out.")
        .matters("A boolean in place of a marker counts as unsupported.")
        .fix("Write `{}` for what is supported."),
    Rule::client("V2-INIT-09", "Capabilities are objects, or left out.")
        .matters("A boolean in place of a marker counts as unsupported.")
        .fix("Write `{}` for what is supported."),
    Rule::client("V2-INIT-11", "Session methods are used only if the agent offers sessions.")
        .matters("An agent without sessions serves none of their methods.")
        .fix("Look for `capabilities.session` first."),
    Rule::agent("V2-INIT-16", "`initialize` is refused on a connection that is in use.")
        .should()
        .matters("Rules that change in the middle leave both sides with different ones.")
        .fix("Answer -32600 to `initialize` after any other request."),
    Rule::agent("V2-INIT-17", "Requests before `initialize` are refused.")
        .should()
        .matters("What is served before the handshake follows no agreed version.")
        .fix("Answer -32600 until `initialize` was served."),
    Rule::client("V2-AUTH-02", "Logging in and out is asked only of agents that offer login methods.")
        .matters("Without login methods there is nothing to log in to.")
        .fix("Look for entries in `authMethods` first."),
    Rule::agent("V2-AUTH-03", "Each login method has an id, a type and a name.")
        .matters("A method without id, type or name cannot be offered.")
        .fix("Give each entry of `authMethods` its `methodId`, `type` and `name`."),
    Rule::client("V2-AUTH-06", "A terminal login is not sent to the agent.")
        .matters("A terminal login happens in a terminal, not in a request.")
        .fix("Run the command of a terminal method in place of `auth/login`."),
    Rule::agent("V2-AUTH-07", "Terminal logins are offered only to clients that have terminals for it.")
        .matters("A user cannot log in through a terminal that the client does not have.")
        .fix("Leave terminal methods out unless the client gave `capabilities.auth.terminal`."),
];
