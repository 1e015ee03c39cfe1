//! The arguments of a call, read one by one so that what is wrong can be said by name.

use serde_json::{Map, Value};

use super::Outcome;

/// The arguments of a call. Fields that nobody asks for are left alone.
#[derive(Debug)]
pub(crate) struct Arguments {
    fields: Map<String, Value>,
    /// Where they are, for words: empty, or such as `edits[2].`.
    within: String,
}

/// Returns the fields of arguments. Some models send nothing where there are none.
pub(crate) fn object(arguments: Value) -> Result<Map<String, Value>, Outcome> {
    match arguments {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        _ => Err(Outcome::failed(
            "The arguments are not a JSON object. Call again with one object that follows the tool's schema.",
        )),
    }
}

impl Arguments {
    pub(crate) fn new(arguments: Value) -> Result<Self, Outcome> {
        Ok(Self {
            fields: object(arguments)?,
            within: String::new(),
        })
    }

    /// Returns a text that must be there.
    pub(crate) fn text(&self, name: &str) -> Result<String, Outcome> {
        let text = self.optional_text(name)?;
        text.ok_or_else(|| self.wrong(name, "is missing; it must be a string"))
    }

    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<String>, Outcome> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(name, "must be a string")),
        }
    }

    /// Returns a count. Models write numbers as strings now and then, and mean them.
    pub(super) fn count(&self, name: &str) -> Result<Option<usize>, Outcome> {
        let number = match self.fields.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => {
                number.as_u64().or_else(|| number.as_f64().and_then(whole))
            }
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        match number.and_then(|number| usize::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(name, "must be a whole number, 0 or more")),
        }
    }

    /// Returns a switch, which is off when it is not there.
    pub(super) fn switch(&self, name: &str) -> Result<bool, Outcome> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(on)) => Ok(*on),
            Some(Value::String(text)) if text == "true" => Ok(true),
            Some(Value::String(text)) if text == "false" => Ok(false),
            Some(_) => Err(self.wrong(name, "must be true or false")),
        }
    }

    /// Returns one of some words.
    pub(super) fn word<T: Copy>(
        &self,
        name: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, Outcome> {
        let Some(text) = self.optional_text(name)? else {
            return Ok(None);
        };
        let known = words.iter().find(|(word, _)| *word == text.trim());
        match known {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                Err(self.wrong(name, &format!("must be one of {}", all.join(", "))))
            }
        }
    }

    /// Returns a list of texts, which is empty when it is not there.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>, Outcome> {
        let items = match self.fields.get(name) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(self.wrong(name, "must be an array of strings")),
        };
        let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
        let texts = texts.collect::<Option<_>>();
        texts.ok_or_else(|| self.wrong(name, "must be an array of strings"))
    }

    /// Returns a list of objects.
    pub(super) fn list(&self, name: &str) -> Result<Option<Vec<Self>>, Outcome> {
        let items = match self.fields.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(self.wrong(name, "must be an array of objects")),
        };
        let mut list = Vec::new();
        for (place, item) in items.iter().enumerate() {
            let Value::Object(fields) = item else {
                return Err(self.wrong(&format!("{name}[{place}]"), "must be an object"));
            };
            list.push(Self {
                fields: fields.clone(),
                within: format!("{}{name}[{place}].", self.within),
            });
        }
        Ok(Some(list))
    }

    /// Returns what to say about a field.
    pub(crate) fn wrong(&self, name: &str, what: &str) -> Outcome {
        Outcome::failed(format!("The argument `{}{name}` {what}.", self.within))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole, positive and small"
)]
fn whole(number: f64) -> Option<u64> {
    let fits = number.fract() == 0.0 && (0.0..1e15).contains(&number);
    fits.then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn wrong<T: std::fmt::Debug>(result: Result<T, Outcome>, words: &str) {
        assert_eq!(result.unwrap_err().text, words);
    }

    #[test]
    fn what_is_wrong_is_said_by_name() {
        let arguments = Arguments::new(json!({
            "path": 7, "limit": -1, "all": 3, "edits": [{"old": "x"}, 5]
        }))
        .unwrap();
        wrong(
            arguments.text("path"),
            "The argument `path` must be a string.",
        );
        wrong(
            arguments.text("pattern"),
            "The argument `pattern` is missing; it must be a string.",
        );
        wrong(
            arguments.count("limit"),
            "The argument `limit` must be a whole number, 0 or more.",
        );
        wrong(
            arguments.switch("all"),
            "The argument `all` must be true or false.",
        );
        wrong(
            arguments.list("edits"),
            "The argument `edits[1]` must be an object.",
        );
        assert!(Arguments::new(json!("{path: ")).is_err());
    }

    #[test]
    fn a_field_of_an_item_is_named_with_its_item() {
        let arguments = Arguments::new(json!({"edits": [{"old": "x"}]})).unwrap();
        let list = arguments.list("edits").unwrap().unwrap();
        wrong(
            list[0].text("new"),
            "The argument `edits[0].new` is missing; it must be a string.",
        );
    }

    #[test]
    fn numbers_and_switches_may_be_written_as_strings() {
        let arguments =
            Arguments::new(json!({"a": "20", "b": 20.0, "c": "true", "d": null})).unwrap();
        assert_eq!(arguments.count("a").unwrap(), Some(20));
        assert_eq!(arguments.count("b").unwrap(), Some(20));
        assert!(arguments.switch("c").unwrap());
        assert_eq!(arguments.count("d").unwrap(), None);
    }
}
