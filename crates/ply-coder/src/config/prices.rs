//! Prices of models, in `config.toml` and in a file of their own that can be replaced at any time.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ConfigError;
use super::file::File;
use super::providers::{self, Providers};
use super::table::{Table, Text};
use crate::model::prices::{Price, Prices};

/// Returns the prices that `config.toml` says, and where those that services list do not hold.
pub(super) fn of(file: &File, found: &Providers) -> Prices {
    let mut prices = Prices::default();
    for model in &file.models {
        if let Some(price) = model.price {
            prices.add(providers::full_id(&model.id), price);
        }
    }
    let lists = found.lists.iter().map(|list| &list.service);
    let elsewhere = found.services.iter().chain(lists);
    for service in elsewhere.filter(|service| service.own_address) {
        let provider = service.facts.id.split('/').next();
        prices.is_elsewhere(provider.unwrap_or_default());
    }
    prices
}

/// Reads `prices.toml`: a table for each model.
pub(super) fn parse(text: &str) -> Result<Vec<(String, Price)>, ConfigError> {
    read_all(text).map_err(|error| match error {
        ConfigError::Line { line, what } | ConfigError::Syntax { line, what } => {
            ConfigError::Prices { line, what }
        }
        other => other,
    })
}

fn read_all(text: &str) -> Result<Vec<(String, Price)>, ConfigError> {
    let document = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        line: Text(text).line(error.span().map_or(0, |span| span.start)),
        what: error.message().to_owned(),
    })?;
    let text = Text(text);
    let mut prices = Vec::new();
    for (id, price) in document.into_inner() {
        let title = format!("[\"{}\"]", id.get_ref());
        let DeValue::Table(lines) = price.get_ref().clone() else {
            let what = format!("write `{title}` on a line of its own, and its prices below");
            return Err(text.error(&id, what));
        };
        let lines = Table::new(text, title, lines);
        let price = read(lines, &id)?;
        prices.push((providers::full_id(id.get_ref()), price));
    }
    Ok(prices)
}

/// Reads one price. The table was named at a place.
pub(super) fn read<T>(mut table: Table<'_>, at: &Spanned<T>) -> Result<Price, ConfigError> {
    let (input, output) = (table.dollars("input")?, table.dollars("output")?);
    let (cached, cache_write) = (table.dollars("cached")?, table.dollars("cache_write")?);
    let (Some(input), Some(output)) = (input, output) else {
        let what = "a price needs `input` and `output`, in US dollars for a million tokens";
        return Err(table.error(at, what));
    };
    table.end()?;
    Ok(Price::new(input, output, cached, cache_write))
}
