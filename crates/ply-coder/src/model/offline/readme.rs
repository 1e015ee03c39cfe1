//! What a README says first.

use crate::text;

/// Bytes of a paragraph that are quoted.
const PARAGRAPH_BYTES_MAX: usize = 420;
/// Lines of an example that are quoted.
const EXAMPLE_LINES_MAX: usize = 20;

/// Returns the title.
pub(super) fn title(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let underlined = lines.windows(2).find_map(|pair| match pair {
        [title, line] if is_underline(line) && !title.trim().is_empty() => Some(title.trim()),
        _ => None,
    });
    let marked = lines.iter().find_map(|line| line.strip_prefix("# "));
    let title = marked.or(underlined)?;
    let title = plain(title);
    (!title.is_empty()).then_some(title)
}

/// Returns the first paragraph of prose, without headings, badges, pictures, tables and code.
pub(super) fn paragraph(text: &str) -> Option<String> {
    let mut found = String::new();
    let mut in_code = false;
    let mut lines = text.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        let is_title = lines.peek().is_some_and(|next| is_underline(next));
        let is_prose = !in_code && !is_title && !is_underline(line) && is_prose(line);
        if is_prose {
            found.push_str(line);
            found.push(' ');
        } else if !found.is_empty() && !in_code {
            break;
        }
    }
    let found = plain(found.trim());
    let cut = sentences(&found, PARAGRAPH_BYTES_MAX);
    (!cut.is_empty()).then_some(cut)
}

/// Returns the first block of code in a language, with its fence.
pub(super) fn example(text: &str) -> Option<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, Vec<&str>)> = None;
    for line in text.lines() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(language)) => open = Some((language.trim().to_owned(), Vec::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, lines)), None) => lines.push(line),
            (None, None) => {}
        }
    }
    let is_code = |(language, _): &&(String, Vec<&str>)| {
        !matches!(language.as_str(), "toml" | "json" | "yaml" | "")
    };
    let (language, lines) = blocks.iter().find(is_code).or(blocks.first())?;
    let language = language.split([',', ' ']).next().unwrap_or_default();
    let mut shown: Vec<&str> = lines.iter().take(EXAMPLE_LINES_MAX).copied().collect();
    if lines.len() > shown.len() {
        shown.push("…");
    }
    Some(format!("```{language}\n{}\n```", shown.join("\n")))
}

fn is_underline(line: &str) -> bool {
    line.len() >= 3 && (line.bytes().all(|c| c == b'=') || line.bytes().all(|c| c == b'-'))
}

/// Says whether a line is part of a sentence.
fn is_prose(line: &str) -> bool {
    let is_badge = line.starts_with("[![") || line.starts_with("![");
    let is_marked =
        line.starts_with(['#', '<', '|', '>', '-', '*', '=']) && !line.starts_with("**");
    // A definition of a link, or a link and nothing else.
    let is_link = line.starts_with('[') && (line.contains("]: ") || line.ends_with(')'));
    !line.is_empty() && !is_badge && !is_marked && !is_link
}

/// Takes links, emphasis and pictures away from a sentence.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['[', '*']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        match link(from) {
            Some((words, after)) => {
                out.push_str(&plain(words));
                rest = after;
            }
            None => {
                let skipped = if from.starts_with('*') { "" } else { "[" };
                out.push_str(skipped);
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads `[words](address)` or `[words][name]`, and returns the words with what follows.
fn link(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('[')?;
    let (words, after) = inner.split_once(']')?;
    let close = match after.chars().next()? {
        '(' => ')',
        '[' => ']',
        _ => return None,
    };
    let (_, rest) = after.get(1..)?.split_once(close)?;
    Some((words, rest))
}

/// Returns as many whole sentences as fit; at least the beginning of the first.
pub(super) fn sentences(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let head = text::head(text, bytes_max);
    match head.rfind(". ") {
        Some(end) => head.get(..=end).unwrap_or(head).to_owned(),
        None => format!("{}…", head.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_paragraph_is_prose_and_nothing_else() {
        let text = "# Ply\n\n[![build](a.svg)](b)\n<p>x</p>\n\nThe **protocol**, end to\nend, as in [the \
                    text](http://x).\n\nMore.";
        assert_eq!(title(text).unwrap(), "Ply");
        assert_eq!(
            paragraph(text).unwrap(),
            "The protocol, end to end, as in the text."
        );
    }

    #[test]
    fn a_title_may_be_underlined() {
        let text = "globset\n=======\nCross platform globs.\n\nMore";
        assert_eq!(title(text).unwrap(), "globset");
        assert_eq!(paragraph(text).unwrap(), "Cross platform globs.");
    }

    #[test]
    fn the_first_example_is_code_and_not_a_manifest() {
        let text = "```toml\n[dependencies]\n```\n\n```rust,no_run\nlet a = 1;\n```\n";
        assert_eq!(example(text).unwrap(), "```rust\nlet a = 1;\n```");
        assert_eq!(example("none"), None);
    }

    #[test]
    fn long_text_ends_with_a_sentence() {
        assert_eq!(sentences("One. Two. Three.", 10), "One. Two.");
        assert_eq!(sentences("Oneandonly", 4), "Onea…");
    }
}
