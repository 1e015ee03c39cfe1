//! Options of a session, by their id or category.

use ply_client::text::Line;
use ply_client::{Session, v2};

use super::arguments::Setting;
use super::failure::Failure;
use crate::program::roster::Choice;
use crate::program::sessions::content;

/// Values that are named of an option.
const VALUES_MAX: usize = 30;

/// Sets an option.
pub(super) async fn set(
    session: &Session,
    setting: &Setting,
    choice: &Choice,
) -> Result<(), Failure> {
    let options = session.config_options();
    let (option, value) = find(&options, setting)?;
    let set = session.set_config_option(option, value).await;
    set.map_err(|error| Failure::of_call(&error, choice))
}

/// Returns the option and the value that are meant.
fn find(
    options: &[v2::SessionConfigOption],
    setting: &Setting,
) -> Result<(v2::SessionConfigId, v2::SessionConfigOptionValue), Failure> {
    let by_id = options.iter().find(|it| *it.config_id.0 == *setting.option);
    let of_category = |it: &&v2::SessionConfigOption| category(it) == Some(setting.option.clone());
    let Some(option) = by_id.or_else(|| options.iter().find(of_category)) else {
        let name = Line(&setting.option).to_string();
        let failure = Failure::usage(format!("the session has no option `{name}`"));
        return Err(failure.hint(match options.is_empty() {
            true => "this agent has no options".to_owned(),
            false => format!("it has:\n{}", list(options)),
        }));
    };
    let id = option.config_id.clone();
    let wrong = || {
        let (name, value) = (Line(&setting.option), Line(&setting.value));
        let failure = Failure::usage(format!("the option `{name}` has no value `{value}`"));
        failure.hint(format!("it has: {}", values(option)))
    };
    match &option.kind {
        v2::SessionConfigKind::Boolean(_) => {
            let value = match setting.value.as_str() {
                "true" | "on" | "yes" => true,
                "false" | "off" | "no" => false,
                _ => return Err(wrong()),
            };
            Ok((id.clone(), v2::SessionConfigOptionValue::Boolean { value }))
        }
        v2::SessionConfigKind::Select(select) => {
            let all = choices(select);
            let by_id = all.iter().find(|it| *it.value.0 == *setting.value);
            let by_name = || {
                let is_it = |it: &&&v2::SessionConfigSelectOption| {
                    it.name.eq_ignore_ascii_case(&setting.value)
                };
                all.iter().find(is_it)
            };
            let chosen = by_id.or_else(by_name).ok_or_else(wrong)?;
            let value = chosen.value.clone();
            Ok((id.clone(), v2::SessionConfigOptionValue::Id { value }))
        }
        _ => {
            let name = Line(&setting.option).to_string();
            let detail = format!("the option `{name}` is of a kind that cannot be set from here");
            Err(Failure::usage(detail))
        }
    }
}

fn category(option: &v2::SessionConfigOption) -> Option<String> {
    option.category.as_ref().map(content::name)
}

fn choices(select: &v2::SessionConfigSelect) -> Vec<&v2::SessionConfigSelectOption> {
    match &select.options {
        v2::SessionConfigSelectOptions::Ungrouped(options) => options.iter().collect(),
        v2::SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().flat_map(|group| &group.options).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the values of an option on one line.
fn values(option: &v2::SessionConfigOption) -> String {
    match &option.kind {
        v2::SessionConfigKind::Boolean(_) => "true, false".to_owned(),
        v2::SessionConfigKind::Select(select) => {
            let all = choices(select);
            let shown = all.iter().take(VALUES_MAX);
            let shown: Vec<_> = shown.map(|it| Line(&it.value.0).to_string()).collect();
            let more = if all.len() > VALUES_MAX { ", …" } else { "" };
            format!("{}{more}", shown.join(", "))
        }
        _ => "nothing that can be set from here".to_owned(),
    }
}

/// Returns what there is to set, a line for each option.
fn list(options: &[v2::SessionConfigOption]) -> String {
    let line = |option: &v2::SessionConfigOption| {
        let id = Line(&option.config_id.0).to_string();
        let also = category(option).filter(|category| *category != id);
        let also = also
            .map(|also| format!(" ({})", Line(&also)))
            .unwrap_or_default();
        format!("{id}{also}: {}", values(option))
    };
    options.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Vec<v2::SessionConfigOption> {
        let options = serde_json::json!([
            {"configId": "m1", "name": "Model", "category": "model", "type": "select", "currentValue": "a",
             "options": [{"value": "a", "name": "Alpha"}, {"value": "b", "name": "Beta"}]},
            {"configId": "fast", "name": "Fast", "type": "boolean", "currentValue": false},
        ]);
        serde_json::from_value(options).unwrap()
    }

    #[track_caller]
    fn check(setting: &str, expected: Result<&str, &str>) {
        let found = find(&options(), &setting.parse().unwrap());
        match (found, expected) {
            (Ok((id, value)), Ok(expected)) => {
                let value = serde_json::to_value(value).unwrap()["value"].clone();
                assert_eq!(format!("{}={value}", id.0), expected);
            }
            (Err(failure), Err(expected)) => {
                assert_eq!(failure.exit, 2);
                assert_eq!(failure.hint.unwrap(), expected);
            }
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn an_option_is_found_by_id_or_category_and_its_value_by_id_or_name() {
        check("m1=b", Ok("m1=\"b\""));
        check("model=b", Ok("m1=\"b\""));
        check("model=beta", Ok("m1=\"b\""));
        check("fast=on", Ok("fast=true"));
    }

    #[test]
    fn what_is_not_there_is_answered_with_what_is() {
        check("model=c", Err("it has: a, b"));
        check("fast=maybe", Err("it has: true, false"));
        check("x=y", Err("it has:\nm1 (model): a, b\nfast: true, false"));
    }
}
