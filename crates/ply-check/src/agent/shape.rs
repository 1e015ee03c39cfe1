//! The parts of config options.

use ply_wire::negotiate::Version;
use serde_json::Value;

/// Returns the name of the member that holds the id of a config option.
pub(super) fn config_id(version: Version) -> &'static str {
    match version {
        Version::V1 => "id",
        Version::V2 => "configId",
    }
}

/// Returns the values of a select option, those in groups too.
pub(super) fn values(option: &Value) -> Vec<&str> {
    let options = option.get("options").and_then(Value::as_array);
    let entries = options.into_iter().flatten();
    let flat = entries.flat_map(
        |entry| match entry.get("options").and_then(Value::as_array) {
            Some(group) => group.iter().collect::<Vec<_>>(),
            None => vec![entry],
        },
    );
    flat.filter_map(|entry| entry.get("value")?.as_str())
        .collect()
}

/// Returns the ids of config options with their current values, in order.
pub(super) fn config_values(version: Version, options: &[Value]) -> Vec<(&str, &Value)> {
    let options = options.iter().filter_map(|option| {
        let id = option.get(config_id(version))?.as_str()?;
        Some((id, option.get("currentValue")?))
    });
    options.collect()
}

/// Returns the ids of config options, in order.
pub(super) fn config_ids(version: Version, options: &[Value]) -> Vec<String> {
    let ids = options.iter();
    let ids = ids.filter_map(|option| option.get(config_id(version))?.as_str());
    ids.map(str::to_owned).collect()
}
