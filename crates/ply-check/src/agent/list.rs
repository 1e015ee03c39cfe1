//! Listing sessions.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::judging::{QUIET, tell};
use super::talk::talk;
use crate::peer::{Answer, Stopped};
use crate::rule::id;
use crate::topic::Probe;

/// Pages that are read of a listing.
const PAGES_MAX: usize = 20;
/// How often a listing may change after a turn before it counts.
const SETTLED_WITHIN: usize = 4;
/// Entries of a page, beyond which it has no limit worth the name.
const PAGE_ENTRIES_MAX: usize = 2_000;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "the list of sessions",
        rules: &[
            id::V1_LIST_02,
            id::V1_LIST_06,
            id::V1_LIST_07,
            id::V1_LIST_09,
            id::V1_LIST_10,
            id::V1_EXT_01,
            id::V2_LIST_01,
            id::V2_LIST_03,
            id::V2_LIST_04,
        ],
        run: |bench| Box::pin(listing(bench)),
    },
    Probe {
        name: "a cursor that was not given out",
        rules: &[id::V1_LIST_05],
        run: |bench| Box::pin(bad_cursor(bench)),
    },
];

/// Returns the entries of one page, if the answer has its shape.
pub(super) fn entries(answer: &Answer) -> Option<&Vec<Value>> {
    answer.result()?.get("sessions")?.as_array()
}

async fn listing(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    // One here and one below; agents may list them only after a turn, and then nothing below is shown by them.
    let below = agent.cwd.join("ply-check-below");
    let made = tokio::fs::create_dir_all(&below).await;
    made.map_err(|error| Stopped::Other(format!("cannot create a directory: {error}")))?;
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
        // That the method is missing is told where the offers are checked.
        if answer.error_code() == Some(-32601) {
            return Ok(());
        }
        let Some(entries) = entries(&answer) else {
            let saw = match (page, answer.error_code()) {
                (1.., Some(_)) => "a cursor that was given out is refused",
                _ => "the answer has no array `sessions`",
            };
            bench.judge_all(
                &[id::V1_LIST_02, id::V2_LIST_01],
                false,
                agent,
                &answer.frames(),
                saw,
            );
            return Ok(());
        };
        bench.judge_all(
            &[id::V1_LIST_02, id::V2_LIST_01],
            true,
            agent,
            &answer.frames(),
            "",
        );
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
        bench.judge(id::V1_LIST_06, is_kept, agent, &answer.frames(), saw);
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
    let saw = "after a listing, a session is missing or has another time";
    bench.judge_all(
        &[id::V1_LIST_09, id::V2_LIST_01],
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
    made.map_err(|error| Stopped::Other(format!("cannot create a directory: {error}")))?;
    let answer = agent.ask("session/list", json!({"cwd": nowhere})).await?;
    // Whether the answer has its shape is one thing, and what is in it another.
    if entries(&answer).is_none() {
        let rules = [id::V1_LIST_02, id::V2_LIST_01];
        let saw = tell("session/list", &answer);
        bench.judge_all(&rules, false, agent, &answer.frames(), saw);
        return Ok(());
    }
    let rules = [id::V1_LIST_07, id::V2_LIST_01];
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
    let rules = [id::V1_LIST_07, id::V2_LIST_01, id::V2_LIST_03];
    bench.judge_all(&rules, is_kept, agent, &answer.frames(), saw);
    Ok(())
}

async fn bad_cursor(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let params = json!({"cursor": "ply-check was never given this"});
    let answer = agent.ask("session/list", params).await?;
    let saw = format!(
        "{}, with a cursor that was not given out",
        tell("session/list", &answer)
    );
    bench.judge(
        id::V1_LIST_05,
        answer.is_error(),
        &agent,
        &answer.frames(),
        saw,
    );
    bench.give_back(agent);
    Ok(())
}
