//! A table of the file, whose keys are taken out one by one; what is left is not understood.

use similar::get_close_matches;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ConfigError;

/// How alike a word must be to be what was meant.
const ALIKE: f32 = 0.6;
/// The most that a million tokens may cost.
const DOLLARS_MAX: f64 = 100_000.0;

/// The text of the file, to tell lines by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'t>(pub(super) &'t str);

impl Text<'_> {
    /// Returns the line of a byte, counted from 1.
    pub(super) fn line(self, byte: usize) -> usize {
        let before = self.0.bytes().take(byte);
        before.filter(|byte| *byte == b'\n').count() + 1
    }

    pub(super) fn error<T>(self, at: &Spanned<T>, what: impl Into<String>) -> ConfigError {
        ConfigError::Line {
            line: self.line(at.span().start),
            what: what.into(),
        }
    }
}

/// A table whose keys are taken out one by one.
pub(super) struct Table<'t> {
    text: Text<'t>,
    /// What the table is called: `[sandbox]`; empty for the file itself.
    title: String,
    table: DeTable<'t>,
    known: Vec<&'static str>,
}

impl<'t> Table<'t> {
    pub(super) fn new(text: Text<'t>, title: impl Into<String>, table: DeTable<'t>) -> Self {
        Self {
            text,
            title: title.into(),
            table,
            known: Vec::new(),
        }
    }

    fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'t>>> {
        self.known.push(key);
        self.table.remove(key)
    }

    fn wrong(&self, at: &Spanned<DeValue<'t>>, key: &str, wanted: &str) -> ConfigError {
        self.text.error(at, format!("`{key}` must be {wanted}"))
    }

    pub(super) fn string(
        &mut self,
        key: &'static str,
    ) -> Result<Option<Spanned<String>>, ConfigError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::String(text) => {
                let text = text.clone().into_owned();
                Ok(Some(Spanned::new(value.span(), text)))
            }
            _ => Err(self.wrong(&value, key, "a text in quotes")),
        }
    }

    /// Takes one of a few words.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, ConfigError> {
        let Some(text) = self.string(key)? else {
            return Ok(None);
        };
        let found = words.iter().find(|(word, _)| word == text.get_ref());
        let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        found.map(|(_, value)| Some(*value)).ok_or_else(|| {
            let list = all.join("`, `");
            let what = format!(
                "`{key}` must be one of `{list}`{}",
                meant(text.get_ref(), &all)
            );
            self.text.error(&text, what)
        })
    }

    pub(super) fn flag(&mut self, key: &'static str) -> Result<Option<bool>, ConfigError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let flag = value.get_ref().as_bool();
        flag.map(Some)
            .ok_or_else(|| self.wrong(&value, key, "`true` or `false`"))
    }

    /// Takes a whole number from 1 up to a limit.
    pub(super) fn number(
        &mut self,
        key: &'static str,
        most: u64,
    ) -> Result<Option<u64>, ConfigError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let number = value.get_ref().as_integer();
        let number =
            number.and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
        let number = number.filter(|number| (1..=most).contains(number));
        number
            .map(Some)
            .ok_or_else(|| self.wrong(&value, key, &format!("a whole number from 1 to {most}")))
    }

    /// Takes an amount in US dollars.
    pub(super) fn dollars(&mut self, key: &'static str) -> Result<Option<f64>, ConfigError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let number = match value.get_ref() {
            DeValue::Integer(number) => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        let number = number.filter(|number: &f64| (0.0..=DOLLARS_MAX).contains(number));
        number.map(Some).ok_or_else(|| {
            let wanted = format!("US dollars for a million tokens, from 0 to {DOLLARS_MAX}");
            self.wrong(&value, key, &wanted)
        })
    }

    pub(super) fn error<T>(&self, at: &Spanned<T>, what: impl Into<String>) -> ConfigError {
        self.text.error(at, what)
    }

    /// Takes a list of texts, each with its line.
    pub(super) fn strings(
        &mut self,
        key: &'static str,
    ) -> Result<Vec<(usize, String)>, ConfigError> {
        let Some(value) = self.take(key) else {
            return Ok(Vec::new());
        };
        let texts = value.get_ref().as_array().and_then(|array| {
            let texts = array.iter().map(|text| {
                let line = self.text.line(text.span().start);
                Some((line, text.get_ref().as_str()?.to_owned()))
            });
            texts.collect()
        });
        texts.ok_or_else(|| self.wrong(&value, key, "a list of texts, `[\"…\", \"…\"]`"))
    }

    /// Takes a table inside this one.
    pub(super) fn table(
        &mut self,
        key: &'static str,
    ) -> Result<Option<(Text<'t>, DeTable<'t>)>, ConfigError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Table(table) => Ok(Some((self.text, table.clone()))),
            _ => Err(self.wrong(&value, key, "a table")),
        }
    }

    /// Takes a list of tables, `[[key]]`, each with its place.
    pub(super) fn tables(
        &mut self,
        key: &'static str,
    ) -> Result<Vec<Spanned<DeTable<'t>>>, ConfigError> {
        let Some(value) = self.take(key) else {
            return Ok(Vec::new());
        };
        let tables = value.get_ref().as_array().and_then(|array| {
            let tables = array.iter().map(|item| match item.get_ref() {
                DeValue::Table(table) => Some(Spanned::new(item.span(), table.clone())),
                _ => None,
            });
            tables.collect()
        });
        tables.ok_or_else(|| self.wrong(&value, key, &format!("tables, each under `[[{key}]]`")))
    }

    /// Says that everything was taken; what was not, is not understood.
    pub(super) fn end(self) -> Result<(), ConfigError> {
        // The first in the file, not in the alphabet.
        let left = self.table.keys().min_by_key(|key| key.span().start);
        let Some(key) = left else {
            return Ok(());
        };
        let place = match self.title.as_str() {
            "" => String::new(),
            title => format!(" in `{title}`"),
        };
        let what = format!(
            "there is no key `{}`{place}{}",
            key.get_ref(),
            meant(key.get_ref(), &self.known)
        );
        Err(self.text.error(key, what))
    }
}

/// Returns what was perhaps meant, or else what there is.
pub(super) fn meant(word: &str, known: &[&str]) -> String {
    let close = get_close_matches(word, known, 2, ALIKE);
    match close.is_empty() {
        false => format!("; did you mean `{}`?", close.join("` or `")),
        true if known.is_empty() => String::new(),
        true => format!("; there are `{}`", known.join("`, `")),
    }
}
