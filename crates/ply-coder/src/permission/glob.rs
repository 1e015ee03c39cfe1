//! Patterns for paths: `*` and `?` in a name, `**` for any number of folders.

use std::path::{Component, Path, PathBuf};

/// A pattern for paths. Without a leading `/` it is relative to each root of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathPattern {
    text: String,
    absolute: bool,
    parts: Vec<String>,
}

impl PathPattern {
    /// Takes a pattern whose text was checked.
    pub(super) fn new(text: &str) -> Self {
        let mut parts: Vec<String> = text
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .map(str::to_owned)
            .collect();
        // A lone star is what people write for everything.
        if text == "*" {
            parts = vec!["**".to_owned()];
        }
        Self {
            text: text.to_owned(),
            absolute: text.starts_with('/'),
            parts,
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Says whether it allows a path: it itself, below a root unless the pattern is absolute.
    pub(super) fn allows(&self, path: &Path, roots: &[PathBuf]) -> bool {
        self.candidates(path, roots)
            .any(|parts| self.covers(&parts))
    }

    /// Says whether it restricts a path: it or a folder that it is in, and what begins with `**` or is
    /// everything also outside of the roots.
    pub(super) fn restricts(&self, path: &Path, roots: &[PathBuf]) -> bool {
        let everywhere = self.parts.first().is_some_and(|part| part == "**");
        let anywhere = everywhere.then(|| names(path));
        self.candidates(path, roots)
            .chain(anywhere)
            .any(|parts| (0..=parts.len()).any(|end| self.covers(parts.get(..end).unwrap_or(&[]))))
    }

    /// Says whether a folder may hold what it matches. Stars at its beginning are left out: they would say
    /// so of every folder.
    pub(super) fn may_be_below(&self, path: &Path, roots: &[PathBuf]) -> bool {
        let known = self.parts.iter().take_while(|part| *part != "**").count();
        self.candidates(path, roots).any(|parts| {
            let begin = self.parts.get(..parts.len()).unwrap_or_default();
            !parts.is_empty()
                && parts.len() <= known
                && begin
                    .iter()
                    .zip(&parts)
                    .all(|(own, part)| name_matches(own, part))
        })
    }

    /// Says whether it names something by more than stars.
    pub(super) fn names(&self, name: &str) -> bool {
        /// Enough of a name that nobody writes it by accident; `.git` has as many.
        const LETTERS_MIN: usize = 3;
        self.parts.iter().any(|part| {
            part.chars().filter(|c| c.is_alphanumeric()).count() >= LETTERS_MIN
                && name_matches(&part.to_lowercase(), &name.to_lowercase())
        })
    }

    fn candidates<'p>(
        &'p self,
        path: &'p Path,
        roots: &'p [PathBuf],
    ) -> impl Iterator<Item = Vec<String>> + 'p {
        let absolute = self.absolute.then(|| names(path));
        let relative = roots
            .iter()
            .filter(|_| !self.absolute)
            .filter_map(|root| path.strip_prefix(root).ok())
            .map(names);
        absolute.into_iter().chain(relative)
    }

    fn covers(&self, parts: &[String]) -> bool {
        matches(
            &self.parts,
            parts,
            |pattern| pattern == "**",
            |pattern, name| name_matches(pattern, name),
        )
    }
}

/// Returns the names that a path consists of.
pub(super) fn names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect()
}

/// Says whether a name matches a pattern with `*` and `?`.
pub(super) fn name_matches(pattern: &str, name: &str) -> bool {
    // Most patterns are plain names, and walks ask for thousands of files.
    if !pattern.contains(['*', '?']) {
        return pattern == name;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    matches(&pattern, &name, |p| *p == '*', |p, c| *p == '?' || p == c)
}

/// Matches a sequence against a pattern in which some elements stand for any number of others.
///
/// Only the last of those elements is ever taken back, so the time is bounded by the product of the
/// lengths.
fn matches<P, T>(
    pattern: &[P],
    sequence: &[T],
    is_star: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut at, mut next) = (0, 0);
    let mut star = None;
    while let Some(item) = sequence.get(next) {
        match pattern.get(at) {
            Some(p) if is_star(p) => {
                star = Some((at + 1, next));
                at += 1;
            }
            Some(p) if fits(p, item) => {
                at += 1;
                next += 1;
            }
            _ => {
                let Some((after_star, taken)) = star else {
                    return false;
                };
                star = Some((after_star, taken + 1));
                (at, next) = (after_star, taken + 1);
            }
        }
    }
    pattern.iter().skip(at).all(is_star)
}
