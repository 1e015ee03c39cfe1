//! Colours of code: syntect reads it, and our own theme says what its parts look like.
//!
//! Loading the syntaxes takes longer than a frame may, so a thread of its own does it when the first
//! code is drawn; until then code is plain.

mod role;

use std::ops::Range;
use std::sync::OnceLock;

use syntect::parsing::{ParseState, ScopeStack, ScopeStackOp, SyntaxReference, SyntaxSet};

pub(crate) use self::role::CodeRole;
use self::role::Roles;

/// Bytes of a line up to which it is highlighted; rules get slow on lines that no one reads.
pub(crate) const LINE_BYTES_MAX: usize = 1_000;

/// Names that people write after a fence for syntaxes that are known by another.
const ALIASES: [(&str, &str); 16] = [
    ("typescript", "js"),
    ("ts", "js"),
    ("tsx", "js"),
    ("jsx", "js"),
    ("mjs", "js"),
    ("node", "js"),
    ("shell", "sh"),
    ("console", "sh"),
    ("zsh", "sh"),
    ("shellsession", "sh"),
    ("jsonc", "json"),
    ("json5", "json"),
    ("golang", "go"),
    ("py3", "py"),
    ("patch", "diff"),
    ("docker", "sh"),
];

static SYNTAXES: OnceLock<Syntaxes> = OnceLock::new();
static LOADING: OnceLock<()> = OnceLock::new();

struct Syntaxes {
    set: SyntaxSet,
    roles: Roles,
}

/// Whether code of a language can be highlighted.
pub(crate) enum Found {
    /// From its first line on.
    Ready(Box<Highlighter>),
    /// Not yet: the syntaxes are being loaded.
    Loading,
    /// Never: the language is unknown.
    Unknown,
}

/// Reads code line by line. A copy goes on from where it was copied.
#[derive(Clone)]
pub(crate) struct Highlighter {
    syntaxes: &'static Syntaxes,
    state: ParseState,
    scopes: ScopeStack,
}

/// Loads the syntaxes unless that was done; takes some tens of milliseconds.
pub(crate) fn load() {
    SYNTAXES.get_or_init(|| Syntaxes {
        set: SyntaxSet::load_defaults_newlines(),
        roles: Roles::new(),
    });
}

/// Returns whether the syntaxes are loaded.
pub(crate) fn is_loaded() -> bool {
    SYNTAXES.get().is_some()
}

/// Returns whether somebody wanted the syntaxes and did not get them yet.
pub(crate) fn is_loading() -> bool {
    LOADING.get().is_some() && !is_loaded()
}

/// Returns what reads code of the language that a fence or a file name names.
pub(crate) fn find(language: &str) -> Found {
    let name = language
        .split([' ', ',', '{', ':'])
        .next()
        .unwrap_or_default();
    if name.is_empty() || name.len() > 32 {
        return Found::Unknown;
    }
    let Some(syntaxes) = SYNTAXES.get() else {
        LOADING.get_or_init(|| {
            // Nobody waits for it; without a thread code stays plain.
            drop(
                std::thread::Builder::new()
                    .name("syntaxes".into())
                    .spawn(load),
            );
        });
        return Found::Loading;
    };
    match syntaxes.named(name) {
        Some(syntax) => Found::Ready(Box::new(Highlighter {
            syntaxes,
            state: ParseState::new(syntax),
            scopes: ScopeStack::new(),
        })),
        None => Found::Unknown,
    }
}

impl Syntaxes {
    fn named(&self, name: &str) -> Option<&SyntaxReference> {
        let name = name.to_ascii_lowercase();
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        let name = alias.map_or(name.as_str(), |(_, name)| name);
        let found = self.set.find_syntax_by_token(name)?;
        (found.name != "Plain Text").then_some(found)
    }
}

impl Highlighter {
    /// Reads the next line, with its end, and returns its parts in order. One that is too long is
    /// one part, and the next line is read as if it had not been there.
    pub(crate) fn line(&mut self, line: &str) -> Vec<(CodeRole, Range<usize>)> {
        let whole = vec![(CodeRole::Plain, 0..line.len())];
        if line.len() > LINE_BYTES_MAX {
            return whole;
        }
        let Ok(changes) = self.state.parse_line(line, &self.syntaxes.set) else {
            return whole;
        };
        let mut parts = Vec::new();
        let mut start = 0;
        for (place, change) in &changes {
            self.part(start..*place, &mut parts);
            start = start.max(*place);
            self.apply(change);
        }
        self.part(start..line.len(), &mut parts);
        parts
    }

    fn part(&self, range: Range<usize>, parts: &mut Vec<(CodeRole, Range<usize>)>) {
        if range.is_empty() {
            return;
        }
        let role = self.syntaxes.roles.of(&self.scopes);
        match parts.last_mut() {
            Some((last, before)) if *last == role => before.end = range.end,
            _ => parts.push((role, range)),
        }
    }

    fn apply(&mut self, change: &ScopeStackOp) {
        if self.scopes.apply(change).is_err() {
            // A grammar that takes back more than it gave: what follows is plain, and no worse.
            self.scopes = ScopeStack::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: &str, lines: &[&str], expected: &[(CodeRole, &str)]) {
        load();
        let Found::Ready(mut highlighter) = find(language) else {
            panic!("{language} is not known");
        };
        let mut found = Vec::new();
        for line in lines {
            let parts = highlighter.line(line);
            let parts = parts.into_iter().map(|(role, range)| (role, &line[range]));
            found.extend(parts.filter(|(role, _)| *role != CodeRole::Plain));
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn parts_of_code_are_named_by_what_they_are() {
        use CodeRole::{Comment, Function, Keyword, Number, String};
        check(
            "rust",
            &["fn main() { // hi\n", "let x = \"a\"; 42 }\n"],
            &[
                (Keyword, "fn"),
                (Function, "main"),
                (Comment, "// hi\n"),
                (Keyword, "let"),
                (Keyword, "="),
                (String, "\"a\""),
                (Number, "42"),
            ],
        );
    }

    #[test]
    fn a_comment_over_lines_stays_one() {
        check(
            "c",
            &["/* one\n", "two */\n"],
            &[
                (CodeRole::Comment, "/* one\n"),
                (CodeRole::Comment, "two */"),
            ],
        );
    }

    #[test]
    fn other_names_of_a_language_are_known_and_none_is_plain() {
        load();
        for name in ["ts", "TSX", "shell", "json5", "Rust", "py", "c++", "yaml"] {
            assert!(matches!(find(name), Found::Ready(_)), "{name}");
        }
        for name in ["", "text", "no-such-language", "txt"] {
            assert!(matches!(find(name), Found::Unknown), "{name}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_plain() {
        check("rust", &[&"let ".repeat(1_000), "\n"], &[]);
    }
}
