//! What a prompt asks for.

use super::commands::{self, Call};
use super::names::{bare, is_file_name, is_identifier, unquoted, words};

/// What a prompt asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Intent {
    /// Tools to call, one after the other.
    Calls(Vec<Call>),
    /// What the project is, or one side of it.
    Project(Aspect),
    /// What a file or directory has in it.
    Path(String),
    /// Where something is defined.
    Definition(String),
    /// Where something is used.
    Uses(String),
    /// What is left to do, by the comments in the code.
    Todos,
    /// What changed, by git.
    Changes(Changes),
    /// Run the tests, or the build.
    Check(Check),
    /// Something that takes a language model.
    Reasoning,
    /// What the model is and can do.
    About,
    /// Nothing that is understood.
    Unknown,
}

/// A side of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aspect {
    Overview,
    Structure,
    Size,
    Dependencies,
    Entries,
    Commands,
    Tests,
    Usage,
    License,
    Features,
    Facts,
}

/// What git is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changes {
    /// What is not committed, and the latest commits.
    Recent,
    /// The changes themselves.
    Diff,
}

/// What is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    Tests,
    Build,
}

/// Beginnings that add nothing.
const POLITE: [&str; 16] = [
    "please", "hey", "hi", "hello", "ply", "can", "could", "would", "you", "just", "now", "so",
    "ok", "okay", "quickly", "briefly",
];

/// Verbs and words whose work takes a language model.
const REASONING: [&str; 46] = [
    "add",
    "analyse",
    "analyze",
    "change",
    "clean",
    "comment",
    "compare",
    "convert",
    "create",
    "debug",
    "design",
    "document",
    "draft",
    "edit",
    "extend",
    "fix",
    "generate",
    "implement",
    "improve",
    "introduce",
    "make",
    "migrate",
    "modernize",
    "move",
    "optimise",
    "optimize",
    "port",
    "propose",
    "prove",
    "refactor",
    "remove",
    "rename",
    "replace",
    "resolve",
    "review",
    "rewrite",
    "simplify",
    "solve",
    "split",
    "suggest",
    "translate",
    "update",
    "upgrade",
    "why",
    "write",
    "delete",
];

/// What a question is about that takes a language model, wherever the word stands.
const JUDGEMENT: [&str; 10] = [
    "bug",
    "bugs",
    "vulnerability",
    "vulnerabilities",
    "secure",
    "better",
    "best",
    "wrong",
    "slow",
    "should",
];

/// Words that a question about a place is made of besides the name.
const FILLERS: [&str; 40] = [
    "a",
    "an",
    "any",
    "are",
    "be",
    "call",
    "called",
    "class",
    "code",
    "constant",
    "declared",
    "define",
    "defined",
    "definition",
    "do",
    "does",
    "enum",
    "find",
    "for",
    "function",
    "implemented",
    "in",
    "is",
    "it",
    "located",
    "macro",
    "me",
    "method",
    "module",
    "of",
    "show",
    "struct",
    "the",
    "this",
    "trait",
    "type",
    "use",
    "used",
    "we",
    "where",
];

/// Reads a prompt. Its first line with a question in it decides.
pub(super) fn read(prompt: &str) -> Intent {
    if let Some(calls) = commands::parse(prompt) {
        return Intent::Calls(calls);
    }
    let all = words(prompt);
    let lower: Vec<String> = all.iter().map(|word| word.to_ascii_lowercase()).collect();
    let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
    let begin = lower.iter().position(|word| !POLITE.contains(word));
    let begin = begin.unwrap_or(lower.len());
    let said = Said {
        names: all.get(begin..).unwrap_or_default(),
        words: lower.get(begin..).unwrap_or_default(),
    };
    if said.words.is_empty() {
        return Intent::About;
    }
    said.intent()
}

/// A prompt as words.
struct Said<'p> {
    /// As they were written.
    names: &'p [&'p str],
    /// In lower case.
    words: &'p [&'p str],
}

impl<'p> Said<'p> {
    fn intent(&self) -> Intent {
        let first = self.words.first().copied().unwrap_or_default();
        if self.is_about_ply() {
            return Intent::About;
        }
        let is_found = first == "find" && self.has(&["bug", "bugs"]);
        if REASONING.contains(&first) || is_found {
            return Intent::Reasoning;
        }
        let all = [Self::path, Self::place, Self::check, Self::side];
        let intent = all.iter().find_map(|look| look(self));
        match intent {
            Some(intent) => intent,
            None if self.has(&JUDGEMENT) || self.has(&REASONING) => Intent::Reasoning,
            None if self.is_overview() => Intent::Project(Aspect::Overview),
            None => Intent::Unknown,
        }
    }

    fn has(&self, any: &[&str]) -> bool {
        self.words.iter().any(|word| any.contains(word))
    }

    fn says(&self, phrase: &str) -> bool {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        self.words.windows(phrase.len()).any(|some| some == phrase)
    }

    fn says_any(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.says(phrase))
    }

    fn is_about_ply(&self) -> bool {
        self.words == ["help"]
            || self.says_any(&[
                "who are you",
                "what are you",
                "are you there",
                "what you can do",
                "what do you do",
                "which model",
                "what model",
                "thank you",
            ])
            // "Can you" was taken for politeness.
            || self.words == ["what", "can", "you", "do"]
            || self.words == ["do"]
            || self.words == ["thanks"]
            || self.words == ["test"]
    }

    /// A file or directory that is named.
    fn path(&self) -> Option<Intent> {
        let name = self.names.iter().find(|name| is_file_name(name))?;
        let asks = [
            "explain",
            "describe",
            "what",
            "what's",
            "whats",
            "summarize",
            "summarise",
            "outline",
            "how",
            "understand",
            "about",
            "show",
            "tell",
            "in",
            "list",
            "look",
            "read",
            "open",
        ];
        let is_alone = self.names.len() == 1;
        if self.says_any(&["where is", "who uses"]) || self.has(&["changed", "diff"]) {
            return None;
        }
        (is_alone || self.has(&asks)).then(|| Intent::Path(unquoted(name).to_owned()))
    }

    /// Where something is.
    fn place(&self) -> Option<Intent> {
        if self.has(&["todo", "todos", "fixme", "fixmes"]) {
            return Some(Intent::Todos);
        }
        let starts = [
            "where do i start",
            "where should i start",
            "where to start",
            "where do i begin",
            "where does it start",
            "main function",
            "entry point",
            "entry points",
            "start reading",
        ];
        if self.says_any(&starts) || self.has(&["entrypoint", "entrypoints"]) {
            return Some(Intent::Project(Aspect::Entries));
        }
        let uses = [
            "who uses",
            "who calls",
            "uses of",
            "usages of",
            "references to",
            "callers of",
            "calls to",
        ];
        let asks_where = self.has(&[
            "where",
            "where's",
            "definition",
            "defined",
            "find",
            "locate",
        ]);
        let asks_what = self.has(&["what", "explain", "describe", "how", "show"]);
        let is_used = asks_where && self.has(&["used", "called", "referenced"]);
        let asks_uses = is_used || self.says_any(&uses) || self.words.first() == Some(&"usages");
        if asks_where && self.has(&["tests", "examples", "docs", "documentation"]) {
            return None;
        }
        if asks_uses {
            return self.thing().map(Intent::Uses);
        }
        if asks_where {
            return self.thing().map(Intent::Definition);
        }
        let named = self.named_thing();
        named
            .filter(|_| asks_what || self.names.len() == 1)
            .map(Intent::Definition)
    }

    /// Returns the thing in code that is meant: one that is written as such, or else the word that is left.
    fn thing(&self) -> Option<String> {
        let plain = || {
            let mut words = self.words.iter().zip(self.names);
            let is_filler = |word: &str| {
                let more = [
                    "who",
                    "uses",
                    "calls",
                    "where's",
                    "usages",
                    "references",
                    "callers",
                    "to",
                    "from",
                ];
                FILLERS.contains(&word) || more.contains(&word) || POLITE.contains(&word)
            };
            let left = words.find(|(word, _)| !is_filler(word));
            left.map(|(_, name)| bare(name).to_owned())
        };
        self.named_thing().or_else(plain)
    }

    fn named_thing(&self) -> Option<String> {
        let is_quoted = |name: &str| unquoted(name) != name && !unquoted(name).contains(' ');
        let quoted = self.names.iter().find(|name| is_quoted(name));
        let written = || self.names.iter().find(|name| is_identifier(name));
        let found = quoted.or_else(written)?;
        let name = bare(found);
        let is_plain = name
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        (is_plain && !name.is_empty()).then(|| name.to_owned())
    }

    /// Something to run, or what git knows.
    fn check(&self) -> Option<Intent> {
        let asks_how = self.has(&["how", "command", "commands"]);
        let tests = self.has(&["test", "tests", "testsuite", "suite"]);
        let runs = self.has(&[
            "run", "execute", "pass", "passing", "green", "start", "rerun",
        ]) || self.words.first() == Some(&"test");
        if tests && runs && !asks_how {
            return Some(Intent::Check(Check::Tests));
        }
        let first = self.words.first().copied().unwrap_or_default();
        let builds = matches!(first, "build" | "compile")
            || self.says_any(&[
                "does it build",
                "does it compile",
                "does this build",
                "does this compile",
                "run the build",
                "run a build",
            ]);
        if builds && !asks_how {
            return Some(Intent::Check(Check::Build));
        }
        if self.has(&["diff", "diffs"]) {
            return Some(Intent::Changes(Changes::Diff));
        }
        let history = [
            "changed",
            "changes",
            "commit",
            "commits",
            "committed",
            "uncommitted",
            "branch",
            "branches",
            "history",
            "status",
            "log",
            "new",
            "lately",
            "recently",
        ];
        let is_history = self.has(&history) && !self.says_any(&["new here", "new to"]);
        is_history.then_some(Intent::Changes(Changes::Recent))
    }

    /// A side of the project.
    fn side(&self) -> Option<Intent> {
        let asks_how = self.has(&["how", "command", "commands"]);
        let side = if self.has(&[
            "dependency",
            "dependencies",
            "libraries",
            "packages",
            "depend",
            "depends",
            "deps",
        ]) {
            Aspect::Dependencies
        } else if asks_how && self.has(&["use", "usage"])
            || self.has(&["usage", "example", "examples"])
        {
            Aspect::Usage
        } else if asks_how && self.has(&["tested"]) || self.has(&["test", "tests"]) && !asks_how {
            Aspect::Tests
        } else if asks_how
            && self.has(&[
                "build", "compile", "test", "tests", "run", "install", "start", "set", "setup",
            ])
        {
            Aspect::Commands
        } else if self.has(&[
            "language",
            "languages",
            "big",
            "large",
            "lines",
            "loc",
            "size",
            "largest",
            "biggest",
            "longest",
        ]) || self.says_any(&["written in", "how many files", "how much code"])
        {
            Aspect::Size
        } else if self.has(&["license", "licence", "licensed"]) {
            Aspect::License
        } else if self.has(&["features", "feature"]) {
            Aspect::Features
        } else if self.has(&["version", "author", "authors", "maintainer", "maintainers"])
            || self.says_any(&["who wrote", "who made", "rust version"])
        {
            Aspect::Facts
        } else if self.has(&[
            "structure",
            "structured",
            "organized",
            "organised",
            "layout",
            "tree",
            "folders",
            "directories",
            "files",
            "modules",
            "architecture",
        ]) {
            Aspect::Structure
        } else {
            return None;
        };
        Some(Intent::Project(side))
    }

    fn is_overview(&self) -> bool {
        let whole = [
            "repository",
            "repo",
            "project",
            "codebase",
            "code",
            "directory",
            "folder",
            "workspace",
            "package",
            "crate",
            "app",
            "program",
            "overview",
            "purpose",
            "tour",
        ];
        let asks = [
            "explain",
            "describe",
            "summarize",
            "summarise",
            "what",
            "what's",
            "whats",
            "about",
            "overview",
        ];
        let is_this = self.has(&["this", "it", "here", "everything"]);
        let is_short = self.words.len() <= 2
            && self.has(&["explain", "describe", "summarize", "summarise", "overview"]);
        let is_new = self.says_any(&["new here", "new to", "get started", "getting started"]);
        self.has(&asks) && (self.has(&whole) || is_this && self.words.len() <= 6)
            || is_short
            || is_new
            || self.has(&["overview", "tour"])
    }
}

#[cfg(test)]
mod tests;
