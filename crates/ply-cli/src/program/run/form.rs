//! Forms of the agent, one question after the other.

use std::collections::BTreeMap;

use ply_client::text::Line;
use ply_client::v2;
use ply_client::v2::ElicitationPropertySchema as Schema;

/// A field of a form.
#[derive(Debug)]
pub(super) struct Field<'a> {
    name: &'a str,
    schema: &'a Schema,
    is_required: bool,
}

/// What an answer to a field means.
#[derive(Debug, PartialEq)]
pub(super) enum Entry {
    Value(v2::ElicitationContentValue),
    /// It is left out.
    Nothing,
    /// It does not fit, for this reason.
    Wrong(String),
}

/// Returns the fields of a form, none if it has some that are not known here.
pub(super) fn fields(schema: &v2::ElicitationSchema) -> Option<Vec<Field<'_>>> {
    let required = schema.required.as_deref().unwrap_or_default();
    let is_known = |schema: &Schema| {
        matches!(
            schema,
            Schema::String(_) | Schema::Number(_) | Schema::Integer(_) | Schema::Boolean(_)
        )
    };
    let all = schema.properties.iter().map(|(name, schema)| Field {
        name,
        schema,
        is_required: required.contains(name),
    });
    let all: Vec<_> = all.collect();
    let can_ask = all.iter().all(|it| is_known(it.schema) || !it.is_required);
    can_ask.then(|| all.into_iter().filter(|it| is_known(it.schema)).collect())
}

impl Field<'_> {
    /// Returns the question, on lines that are moved in.
    pub(super) fn question(&self) -> String {
        let (title, about) = match self.schema {
            Schema::String(of) => (&of.title, &of.description),
            Schema::Number(of) => (&of.title, &of.description),
            Schema::Integer(of) => (&of.title, &of.description),
            Schema::Boolean(of) => (&of.title, &of.description),
            _ => (&None, &None),
        };
        let title = title.as_deref().unwrap_or(self.name);
        let mut said = format!("  {}", Line(title));
        if let Some(about) = about {
            said.push_str(&format!(" ({})", Line(about)));
        }
        for (place, (_, name)) in self.choices().iter().enumerate() {
            said.push_str(&format!("\n    {}) {}", place + 1, Line(name)));
        }
        let how = match (self.schema, self.default()) {
            (_, Some(default)) => format!(" [{}]", Line(&default)),
            (Schema::Boolean(_), None) => " [y/n]".to_owned(),
            (_, None) if !self.is_required => " [Enter for none]".to_owned(),
            _ => String::new(),
        };
        format!("{said}{how}: ")
    }

    /// Returns what can be chosen from: values and their names.
    fn choices(&self) -> Vec<(&str, &str)> {
        let Schema::String(of) = self.schema else {
            return Vec::new();
        };
        let titled = of.one_of.iter().flatten();
        let titled = titled.map(|it| (it.value.as_str(), it.title.as_str()));
        let plain = of.enum_values.iter().flatten();
        let plain = plain.map(|it| (it.as_str(), it.as_str()));
        titled.chain(plain).collect()
    }

    fn default(&self) -> Option<String> {
        match self.schema {
            Schema::String(of) => of.default.clone(),
            Schema::Number(of) => of.default.map(|it| it.to_string()),
            Schema::Integer(of) => of.default.map(|it| it.to_string()),
            Schema::Boolean(of) => of.default.map(|it| if it { "y" } else { "n" }.to_owned()),
            _ => None,
        }
    }

    /// Reads an answer.
    pub(super) fn read(&self, answer: &str) -> Entry {
        use v2::ElicitationContentValue as Value;
        let default = self.default();
        let answer = match (answer, &default) {
            ("", Some(default)) => default.as_str(),
            ("", None) if !self.is_required => return Entry::Nothing,
            ("", None) => return Entry::Wrong("this is needed".to_owned()),
            (answer, _) => answer,
        };
        let wrong = |what: &str| Entry::Wrong(what.to_owned());
        match self.schema {
            Schema::Boolean(_) => match answer {
                "y" | "yes" | "true" => Entry::Value(Value::Boolean(true)),
                "n" | "no" | "false" => Entry::Value(Value::Boolean(false)),
                _ => wrong("say y or n"),
            },
            Schema::Integer(of) => match answer.parse::<i64>() {
                Ok(number)
                    if of.minimum.is_none_or(|least| number >= least)
                        && of.maximum.is_none_or(|most| number <= most) =>
                {
                    Entry::Value(Value::Integer(number))
                }
                Ok(_) => wrong("the number is too small or too large"),
                Err(_) => wrong("say a whole number"),
            },
            Schema::Number(of) => match answer.parse::<f64>() {
                Ok(number)
                    if number.is_finite()
                        && of.minimum.is_none_or(|least| number >= least)
                        && of.maximum.is_none_or(|most| number <= most) =>
                {
                    Entry::Value(Value::Number(number))
                }
                Ok(_) => wrong("the number is too small or too large"),
                Err(_) => wrong("say a number"),
            },
            Schema::String(of) => self.read_string(of, answer),
            _ => wrong("this cannot be answered here"),
        }
    }

    fn read_string(&self, of: &v2::StringPropertySchema, answer: &str) -> Entry {
        let choices = self.choices();
        let value = match choices.is_empty() {
            true => Some(answer),
            false => {
                let by_value = choices.iter().find(|(value, _)| *value == answer);
                let place = answer
                    .parse::<usize>()
                    .ok()
                    .and_then(|it| it.checked_sub(1));
                let by_place = || place.and_then(|place| choices.get(place));
                by_value.or_else(by_place).map(|(value, _)| *value)
            }
        };
        let Some(value) = value else {
            return Entry::Wrong("choose one of the numbers".to_owned());
        };
        let length = u32::try_from(value.chars().count()).unwrap_or(u32::MAX);
        let is_short = of.min_length.is_some_and(|least| length < least);
        let is_long = of.max_length.is_some_and(|most| length > most);
        match is_short || is_long {
            true => Entry::Wrong("this is too short or too long".to_owned()),
            false => Entry::Value(value.to_owned().into()),
        }
    }

    /// Returns the name of the field in the answer.
    pub(super) fn name(&self) -> &str {
        self.name
    }
}

/// Returns the answer to a form.
pub(super) fn accepted(
    content: BTreeMap<String, v2::ElicitationContentValue>,
) -> v2::ElicitationAction {
    v2::ElicitationAction::Accept(v2::ElicitationAcceptAction::new().content(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> v2::ElicitationSchema {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {
                "a_name": {"type": "string", "title": "Name", "minLength": 2},
                "b_age": {"type": "integer", "minimum": 0, "maximum": 150},
                "c_sure": {"type": "boolean", "default": true},
                "d_size": {"type": "string", "enum": ["small", "large"]},
                "e_tags": {"type": "array", "items": {"type": "string", "enum": ["x"]}}
            },
            "required": ["a_name"]
        });
        serde_json::from_value(schema).unwrap()
    }

    #[track_caller]
    fn check(place: usize, answer: &str, expected: Option<serde_json::Value>) {
        let schema = schema();
        let fields = fields(&schema).unwrap();
        match (fields[place].read(answer), expected) {
            (Entry::Value(value), Some(expected)) => {
                assert_eq!(serde_json::to_value(value).unwrap(), expected);
            }
            (Entry::Wrong(_), None) => {}
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn answers_have_to_fit_their_field() {
        check(0, "Ada", Some("Ada".into()));
        check(0, "", None);
        check(0, "A", None);
        check(1, "42", Some(42.into()));
        check(1, "-1", None);
        check(1, "x", None);
        check(2, "", Some(true.into()));
        check(2, "n", Some(false.into()));
        check(3, "2", Some("large".into()));
        check(3, "small", Some("small".into()));
        check(3, "3", None);
    }

    #[test]
    fn a_form_that_needs_what_is_not_known_cannot_be_filled_in() {
        let mut form = schema();
        assert_eq!(fields(&form).unwrap().len(), 4);
        assert_eq!(fields(&form).unwrap()[1].read(""), Entry::Nothing);
        form.required = Some(vec!["e_tags".to_owned()]);
        assert!(fields(&form).is_none());
    }
}
