//! A form that the agent wants filled in.

use std::collections::BTreeMap;

use ply_client::v2;

/// Fields shown of a form.
const FIELDS_MAX: usize = 30;
/// Characters that a field takes.
const FIELD_CHARS_MAX: usize = 10_000;

/// A form and what was entered so far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Form {
    pub(crate) message: String,
    pub(crate) fields: Vec<Field>,
    /// The field that the keys are on.
    pub(crate) field: usize,
    /// What is wrong with what was entered.
    pub(crate) problem: Option<String>,
    /// Whether the form has something that cannot be filled in here.
    pub(crate) is_strange: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) is_required: bool,
    pub(crate) value: Value,
}

/// A value, of the kind that the form wants.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(String),
    Integer(String),
    Flag(bool),
    /// One of several: values with titles, and which.
    One(Vec<(String, String)>, Option<usize>),
}

impl Form {
    pub(crate) fn new(request: &v2::CreateElicitationRequest) -> Self {
        let mut form = Self {
            message: request.message.clone(),
            fields: Vec::new(),
            field: 0,
            problem: None,
            is_strange: true,
        };
        let v2::ElicitationMode::Form(mode) = &request.mode else {
            return form;
        };
        let schema = &mode.requested_schema;
        let required = schema.required.as_deref().unwrap_or_default();
        let fields = schema.properties.iter().take(FIELDS_MAX);
        let fields: Vec<Option<Field>> = fields
            .map(|(name, schema)| field(name, schema, required.contains(name)))
            .collect();
        // A field that need not be filled in may be of any kind.
        let is_known =
            |(field, name): (&Option<Field>, &String)| field.is_some() || !required.contains(name);
        form.is_strange = !fields.iter().zip(schema.properties.keys()).all(is_known);
        form.fields = fields.into_iter().flatten().collect();
        form
    }

    pub(crate) fn step(&mut self, by: isize) {
        let moved = self.field.saturating_add_signed(by);
        self.field = moved.min(self.fields.len().saturating_sub(1));
    }

    /// Types into the field.
    pub(crate) fn type_in(&mut self, text: &str) {
        self.problem = None;
        let Some(field) = self.fields.get_mut(self.field) else {
            return;
        };
        match &mut field.value {
            Value::Text(value) | Value::Number(value) | Value::Integer(value) => {
                if value.chars().count() + text.chars().count() <= FIELD_CHARS_MAX {
                    value.extend(text.chars().filter(|char| !char.is_control()));
                }
            }
            Value::Flag(flag) if text == " " => *flag = !*flag,
            Value::Flag(_) => {}
            Value::One(..) if text == " " => self.choose(1),
            Value::One(..) => {}
        }
    }

    pub(crate) fn erase(&mut self) {
        let value = self
            .fields
            .get_mut(self.field)
            .map(|field| &mut field.value);
        match value {
            Some(Value::Text(value) | Value::Number(value) | Value::Integer(value)) => {
                value.pop();
            }
            Some(Value::One(_, chosen)) => *chosen = None,
            _ => {}
        }
    }

    /// Goes to another choice.
    pub(crate) fn choose(&mut self, by: isize) {
        let value = self
            .fields
            .get_mut(self.field)
            .map(|field| &mut field.value);
        match value {
            Some(Value::One(choices, chosen)) => {
                let count = choices.len().max(1);
                *chosen = Some(match *chosen {
                    None => 0,
                    Some(at) => (at + count).saturating_add_signed(by) % count,
                });
            }
            Some(Value::Flag(flag)) => *flag = !*flag,
            _ => {}
        }
    }

    /// Returns the answer, or notes what is wrong.
    pub(crate) fn answer(&mut self) -> Option<v2::ElicitationAction> {
        if self.is_strange {
            let words = "this form has something that cannot be filled in here; Ctrl-D declines";
            self.problem = Some(words.to_owned());
            return None;
        }
        let mut content = BTreeMap::new();
        for field in &self.fields {
            match field.value.read() {
                Ok(Some(value)) => {
                    content.insert(field.name.clone(), value);
                }
                Ok(None) if field.is_required => {
                    self.problem = Some(format!("`{}` is needed", field.title));
                    return None;
                }
                Ok(None) => {}
                Err(what) => {
                    self.problem = Some(format!("`{}` must be {what}", field.title));
                    return None;
                }
            }
        }
        let accepted = v2::ElicitationAcceptAction::new().content(content);
        Some(v2::ElicitationAction::Accept(accepted))
    }
}

impl Value {
    fn read(&self) -> Result<Option<v2::ElicitationContentValue>, &'static str> {
        use v2::ElicitationContentValue as Content;
        Ok(match self {
            Self::Text(text) if text.is_empty() => None,
            Self::Text(text) => Some(Content::String(text.clone())),
            Self::Number(text) | Self::Integer(text) if text.trim().is_empty() => None,
            Self::Number(text) => {
                let number = text.trim().parse::<f64>().ok();
                let number = number
                    .filter(|number| number.is_finite())
                    .ok_or("a number")?;
                Some(Content::Number(number))
            }
            Self::Integer(text) => {
                let number = text.trim().parse().map_err(|_| "a whole number")?;
                Some(Content::Integer(number))
            }
            Self::Flag(flag) => Some(Content::Boolean(*flag)),
            Self::One(choices, chosen) => chosen
                .and_then(|chosen| choices.get(chosen))
                .map(|(value, _)| Content::String(value.clone())),
        })
    }
}

fn field(name: &str, schema: &v2::ElicitationPropertySchema, is_required: bool) -> Option<Field> {
    use v2::ElicitationPropertySchema as Schema;
    let (title, description, value) = match schema {
        Schema::String(string) => {
            let plain = string.enum_values.iter().flatten();
            let plain = plain.map(|value| (value.clone(), value.clone()));
            let titled = string.one_of.iter().flatten();
            let titled = titled.map(|option| (option.value.clone(), option.title.clone()));
            let choices: Vec<_> = plain.chain(titled).collect();
            let default = string.default.clone();
            let value = if choices.is_empty() {
                Value::Text(default.unwrap_or_default())
            } else {
                let chosen = choices
                    .iter()
                    .position(|(value, _)| Some(value) == default.as_ref());
                Value::One(choices, chosen)
            };
            (&string.title, &string.description, value)
        }
        Schema::Number(number) => {
            let value = number.default.map(|number| number.to_string());
            let value = Value::Number(value.unwrap_or_default());
            (&number.title, &number.description, value)
        }
        Schema::Integer(integer) => {
            let value = integer.default.map(|number| number.to_string());
            let value = Value::Integer(value.unwrap_or_default());
            (&integer.title, &integer.description, value)
        }
        Schema::Boolean(boolean) => {
            let value = Value::Flag(boolean.default.unwrap_or_default());
            (&boolean.title, &boolean.description, value)
        }
        _ => return None,
    };
    Some(Field {
        name: name.to_owned(),
        title: title.clone().unwrap_or_else(|| name.to_owned()),
        description: description.clone().unwrap_or_default(),
        is_required,
        value,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form() -> Form {
        let request = json!({
            "mode": "form",
            "sessionId": "s",
            "message": "Which database?",
            "requestedSchema": {
                "type": "object",
                "properties": {
                    "a_name": {"type": "string", "title": "Name"},
                    "b_kind": {"type": "string", "enum": ["sqlite", "postgres"]},
                    "c_port": {"type": "integer"},
                    "d_keep": {"type": "boolean", "default": true}
                },
                "required": ["a_name"]
            }
        });
        Form::new(&serde_json::from_value(request).unwrap())
    }

    #[test]
    fn a_form_is_filled_in_by_keys() {
        let mut form = form();
        assert!(!form.is_strange && form.fields.len() == 4);
        assert_eq!(form.answer(), None);
        assert_eq!(form.problem.as_deref(), Some("`Name` is needed"));
        form.type_in("main");
        form.step(1);
        form.choose(1);
        form.choose(1);
        form.step(1);
        form.type_in("x");
        assert_eq!(form.answer(), None);
        form.erase();
        form.type_in("5432");
        form.step(1);
        form.type_in(" ");
        let answer = serde_json::to_value(form.answer().unwrap()).unwrap();
        let content =
            json!({"a_name": "main", "b_kind": "postgres", "c_port": 5432, "d_keep": false});
        assert_eq!(answer, json!({"action": "accept", "content": content}));
    }

    #[test]
    fn v1_elic_07_what_was_entered_can_be_looked_at_and_changed_before_it_is_sent() {
        let mut form = form();
        form.type_in("mian");
        form.step(1);
        form.choose(1);
        form.step(2);
        // Back to the first field, which still shows what was entered.
        form.step(-3);
        assert_eq!(form.field, 0);
        assert_eq!(form.fields[0].value, Value::Text("mian".to_owned()));
        for _ in 0..3 {
            form.erase();
        }
        form.type_in("ain");
        form.step(1);
        form.choose(1);
        let answer = serde_json::to_value(form.answer().unwrap()).unwrap();
        assert_eq!(answer["content"]["a_name"], "main");
        assert_eq!(answer["content"]["b_kind"], "postgres");
    }

    #[test]
    fn a_form_with_something_strange_that_is_needed_can_only_be_declined() {
        let request = json!({
            "mode": "form", "sessionId": "s", "message": "?",
            "requestedSchema": {
                "type": "object", "properties": {"x": {"type": "tree"}}, "required": ["x"]
            }
        });
        let mut form = Form::new(&serde_json::from_value(request).unwrap());
        assert_eq!(form.answer(), None);
        assert!(form.problem.unwrap().contains("Ctrl-D declines"));
    }
}
