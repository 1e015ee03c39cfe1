//! The lines between `---` with which a command or a skill begins.

/// Text with the keys that stand before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document<'t> {
    keys: Vec<(&'t str, String)>,
    /// What follows the keys.
    pub(crate) body: &'t str,
}

impl<'t> Document<'t> {
    /// Reads `key: value` lines between a first line `---` and the next one. Of YAML this is all that such files
    /// use in practice, besides a text that goes on in indented lines. What is not understood is left out: these
    /// files are written for other programs, too.
    pub(crate) fn parse(text: &'t str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let Some((head, body)) = split(text) else {
            let body = text;
            return Self {
                keys: Vec::new(),
                body,
            };
        };
        let mut keys: Vec<(&str, String)> = Vec::new();
        for line in head.lines() {
            let is_indented = line.starts_with([' ', '\t']);
            match (is_indented, keys.last_mut(), line.split_once(':')) {
                (true, Some((_, value)), _) => {
                    if matches!(value.as_str(), ">" | "|" | ">-" | "|-") {
                        value.clear();
                    }
                    if !value.is_empty() {
                        value.push(' ');
                    }
                    value.push_str(line.trim());
                }
                (false, _, Some((key, value))) if !key.trim_start().starts_with('#') => {
                    keys.push((key.trim(), unquoted(value.trim()).to_owned()));
                }
                _ => {}
            }
        }
        Self { keys, body }
    }

    /// Returns the value of a key that has one.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let found = self.keys.iter().find(|(known, _)| *known == key);
        found
            .map(|(_, value)| value.as_str())
            .filter(|it| !it.is_empty())
    }
}

/// Returns what is between the marks, and what is behind them.
fn split(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut place = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((rest.get(..place)?, rest.get(place + line.len()..)?));
        }
        place += line.len();
    }
    None
}

fn unquoted(value: &str) -> &str {
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        let inside = value.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(inside)
    });
    quoted.unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, description: Option<&str>, body: &str) {
        let document = Document::parse(text);
        assert_eq!(document.get("description"), description, "{text:?}");
        assert_eq!(document.body, body, "{text:?}");
    }

    #[test]
    fn keys_stand_between_two_marks_at_the_beginning() {
        check("Hi\n", None, "Hi\n");
        check(
            "---\ndescription: Fixes it\n---\nHi",
            Some("Fixes it"),
            "Hi",
        );
        check(
            "---\r\ndescription: 'a: b'\r\n---\r\nHi",
            Some("a: b"),
            "Hi",
        );
        check("---\n# a: b\ndescription:\n---\n", None, "");
        check("---\ndescription: \"\n---\n", Some("\""), "");
        // Without an end there is no front matter, and a line of dashes later is none.
        check("---\ndescription: x\n", None, "---\ndescription: x\n");
        check(
            "Hi\n---\ndescription: x\n---\n",
            None,
            "Hi\n---\ndescription: x\n---\n",
        );
    }

    #[test]
    fn a_text_may_go_on_in_indented_lines() {
        check(
            "---\ndescription: >-\n  one\n  two\n---\n",
            Some("one two"),
            "",
        );
        check(
            "---\ndescription: one\n  two\ntools: [a]\n---\n",
            Some("one two"),
            "",
        );
    }
}
