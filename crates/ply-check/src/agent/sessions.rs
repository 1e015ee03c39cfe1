//! Sessions: how they begin, and what belongs to which.

pub(super) mod unknown;

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::judging::{QUIET, tell};
use super::shape;
use crate::peer::{Answer, Stopped};
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

/// Directories that are not absolute.
pub(super) const RELATIVE: [&str; 3] = ["src", "./src", ".."];
/// How many sessions are made to compare their ids.
const SESSIONS: usize = 6;

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-SESS-01", "Every session has an id of its own.")
            .matters("Two conversations run into one.")
            .fix("Make ids at random, or count up over all sessions there ever were."),
        Rule::agent("V1-SESS-02", "A session in a directory that is not absolute is refused.")
            .unspecified()
            .matters("The agent works in another directory than the user sees.")
            .fix("Answer -32602 if `cwd` is relative."),
        Rule::agent("V1-SESS-03", "The session is in the directory that the client names, wherever the agent was started.")
            .matters("Files are read and changed in the wrong project.")
            .fix("Keep `cwd` with the session and use it, and not the directory of the process."),
        Rule::agent("V1-SESS-09", "Several sessions live side by side on one connection.")
            .matters("A second conversation stops the first, or speaks into it.")
            .fix("Keep everything that belongs to a conversation under its session id."),
        Rule::agent("V1-SESS-10", "`modes` and `configOptions` have their shapes if they are there.")
            .may()
            .matters("The client shows no selectors, or refuses the session.")
            .fix("Send an object and an array, or leave them out."),
        Rule::agent("V1-SESS-11", "Updates about a new session follow the answer that names it.")
            .unspecified()
            .matters("Clients drop updates for a session they have not heard of, so commands are missing.")
            .fix("Write the answer to `session/new` first."),
        Rule::agent("V1-SESS-13", "A request for a session that is not known fails with an error.")
            .matters("The user waits for an answer from a session that is gone.")
            .fix("Answer with -32002."),
        Rule::agent("V1-SESS-15", "Additional directories that are not absolute are refused.")
            .unspecified()
            .gate("sessionCapabilities.additionalDirectories")
            .matters("The agent works in another directory than the user allowed.")
            .fix("Answer -32602 if an entry is relative."),
        Rule::agent("V2-SESS-01", "Every session has an id of its own.")
            .gate("session")
            .matters("Two conversations run into one.")
            .fix("Make ids at random, or count up over all sessions there ever were."),
        Rule::agent("V2-SESS-02", "A session in a directory that is not absolute is refused with -32602.")
            .gate("session")
            .matters("The agent works in another directory than the user sees.")
            .fix("Answer -32602 if `cwd` is relative or a URI."),
        Rule::agent("V2-SESS-03", "MCP servers that are left out are none.")
            .gate("session")
            .matters("Clients without MCP servers cannot make a session.")
            .fix("Take a missing `mcpServers` for an empty array."),
        Rule::agent("V2-SESS-05", "`configOptions` and `availableCommands` are arrays or left out, never null.")
            .gate("session")
            .matters("Typed clients refuse the session.")
            .fix("Leave them out if there are none."),
        Rule::agent("V2-SESS-08", "The session is in the directory that the client names, wherever the agent was started.")
            .gate("session")
            .matters("Files are read and changed in the wrong project.")
            .fix("Keep `cwd` with the session and use it, and not the directory of the process."),
        Rule::agent("V2-SESS-09", "A session that is not known, or not open on this connection, is refused with -32002 and its id in `data.sessionId`.")
            .gate("session")
            .matters("Clients cannot tell that a session must be resumed, and the user is stuck.")
            .fix("Answer -32002 with `data: {\"sessionId\": …}`."),
    ],
    probes: &[
        Probe {
            name: "several sessions at once",
            rules: &["V1-SESS-01", "V1-SESS-09", "V1-EXT-01", "V1-RPC-12", "V2-SESS-01", "V2-RPC-01"],
            run: |bench| Box::pin(several(bench)),
        },
        Probe {
            name: "what a new session brings",
            rules: &["V1-SESS-10", "V1-SESS-11", "V2-SESS-03", "V2-SESS-05"],
            run: |bench| Box::pin(setup(bench)),
        },
        Probe {
            name: "directories that are not absolute",
            rules: &["V1-SESS-02", "V1-SESS-15", "V2-SESS-02"],
            run: |bench| Box::pin(relative(bench)),
        },
        Probe {
            name: "sessions that do not exist",
            rules: &["V1-SESS-13", "V1-LOAD-14", "V1-ERR-01", "V1-CLOSE-04", "V2-SESS-09", "V2-ERR-01"],
            run: |bench| Box::pin(unknown::everywhere(bench)),
        },
        Probe {
            name: "a session in another directory",
            rules: &["V1-SESS-03", "V2-SESS-08"],
            run: |bench| Box::pin(elsewhere(bench)),
        },
    ],
};

async fn several(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let mut calls = Vec::new();
    for _ in 0..SESSIONS {
        let setup = agent.setup();
        calls.push(agent.begin("session/new", setup).await?);
    }
    let mut ids = Vec::new();
    let mut frames = Vec::new();
    for call in &calls {
        let answer = agent.answer(call).await?;
        let Some(result) = answer.result() else {
            return Err(Stopped::Refused {
                method: "session/new".to_owned(),
                message: answer.error_message(),
            });
        };
        frames.extend(answer.frames());
        let id = result.get("sessionId").and_then(Value::as_str);
        let is_kept = id.is_some_and(|id| !id.is_empty() && !ids.iter().any(|known| known == id));
        let saw = "a session has no id, or that of another";
        let rules = ["V1-SESS-01", "V1-SESS-09", "V2-SESS-01"];
        bench.judge_all(&rules, is_kept, &agent, &answer.frames(), saw);
        ids.extend(id.map(str::to_owned));
        let odd = shape::unknown_member(shape::Place::NewSession, result);
        let saw = odd.as_ref().map(|member| {
            format!("`{member}` is no member of this answer, and is not in a `_meta`")
        });
        bench.judge(
            "V1-EXT-01",
            odd.is_none(),
            &agent,
            &answer.frames(),
            saw.unwrap_or_default(),
        );
        let odd = shape::snake_member(result);
        let saw = odd
            .as_ref()
            .map(|member| format!("`{member}` is not camelCase"));
        bench.judge_all(
            &["V1-RPC-12", "V2-RPC-01"],
            odd.is_none(),
            &agent,
            &answer.frames(),
            saw.unwrap_or_default(),
        );
    }
    bench.give_back(agent);
    Ok(())
}

async fn setup(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let (answer, result) = {
        let setup = agent.setup();
        agent.need("session/new", setup).await?
    };
    agent.listen(QUIET).await?;
    let id = result.get("sessionId").and_then(Value::as_str);
    let names_it = |frame: &crate::Frame| frame.session() == id && frame.method().is_some();
    let early: Vec<_> = agent
        .heard_since(answer.request)
        .into_iter()
        .filter(|frame| frame.number < answer.frame && names_it(frame))
        .map(|frame| frame.number)
        .collect();
    let saw = "an update about a session came before the answer that names it";
    let frames = [answer.frames().to_vec(), early.clone()].concat();
    bench.judge("V1-SESS-11", early.is_empty(), &agent, &frames, saw);
    let is_shaped = |key: &str, fits: fn(&Value) -> bool, or_null: bool| match result.get(key) {
        None => true,
        Some(Value::Null) => or_null,
        Some(value) => fits(value),
    };
    let is_kept = is_shaped("modes", Value::is_object, true)
        && is_shaped("configOptions", Value::is_array, true);
    let saw = "`modes` is no object, or `configOptions` no array";
    bench.judge("V1-SESS-10", is_kept, &agent, &answer.frames(), saw);
    let is_kept = is_shaped("configOptions", Value::is_array, false)
        && is_shaped("availableCommands", Value::is_array, false);
    let saw = "`configOptions` or `availableCommands` is no array";
    bench.judge("V2-SESS-05", is_kept, &agent, &answer.frames(), saw);
    if bench.version == Version::V2 {
        let bare = json!({"cwd": agent.cwd});
        let answer = agent.ask("session/new", bare).await?;
        let saw = format!("{}, without `mcpServers`", tell("session/new", &answer));
        bench.judge(
            "V2-SESS-03",
            answer.result().is_some(),
            &agent,
            &answer.frames(),
            saw,
        );
    }
    bench.give_back(agent);
    Ok(())
}

async fn relative(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    // A session in a proper place must be possible, or a refusal shows nothing.
    agent.new_session().await?;
    let is_refused = |version: Version, answer: &Answer| match version {
        Version::V1 => answer.error_code().is_some(),
        Version::V2 => answer.error_code() == Some(-32602),
    };
    for cwd in RELATIVE {
        let answer = agent.new_session_with(&json!({"cwd": cwd})).await?;
        let is_kept = is_refused(bench.version, &answer);
        let saw = format!("{}, in the directory `{cwd}`", tell("session/new", &answer));
        let rules = ["V1-SESS-02", "V2-SESS-02"];
        bench.judge_all(&rules, is_kept, &agent, &answer.frames(), saw);
    }
    if agent.offers("/sessionCapabilities/additionalDirectories") {
        let more = json!({"additionalDirectories": ["src"]});
        let answer = agent.new_session_with(&more).await?;
        let is_kept = answer.error_code().is_some();
        let saw = format!(
            "{}, with an additional directory `src`",
            tell("session/new", &answer)
        );
        bench.judge("V1-SESS-15", is_kept, &agent, &answer.frames(), saw);
    } else {
        bench.not_offered("V1-SESS-15", "additional directories");
    }
    bench.give_back(agent);
    Ok(())
}

/// Makes a session below the directory of the process, and looks where the agent lists it.
async fn elsewhere(bench: &mut Bench) -> Result<(), Stopped> {
    let rules = ["V1-SESS-03", "V2-SESS-08"];
    let mut agent = bench.greeted().await?;
    if !can_list(&agent) {
        // Nothing else shows the directory without a model.
        bench.give_back(agent);
        return Ok(());
    }
    let below = agent.cwd.join("ply-check-below");
    let made = tokio::fs::create_dir_all(&below).await;
    made.map_err(|error| Stopped::Other(format!("a directory cannot be made: {error}")))?;
    let below = tokio::fs::canonicalize(&below).await.unwrap_or(below);
    let opened = agent.new_session_with(&json!({"cwd": below})).await?;
    if opened.error_code() == Some(-32000) {
        return Err(Stopped::Other("the agent wants a login first".to_owned()));
    }
    let id = opened.message.pointer("/result/sessionId").cloned();
    let saw = tell("session/new", &opened);
    bench.judge_all(&rules, id.is_some(), &agent, &opened.frames(), saw);
    let (listed, result) = agent.need("session/list", json!({})).await?;
    let entries = result.get("sessions").and_then(Value::as_array);
    let entry = entries.and_then(|entries| {
        entries
            .iter()
            .find(|entry| entry.get("sessionId") == id.as_ref())
    });
    // Agents may list a session only once something was said in it.
    if let Some(entry) = entry {
        let cwd = entry.get("cwd").and_then(Value::as_str).unwrap_or_default();
        let is_kept = std::path::Path::new(cwd) == below;
        let saw = "the session is listed in another directory than it was made in";
        bench.judge_all(&rules, is_kept, &agent, &listed.frames(), saw);
    }
    bench.give_back(agent);
    Ok(())
}

/// Returns whether an agent lists its sessions.
pub(super) fn can_list(agent: &Agent) -> bool {
    match agent.hello.get("agentCapabilities") {
        Some(_) => agent.offers("/sessionCapabilities/list"),
        None => agent.offers("/session"),
    }
}
