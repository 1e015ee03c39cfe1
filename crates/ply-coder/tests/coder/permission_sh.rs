//! Words as the parser reads them and as real shells do.
//!
//! The lines call nothing but a function that prints what it is given; there is no path to find any other
//! program on, and the shells run in a folder of their own.
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ply_coder::permission::line::{self, Join};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const SHOW: &str = "exec 9>&1\nw() { printf '%s\\000' \"$#\" \"$@\" >&9; }\n";

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("permission-sh");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The shells that are here, and how they are asked to be.
fn shells() -> Vec<Vec<&'static str>> {
    [
        vec!["/bin/sh"],
        vec!["/bin/dash"],
        vec!["/bin/bash", "--posix"],
        vec!["/bin/bash"],
    ]
    .into_iter()
    .filter(|shell| Path::new(shell[0]).exists())
    .collect()
}

/// Returns everything that the function was given, and whether the shell had no complaint.
fn seen(shell: &[&str], line: &str) -> (Vec<String>, bool) {
    let output = Command::new(shell[0])
        .args(&shell[1..])
        .args(["-c", &format!("{SHOW}{line}")])
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut words: Vec<String> = text.split('\0').map(str::to_owned).collect();
    words.pop();
    (words, output.status.success() && output.stderr.is_empty())
}

/// Returns what the function is given according to the parser, if the line calls nothing else.
fn read(line: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for command in line::read(line).ok()? {
        let words = command.plain_words()?;
        if words[0] != "w" || !matches!(command.join, Join::Next | Join::And) {
            return None;
        }
        all.push((words.len() - 1).to_string());
        all.extend(words[1..].iter().map(|word| (*word).to_owned()));
    }
    Some(all)
}

#[track_caller]
fn check(line: &str) {
    let expected = read(line).unwrap_or_else(|| panic!("{line:?} is not read"));
    for shell in shells() {
        assert_eq!(
            seen(&shell, line),
            (expected.clone(), true),
            "{shell:?} {line:?}"
        );
    }
}

#[test]
fn shells_see_the_words_that_the_parser_sees() {
    check("w");
    check("w ''  \"\" a");
    check("w 'a b'\"c d\"e\\ f");
    check("w \"a\\b\\\"\\$\\`\\\\c\"");
    check("w a#b # c\nw '# d'");
    check("w \\\n a \\\nb");
    check("w HEAD~1 a~b 'x'~ \\~ '*' \\? '{a,b}'");
    check("w a=b 'c'=d 'e~'=f~g; w -- --e=f");
    check("w >/dev/null 2>&1 a");
    check("w a && w b\nw c;w d");
    check("w a!b c^d e%f g,h @ +x");
    check("w 2 3>/dev/null");
    check("w größe \"¿qué?\"");
    check("'w' if then done in");
    check("w a]b c}d }");
    check("w 'a\nb' \"c\td\"");
}

/// Runs a property on lines that the parser accepts, and says how many there were.
fn compare(lines: impl Strategy<Value = String>, cases: u32) -> usize {
    let shells = shells();
    let accepted = std::cell::Cell::new(0);
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&lines, |line| {
            if let Some(expected) = read(&line) {
                accepted.set(accepted.get() + 1);
                // One shell a line, in turn, keeps the test short.
                let shell = &shells[accepted.get() % shells.len()];
                prop_assert_eq!(
                    seen(shell, &line),
                    (expected, true),
                    "{:?} {:?}",
                    shell,
                    line
                );
            }
            Ok(())
        })
        .unwrap();
    accepted.get()
}

#[test]
fn shells_agree_on_random_quoted_words() {
    let inside = "[ab ;|&<>()$`\"'#~*?{}!=\\\\-]{0,6}";
    let word = prop_oneof![
        inside.prop_map(|text: String| format!("'{}'", text.replace('\'', "'\\''"))),
        inside.prop_map(|text: String| {
            let escaped: String = text
                .chars()
                .flat_map(|c| {
                    matches!(c, '"' | '$' | '`' | '\\')
                        .then_some('\\')
                        .into_iter()
                        .chain([c])
                })
                .collect();
            format!("\"{escaped}\"")
        }),
        inside.prop_map(|text: String| text.chars().flat_map(|c| ['\\', c]).collect()),
        "[ab:=,./%^+@-]{1,5}",
    ];
    let word = prop::collection::vec(word, 1..4).prop_map(|parts| parts.concat());
    let end = prop::sample::select(vec![
        "", ";", "\n", " # c", " 2>&1", "; w x", " && w", "\n\nw y",
    ]);
    let line = (prop::collection::vec(word, 0..5), "[ \t]{1,2}", end)
        .prop_map(|(words, blank, end)| format!("w{blank}{}{end}", words.join(&blank)));
    let accepted = compare(line, 600);
    assert!(accepted > 300, "{accepted} lines were compared");
}

#[test]
fn shells_agree_on_random_text_that_the_parser_takes() {
    let pieces = vec![
        "w",
        " ",
        " ",
        "a",
        "b",
        "'",
        "'",
        "\"",
        "\"",
        "\\",
        "\\\n",
        "$",
        "#",
        "~",
        "=",
        ":",
        "*",
        "[",
        "]",
        "{",
        "}",
        ",",
        "!",
        ";",
        "&",
        "&&",
        "|",
        "<",
        ">",
        "(",
        ")",
        "\n",
        "\t",
        "1",
        "2",
        "`",
        "é",
        "-",
        "^",
        "%",
        "/dev/null",
        "2>&1",
        ";w ",
        "\nw ",
    ];
    let line = prop::collection::vec(prop::sample::select(pieces), 0..10)
        .prop_map(|pieces| format!("w {}", pieces.concat()));
    let accepted = compare(line, 6000);
    assert!(accepted > 200, "{accepted} lines were compared");
}
