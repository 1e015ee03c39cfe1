//! What a file defines, by how its lines begin. It knows no grammar, and needs none to be useful.

use super::tally::language_of;

/// Words that stand before the keyword of a definition.
const MODIFIERS: [&str; 20] = [
    "pub",
    "async",
    "unsafe",
    "export",
    "default",
    "declare",
    "static",
    "public",
    "private",
    "protected",
    "internal",
    "abstract",
    "final",
    "override",
    "virtual",
    "inline",
    "sealed",
    "data",
    "open",
    "local",
];

/// Keywords that define something, and what it is called in words.
const KEYWORDS: [(&str, &str); 25] = [
    ("fn", "function"),
    ("func", "function"),
    ("function", "function"),
    ("def", "function"),
    ("fun", "function"),
    ("sub", "function"),
    ("struct", "struct"),
    ("enum", "enum"),
    ("union", "union"),
    ("trait", "trait"),
    ("class", "class"),
    ("interface", "interface"),
    ("protocol", "protocol"),
    ("type", "type"),
    ("object", "object"),
    ("record", "record"),
    ("mod", "module"),
    ("module", "module"),
    ("namespace", "namespace"),
    ("package", "package"),
    ("const", "constant"),
    ("static", "static"),
    ("var", "variable"),
    ("macro_rules!", "macro"),
    ("#define", "macro"),
];

/// Something that a file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// Where, counted from 1.
    pub(super) line: usize,
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// Whether others may use it.
    pub(super) is_public: bool,
    /// The first line of its documentation.
    pub(super) about: Option<String>,
}

/// Returns what a file defines at its outermost level; of a class or an `impl` that is the whole.
pub(super) fn items(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut about = About::default();
    let mut is_for_tests = false;
    for (place, line) in text.lines().enumerate() {
        if let Some(words) = documentation(line) {
            about.add(words);
            continue;
        }
        // Attributes stand between a definition and its documentation.
        if line.trim_start().starts_with(['#', '@']) && !line.starts_with("#define") {
            is_for_tests |= line.starts_with("#[cfg(test)]");
            continue;
        }
        if let Some((kind, name, is_public)) = definition(line)
            && !line.starts_with(char::is_whitespace)
            && !is_for_tests
        {
            items.push(Item {
                line: place + 1,
                kind,
                name,
                is_public,
                about: about.take(),
            });
        }
        (about, is_for_tests) = (About::default(), false);
    }
    items
}

/// The first paragraph of a documentation.
#[derive(Debug, Default)]
struct About {
    words: String,
    is_over: bool,
}

impl About {
    fn add(&mut self, words: &str) {
        self.is_over |= words.is_empty() && !self.words.is_empty();
        if !self.is_over && !words.is_empty() {
            self.words.push_str(words);
            self.words.push(' ');
        }
    }

    fn take(&mut self) -> Option<String> {
        let words = std::mem::take(&mut self.words);
        Some(words.trim_end().to_owned()).filter(|words| !words.is_empty())
    }
}

/// Returns the names that a Rust file passes on from elsewhere with `pub use`.
pub(super) fn passed_on(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in text.split("\npub use ").skip(1) {
        let part = part.split(';').next().unwrap_or_default();
        let pieces = part.split([',', '{', '}', '\n']).map(str::trim);
        for piece in pieces {
            let name = piece.rsplit(" as ").next().unwrap_or(piece);
            let name = name.rsplit("::").next().unwrap_or(name).trim();
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if is_name
                && !matches!(name, "self" | "crate" | "super")
                && !names.iter().any(|it| it == name)
            {
                names.push(name.to_owned());
            }
        }
    }
    names
}

/// Returns what a line says about the definition after it.
fn documentation(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let words = line
        .strip_prefix("///")
        .filter(|rest| !rest.starts_with('/'));
    words.or_else(|| line.strip_prefix("/** ")).map(str::trim)
}

/// Reads a line that defines something: what it is, what it is called, and whether others may use it.
pub(super) fn definition(line: &str) -> Option<(&'static str, String, bool)> {
    let mut words = line.split_whitespace().peekable();
    let mut is_public = false;
    loop {
        let word = words.next()?;
        let base = word.split('(').next().unwrap_or(word);
        let next_is_name = words.peek().is_none();
        if let Some((_, kind)) = KEYWORDS.iter().find(|(keyword, _)| *keyword == word) {
            // `const fn` and `static async` define what comes after.
            let next = words.peek().copied().unwrap_or_default();
            let is_before =
                KEYWORDS.iter().any(|(keyword, _)| *keyword == next) || MODIFIERS.contains(&next);
            if matches!(word, "const" | "static") && is_before {
                continue;
            }
            let name = name_of(words.next()?, &mut words)?;
            is_public |= word == "func" && is_capital(&name);
            return Some((kind, name, is_public));
        }
        if base == "pub" || matches!(word, "export" | "public") {
            // `pub(crate)` is not for others.
            is_public = word == "pub" || word == "export" || word == "public";
        } else if !MODIFIERS.contains(&word) && !matches!(word, "extern" | "\"C\"") || next_is_name
        {
            return None;
        }
    }
}

/// Returns a name without what follows it. Go puts a receiver before it.
fn name_of<'w>(word: &'w str, words: &mut impl Iterator<Item = &'w str>) -> Option<String> {
    let mut word = word;
    if word.starts_with('(') {
        while !word.ends_with(')') {
            word = words.next()?;
        }
        word = words.next()?;
    }
    if word == "mut" {
        word = words.next()?;
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let name: String = word.chars().take_while(|c| is_part(*c)).collect();
    (!name.is_empty()).then_some(name)
}

fn is_capital(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// Returns what a file says about itself at its beginning.
pub(super) fn about(path: &str, text: &str) -> Option<String> {
    let paragraph = match language_of(path) {
        Some("Rust") => comment(without_license(text), &["//!"]).or_else(|| inner_block(text)),
        Some("Python") => docstring(text),
        Some("Go" | "C" | "C++" | "Java" | "JavaScript" | "TypeScript") => {
            comment(text, &["//", " *", "/**"])
        }
        Some("shell") => comment(
            text.split_once('\n').map_or(text, |(_, rest)| rest),
            &["# "],
        ),
        _ => None,
    };
    paragraph.filter(|words| !words.is_empty() && !words.to_lowercase().contains("copyright"))
}

/// Returns a text without the plain comments and blank lines with which it begins.
fn without_license(text: &str) -> &str {
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        let is_plain = line.starts_with("//") && !line.starts_with("//!");
        if !is_plain && !line.trim().is_empty() {
            break;
        }
        rest = after;
    }
    rest
}

/// Returns the first paragraph of a comment between `/*!` and `*/`.
fn inner_block(text: &str) -> Option<String> {
    let inner = without_license(text).strip_prefix("/*!")?;
    let inner = inner.split("*/").next()?.trim();
    let paragraph = inner.split("\n\n").next()?;
    Some(paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the first paragraph of the comment with which a text begins.
fn comment(text: &str, marks: &[&str]) -> Option<String> {
    let lines = text
        .lines()
        .skip_while(|line| line.trim().is_empty() || line.starts_with("#!["));
    let mut words = Vec::new();
    for line in lines {
        let Some(rest) = marks.iter().find_map(|mark| line.strip_prefix(mark)) else {
            break;
        };
        let rest = rest.trim().trim_start_matches(['/', '*']).trim();
        // A title stands alone; what it is about comes after.
        let is_mark = rest.starts_with(['#', '[', '<']) || rest.starts_with("```");
        match rest.is_empty() || is_mark {
            true if !words.is_empty() => break,
            true => {}
            false => words.push(rest),
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}

fn docstring(text: &str) -> Option<String> {
    let text = text.trim_start();
    let inner = ["\"\"\"", "'''"]
        .iter()
        .find_map(|mark| text.strip_prefix(mark))?;
    let paragraph = inner.split("\n\n").next()?.split("\"\"\"").next()?;
    Some(paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(&'static str, &str, bool)>) {
        let expected = expected.map(|(kind, name, public)| (kind, name.to_owned(), public));
        assert_eq!(definition(line), expected, "{line}");
    }

    #[test]
    fn definitions_of_many_languages_are_read() {
        check(
            "pub fn parse(text: &str) {",
            Some(("function", "parse", true)),
        );
        check(
            "pub(crate) async fn run() {",
            Some(("function", "run", false)),
        );
        check(
            "pub const fn new() -> Self {",
            Some(("function", "new", true)),
        );
        check("pub const MAX: usize = 3;", Some(("constant", "MAX", true)));
        check("static mut X: u8 = 0;", Some(("static", "X", false)));
        check("macro_rules! vec {", Some(("macro", "vec", false)));
        check("export default class Pot {", Some(("class", "Pot", true)));
        check("async def pour(self):", Some(("function", "pour", false)));
        check(
            "func (p *Pot) Pour(n int) {",
            Some(("function", "Pour", true)),
        );
        check("type Pot struct {", Some(("type", "Pot", false)));
        check("let x = 3;", None);
        check("return fn", None);
        check("", None);
        check("impl Pot {", None);
    }

    #[test]
    fn items_have_their_line_and_what_they_are_about() {
        let text = "//! Pots.\n\n#[cfg(test)]\nmod early;\n\npub use x::{Cup, mug::Mug as Jug};\n\n/// Holds\n/// tea.\n///\n/// More.\n#[derive(Debug)]\npub struct Pot;\n\n\
                    impl Pot {\n    /// Pours.\n    pub fn pour() {}\n}\n\n#[cfg(test)]\nmod tests {}\n";
        let [item] = items(text).try_into().unwrap();
        let expected = Item {
            line: 13,
            kind: "struct",
            name: "Pot".to_owned(),
            is_public: true,
            about: Some("Holds tea.".to_owned()),
        };
        assert_eq!(item, expected);
        assert_eq!(about("a.rs", text).unwrap(), "Pots.");
        assert_eq!(passed_on(text), ["Cup", "Jug"]);
    }

    #[test]
    fn a_file_says_what_it_is_about() {
        assert_eq!(
            about("a.py", "\"\"\"Pots\nof tea.\n\nMore.\"\"\"\n").unwrap(),
            "Pots of tea."
        );
        assert_eq!(
            about("a.rs", "// License\n\n/*!\nPots of\ntea.\n\nMore.\n*/\n").unwrap(),
            "Pots of tea."
        );
        assert_eq!(about("a.rs", "// License\n//! Pots.\n").unwrap(), "Pots.");
        assert_eq!(about("a.js", "// Copyright 2020 X\n"), None);
    }
}
