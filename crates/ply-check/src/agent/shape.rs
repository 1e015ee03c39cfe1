//! The shapes of what agents send, as far as they can be judged without asking back.

use std::collections::BTreeSet;

use ply_wire::negotiate::Version;
use serde_json::Value;

/// An object whose members are all defined in version 1.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// The answer to `initialize`.
    Hello,
    /// The answer to `session/new`.
    NewSession,
    /// An entry of a listing.
    Listed,
}

impl Place {
    fn members(self) -> &'static [&'static str] {
        match self {
            Self::Hello => &[
                "protocolVersion",
                "agentCapabilities",
                "agentInfo",
                "authMethods",
            ],
            // `models` was in drafts, and many agents still send it.
            Self::NewSession => &["sessionId", "modes", "configOptions", "models"],
            Self::Listed => &[
                "sessionId",
                "cwd",
                "additionalDirectories",
                "title",
                "updatedAt",
                "archived",
            ],
        }
    }
}

/// Returns a member that belongs into a `_meta`.
pub(super) fn unknown_member(place: Place, object: &Value) -> Option<String> {
    let members = object.as_object()?;
    let mut names = members.keys();
    let unknown = names.find(|name| *name != "_meta" && !place.members().contains(&name.as_str()));
    unknown.cloned()
}

/// Returns the name of a member that is not camelCase. What is below an `env` or a name with an underscore before it is free.
pub(super) fn snake_member(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => items.iter().find_map(snake_member),
        Value::Object(members) => members.iter().find_map(|(name, value)| {
            if name.starts_with('_') || name == "env" {
                return None;
            }
            match name.contains('_') || name.contains('-') {
                true => Some(name.clone()),
                false => snake_member(value),
            }
        }),
        _ => None,
    }
}

/// Returns whether a path is absolute, in the syntax of any system.
pub(super) fn is_absolute(path: &str) -> bool {
    let mut letters = path.chars();
    let drive = (letters.next(), letters.next(), letters.next());
    path.starts_with('/')
        || path.starts_with(r"\\")
        || matches!(
            drive,
            (Some('a'..='z' | 'A'..='Z'), Some(':'), Some('/' | '\\'))
        )
}

/// Returns whether a text is a date and a time of day with an offset, as RFC 3339 has it.
pub(super) fn is_timestamp(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}

/// Returns whether a text is a date and a time of day as ISO 8601 has it, with or without an offset.
pub(super) fn is_iso_time(text: &str) -> bool {
    is_timestamp(text) || text.parse::<jiff::civil::DateTime>().is_ok()
}

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

/// Returns the ids of config options, in order.
pub(super) fn config_ids(version: Version, options: &[Value]) -> Vec<String> {
    let ids = options.iter();
    let ids = ids.filter_map(|option| option.get(config_id(version))?.as_str());
    ids.map(str::to_owned).collect()
}

/// Says what is wrong with the members of a config option.
pub(super) fn config_fault(version: Version, option: &Value) -> Option<String> {
    let has = |key| option.get(key).is_some_and(Value::is_string);
    let id = config_id(version);
    for key in [id, "name", "type"] {
        if !has(key) {
            return Some(format!("an option lacks `{key}`"));
        }
    }
    let groups = option.get("options").and_then(Value::as_array);
    let group_id = match version {
        Version::V1 => "group",
        Version::V2 => "groupId",
    };
    let mut groups = groups
        .into_iter()
        .flatten()
        .filter(|entry| entry.get("options").is_some());
    groups
        .any(|group| !group.get(group_id).is_some_and(Value::is_string))
        .then(|| format!("a group of values lacks `{group_id}`"))
}

/// Says what is wrong with the values of a config option.
pub(super) fn value_fault(version: Version, option: &Value) -> Option<String> {
    let current = option.get("currentValue");
    let name = option.get(config_id(version)).and_then(Value::as_str);
    let name = ply_rpc::clean::for_display(name.unwrap_or("?").as_bytes(), 40);
    match option.get("type").and_then(Value::as_str) {
        Some("select") => {
            let values = values(option);
            let current = current.and_then(Value::as_str);
            if values.is_empty() {
                return Some(format!("the option `{name}` has no values"));
            }
            let distinct: BTreeSet<_> = values.iter().collect();
            if distinct.len() != values.len() {
                return Some(format!("the option `{name}` has a value twice"));
            }
            let is_offered = current.is_some_and(|current| values.contains(&current));
            (!is_offered).then(|| format!("the current value of `{name}` is not one of its values"))
        }
        Some("boolean") => (!current.is_some_and(Value::is_boolean))
            .then(|| format!("the current value of `{name}` is no boolean")),
        // Other kinds are for others to judge.
        _ => None,
    }
}

/// Says what is wrong with a command.
pub(super) fn command_fault(version: Version, command: &Value) -> Option<&'static str> {
    let text = |key| command.get(key).and_then(Value::as_str);
    let kind = text("type");
    // Older drafts of version 2 had no kinds; kinds that are not known have their own members.
    if version == Version::V2 && kind.is_some_and(|kind| kind != "command") {
        return None;
    }
    let Some(name) = text("name").filter(|name| !name.is_empty()) else {
        return Some("a command lacks `name`");
    };
    if text("description").is_none() {
        return Some("a command lacks `description`");
    }
    if version == Version::V2 && (name.starts_with('/') || name.contains(char::is_whitespace)) {
        return Some("the name of a command has a slash or white space");
    }
    None
}

/// Says what is wrong with the input of a command.
pub(super) fn input_fault(version: Version, command: &Value) -> Option<&'static str> {
    let input = command.get("input").filter(|input| !input.is_null())?;
    let kind = input.get("type").and_then(Value::as_str);
    let has_hint = input.get("hint").is_some_and(Value::is_string);
    match (version, kind) {
        (Version::V1, _) => (!has_hint).then_some("the input of a command lacks `hint`"),
        (Version::V2, Some("text")) => (!has_hint).then_some("the input of a command lacks `hint`"),
        (Version::V2, Some(kind)) if kind.starts_with('_') => None,
        (Version::V2, _) => Some("the input of a command is not of type `text`"),
    }
}

/// Returns whether two commands have one name.
pub(super) fn has_twins(commands: &[Value]) -> bool {
    let names: Vec<_> = commands
        .iter()
        .filter_map(|command| command.get("name")?.as_str())
        .collect();
    let distinct: BTreeSet<_> = names.iter().collect();
    distinct.len() != names.len()
}
