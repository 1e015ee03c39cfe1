//! Config options.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::super::bench::{Agent, Bench};
use super::super::judging::{QUIET, tell};
use super::super::shape;
use super::super::talk::has_kind;
use crate::peer::{Answer, Stopped};
use crate::recording::Frame;
use crate::rule::id;

const RULES: &[&str] = &[
    id::V1_CONF_01,
    id::V1_CONF_04,
    id::V1_CONF_05,
    id::V1_CONF_08,
    id::V1_CONF_09,
    id::V1_CONF_10,
    id::V1_CONF_12,
    id::V1_CONF_13,
    id::V2_CONF_01,
    id::V2_CONF_03,
    id::V2_CONF_04,
    id::V2_CONF_05,
];
/// Returns the options that an answer or an update tells.
fn list(value: Option<&Value>) -> Vec<Value> {
    let options = value
        .and_then(|value| value.get("configOptions"))
        .and_then(Value::as_array);
    options.cloned().unwrap_or_default()
}

/// A session with an option that can be set.
struct Setting {
    session: Value,
    id: String,
    /// The value that it had at first.
    first: String,
    /// Whether that is one of those that can be chosen: a user may have set another one elsewhere.
    is_first_offered: bool,
    /// Another value, if there is one.
    other: Option<String>,
    is_mode: bool,
    ids: Vec<String>,
}

impl Setting {
    fn of(version: Version, opened: &Value) -> Option<Self> {
        let options = list(Some(opened));
        let is_select =
            |option: &&Value| option.get("type").and_then(Value::as_str) == Some("select");
        // The one with the most to choose from shows most.
        let option = options
            .iter()
            .filter(is_select)
            .max_by_key(|option| shape::values(option).len().min(2))?;
        let first = option.get("currentValue")?.as_str()?.to_owned();
        let offered = shape::values(option);
        let is_first_offered = offered.contains(&first.as_str());
        let other = offered.into_iter().find(|value| *value != first);
        Some(Self {
            session: opened.get("sessionId")?.clone(),
            id: option.get(shape::config_id(version))?.as_str()?.to_owned(),
            other: other.map(str::to_owned),
            is_mode: option.get("category").and_then(Value::as_str) == Some("mode"),
            ids: shape::config_ids(version, &options),
            is_first_offered,
            first,
        })
    }

    /// Returns the parameters that set an option.
    fn set(&self, version: Version, id: &str, value: &str) -> Value {
        match version {
            Version::V1 => json!({"sessionId": self.session, "configId": id, "value": value}),
            Version::V2 => {
                json!({"sessionId": self.session, "configId": id, "type": "id", "value": value})
            }
        }
    }

    /// Returns the value that an answer tells of the option.
    fn value(&self, version: Version, answer: &Answer) -> Option<String> {
        let options = list(answer.result());
        let is_it = |option: &&Value| {
            option
                .get(shape::config_id(version))
                .and_then(Value::as_str)
                == Some(&self.id)
        };
        let option = options.iter().find(is_it)?;
        Some(option.get("currentValue")?.as_str()?.to_owned())
    }
}

pub(super) async fn setting(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let setup = agent.setup();
    let (_, opened) = agent.need("session/new", setup).await?;
    let Some(setting) = Setting::of(bench.version, &opened) else {
        if list(Some(&opened)).is_empty() {
            bench.none_offered(RULES, "config options");
        }
        bench.give_back(agent);
        return Ok(());
    };
    let version = bench.version;
    // Nothing changes, so the list must be the one that is known.
    let same = setting.set(version, &setting.id, &setting.first);
    let answer = agent.ask("session/set_config_option", same.clone()).await?;
    // An option that cannot be set to what it is, is locked: no text forbids that.
    if answer.result().is_none() {
        bench.give_back(agent);
        return Ok(());
    }
    complete(bench, &agent, &setting, &answer);
    let mut unlawful = vec![
        (
            setting.set(version, "ply-check-no-such-option", &setting.first),
            "an option that is not there",
        ),
        (
            setting.set(version, &setting.id, "ply-check-no-such-value"),
            "a value that is not offered",
        ),
    ];
    if version == Version::V2 {
        let mut params = setting.set(version, &setting.id, &setting.first);
        if let Some(kind) = params.get_mut("type") {
            *kind = json!("_ply_check");
        }
        unlawful.push((params, "a type of value that it cannot know"));
    }
    for (params, what) in unlawful {
        let answer = agent.ask("session/set_config_option", params).await?;
        let is_kept = match version {
            Version::V1 => answer.is_error(),
            Version::V2 => answer.error_code() == Some(-32602),
        };
        let saw = format!("{}, for {what}", tell("session/set_config_option", &answer));
        let rules: &[_] = match what.starts_with("a type") {
            true => &[id::V2_CONF_04, id::V2_ERR_02],
            false => &[id::V1_CONF_10, id::V2_CONF_04],
        };
        bench.judge_all(rules, is_kept, &agent, &answer.frames(), saw);
    }
    let answer = agent.ask("session/set_config_option", same).await?;
    let is_kept = setting.value(version, &answer).as_ref() == Some(&setting.first);
    let saw = "after invalid values, the option lost the value that was set";
    bench.judge_all(
        &[id::V1_CONF_10, id::V2_CONF_04],
        is_kept,
        &agent,
        &answer.frames(),
        saw,
    );
    change(bench, &mut agent, &setting, opened.get("modes").is_some()).await?;
    bench.give_back(agent);
    Ok(())
}

fn complete(bench: &mut Bench, agent: &Agent, setting: &Setting, answer: &Answer) {
    let mut told = shape::config_ids(bench.version, &list(answer.result()));
    let mut ids = setting.ids.clone();
    told.sort();
    ids.sort();
    let saw = match answer.result() {
        Some(_) => "the answer does not have all the options there are".to_owned(),
        None => tell("session/set_config_option", answer),
    };
    let rules = [id::V1_CONF_09, id::V2_CONF_03];
    bench.judge_all(&rules, told == ids, agent, &answer.frames(), saw);
}

/// Sets the option to another value and back.
async fn change(
    bench: &mut Bench,
    agent: &mut Agent,
    setting: &Setting,
    has_modes: bool,
) -> Result<(), Stopped> {
    let version = bench.version;
    let Some(other) = &setting.other else {
        return Ok(());
    };
    for value in [other, &setting.first] {
        let params = setting.set(version, &setting.id, value);
        let answer = agent.ask("session/set_config_option", params).await?;
        agent.listen(QUIET).await?;
        let may_refuse = version == Version::V1 || (value != other && !setting.is_first_offered);
        if may_refuse && answer.result().is_none() {
            return Ok(());
        }
        let is_kept = setting.value(version, &answer).as_ref() == Some(value);
        let saw = "the response does not have the value that was set";
        let rules = [id::V1_CONF_09, id::V2_CONF_03];
        bench.judge_all(&rules, is_kept, agent, &answer.frames(), saw);
        let heard = agent.heard_since(answer.request);
        let session = setting.session.as_str().unwrap_or_default();
        if setting.is_mode && has_modes {
            let is_kept = has_kind(&heard, session, "current_mode_update");
            let saw = "the mode option was set, but no mode change was reported";
            bench.judge(id::V1_MODE_05, is_kept, agent, &answer.frames(), saw);
        }
        let answered = list(answer.result());
        let ids = shape::config_ids(version, &answered);
        let is_update = |frame: &&Frame| frame.update_kind() == Some("config_option_update");
        for update in heard.iter().filter(is_update) {
            let told = shape::config_ids(version, &list(update.update()));
            let frames = [answer.frames().to_vec(), vec![update.number]].concat();
            let saw =
                "an update of options has others than the `session/set_config_option` response";
            bench.judge(id::V1_CONF_12, told == ids, agent, &frames, saw);
        }
        // What comes behind the answer may tell of a later change.
        let mut updates = heard.iter().filter(is_update);
        let is_before =
            |update: &&Frame| answer.frames().iter().any(|frame| update.number < *frame);
        let last = updates.rfind(is_before);
        if let Some(update) = last {
            let told = list(update.update());
            let mut contradicted = shape::config_values(version, &answered).into_iter();
            let told = shape::config_values(version, &told);
            let is_kept = !contradicted.any(|(option, value)| {
                told.iter()
                    .any(|(known, told)| *known == option && *told != value)
            });
            let frames = [answer.frames().to_vec(), vec![update.number]].concat();
            let saw = "an update of options has other values than the `session/set_config_option` response";
            bench.judge(id::V1_CONF_12, is_kept, agent, &frames, saw);
        }
    }
    Ok(())
}
