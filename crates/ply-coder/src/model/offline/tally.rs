//! How large a project is, by language: from the line counts that `grep` returns.

use std::collections::BTreeMap;

use super::turn::Done;

/// What a file ending stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Code,
    /// Documents, configuration and data.
    Other,
}

/// File endings, and the language that each stands for.
const LANGUAGES: &[(&str, &str, Sort)] = &[
    ("rs", "Rust", Sort::Code),
    ("py", "Python", Sort::Code),
    ("pyi", "Python", Sort::Code),
    ("js", "JavaScript", Sort::Code),
    ("mjs", "JavaScript", Sort::Code),
    ("cjs", "JavaScript", Sort::Code),
    ("jsx", "JavaScript", Sort::Code),
    ("ts", "TypeScript", Sort::Code),
    ("tsx", "TypeScript", Sort::Code),
    ("vue", "Vue", Sort::Code),
    ("svelte", "Svelte", Sort::Code),
    ("go", "Go", Sort::Code),
    ("java", "Java", Sort::Code),
    ("kt", "Kotlin", Sort::Code),
    ("kts", "Kotlin", Sort::Code),
    ("scala", "Scala", Sort::Code),
    ("c", "C", Sort::Code),
    ("h", "C", Sort::Code),
    ("cc", "C++", Sort::Code),
    ("cpp", "C++", Sort::Code),
    ("cxx", "C++", Sort::Code),
    ("hpp", "C++", Sort::Code),
    ("hh", "C++", Sort::Code),
    ("cs", "C#", Sort::Code),
    ("rb", "Ruby", Sort::Code),
    ("php", "PHP", Sort::Code),
    ("swift", "Swift", Sort::Code),
    ("m", "Objective-C", Sort::Code),
    ("hs", "Haskell", Sort::Code),
    ("ml", "OCaml", Sort::Code),
    ("ex", "Elixir", Sort::Code),
    ("exs", "Elixir", Sort::Code),
    ("erl", "Erlang", Sort::Code),
    ("clj", "Clojure", Sort::Code),
    ("lua", "Lua", Sort::Code),
    ("zig", "Zig", Sort::Code),
    ("dart", "Dart", Sort::Code),
    ("r", "R", Sort::Code),
    ("jl", "Julia", Sort::Code),
    ("sh", "shell", Sort::Code),
    ("bash", "shell", Sort::Code),
    ("awk", "AWK", Sort::Code),
    ("ps1", "PowerShell", Sort::Code),
    ("sql", "SQL", Sort::Code),
    ("html", "HTML", Sort::Code),
    ("css", "CSS", Sort::Code),
    ("scss", "CSS", Sort::Code),
    ("proto", "Protobuf", Sort::Code),
    ("tf", "Terraform", Sort::Code),
    ("nix", "Nix", Sort::Code),
    ("md", "Markdown", Sort::Other),
    ("rst", "reStructuredText", Sort::Other),
    ("adoc", "AsciiDoc", Sort::Other),
    ("txt", "text", Sort::Other),
    ("toml", "TOML", Sort::Other),
    ("json", "JSON", Sort::Other),
    ("yaml", "YAML", Sort::Other),
    ("yml", "YAML", Sort::Other),
    ("xml", "XML", Sort::Other),
    ("snap", "snapshots", Sort::Other),
];

/// Files that tools write: nobody reads them, and they would be most of a small project.
const GENERATED: [&str; 7] = [
    "Cargo.lock",
    "Cargo.toml.orig",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "uv.lock",
];

/// Languages that are named in a sentence.
const NAMED_MAX: usize = 4;

/// Files and lines of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Amount {
    pub(super) files: u64,
    pub(super) lines: u64,
}

impl Amount {
    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.lines += other.lines;
    }
}

/// The size of a project.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Files with their lines, in the order of names; not all of them in a large project.
    pub(super) files: Vec<(String, u64)>,
    /// Whether `files` has all of them.
    pub(super) is_whole: bool,
    by_language: BTreeMap<(bool, &'static str), Amount>,
    total: Amount,
}

impl Tally {
    /// Reads what `grep` returned in its mode `count`.
    pub(super) fn read(counted: Option<Done<'_>>) -> Self {
        let mut tally = Self {
            is_whole: counted.is_some(),
            ..Self::default()
        };
        let Some(counted) = counted else {
            return tally;
        };
        for line in counted.lines() {
            if let Some((path, lines)) = line.rsplit_once(':')
                && let Ok(lines) = lines.parse::<u64>()
                && !is_generated(path)
            {
                tally.files.push((path.to_owned(), lines));
            }
        }
        match endings(counted.text) {
            Some(endings) => {
                tally.is_whole = false;
                for (ending, amount) in endings {
                    tally.add(&ending, amount);
                }
            }
            None => {
                for (path, lines) in std::mem::take(&mut tally.files) {
                    let amount = Amount { files: 1, lines };
                    tally.add(ending_of(&path), amount);
                    tally.files.push((path, lines));
                }
            }
        }
        tally
    }

    fn add(&mut self, ending: &str, amount: Amount) {
        let found = LANGUAGES.iter().find(|(known, _, _)| *known == ending);
        let (name, sort) = found.map_or(("other", Sort::Other), |(_, name, sort)| (*name, *sort));
        let language = (sort == Sort::Code, name);
        self.by_language.entry(language).or_default().add(amount);
        self.total.add(amount);
    }

    /// Returns files and lines in all.
    pub(super) fn total(&self) -> Amount {
        self.total
    }

    /// Returns the languages of the code, the one with the most lines first.
    pub(super) fn languages(&self) -> Vec<(&'static str, Amount)> {
        let code = self.by_language.iter().filter(|((is_code, _), _)| *is_code);
        let mut code: Vec<_> = code.map(|((_, name), amount)| (*name, *amount)).collect();
        code.sort_by_key(|(_, amount)| std::cmp::Reverse(amount.lines));
        code
    }

    /// Says how large it is, by language.
    pub(super) fn sentence(&self) -> String {
        let total = self.total();
        let languages = self.languages();
        let percent = |amount: &Amount| amount.lines * 100 / total.lines.max(1);
        // What is less than a hundredth says nothing about the whole.
        let is_worth_it =
            |(place, (_, amount)): &(usize, &(&str, Amount))| *place == 0 || percent(amount) > 0;
        let named = languages.iter().enumerate().filter(is_worth_it);
        let named = named.take(NAMED_MAX).map(|(_, (name, amount))| {
            format!(
                "{name} {} lines ({} %)",
                number(amount.lines),
                percent(amount)
            )
        });
        let named: Vec<_> = named.collect();
        let size = format!("{}, {}", files(total.files), lines(total.lines));
        match languages.as_slice() {
            [] => size,
            [(only, amount)] if amount.lines == total.lines => format!("{size} of {only}"),
            _ => format!("{size}: {}", named.join(", ")),
        }
    }

    /// Returns what is below a directory; all of it for an empty name.
    pub(super) fn below(&self, directory: &str) -> Amount {
        let mut amount = Amount::default();
        for (path, lines) in &self.files {
            let inside = path.strip_prefix(directory);
            let inside = inside.is_some_and(|rest| directory.is_empty() || rest.starts_with('/'));
            if inside {
                amount.add(Amount {
                    files: 1,
                    lines: *lines,
                });
            }
        }
        amount
    }

    /// Returns the files with the most lines of code, largest first.
    pub(super) fn largest(&self, count: usize) -> Vec<(&str, u64)> {
        let is_code = |path: &str| {
            let ending = ending_of(path);
            let mut known = LANGUAGES.iter();
            known.any(|(it, _, sort)| *it == ending && *sort == Sort::Code)
        };
        let files = self
            .files
            .iter()
            .map(|(path, lines)| (path.as_str(), *lines));
        let mut files: Vec<_> = files.filter(|(path, _)| is_code(path)).collect();
        files.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
        files.truncate(count);
        files
    }

    /// Says whether there is such a file.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.iter().any(|(known, _)| known == path)
    }
}

/// Returns the language that a file's ending stands for.
pub(super) fn language_of(path: &str) -> Option<&'static str> {
    let ending = ending_of(path);
    let found = LANGUAGES.iter().find(|(known, _, _)| *known == ending);
    found.map(|(_, name, _)| *name)
}

/// Returns the ending of a file's name, or nothing.
pub(super) fn ending_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((before, ending)) if !before.is_empty() => ending,
        _ => "",
    }
}

fn is_generated(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    GENERATED.contains(&name)
}

/// Reads the totals that `grep` adds to a list which is not whole: `… By ending: rs 220 lines in 14 files, …]`.
fn endings(text: &str) -> Option<Vec<(String, Amount)>> {
    let (_, list) = text.rsplit_once(crate::tool::grep::BY_ENDING)?;
    let list = list.split([']', '.']).next()?;
    let read = list.split(", ").filter_map(|part| {
        let mut words = part.split_whitespace();
        let ending = words.next()?.to_owned();
        let lines = words.next()?.parse().ok()?;
        let files = words.nth(2)?.parse().ok()?;
        Some((ending, Amount { files, lines }))
    });
    // What tools write has endings of its own, but for a few.
    let read = read.filter(|(ending, _)| !matches!(ending.as_str(), "lock" | "orig"));
    Some(read.collect())
}

/// Returns a number of lines in words.
pub(super) fn lines(count: u64) -> String {
    plural(count, "line", "lines")
}

/// Returns a number of files in words.
pub(super) fn files(count: u64) -> String {
    plural(count, "file", "files")
}

/// Returns a number with its noun.
pub(super) fn plural(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", number(count)),
    }
}

/// Returns a number with commas between thousands.
pub(super) fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn counted(text: &str) -> Tally {
        Tally::read(Some(Done {
            name: "grep",
            arguments: &Value::Null,
            text,
            failed: false,
        }))
    }

    #[test]
    fn lines_are_counted_by_language_without_what_tools_write() {
        let tally = counted("Cargo.lock:900\nREADME.md:20\nsrc/a.rs:60\nsrc/b/c.rs:20\n");
        assert!(tally.is_whole);
        assert_eq!(tally.sentence(), "3 files, 100 lines: Rust 80 lines (80 %)");
        assert_eq!(
            tally.below("src"),
            Amount {
                files: 2,
                lines: 80
            }
        );
        assert_eq!(tally.largest(1), [("src/a.rs", 60)]);
    }

    #[test]
    fn a_list_that_was_cut_is_counted_by_its_totals() {
        let text = format!(
            "a.rs:1\n[Stopped listing after 1 file. {}rs 2000 lines in 20 files, md 30 lines in 2 files.]",
            crate::tool::grep::BY_ENDING
        );
        let tally = counted(&text);
        assert!(!tally.is_whole);
        assert_eq!(
            tally.sentence(),
            "22 files, 2,030 lines: Rust 2,000 lines (98 %)"
        );
    }

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(number(7), "7");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(lines(1), "1 line");
    }
}
