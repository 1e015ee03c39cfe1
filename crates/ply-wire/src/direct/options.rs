//! The options of a version 1 session. The official type reads each of them twice, into values of any kind and then into its own,
//! since an option is flattened from two types.

use ply_json::Reader;

use crate::v1;

/// Reads the answer to `session/set_config_option` of version 1, if it has no member that this does not know.
#[must_use]
pub fn config_options(result: &str) -> Option<Vec<v1::SessionConfigOption>> {
    let mut reader = Reader::new(result);
    let mut options = None;
    reader.object(|reader, name| {
        match name {
            "configOptions" if options.is_none() => options = Some(list(reader)?),
            _ => return None,
        }
        Some(())
    })?;
    options.filter(|_| reader.is_at_end())
}

pub(super) fn list(reader: &mut Reader<'_>) -> Option<Vec<v1::SessionConfigOption>> {
    reader.list(option)
}

fn option(reader: &mut Reader<'_>) -> Option<v1::SessionConfigOption> {
    let (mut id, mut label, mut description, mut category) = (None, None, None, None);
    let (mut is_select, mut current, mut values) = (false, None, None);
    reader.object(|reader, name| {
        match name {
            "id" if id.is_none() => id = Some(reader.text()?),
            "name" if label.is_none() => label = Some(reader.text()?),
            "description" if description.is_none() => description = Some(reader.text()?),
            "category" if category.is_none() => category = Some(reader.text()?),
            "type" if !is_select => is_select = reader.word("select")?,
            "currentValue" if current.is_none() => current = Some(reader.text()?),
            "options" if values.is_none() => values = Some(reader.list(value)?),
            _ => return None,
        }
        Some(())
    })?;
    let current = v1::SessionConfigValueId::new(&*current.filter(|_| is_select)?);
    let select = v1::SessionConfigSelect::new(current, values?);
    let kind = v1::SessionConfigKind::Select(select);
    let id = v1::SessionConfigId::new(&*id?);
    let option = v1::SessionConfigOption::new(id, label?.into_owned(), kind)
        .description(description.map(String::from))
        .category(category.map(|category| match &*category {
            "mode" => v1::SessionConfigOptionCategory::Mode,
            "model" => v1::SessionConfigOptionCategory::Model,
            "model_config" => v1::SessionConfigOptionCategory::ModelConfig,
            "thought_level" => v1::SessionConfigOptionCategory::ThoughtLevel,
            other => v1::SessionConfigOptionCategory::Other(other.to_owned()),
        }));
    Some(option)
}

fn value(reader: &mut Reader<'_>) -> Option<v1::SessionConfigSelectOption> {
    let (mut id, mut label, mut description) = (None, None, None);
    reader.object(|reader, name| {
        match name {
            "value" if id.is_none() => id = Some(reader.text()?),
            "name" if label.is_none() => label = Some(reader.text()?),
            "description" if description.is_none() => description = Some(reader.text()?),
            _ => return None,
        }
        Some(())
    })?;
    let id = v1::SessionConfigValueId::new(&*id?);
    let value = v1::SessionConfigSelectOption::new(id, label?.into_owned());
    Some(value.description(description.map(String::from)))
}
