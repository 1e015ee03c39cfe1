//! Patterns for paths: `*` and `?` in a name, `**` for any number of folders.

use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use globset::{GlobBuilder, GlobMatcher};

/// A pattern for paths. Without a leading `/` it is relative to each root of the session.
#[derive(Debug, Clone)]
pub(super) struct PathPattern {
    text: String,
    /// Made on first use: a file may have thousands of rules, of which most are never asked for.
    globs: OnceLock<Globs>,
}

#[derive(Debug, Clone)]
struct Globs {
    /// Whether it begins with any number of folders.
    everywhere: bool,
    whole: Glob,
    /// The same without the `**` at its end, if it ends so: what is in a folder includes the folder.
    folder: Option<Glob>,
    /// Its beginnings up to the first `**`, the shortest first.
    begins: Vec<Glob>,
    /// Its names that say more than stars do, in small letters.
    named: Vec<Glob>,
}

/// A pattern that was compiled; none if it is too large for that.
type Glob = Option<GlobMatcher>;

/// Enough of a name that nobody writes it by accident; `.git` has as many.
const LETTERS_MIN: usize = 3;

impl Globs {
    fn new(text: &str) -> Self {
        // A lone star is what people write for everything.
        let path = if text == "*" { "**" } else { text };
        let mut parts: Vec<&str> = path
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        parts.dedup_by(|next, last| *next == "**" && *last == "**");
        let absolute = if text.starts_with('/') { "/" } else { "" };
        let glob = |parts: &[&str]| glob(&format!("{absolute}{}", parts.join("/")));
        let folder = match parts.split_last() {
            Some((&"**", before)) => Some(glob(before)),
            _ => None,
        };
        let known = parts.iter().take_while(|part| **part != "**").count();
        let begins = (1..=known).map(|count| glob(parts.get(..count).unwrap_or_default()));
        let letters = |part: &str| part.chars().filter(|c| c.is_alphanumeric()).count();
        let named = parts.iter().filter(|part| letters(part) >= LETTERS_MIN);
        let named = named.map(|part| self::glob(&part.to_lowercase()));
        Self {
            everywhere: parts.first() == Some(&"**"),
            whole: glob(&parts),
            folder,
            begins: begins.collect(),
            named: named.collect(),
        }
    }
}

impl PathPattern {
    /// Takes a pattern whose text was checked.
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            globs: OnceLock::new(),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn globs(&self) -> &Globs {
        self.globs.get_or_init(|| Globs::new(&self.text))
    }

    /// Says whether it allows a path: it itself, below a root unless the pattern is absolute.
    pub(super) fn allows(&self, path: &Path, roots: &[PathBuf]) -> bool {
        self.candidates(path, roots)
            .any(|path| self.covers(path) == Some(true))
    }

    /// Says whether it restricts a path: it or a folder that it is in, and what begins with `**` or is
    /// everything also outside of the roots. One that is too large restricts everything.
    pub(super) fn restricts(&self, path: &Path, roots: &[PathBuf]) -> bool {
        let everywhere = self.globs().everywhere;
        let anywhere = path.strip_prefix("/").ok().filter(|_| everywhere);
        self.candidates(path, roots).chain(anywhere).any(|path| {
            let mut folders = path.ancestors();
            folders.any(|folder| self.covers(folder) != Some(false))
        })
    }

    /// Says whether a folder may hold what it matches. Stars at its beginning are left out: they would say
    /// so of every folder.
    pub(super) fn may_be_below(&self, path: &Path, roots: &[PathBuf]) -> bool {
        let begins = |path: &Path| {
            let mut begins = self.globs().begins.iter();
            begins.any(|begin| begin.as_ref().is_none_or(|begin| begin.is_match(path)))
        };
        self.candidates(path, roots).any(begins)
    }

    /// Says whether it names something by more than stars.
    pub(super) fn names(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let mut named = self.globs().named.iter().flatten();
        named.any(|named| named.is_match(&name))
    }

    fn candidates<'p>(
        &'p self,
        path: &'p Path,
        roots: &'p [PathBuf],
    ) -> impl Iterator<Item = &'p Path> {
        let is_absolute = self.text.starts_with('/');
        let relative = roots
            .iter()
            .filter(move |_| !is_absolute)
            .filter_map(|root| path.strip_prefix(root).ok());
        is_absolute.then_some(path).into_iter().chain(relative)
    }

    /// Says whether it matches a path; none if that cannot be told.
    fn covers(&self, path: &Path) -> Option<bool> {
        let globs = self.globs();
        let whole = globs.whole.as_ref()?.is_match(path);
        match &globs.folder {
            Some(folder) => Some(whole || folder.as_ref()?.is_match(path)),
            None => Some(whole),
        }
    }
}

impl PartialEq for PathPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PathPattern {}

/// Returns the names that a path consists of.
pub(super) fn names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect()
}

/// Compiles a pattern in which only stars and question marks stand for others: names such as `[id].tsx`
/// are common.
fn glob(text: &str) -> Glob {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '[' | ']' | '{' | '}' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    let built = GlobBuilder::new(&escaped)
        .literal_separator(true)
        .backslash_escape(true)
        .build();
    built.ok().map(|glob| glob.compile_matcher())
}
