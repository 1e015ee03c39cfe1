//! Framing and JSON-RPC.

mod ids;
mod lines;
mod params;

use serde_json::json;

use super::bench::Bench;
use super::judging::{QUIET, tell};
use crate::peer::Stopped;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-RPC-01", "Every message is one JSON-RPC 2.0 object: a request, a notification or an answer.")
            .matters("Clients drop what they cannot tell apart, and the user waits for an answer that was sent.")
            .fix("Write `\"jsonrpc\":\"2.0\"` in every message."),
        Rule::agent("V1-RPC-02", "Messages are UTF-8, in both directions.")
            .matters("Names, paths and text in other scripts come back broken.")
            .fix("Read and write bytes as UTF-8, whatever the locale says, and never cut inside a character."),
        Rule::agent("V1-RPC-03", "An answer has either a `result`, or an `error` with a whole number as `code` and a text as `message`.")
            .matters("An answer that is both or neither leaves the client without one.")
            .fix("Send exactly one of the two members, and fill both members of an error."),
        Rule::agent("V1-RPC-04", "Notifications get no answer, whatever they hold.")
            .matters("An answer nobody asked for ends in an error on the client's side, or in a closed connection.")
            .fix("Write nothing when a message has no `id`, not even an error."),
        Rule::agent("V1-RPC-05", "An answer repeats the id of its request, with its type and value.")
            .matters("Clients match answers by id; `\"7\"` for `7` is an answer to nothing.")
            .fix("Keep the id as the JSON value it was, and write that value back."),
        Rule::agent("V1-RPC-06", "A request with the id null is answered, with the id null.")
            .should()
            .matters("A client that sends such ids waits for ever instead of showing an error.")
            .fix("Tell a request whose id is null from a notification, which has no id."),
        Rule::agent("V1-RPC-07", "Each side numbers its own requests; the same id may be open in both directions.")
            .matters("Mixed up, the answer of one request ends another.")
            .fix("Keep the requests you sent and the requests you got in two tables."),
        Rule::agent("V1-RPC-08", "A method that is not known is answered with -32601.")
            .matters("Clients ask for optional methods to find out what there is; without this answer they wait.")
            .fix("Answer -32601 for every request whose method is not implemented."),
        Rule::agent("V1-RPC-09", "Notifications that are not known are ignored, and the connection goes on.")
            .should()
            .matters("A newer client ends the agent by telling it something new.")
            .fix("Drop notifications with an unknown method, of any size, and read on."),
        Rule::agent("V1-RPC-10", "A line that is no JSON is answered with -32700, JSON that is no message with -32600, both with the id null, and the connection goes on.")
            .in_both_versions()
            .note("JSON-RPC 2.0 has these codes; the protocol forbids clients to send such lines, and does not say what an agent does about them.")
            .unspecified()
            .matters("One bad line ends the user's session, or goes by without a trace.")
            .fix("Catch errors of the parser for each line, answer them, and read the next line."),
        Rule::agent("V1-RPC-11", "Parameters that do not fit a method are answered with -32602.")
            .matters("Whoever writes the client sees an inner error, or nothing, instead of what is wrong with the request.")
            .fix("Answer -32602 when the parameters of a known method cannot be read."),
        Rule::agent("V1-RPC-12", "Members have camelCase names.")
            .matters("Clients do not see members with other names, so what they hold is lost.")
            .fix("Rename the members as the schema spells them."),
        Rule::agent("V1-RPC-13", "Every path that the agent sends is absolute.")
            .matters("Relative paths mean another place for either side, and files are changed where nobody looks.")
            .fix("Join paths with the session's directory before they are sent."),
        Rule::agent("V1-RPC-14", "Lines are counted from 1.")
            .matters("The editor jumps to the line before, or nowhere.")
            .fix("Add one to lines that are counted from 0 before they are sent."),
        Rule::agent("V1-RPC-15", "Requests of the client are served while the agent waits for an answer itself.")
            .matters("An agent that waits for permission and reads nothing cannot be cancelled.")
            .fix("Read the input in a task of its own, and never wait for an answer in it."),
        Rule::agent("V1-RPC-16", "Members that are not known do no harm.")
            .should()
            .matters("The agent refuses clients that are newer than it is.")
            .fix("Ignore unknown members when reading messages."),
        Rule::agent("V1-RPC-17", "A member that is only for show and has the wrong type counts as left out.")
            .should()
            .matters("A detail for display keeps the user from connecting.")
            .fix("Fall back to the default of such members, as the schema marks them."),
        Rule::agent("V1-RPC-18", "An array is answered with one -32600 with the id null, and nothing in it is done.")
            .unspecified()
            .matters("What a batch does is not defined; half of it done is worse than nothing.")
            .fix("Refuse a line that is an array as a whole."),
        Rule::agent("V2-RPC-01", "The rules of version 1 on framing and JSON-RPC hold.")
            .matters("Without them no two programs understand each other, in any version.")
            .fix("See the same rule of version 1 (`V1-RPC-…`, `V1-STDIO-…`) that the finding speaks of."),
        Rule::agent("V2-RPC-02", "A request whose id is null, a boolean or a fraction is refused with -32600 and the id null, and has no effect.")
            .matters("Its answer cannot be matched, so the client never learns what it caused.")
            .fix("Check the id before anything else: a text or a whole number."),
        Rule::agent("V2-RPC-03", "An id is not used again while its request is open.")
            .matters("Two open requests with one id get one answer.")
            .fix("Count ids up for as long as the connection lasts."),
        Rule::agent("V2-RPC-04", "An error always has an `id`, and a result never has a null one.")
            .matters("An answer without an id belongs to no request.")
            .fix("Write the id of the request, and null only if it could not be read."),
        Rule::agent("V2-RPC-05", "An answer with nothing to say is an object.")
            .matters("Typed clients cannot read null, text or a missing result, and fail a request that succeeded.")
            .fix("Answer `{}`."),
        Rule::agent("V2-RPC-06", "A known kind with a payload that does not fit is an error, and not an unknown kind.")
            .matters("A broken message is taken for a new feature and goes by unseen.")
            .fix("Fall back to the unknown kind only if the name is unknown."),
        Rule::agent("V2-BATCH-01", "Any array, the empty one too, is answered with one -32600 with the id null; nothing in it is done and the connection goes on.")
            .matters("What a batch does is not defined; half of it done is worse than nothing.")
            .fix("Refuse a line that is an array as a whole."),
        Rule::agent("V2-BATCH-02", "No line is an array.")
            .matters("Clients refuse it as a whole, with all that it holds.")
            .fix("Write each message as a line of its own."),
    ],
    probes: &[
        Probe {
            name: "notifications that mean nothing",
            rules: &["V1-RPC-04", "V1-RPC-09", "V2-RPC-01"],
            run: |bench| Box::pin(meaningless_notifications(bench)),
        },
        Probe {
            name: "methods that do not exist",
            rules: &["V1-RPC-08", "V1-EXT-03", "V2-RPC-01", "V2-EXT-04"],
            run: |bench| Box::pin(unknown_methods(bench)),
        },
        Probe {
            name: "ids of every kind",
            rules: &["V1-RPC-05", "V1-RPC-02", "V2-RPC-01"],
            run: |bench| Box::pin(ids::lawful(bench)),
        },
        Probe {
            name: "an id that is null",
            rules: &["V1-RPC-06"],
            run: |bench| Box::pin(ids::null(bench)),
        },
        Probe {
            name: "ids that are not allowed",
            rules: &["V2-RPC-02"],
            run: |bench| Box::pin(ids::unlawful(bench)),
        },
        Probe {
            name: "lines that are no messages",
            rules: &["V1-RPC-10"],
            run: |bench| Box::pin(lines::no_messages(bench)),
        },
        Probe {
            name: "bytes that are no UTF-8, and a byte order mark",
            rules: &["V1-RPC-10"],
            run: |bench| Box::pin(lines::bad_bytes(bench)),
        },
        Probe {
            name: "messages without their version",
            rules: &["V1-RPC-10"],
            run: |bench| Box::pin(lines::no_version(bench)),
        },
        Probe {
            name: "arrays",
            rules: &["V1-RPC-18", "V2-BATCH-01"],
            run: |bench| Box::pin(lines::arrays(bench)),
        },
        Probe {
            name: "parameters that do not fit",
            rules: &["V1-RPC-11", "V1-ERR-01", "V2-RPC-01", "V2-RPC-06", "V2-ERR-01", "V2-ERR-02"],
            run: |bench| Box::pin(params::unfit(bench)),
        },
        Probe {
            name: "members from the future",
            rules: &["V1-RPC-16", "V1-RPC-17", "V1-EXT-06", "V2-EXT-04"],
            run: |bench| Box::pin(params::unknown_members(bench)),
        },
    ],
};

async fn meaningless_notifications(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let first = agent.notify("session/nope", json!({"x": 1})).await?;
    let mut frames = vec![first];
    for (method, params) in [
        ("_x/y", json!({})),
        ("foo/bar", json!([1])),
        ("session/cancel", json!({"x": 1})),
        (
            "session/cancel",
            json!({"sessionId": "ply-check-no-such-session"}),
        ),
        ("$/ply_check", json!({})),
    ] {
        frames.push(agent.notify(method, params).await?);
    }
    let heard = agent.listen(QUIET).await;
    let answer = agent
        .heard_since(first)
        .into_iter()
        .find(|frame| frame.is_answer());
    let shown: Vec<_> = frames
        .iter()
        .copied()
        .chain(answer.as_ref().map(|frame| frame.number))
        .collect();
    let rules = ["V1-RPC-04", "V2-RPC-01"];
    let saw = "a notification was answered";
    bench.judge_all(&rules, answer.is_none(), &agent, &shown, saw);
    let is_alive = heard.is_ok() && agent.is_alive().await;
    let saw = "no request was answered after notifications that are not known";
    bench.judge("V1-RPC-09", is_alive, &agent, &frames, saw);
    if is_alive {
        bench.give_back(agent);
    }
    Ok(())
}

async fn unknown_methods(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    for method in ["session/nope", "_vendor/nope"] {
        let answer = agent.ask(method, json!({})).await?;
        let frames = answer.frames();
        // Nobody can know that an agent does not serve every custom method.
        let is_served = method.starts_with('_') && answer.result().is_some();
        let is_kept = is_served || answer.error_code() == Some(-32601);
        let rules: &[_] = match method.starts_with('_') {
            true => &["V1-RPC-08", "V1-EXT-03", "V2-RPC-01", "V2-EXT-04"],
            false => &["V1-RPC-08", "V2-RPC-01"],
        };
        bench.judge_all(rules, is_kept, &agent, &frames, tell(method, &answer));
    }
    bench.give_back(agent);
    Ok(())
}
