//! Listing sessions.

use std::collections::BTreeSet;
use std::path::Path;

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::judging::{QUIET, tell};
use super::sessions::{RELATIVE, can_list};
use super::shape;
use super::talk::talk;
use crate::peer::{Answer, Stopped};
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

/// Pages that are read of a listing.
const PAGES_MAX: usize = 20;
/// How often a listing may change after a turn before it counts.
const SETTLED_WITHIN: usize = 4;
/// Entries of a page, beyond which it has no limit worth the name.
const PAGE_ENTRIES_MAX: usize = 2_000;

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent(
            "V1-LIST-02",
            "A listing has an array of sessions, which may be empty.",
        )
        .gate("sessionCapabilities.list")
        .matters("The user does not find the session to go on with.")
        .fix("Answer with `sessions`, as `[]` if nothing fits."),
        Rule::agent("V1-LIST-05", "A cursor that was not given out is an error.")
            .should()
            .gate("sessionCapabilities.list")
            .matters("The client shows the first page again as if it were the next.")
            .fix("Answer -32602 to cursors that cannot be read."),
        Rule::agent("V1-LIST-06", "A listing comes in pages, and the pages end.")
            .should()
            .gate("sessionCapabilities.list")
            .matters("The picker hangs on long listings.")
            .fix("Limit the entries of a page, and leave `nextCursor` out on the last."),
        Rule::agent(
            "V1-LIST-07",
            "A listing for a directory has the sessions of that directory only.",
        )
        .gate("sessionCapabilities.list")
        .matters("The user opens the session of another project.")
        .fix("Compare the session's `cwd` with the asked one."),
        Rule::agent("V1-LIST-09", "Listing changes nothing.")
            .gate("sessionCapabilities.list")
            .matters("Sessions change places in the picker by being looked at.")
            .fix("Do not write when listing."),
        Rule::agent(
            "V1-LIST-10",
            "Every entry has an absolute `cwd`, and an `updatedAt` in ISO 8601 if it has one.",
        )
        .gate("sessionCapabilities.list")
        .matters("The client cannot sort the sessions or match them with its projects.")
        .fix("Send the directory as it was given, and times such as `2025-01-31T12:00:00Z`."),
        Rule::agent("V2-LIST-01", "Sessions can be listed, as in version 1.")
            .gate("session")
            .matters("The user does not find the session to go on with.")
            .fix("See the rules `V1-LIST-02`, `V1-LIST-07`, `V1-LIST-09` and `V1-LIST-10`."),
        Rule::agent(
            "V2-LIST-03",
            "A listing for a directory leaves out its subdirectories.",
        )
        .gate("session")
        .matters("The user opens the session of another project.")
        .fix("Compare whole paths, and not their beginnings."),
        Rule::agent("V2-LIST-04", "Times are RFC 3339.")
            .gate("session")
            .matters("The client cannot sort the sessions.")
            .fix("Send times such as `2025-01-31T12:00:00Z`."),
    ],
    probes: &[
        Probe {
            name: "the list of sessions",
            rules: &[
                "V1-LIST-02",
                "V1-LIST-06",
                "V1-LIST-07",
                "V1-LIST-09",
                "V1-LIST-10",
                "V1-EXT-01",
                "V2-LIST-01",
                "V2-LIST-03",
                "V2-LIST-04",
            ],
            run: |bench| Box::pin(listing(bench)),
        },
        Probe {
            name: "a cursor that was not given out",
            rules: &["V1-LIST-05"],
            run: |bench| Box::pin(bad_cursor(bench)),
        },
    ],
};

const LISTING: &[&str] = &[
    "V1-LIST-02",
    "V1-LIST-05",
    "V1-LIST-06",
    "V1-LIST-07",
    "V1-LIST-09",
    "V1-LIST-10",
    "V2-LIST-01",
    "V2-LIST-03",
    "V2-LIST-04",
];

/// Returns the entries of one page, if the answer has its shape.
pub(super) fn entries(answer: &Answer) -> Option<&Vec<Value>> {
    answer.result()?.get("sessions")?.as_array()
}

async fn listing(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    if !can_list(&agent) {
        bench.none_offered(LISTING, "listing sessions");
        bench.give_back(agent);
        return Ok(());
    }
    // One here and one below; agents may list them only after a turn, and then nothing below is shown by them.
    let below = agent.cwd.join("ply-check-below");
    let made = tokio::fs::create_dir_all(&below).await;
    made.map_err(|error| Stopped::Other(format!("a directory cannot be made: {error}")))?;
    let session = agent.new_session().await?;
    agent.new_session_with(&json!({"cwd": below})).await?;
    if let Err(stopped) = talk(&bench.subject, bench.version, &mut agent, &session).await {
        tracing::debug!(%stopped, "a listing is looked at without a turn");
    }
    pages(bench, &mut agent).await?;
    unused_directory(bench, &mut agent).await?;
    one_directory(bench, &mut agent).await?;
    bench.give_back(agent);
    Ok(())
}

async fn pages(bench: &mut Bench, agent: &mut Agent) -> Result<(), Stopped> {
    let mut cursor = None;
    let mut cursors = BTreeSet::new();
    for page in 0..PAGES_MAX {
        let params = match &cursor {
            Some(cursor) => json!({"cursor": cursor}),
            None => json!({}),
        };
        let answer = agent.ask("session/list", params).await?;
        let Some(entries) = entries(&answer) else {
            let saw = match (page, answer.error_code()) {
                (1.., Some(_)) => "a cursor that was given out is refused",
                _ => "the answer has no array `sessions`",
            };
            bench.judge_all(
                &["V1-LIST-02", "V2-LIST-01"],
                false,
                agent,
                &answer.frames(),
                saw,
            );
            return Ok(());
        };
        bench.judge_all(
            &["V1-LIST-02", "V2-LIST-01"],
            true,
            agent,
            &answer.frames(),
            "",
        );
        for entry in entries {
            judge_entry(bench, agent, &answer, entry);
        }
        let next = answer.result().and_then(|result| result.get("nextCursor"));
        let next = next.filter(|next| !next.is_null()).cloned();
        let is_new = next
            .as_ref()
            .is_none_or(|next| cursors.insert(next.to_string()));
        let is_kept = is_new && entries.len() <= PAGE_ENTRIES_MAX;
        let saw = match is_new {
            true => format!("a page has {} entries", entries.len()),
            false => "a cursor was given out twice, so that the listing does not end".to_owned(),
        };
        bench.judge("V1-LIST-06", is_kept, agent, &answer.frames(), saw);
        if page == 0 && next.is_none() {
            unchanged(bench, agent, entries).await?;
        }
        if next.is_none() || !is_new {
            break;
        }
        cursor = next;
    }
    Ok(())
}

fn judge_entry(bench: &mut Bench, agent: &Agent, answer: &Answer, entry: &Value) {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let frames = answer.frames();
    let is_named = text("sessionId").is_some_and(|id| !id.is_empty());
    // Probes make sessions in relative directories, and agents that take them list them.
    let is_ours = text("cwd").is_some_and(|cwd| RELATIVE.contains(&cwd));
    let is_placed = is_ours || text("cwd").is_some_and(shape::is_absolute);
    let when = entry.get("updatedAt").filter(|when| !when.is_null());
    let is_time = match bench.version {
        Version::V1 => shape::is_iso_time,
        Version::V2 => shape::is_timestamp,
    };
    let is_timed = when.is_none_or(|when| when.as_str().is_some_and(is_time));
    let saw = match (is_named, is_placed) {
        (false, _) => "an entry has no `sessionId`",
        (_, false) => "the `cwd` of an entry is not absolute",
        _ => "the `updatedAt` of an entry is no time with a date",
    };
    bench.judge("V1-LIST-10", is_placed && is_timed, agent, &frames, saw);
    bench.judge("V2-LIST-01", is_named && is_placed, agent, &frames, saw);
    bench.judge("V1-LIST-02", is_named, agent, &frames, saw);
    if when.is_some() {
        bench.judge("V2-LIST-04", is_timed, agent, &frames, saw);
    }
    let odd = shape::unknown_member(shape::Place::Listed, entry);
    let saw =
        odd.map(|member| format!("`{member}` is no member of an entry, and is not in a `_meta`"));
    bench.judge(
        "V1-EXT-01",
        saw.is_none(),
        agent,
        &frames,
        saw.unwrap_or_default(),
    );
}

/// Lists again: what was listed is listed with the same time.
async fn unchanged(bench: &mut Bench, agent: &mut Agent, before: &[Value]) -> Result<(), Stopped> {
    let mut before = before.to_vec();
    let mut again = agent.ask("session/list", json!({})).await?;
    let mut after = entries(&again).cloned().unwrap_or_default();
    let key = |entry: &Value| {
        (
            entry.get("sessionId").cloned(),
            entry.get("updatedAt").cloned(),
        )
    };
    // Others may use the same store, but not the session that was made here.
    let own = |entry: &Value, cwd: &Path| {
        entry.get("cwd").and_then(Value::as_str).map(Path::new) == Some(cwd)
    };
    let cwd = agent.cwd.clone();
    let is_same = |before: &[Value], after: &[Value]| {
        let mut own = before.iter().filter(|entry| own(entry, &cwd));
        own.all(|entry| after.iter().any(|later| key(later) == key(entry)))
    };
    // What a turn changes may settle after its end, but not by being listed again and again.
    for _ in 0..SETTLED_WITHIN {
        if is_same(&before, &after) {
            break;
        }
        agent.listen(QUIET).await?;
        before = after;
        again = agent.ask("session/list", json!({})).await?;
        after = entries(&again).cloned().unwrap_or_default();
    }
    let is_kept = is_same(&before, &after);
    let saw = "after a listing, a session is gone or has another time";
    bench.judge_all(
        &["V1-LIST-09", "V2-LIST-01"],
        is_kept,
        agent,
        &again.frames(),
        saw,
    );
    Ok(())
}

async fn unused_directory(bench: &mut Bench, agent: &mut Agent) -> Result<(), Stopped> {
    // It is there, so that nobody can take offence at anything but the sessions it has.
    let nowhere = agent.cwd.join("ply-check-never-used");
    let made = tokio::fs::create_dir_all(&nowhere).await;
    made.map_err(|error| Stopped::Other(format!("a directory cannot be made: {error}")))?;
    let answer = agent.ask("session/list", json!({"cwd": nowhere})).await?;
    // Whether the answer has its shape is one thing, and what is in it another.
    if entries(&answer).is_none() {
        let rules = ["V1-LIST-02", "V2-LIST-01"];
        let saw = tell("session/list", &answer);
        bench.judge_all(&rules, false, agent, &answer.frames(), saw);
        return Ok(());
    }
    let rules = ["V1-LIST-07", "V2-LIST-01"];
    let saw = "sessions are listed for a directory that has none";
    let is_kept = entries(&answer).is_some_and(Vec::is_empty);
    bench.judge_all(&rules, is_kept, agent, &answer.frames(), saw);
    Ok(())
}

async fn one_directory(bench: &mut Bench, agent: &mut Agent) -> Result<(), Stopped> {
    let here = json!({"cwd": agent.cwd});
    let answer = agent.ask("session/list", here).await?;
    let Some(entries) = entries(&answer) else {
        return Ok(());
    };
    // The directory may be spelled in another way, but means the same place.
    let here = agent
        .cwd
        .canonicalize()
        .unwrap_or_else(|_| agent.cwd.clone());
    let is_here = |entry: &Value| {
        let cwd = entry.get("cwd").and_then(Value::as_str).map(Path::new);
        cwd.is_some_and(|cwd| cwd == agent.cwd || cwd.canonicalize().is_ok_and(|cwd| cwd == here))
    };
    let is_kept = entries.iter().all(is_here);
    let saw = "sessions of other directories are listed";
    let rules = ["V1-LIST-07", "V2-LIST-01", "V2-LIST-03"];
    bench.judge_all(&rules, is_kept, agent, &answer.frames(), saw);
    Ok(())
}

async fn bad_cursor(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    if !can_list(&agent) {
        bench.not_offered("V1-LIST-05", "listing sessions");
        bench.give_back(agent);
        return Ok(());
    }
    let params = json!({"cursor": "ply-check was never given this"});
    let answer = agent.ask("session/list", params).await?;
    let saw = format!(
        "{}, with a cursor that was not given out",
        tell("session/list", &answer)
    );
    bench.judge(
        "V1-LIST-05",
        answer.error_code().is_some(),
        &agent,
        &answer.frames(),
        saw,
    );
    bench.give_back(agent);
    Ok(())
}
