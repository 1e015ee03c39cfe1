//! What commands inherit from the program's environment.

use std::ffi::OsStr;

use ply_rpc::transport::child::Command;

/// Turns off whatever would wait for a person.
const SET: [(&str, &str); 10] = [
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Git takes what it would have put into the editor.
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GCM_INTERACTIVE", "never"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// Files that shells run first, and programs that open a window to ask for a password.
const UNSET: [&str; 4] = ["BASH_ENV", "ENV", "GIT_ASKPASS", "SSH_ASKPASS"];

/// Last words of names that hold secrets.
const SECRETS: [&str; 8] = [
    "API_KEY",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "SECRET_KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "PASSWORD",
];

/// Sets what a command inherits.
///
/// This is the one place of the crate that looks at the environment of the program, and at names only:
/// a child inherits whatever nobody takes out.
pub(super) fn quiet(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        if is_secret(&name) {
            command = command.env_remove(name);
        }
    }
    for name in UNSET {
        command = command.env_remove(name);
    }
    for (name, value) in SET {
        command = command.env(name, value);
    }
    command
}

fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    SECRETS.iter().any(|secret| {
        let before = name.strip_suffix(secret);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_told_from_others() {
        let secret = [
            "OPENAI_API_KEY",
            "github_token",
            "TOKEN",
            "A_SECRET",
            "AWS_SECRET_ACCESS_KEY",
        ];
        for name in secret {
            assert!(is_secret(OsStr::new(name)), "{name}");
        }
        let plain = [
            "PATH",
            "HOME",
            "SSH_AUTH_SOCK",
            "TOKENIZERS_PARALLELISM",
            "MONKEY",
            "BETOKEN",
        ];
        for name in plain {
            assert!(!is_secret(OsStr::new(name)), "{name}");
        }
    }
}
