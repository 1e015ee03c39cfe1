//! Modes of version 1.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::super::bench::{Agent, Bench};
use super::super::judging::{QUIET, tell};
use super::super::shape;
use crate::peer::Stopped;
use crate::rule::id;

/// Modes that are tried before an agent counts as one that refuses all of them.
const MODES_MAX: usize = 8;

/// The modes of a session.
pub(in super::super) struct Modes {
    /// The current one.
    pub(in super::super) current: String,
    /// All of them.
    pub(in super::super) ids: Vec<String>,
}

/// Returns the modes that the answer to `session/new` tells, if there are any.
pub(in super::super) fn of(opened: &Value) -> Option<Modes> {
    let modes = opened.get("modes").filter(|modes| !modes.is_null())?;
    let available = modes.get("availableModes").and_then(Value::as_array);
    let ids = available.into_iter().flatten();
    let ids = ids.filter_map(|mode| Some(mode.get("id")?.as_str()?.to_owned()));
    let current = modes.get("currentModeId").and_then(Value::as_str);
    Some(Modes {
        current: current.unwrap_or_default().to_owned(),
        ids: ids.collect(),
    })
}

pub(super) async fn modes(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let setup = agent.setup();
    let (answer, opened) = agent.need("session/new", setup).await?;
    let session = opened.get("sessionId").cloned().unwrap_or_default();
    let Some(modes) = of(&opened) else {
        let rules = [
            id::V1_MODE_01,
            id::V1_MODE_02,
            id::V1_MODE_03,
            id::V1_MODE_04,
            id::V1_MODE_05,
            id::V1_MODE_07,
        ];
        bench.none_offered(&rules, "modes");
        bench.give_back(agent);
        return Ok(());
    };
    let unknown = json!({"sessionId": session, "modeId": "ply-check-no-such-mode"});
    let refused = agent.ask("session/set_mode", unknown).await?;
    let saw = format!(
        "{}, for a mode that is not there",
        tell("session/set_mode", &refused)
    );
    bench.judge(
        id::V1_MODE_02,
        refused.is_error(),
        &agent,
        &refused.frames(),
        saw,
    );
    in_step(bench, &agent, &opened, &modes.current, &answer.frames());
    change(bench, &mut agent, &session, &modes, &opened).await?;
    bench.give_back(agent);
    Ok(())
}

/// Changes the mode and takes that back. An agent may refuse some of its modes for a reason of its own, such as one that would let it
/// act unasked in a directory that nobody trusts; one that refuses all of them has none.
async fn change(
    bench: &mut Bench,
    agent: &mut Agent,
    session: &Value,
    modes: &Modes,
    opened: &Value,
) -> Result<(), Stopped> {
    let others = modes.ids.iter().filter(|id| **id != modes.current);
    let others: Vec<_> = others.take(MODES_MAX).collect();
    for (place, mode) in others.iter().enumerate() {
        if set(
            bench,
            agent,
            session,
            mode,
            opened,
            place + 1 < others.len(),
        )
        .await?
        {
            break;
        }
    }
    set(bench, agent, session, &modes.current, opened, false).await?;
    Ok(())
}

/// Sets a mode and returns whether that worked, which counts only if it did or there is no other to try.
async fn set(
    bench: &mut Bench,
    agent: &mut Agent,
    session: &Value,
    mode: &str,
    opened: &Value,
    has_more: bool,
) -> Result<bool, Stopped> {
    let params = json!({"sessionId": session, "modeId": mode});
    let set = agent.ask("session/set_mode", params).await?;
    let is_set = set.result().is_some();
    if is_set || !has_more {
        let saw = format!(
            "{}, for a mode that is there",
            tell("session/set_mode", &set)
        );
        bench.judge(id::V1_MODE_03, is_set, agent, &set.frames(), saw);
    }
    agent.listen(QUIET).await?;
    if is_set {
        announced(bench, agent, mode, opened, set.request);
    }
    Ok(is_set)
}

/// Returns the current value of the option for the mode, if there is one.
fn mode_option(options: Option<&Value>) -> Option<&str> {
    let options = options?.as_array()?;
    let of_mode = |option: &&Value| option.get("category").and_then(Value::as_str) == Some("mode");
    options.iter().find(of_mode)?.get("currentValue")?.as_str()
}

fn in_step(bench: &mut Bench, agent: &Agent, opened: &Value, current: &str, frames: &[usize]) {
    let options = opened
        .get("configOptions")
        .filter(|options| options.is_array());
    if options.is_none() {
        return;
    }
    let option = mode_option(options);
    let saw = match option {
        Some(_) => "the current mode and the option for the mode are not the same",
        None => "there are modes and options, and no option with the category `mode`",
    };
    bench.judge(id::V1_MODE_07, option == Some(current), agent, frames, saw);
}

/// Judges what was told after the mode was set.
fn announced(bench: &mut Bench, agent: &Agent, mode: &str, opened: &Value, since: usize) {
    for frame in agent.heard_since(since) {
        let update = frame.update();
        match frame.update_kind() {
            Some("config_option_update") if opened.get("configOptions").is_some() => {
                let option = mode_option(update.and_then(|update| update.get("configOptions")));
                let is_kept = option.is_none_or(|option| option == mode);
                let saw = "after a mode change, the mode option has another value";
                bench.judge(id::V1_MODE_07, is_kept, agent, &[since, frame.number], saw);
                let ids = |value: Option<&Value>| {
                    let options = value.and_then(|value| value.get("configOptions"));
                    let options = options.and_then(Value::as_array).cloned();
                    let mut ids = shape::config_ids(Version::V1, &options.unwrap_or_default());
                    ids.sort();
                    ids
                };
                let is_kept = ids(update) == ids(Some(opened));
                let saw = "an update of options does not have all of them";
                bench.judge(id::V1_CONF_12, is_kept, agent, &[since, frame.number], saw);
            }
            _ => {}
        }
    }
}
