//! Names in prose: of files, and of things in code.

/// Words that stand where a name could, and are none.
const NOT_NAMES: [&str; 20] = [
    "all",
    "everything",
    "files",
    "it",
    "me",
    "more",
    "nothing",
    "something",
    "tests",
    "that",
    "the",
    "them",
    "these",
    "things",
    "this",
    "those",
    "through",
    "up",
    "us",
    "code",
];

/// Files without an ending that projects have.
const KNOWN_FILES: [&str; 10] = [
    "Makefile",
    "Dockerfile",
    "README",
    "LICENSE",
    "CHANGELOG",
    "Gemfile",
    "Rakefile",
    "Justfile",
    "justfile",
    "Procfile",
];

/// Takes quotes away from a name.
pub(super) fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['`', '"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

/// Says whether a text can be one name: it is quoted, or it is a single word that is no part of prose.
pub(super) fn is_name(text: &str) -> bool {
    let text = text.trim();
    if unquoted(text) != text {
        return true;
    }
    let is_word = !text.is_empty() && !text.contains(char::is_whitespace);
    is_word && !NOT_NAMES.contains(&text.to_ascii_lowercase().as_str()) && !text.ends_with('?')
}

/// Says whether a text is the name of a file, and not of something else.
pub(super) fn is_file_name(text: &str) -> bool {
    let name = unquoted(text);
    if name.is_empty() || name.contains(char::is_whitespace) || name.contains("://") {
        return false;
    }
    let has_ending = name.rsplit_once('.').is_some_and(|(before, ending)| {
        let is_ending = (1..=5).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.chars().all(|c| c.is_ascii_alphanumeric());
        is_ending && !before.ends_with('.') && !matches!(name, "e.g" | "i.e")
    });
    let has_slash = name.contains('/') && !name.starts_with("//");
    has_ending || has_slash || KNOWN_FILES.contains(&name)
}

/// Says whether a path ends with the name of a file that has no ending.
pub(super) fn is_known_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    KNOWN_FILES.contains(&name)
}

/// Says whether a word is written as things in code are: `HashMap`, `read_line`, `io::Error`, `main()`.
pub(super) fn is_identifier(word: &str) -> bool {
    let name = word.trim_end_matches("()").trim_end_matches('!');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    if name.len() < 2
        || !name.chars().all(is_plain)
        || name.starts_with(|c: char| c.is_ascii_digit())
    {
        return false;
    }
    let inner = name.get(1..).unwrap_or_default();
    let has_hump = inner.chars().any(|c| c.is_ascii_uppercase())
        && name.chars().any(|c| c.is_ascii_lowercase());
    name.contains('_') || name.contains("::") || has_hump || word.ends_with("()")
}

/// Returns the bare name of a thing in code: the last part of its path.
pub(super) fn bare(word: &str) -> &str {
    let name = unquoted(word).trim_end_matches("()").trim_end_matches('!');
    name.rsplit("::").next().unwrap_or(name)
}

/// Returns the words of a prompt without the punctuation around them; what stands in quotes is one word.
pub(super) fn words(prompt: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = prompt.trim_start();
    while let Some(first) = rest.chars().next() {
        let quoted = match first {
            '`' | '"' => rest.get(1..).and_then(|inner| inner.find(first)),
            _ => None,
        };
        let end = match quoted {
            Some(close) => close + 2,
            None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        let (word, after) = rest.split_at(end);
        rest = after.trim_start();
        let word = match quoted {
            Some(_) => word,
            None => trimmed(word),
        };
        if !word.is_empty() {
            words.push(word);
        }
    }
    words
}

fn trimmed(word: &str) -> &str {
    let word = word.trim_start_matches(['(', '"', '\'', '`', ',']);
    let end = ['?', '!', ',', ';', ':', '"', '\'', '`', '.'];
    let word = word.trim_end_matches(end);
    match word.contains('(') {
        true => word,
        false => word.trim_end_matches(')'),
    }
}

/// Returns a pattern for the words as they are.
pub(super) fn literal(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\.+*?()|[]{}^$#&-~".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_prose() {
        for name in ["src/lib.rs", "`my file`", "Makefile", "a.b"] {
            assert!(is_name(name), "{name}");
        }
        for prose in ["", "the code", "this", "why?"] {
            assert!(!is_name(prose), "{prose}");
        }
        for file in [
            "src",
            "tests",
            "e.g.",
            "and/or maybe",
            "https://a.example/b.rs",
            "0.4",
            "...",
        ] {
            assert!(!is_file_name(file), "{file}");
        }
        for file in ["lib.rs", "src/", "crates/ply-rpc", "README", ".env"] {
            assert!(is_file_name(file), "{file}");
        }
    }

    #[test]
    fn things_in_code_are_told_from_words() {
        for name in ["GlobSet", "read_line", "io::Error", "main()", "vec_map!"] {
            assert!(is_identifier(name), "{name}");
        }
        for word in ["I", "Rust", "config", "README", "2x", "don't"] {
            assert!(!is_identifier(word), "{word}");
        }
        assert_eq!(bare("`io::Error`"), "Error");
    }

    #[test]
    fn what_is_quoted_is_one_word() {
        assert_eq!(
            words("where is `a b` (in src/lib.rs)?"),
            ["where", "is", "`a b`", "in", "src/lib.rs"]
        );
        assert_eq!(words("is \"open"), ["is", "open"]);
    }
}
