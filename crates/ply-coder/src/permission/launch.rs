//! Commands that run others, and the words that make them.
//!
//! `cargo test *` is to mean tests, and not `cargo test --config 'target.x.runner="…"'`. So a rule with a
//! star allows such a command only if the words that the rule says itself reach past the word that is
//! dangerous: `shell(sudo *)` is the user's own word, `shell(*)` is not that word.
//!
//! The tables are not complete and cannot be. They bring broad rules closer to what people mean by them;
//! what a command may do once it runs is for the sandbox to confine.

mod git;
mod scripts;
mod tables;

pub(super) use self::scripts::sed_files;

use self::tables::{DANGERS, Danger, INTERPRETERS, LAUNCHERS, PLAIN, SHELLS};

/// Returns how many words a rule with a star must say itself to allow a command: none for most, and
/// [`usize::MAX`] where only a rule without a star will do.
pub(super) fn words_to_name(words: &[&str]) -> usize {
    let Some((first, arguments)) = words.split_first() else {
        return usize::MAX;
    };
    if arguments == ["--version"] {
        return 0;
    }
    let more = match program(first).as_str() {
        "git" => git::words_to_name_outside(arguments),
        // They take any option of their settings, cut short and with one dash, and some of those run code.
        "npm" | "pnpm" | "yarn" => {
            let own = arguments.iter().position(|word| *word == "--");
            let own = arguments.get(..own.unwrap_or(arguments.len()));
            after_last(own.unwrap_or_default(), |word| word.starts_with('-'))
        }
        _ => 0,
    };
    words_to_run(first, arguments).max(more)
}

/// Says whether a command runs others that its words hide: code for a shell or an interpreter, or a
/// program that is given another one.
pub(super) fn carries_code(words: &[&str]) -> bool {
    let Some((first, arguments)) = words.split_first() else {
        return false;
    };
    let program = program(first);
    let interprets = SHELLS.contains(&program.as_str()) || interpreter(&program);
    let plain = PLAIN.contains(&program.as_str())
        && !arguments.iter().any(|word| word.contains(['$', '`']));
    // An interpreter by itself runs a file.
    words_to_run(first, arguments) > usize::from(interprets) && !plain
}

/// Says whether a command runs others, by its name or by its words.
pub(super) fn runs_others(words: &[&str]) -> bool {
    let Some((first, arguments)) = words.split_first() else {
        return false;
    };
    // A path names a file that anybody may have put there.
    let is_system = [
        "/bin/",
        "/usr/bin/",
        "/usr/local/bin/",
        "/sbin/",
        "/usr/sbin/",
    ]
    .iter()
    .any(|folder| {
        first
            .strip_prefix(folder)
            .is_some_and(|name| !name.contains('/'))
    });
    (first.contains('/') && !is_system) || words_to_run(first, arguments) > 0
}

/// Says whether a command is given another one to run.
pub(super) fn is_launcher(words: &[&str]) -> bool {
    let program = words.first().map(|first| program(first));
    program.is_some_and(|program| LAUNCHERS.contains(&program.as_str()))
}

/// Says whether a program of `awk` may run commands, or read and write files of its own choice.
pub(super) fn awk_runs(arguments: &[&str]) -> bool {
    scripts::awk(arguments) > 0
}

/// Returns how many words must be named as a command that runs others.
fn words_to_run(first: &str, arguments: &[&str]) -> usize {
    let program = program(first);
    let program = program.as_str();
    let own = match program {
        "git" => git::words_to_name(arguments),
        "sed" | "gsed" => scripts::sed(arguments),
        "awk" | "gawk" | "mawk" | "nawk" => scripts::awk(arguments),
        // Here the first word is options even without a dash.
        "tar" | "gtar" | "bsdtar" => after_last(arguments.get(..1).unwrap_or_default(), |word| {
            word.contains(['I', 'F'])
        }),
        _ => 0,
    };
    // Without a file they run what they are given as input.
    let interprets = SHELLS.contains(&program) || interpreter(program);
    if interprets && arguments.iter().all(|word| word.starts_with('-')) {
        return usize::MAX;
    }
    let listed = DANGERS
        .iter()
        .filter(|danger| danger.is_about(program))
        .map(|danger| danger.words_to_name(arguments))
        .max()
        .unwrap_or(0);
    let launcher = LAUNCHERS.contains(&program) || interprets;
    own.max(listed).max(usize::from(launcher))
}

/// Returns a program's name without its folder, and as file systems that do not tell capitals apart see it.
pub(super) fn program(word: &str) -> String {
    word.rsplit('/').next().unwrap_or(word).to_lowercase()
}

/// Says whether a program runs code of a language, whatever its version.
fn interpreter(program: &str) -> bool {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&program)
}

/// Returns the place after the last word of which something holds, counted from the command's name.
fn after_last(arguments: &[&str], is_dangerous: impl Fn(&str) -> bool) -> usize {
    arguments
        .iter()
        .rposition(|word| is_dangerous(word))
        .map_or(0, |place| place + 2)
}

impl Danger {
    fn is_about(&self, program: &str) -> bool {
        let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        self.programs.contains(&program) || self.programs.contains(&name)
    }

    fn words_to_name(&self, arguments: &[&str]) -> usize {
        after_last(arguments, |word| {
            self.words.contains(&word)
                || is_option(word, self.options)
                || has_letter(word, self.letters)
                || (self.assignments && word.contains('='))
        })
    }
}

/// Says whether a word is one of some options, also cut short as many programs take them.
fn is_option(word: &str, options: &[&str]) -> bool {
    let Some(name) = word.strip_prefix('-') else {
        return false;
    };
    let long = name.strip_prefix('-');
    let name = long.unwrap_or(name).split('=').next().unwrap_or_default();
    !name.is_empty()
        && options
            .iter()
            .any(|option| *option == name || (long.is_some() && option.starts_with(name)))
}

/// Says whether a word of one-letter options has one of some letters.
fn has_letter(word: &str, letters: &str) -> bool {
    match word.strip_prefix('-') {
        Some(cluster) => !cluster.starts_with('-') && cluster.contains(|c| letters.contains(c)),
        None => false,
    }
}
