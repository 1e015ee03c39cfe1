//! The handshake: versions, and what is offered.

mod hello;
mod offers;
mod order;
mod versions;

use super::bench::Bench;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-INIT-05", "The answer to `initialize` names the chosen version and what the agent can do.")
            .note("The documentation asks for the capabilities, and the schema has them optional: leaving them out breaks nothing.")
            .matters("Without it a client cannot know what it may ask for.")
            .fix("Answer with `protocolVersion` as a whole number and `agentCapabilities` as an object."),
        Rule::agent("V1-INIT-06", "The agent says its name and version in `agentInfo`.")
            .should()
            .matters("Reports of users do not say which agent they are about.")
            .fix("Send `agentInfo` with `name` and `version`."),
        Rule::agent("V1-INIT-07", "An agent that knows the asked version answers with it.")
            .matters("Two programs that could talk do not.")
            .fix("Answer with the version of the request if it is supported."),
        Rule::agent("V1-INIT-08", "An agent that does not know the asked version answers with the newest that it knows.")
            .matters("Newer clients fail to connect, or believe that the agent is newer than it is.")
            .fix("Never repeat an unknown version and never refuse it: answer with your newest."),
        Rule::agent("V1-INIT-10", "After the handshake only the agreed version is spoken.")
            .matters("What belongs to another version is not understood and is lost.")
            .fix("Choose the methods and updates by the version of the connection."),
        Rule::agent("V1-INIT-11", "What a client does not offer is not asked of it.")
            .matters("A turn stops at a request that the client cannot answer.")
            .fix("Ask for files, terminals and forms only if the client's capabilities name them."),
        Rule::agent("V1-INIT-12", "The agent works with any set of client capabilities.")
            .should()
            .matters("It runs in the editor it was tried with, and in no other.")
            .fix("Take every capability on its own, and have a way without it."),
        Rule::agent("V1-INIT-13", "Capabilities that are yes or no are booleans.")
            .matters("Typed clients read another type as no, or fail to connect.")
            .fix("Send `true` or `false`, or leave the member out."),
        Rule::agent("V1-INIT-14", "Capabilities that are objects mean yes when present, and are never booleans.")
            .matters("Typed clients read `true` as no, so the feature is missing for no visible reason.")
            .fix("Send `{}` for yes, and leave the member out for no."),
        Rule::agent("V1-INIT-15", "Every agent has `session/new`, `session/prompt`, `session/cancel` and sends `session/update`.")
            .matters("Without one of them nothing can be done with the agent.")
            .fix("Implement these four."),
        Rule::agent("V1-INIT-16", "What is offered works, and what is not offered is answered with -32601.")
            .should()
            .matters("Clients show buttons that do nothing, or hide what would work.")
            .fix("Derive the capabilities from the methods that are there."),
        Rule::agent("V1-INIT-18", "A capability of the client with a strange value counts as not there.")
            .should()
            .matters("One odd member keeps the user from connecting.")
            .fix("Read each capability on its own, and take what cannot be read for no."),
        Rule::agent("V1-INIT-19", "Requests before `initialize` are refused.")
            .should()
            .matters("They would be served by rules that nobody has agreed on.")
            .fix("Answer them with -32600, and take `initialize` afterwards."),
        Rule::agent("V1-INIT-20", "A second `initialize` is answered, and the connection goes on.")
            .may()
            .matters("A client that greets again after a change is left hanging.")
            .fix("Take the latest capabilities, or refuse with an error."),
        Rule::agent("V1-INIT-21", "A greeting in the words of a newer version is answered with the agent's own version.")
            .should()
            .matters("Newer clients cannot fall back to what both know.")
            .fix("Read no more than `protocolVersion` from a greeting of a version that you do not know."),
        Rule::agent("V1-INIT-23", "Capabilities that are not known are ignored.")
            .should()
            .matters("Clients with new features are shut out.")
            .fix("Ignore unknown members of capabilities."),
        Rule::agent("V2-INIT-02", "The answer to `initialize` has `protocolVersion`, `info` and `capabilities`.")
            .matters("Without it a client cannot know what it may ask for, or whom.")
            .fix("Send all three members."),
        Rule::agent("V2-INIT-03", "`info` has a name and a version, and a client without it is refused.")
            .matters("Reports of users do not say which programs they are about.")
            .fix("Send `name` and `version`, and answer -32602 to a greeting without `info`."),
        Rule::agent("V2-INIT-04", "The agent chooses the highest version it has that is not above the asked one.")
            .matters("Newer clients fail to connect, or believe that the agent is newer than it is.")
            .fix("Compare the asked version with your own list, and take the highest at or below it."),
        Rule::agent("V2-INIT-05", "An agent with no version at or below the asked one says so with -32022 and what it supports.")
            .matters("The client cannot tell the user which side is too old.")
            .fix("Answer -32022 with `requested` and `supported` in `data`."),
        Rule::agent("V2-INIT-07", "Methods of version 1 are not there on a connection of version 2.")
            .matters("Two versions on one connection cannot be told apart in what they mean.")
            .fix("Answer -32601 for methods of the other version."),
        Rule::agent("V2-INIT-08", "Version 1 is still spoken beside version 2.")
            .should()
            .matters("Most clients speak version 1 only.")
            .fix("Keep version 1 and choose by the greeting."),
        Rule::agent("V2-INIT-09", "Capabilities are objects; there are no booleans.")
            .matters("Typed clients read `true` as no, so the feature is missing for no visible reason.")
            .fix("Send `{}` for yes, and leave the member out for no."),
        Rule::agent("V2-INIT-10", "`capabilities.session` means that sessions can be made, listed, resumed, closed, prompted and cancelled.")
            .gate("session")
            .matters("Clients rely on all of them once the capability is there.")
            .fix("Implement all of them, or leave the capability out."),
        Rule::agent("V2-INIT-12", "Prompts of text and of links are taken.")
            .gate("session")
            .matters("Clients send these two without asking.")
            .fix("Accept `text` and `resource_link` blocks in every prompt."),
        Rule::agent("V2-INIT-14", "Client capabilities for files and terminals do not exist; such members change nothing.")
            .matters("The agent would ask for what no client of version 2 has.")
            .fix("Ignore `fs` and `terminal` in the client's capabilities."),
        Rule::agent("V2-INIT-16", "A second `initialize` after other requests is refused with -32600 and changes nothing.")
            .should()
            .matters("Sessions would go on under rules that their client did not agree on.")
            .fix("Answer -32600 once any other request was taken."),
        Rule::agent("V2-INIT-17", "Before `initialize`, requests get -32600 and notifications are ignored.")
            .should()
            .matters("They would be served by rules that nobody has agreed on.")
            .fix("Answer everything else with -32600 until the greeting."),
        Rule::agent("V2-INIT-18", "From a client of a newer version the agent takes what it can read.")
            .should()
            .matters("Newer clients cannot fall back to what both know.")
            .fix("Drop `info`, capabilities and `_meta` that cannot be read if the asked version is above yours."),
        Rule::agent("V2-INIT-20", "A capability of the client with a strange value counts as not there.")
            .should()
            .matters("One odd member keeps the user from connecting.")
            .fix("Read each capability on its own, and take what cannot be read for no."),
        Rule::agent("V2-INIT-21", "The agent works with any set of client capabilities.")
            .should()
            .matters("It runs in the editor it was tried with, and in no other.")
            .fix("Take every capability on its own, and have a way without it."),
    ],
    probes: &[
        Probe {
            name: "the greeting",
            rules: &[
                "V1-INIT-05", "V1-INIT-06", "V1-INIT-07", "V1-INIT-13", "V1-INIT-14", "V1-EXT-01", "V1-RPC-12", "V2-RPC-01", "V2-INIT-02",
                "V2-INIT-03", "V2-INIT-04", "V2-INIT-09",
            ],
            run: |bench| Box::pin(hello::greeting(bench)),
        },
        Probe {
            name: "greetings with strange capabilities",
            rules: &[
                "V1-INIT-12", "V1-INIT-18", "V1-INIT-23", "V2-INIT-14", "V2-INIT-20", "V2-INIT-21",
            ],
            run: |bench| Box::pin(hello::odd_capabilities(bench)),
        },
        Probe {
            name: "versions that nobody has",
            rules: &["V1-INIT-08", "V1-INIT-21", "V2-INIT-04", "V2-INIT-05", "V2-INIT-18", "V2-ERR-01"],
            run: |bench| Box::pin(versions::unknown(bench)),
        },
        Probe {
            name: "the other version",
            rules: &["V2-INIT-08"],
            run: |bench| Box::pin(versions::older(bench)),
        },
        Probe {
            name: "a greeting that says too little",
            rules: &["V1-RPC-11", "V2-RPC-01", "V2-INIT-03"],
            run: |bench| Box::pin(versions::incomplete(bench)),
        },
        Probe {
            name: "requests before the greeting",
            rules: &["V1-INIT-19", "V2-INIT-17"],
            run: |bench| Box::pin(order::early(bench)),
        },
        Probe {
            name: "a second greeting",
            rules: &["V1-INIT-20", "V2-INIT-16"],
            run: |bench| Box::pin(order::again(bench)),
        },
        Probe {
            name: "what is offered and what is not",
            rules: &["V1-INIT-15", "V1-INIT-16", "V1-INIT-10", "V2-INIT-07", "V2-INIT-10"],
            run: |bench| Box::pin(offers::methods(bench)),
        },
    ],
};
