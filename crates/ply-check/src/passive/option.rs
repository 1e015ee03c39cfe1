//! Options, modes and commands that agents offer.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Passive;
use super::finding::quote;
use super::message::{given, list, text};
use crate::rule::{Side, id};

/// Categories that the protocol names.
const CATEGORIES: &[&str] = &["mode", "model", "thought_level", "model_config"];

impl Passive {
    /// Judges a list of options.
    pub(super) fn options(&mut self, options: &[Value]) {
        let is_v2 = self.link.is_v2();
        for option in options {
            let fault = member_fault(is_v2, option).unwrap_or_default();
            self.keeps(id::V1_CONF_01, Side::Agent, fault.is_empty(), fault);
            let kind = text(option, "/type");
            if kind == Some("boolean") {
                let gate = "clientCapabilities.session.configOptions.boolean";
                let is_kept = is_v2 || self.is_advertised(Side::Client, gate);
                let what = "a boolean option for a client that does not support it";
                self.keeps(id::V1_CONF_04, Side::Agent, is_kept, what);
            }
            if let Some(category) = text(option, "/category") {
                let is_kept = category.starts_with('_') || CATEGORIES.contains(&category);
                let what = format!(
                    "the category {} is neither known nor begins with an underscore",
                    quote(category)
                );
                self.keeps(id::V1_CONF_08, Side::Agent, is_kept, &what);
            }
            if matches!(kind, Some("select" | "boolean")) {
                let fault = value_fault(option).unwrap_or_default();
                self.keeps(id::V1_CONF_05, Side::Agent, fault.is_empty(), fault);
            }
        }
    }

    /// Judges the modes of a session.
    pub(super) fn modes(&mut self, opened: &Value) {
        let Some(modes) = given(opened, "/modes") else {
            return;
        };
        let available = list(modes, "/availableModes");
        let is_whole = |mode: &Value| text(mode, "/id").is_some() && text(mode, "/name").is_some();
        let current = text(modes, "/currentModeId");
        let is_there = available.iter().any(|mode| text(mode, "/id") == current);
        let is_kept = available.iter().all(is_whole) && is_there;
        let what = "a mode lacks its `id` or `name`, or the current mode is not in the list";
        self.keeps(id::V1_MODE_01, Side::Agent, is_kept, what);
    }

    /// Judges a list of commands.
    pub(super) fn commands(&mut self, commands: &[Value]) {
        let is_v2 = self.link.is_v2();
        self.look(id::V1_CMD_01, Side::Agent);
        let mut names = BTreeSet::new();
        for command in commands {
            // Older drafts of version 2 had no kinds; kinds that are not known have their own members.
            if is_v2 && text(command, "/type").is_some_and(|kind| kind != "command") {
                continue;
            }
            let name = text(command, "/name").unwrap_or_default();
            let is_whole = !name.is_empty() && text(command, "/description").is_some();
            let is_plain = !name.starts_with('/') && !name.contains(char::is_whitespace);
            let what = "a command lacks its name or description";
            self.keeps(id::V1_CMD_03, Side::Agent, is_whole, what);
            let what = "a command lacks a member, or has an invalid or duplicate name";
            let is_kept = is_whole && is_plain && names.insert(name);
            self.keeps(id::V2_CMD_01, Side::Agent, is_kept, what);
            if let Some(input) = given(command, "/input") {
                self.command_input(input);
            }
        }
    }

    fn command_input(&mut self, input: &Value) {
        let has_hint = text(input, "/hint").is_some();
        let what = "the input of a command lacks `hint`";
        self.keeps(id::V1_CMD_03, Side::Agent, has_hint, what);
        let is_kept = match text(input, "/type") {
            Some("text") => has_hint,
            other => other.is_some_and(|kind| kind.starts_with('_')),
        };
        let what = "the input of a command is not of type `text`, or lacks `hint`";
        self.keeps(id::V2_CMD_02, Side::Agent, is_kept, what);
    }
}

/// Says what is wrong with the members of an option.
fn member_fault(is_v2: bool, option: &Value) -> Option<&'static str> {
    let (id, group) = match is_v2 {
        true => ("/configId", "/groupId"),
        false => ("/id", "/group"),
    };
    let has = |at| text(option, at).is_some();
    if !has(id) || !has("/name") || !has("/type") {
        return Some("an option lacks its id, `name` or `type`");
    }
    let mut groups = list(option, "/options").iter();
    let is_nameless =
        |entry: &Value| entry.get("options").is_some() && text(entry, group).is_none();
    groups
        .any(is_nameless)
        .then_some("a group of values lacks its id")
}

/// Says what is wrong with the values of an option.
fn value_fault(option: &Value) -> Option<&'static str> {
    if text(option, "/type") == Some("boolean") {
        let is_kept = option.get("currentValue").is_some_and(Value::is_boolean);
        return (!is_kept).then_some("the current value of a boolean option is not a boolean");
    }
    let groups = list(option, "/options").iter();
    let values = groups.flat_map(|item| match list(item, "/options") {
        [] => std::slice::from_ref(item),
        inner => inner,
    });
    let values: Vec<&str> = values.filter_map(|value| text(value, "/value")).collect();
    let distinct: BTreeSet<&&str> = values.iter().collect();
    let current = text(option, "/currentValue");
    match current.is_some_and(|current| values.contains(&current)) {
        true if distinct.len() == values.len() => None,
        true => Some("an option has a value twice"),
        false => Some("the current value of an option is not one of its values"),
    }
}
