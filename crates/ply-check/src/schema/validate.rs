//! Whether a value fits a schema: as much of JSON Schema as the official one uses.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

/// Why a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// The names and numbers that lead to it, the last one first.
    path: Vec<String>,
    /// What is wrong, without its subject.
    pub(super) what: String,
}

impl Fault {
    fn new(what: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            what: what.into(),
        }
    }

    fn below(mut self, name: impl Into<String>) -> Self {
        self.path.push(name.into());
        self
    }

    /// Returns where it is, such as `update.content`; empty for the whole.
    pub(super) fn place(&self) -> String {
        let path: Vec<_> = self.path.iter().rev().map(String::as_str).collect();
        path.join(".")
    }
}

/// The named schemas.
pub(super) struct Defs<'a>(&'a Value);

impl<'a> Defs<'a> {
    pub(super) fn new(defs: &'a Value) -> Self {
        Self(defs)
    }

    /// Returns why a value does not fit a schema.
    pub(super) fn fault(&self, schema: &Value, value: &Value) -> Option<Fault> {
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return Some(Fault::new("is not allowed")),
            _ => return None,
        };
        if let Some(name) = reference(schema) {
            let fault = self.fault(self.0.get(name)?, value);
            if fault.is_some() {
                return fault;
            }
        }
        plain(keywords, value)
            .or_else(|| self.members(keywords, value))
            .or_else(|| self.items(keywords, value))
            .or_else(|| self.combined(keywords, value))
    }

    /// Returns the members that an object may have by a schema; none if it may have any, or is of a kind that nobody knows.
    pub(super) fn names(&self, schema: &'a Value, value: &Value) -> Option<BTreeSet<&'a str>> {
        let keywords = schema.as_object()?;
        if keywords.contains_key("additionalProperties") {
            return None;
        }
        let own = keywords.get("properties").and_then(Value::as_object);
        let own = own.into_iter().flat_map(|known| known.keys());
        let mut names: BTreeSet<_> = own.map(String::as_str).collect();
        if let Some(name) = reference(schema) {
            names.extend(self.names(self.0.get(name)?, value)?);
        }
        let branches = |name: &str| keywords.get(name).and_then(Value::as_array);
        for branch in branches("allOf").into_iter().flatten() {
            names.extend(self.names(branch, value)?);
        }
        for branches in ["anyOf", "oneOf"].into_iter().filter_map(branches) {
            let fits = |branch: &&Value| self.fault(branch, value).is_none();
            let branch = branches.iter().find(fits)?;
            names.extend(self.names(branch, value)?);
        }
        Some(names)
    }

    fn members(&self, keywords: &Map<String, Value>, value: &Value) -> Option<Fault> {
        let members = value.as_object()?;
        let required = keywords.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.find(|name| !members.contains_key(*name)) {
            return Some(Fault::new(format!("lacks `{missing}`")));
        }
        let known = keywords.get("properties").and_then(Value::as_object);
        let others = keywords.get("additionalProperties");
        members.iter().find_map(|(name, member)| {
            let schema = known.and_then(|known| known.get(name)).or(others)?;
            self.fault(schema, member).map(|fault| fault.below(name))
        })
    }

    fn items(&self, keywords: &Map<String, Value>, value: &Value) -> Option<Fault> {
        let items = value.as_array()?;
        let least = keywords.get("minItems").and_then(Value::as_u64);
        if least.is_some_and(|least| u64::try_from(items.len()).is_ok_and(|count| count < least)) {
            return Some(Fault::new("has too few entries"));
        }
        let schema = keywords.get("items")?;
        let mut numbered = items.iter().enumerate();
        numbered.find_map(|(number, item)| {
            let fault = self.fault(schema, item)?;
            Some(fault.below(number.to_string()))
        })
    }

    fn combined(&self, keywords: &Map<String, Value>, value: &Value) -> Option<Fault> {
        let branches = |name: &str| keywords.get(name).and_then(Value::as_array);
        let all = branches("allOf").into_iter().flatten();
        if let Some(fault) = all.into_iter().find_map(|branch| self.fault(branch, value)) {
            return Some(fault);
        }
        if let Some(not) = keywords.get("not")
            && self.fault(not, value).is_none()
        {
            return Some(Fault::new("has a form that is not allowed"));
        }
        let any = branches("anyOf").and_then(|branches| self.any(branches, value));
        any.or_else(|| branches("oneOf").and_then(|branches| self.any(branches, value)))
    }

    /// Returns why a value fits none of several schemas. Those that a tag tells apart are told apart by it, and a tag that nobody knows
    /// is a draft's.
    fn any(&self, branches: &[Value], value: &Value) -> Option<Fault> {
        let mut faults = Vec::new();
        for branch in branches {
            match self.fault(branch, value) {
                None => return None,
                Some(fault) => faults.push((branch, fault)),
            }
        }
        let words: Vec<_> = branches
            .iter()
            .filter_map(|branch| branch.get("const"))
            .collect();
        if words.len() == branches.len() {
            return Some(Fault::new(format!(
                "is {value}, which is none of its values"
            )));
        }
        let tag = branches
            .iter()
            .find_map(|branch| self.tag(branch).map(|(name, _)| name));
        if let (Some(tag), Some(members)) = (tag, value.as_object()) {
            let Some(told) = members.get(&tag) else {
                return Some(Fault::new(format!("lacks `{tag}`")));
            };
            let is_it = |(branch, _): &(&Value, Fault)| {
                self.tag(branch).is_some_and(|(_, word)| word == *told)
            };
            let found = faults.into_iter().find(is_it).map(|(_, fault)| fault);
            return match (found, told.is_string()) {
                (Some(fault), _) => Some(fault),
                (None, true) => None,
                (None, false) => Some(Fault::new("is no string").below(tag)),
            };
        }
        // The first one that is not null is what is meant; the deeper a fault, the more of it fits.
        let meant = |(branch, _): &(&Value, Fault)| !is_null(branch);
        let faults = faults.into_iter().filter(meant).map(|(_, fault)| fault);
        faults.max_by_key(|fault| fault.path.len())
    }

    /// Returns the member that tells a schema from its siblings, and its value there.
    fn tag(&self, branch: &Value) -> Option<(String, Value)> {
        let properties = branch.get("properties").and_then(Value::as_object);
        let own = properties.into_iter().flatten().find_map(|(name, member)| {
            let word = member.get("const").filter(|word| word.is_string())?;
            Some((name.clone(), word.clone()))
        });
        own.or_else(|| {
            let all = branch.get("allOf").and_then(Value::as_array);
            let mut all = all.into_iter().flatten();
            all.find_map(|branch| self.tag(branch))
        })
        .or_else(|| self.tag(self.0.get(reference(branch)?)?))
    }
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

/// Judges what needs no other schema.
fn plain(keywords: &Map<String, Value>, value: &Value) -> Option<Fault> {
    let word = keywords.get("const");
    if word.is_some_and(|word| word != value) {
        return Some(Fault::new(format!(
            "is {value}, not {}",
            word.unwrap_or(&Value::Null)
        )));
    }
    let words = keywords.get("enum").and_then(Value::as_array);
    if words.is_some_and(|words| !words.contains(value)) {
        return Some(Fault::new(format!(
            "is {value}, which is none of its values"
        )));
    }
    if let Some(wanted) = keywords.get("type")
        && !is_type(wanted, value)
    {
        let told = type_of(value);
        return Some(Fault::new(format!("is {}, not {}", a(told), types(wanted))));
    }
    let is_encoded = keywords.get("contentEncoding").and_then(Value::as_str) == Some("base64");
    let text = value.as_str().filter(|_| is_encoded);
    if text.is_some_and(|text| STANDARD.decode(text).is_err()) {
        return Some(Fault::new("is no base64"));
    }
    let number = value.as_f64();
    let bound = |name: &str| keywords.get(name).and_then(Value::as_f64);
    let is_low = bound("minimum")
        .zip(number)
        .is_some_and(|(least, number)| number < least);
    let is_high = bound("maximum")
        .zip(number)
        .is_some_and(|(most, number)| number > most);
    if is_low || is_high {
        return Some(Fault::new(format!("is {value}, which is out of bounds")));
    }
    let least = keywords
        .get("minLength")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    let is_short = value
        .as_str()
        .is_some_and(|text| least > 0 && text.is_empty());
    is_short.then(|| Fault::new("is empty"))
}

fn is_type(wanted: &Value, value: &Value) -> bool {
    match wanted {
        Value::Array(types) => types.iter().any(|wanted| is_type(wanted, value)),
        Value::String(name) => match name.as_str() {
            "integer" => {
                value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
            }
            name => type_of(value) == name,
        },
        _ => true,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the types that are wanted in words; null is never what is meant.
fn types(wanted: &Value) -> String {
    let names = match wanted {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => name.as_str().into_iter().collect::<Vec<_>>(),
    };
    let names = names.into_iter().filter(|name| *name != "null").map(a);
    names.collect::<Vec<_>>().join(" or ")
}

fn a(name: &str) -> String {
    match name {
        "null" => name.to_owned(),
        "array" | "object" | "integer" => format!("an {name}"),
        _ => format!("a {name}"),
    }
}
