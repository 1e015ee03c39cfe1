//! What makes `sed` and `awk` run other programs: their scripts.

use super::after_last;

/// Options of `sed` that neither run nor write anything.
const SED_OPTIONS: &[&str] = &[
    "-n",
    "-E",
    "-r",
    "-nE",
    "-nr",
    "--quiet",
    "--silent",
    "--regexp-extended",
];

/// Options of `sed` after which a script follows.
const SED_SCRIPT_OPTIONS: &[&str] = &["-e", "-ne", "-Ee", "-re", "--expression"];

/// A script of `sed` can run commands and write files by a single letter, so only the two forms that
/// people use most are taken for harmless: lines to print or leave out, and a replacement.
pub(super) fn sed(arguments: &[&str]) -> usize {
    let mut needed = 0;
    let (mut expected, mut given) = (false, false);
    for (place, word) in arguments.iter().enumerate() {
        let safe = if !expected && word.starts_with('-') {
            expected = SED_SCRIPT_OPTIONS.contains(word);
            expected || SED_OPTIONS.contains(word)
        } else if expected || !given {
            // Only an option before it makes the first word a file: some stop looking for options there.
            (expected, given) = (false, true);
            is_plain_script(word)
        } else {
            true
        };
        if !safe {
            needed = place + 2;
        }
    }
    needed
}

fn is_plain_script(script: &str) -> bool {
    let command = script.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$'));
    if matches!(command, "p" | "d" | "q" | "=") {
        return true;
    }
    let Some(rest) = command.strip_prefix('s') else {
        return false;
    };
    let mut letters = rest.chars();
    let Some(delimiter) = letters
        .next()
        .filter(|c| c.is_ascii_punctuation() && *c != '\\')
    else {
        return false;
    };
    let mut delimiters = 1;
    while delimiters < 3 {
        match letters.next() {
            None | Some('\n') => return false,
            Some('\\') if letters.next().is_none_or(|c| c == '\n') => return false,
            Some(c) if c == delimiter => delimiters += 1,
            Some(_) => {}
        }
    }
    letters.all(|flag| matches!(flag, 'g' | 'p' | 'I' | 'i' | '0'..='9'))
}

/// Programs of `awk` run commands through `system` and pipes, and write files.
pub(super) fn awk(arguments: &[&str]) -> usize {
    after_last(arguments, |word| {
        word.starts_with("-f")
            || word.starts_with("-i")
            || word.starts_with("-l")
            || word.starts_with("-E")
            || (word.starts_with("--") && word.len() > 2)
            || word.contains("system")
            || word.contains("getline")
            || word.contains(['|', '>', '@'])
    })
}
