//! What commands inherit from the program's environment.

use std::ffi::OsStr;
use std::path::Path;

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

/// Files that shells run first, programs that open a window to ask for a password, a list of other places
/// that `cd` goes to, and the terminals of the user, which can be typed into from outside.
const UNSET: [&str; 8] = [
    "BASH_ENV",
    "ENV",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "CDPATH",
    "TMUX",
    "TMUX_PANE",
    "STY",
];

/// Ways to other programs of the user, which do things outside of the sandbox for whoever asks. The
/// sandbox cannot close their sockets, so this is a bolt against accidents and not against malice.
///
/// An agent for SSH keys is among them: what is signed with its keys is out of the sandbox, on any host.
/// Without a sandbox a command could read the keys themselves, so there Git over SSH goes on working. The
/// address of a container engine stays: tests need it, its usual address needs no variable, and taking it
/// away would send them to that one.
const UNSET_IN_SANDBOX: [&str; 4] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_STARTER_ADDRESS",
    "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO",
];

/// Words in names of variables that hold secrets.
const SECRET_WORDS: [&str; 15] = [
    "APIKEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "KEY",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PRIVATE",
    "SECRET",
    "SECRETS",
    "TOKEN",
];

/// Whole names of variables that hold secrets and do not look so.
const SECRET_NAMES: [&str; 3] = ["DATABASE_URL", "MYSQL_PWD", "PGPASSWORD"];

/// Variables by which programs are pointed to their cache, and its name in ours.
///
/// Cargo is not among them: it keeps its configuration, its credentials and what it downloaded in one
/// place, which it can read where it is. Only packages that are not there yet cannot be added; the user
/// can make that place writable, and trust what is built from it later.
const CACHES: [(&str, &str); 5] = [
    ("XDG_CACHE_HOME", "xdg"),
    ("npm_config_cache", "npm"),
    ("GOCACHE", "go-build"),
    ("PIP_CACHE_DIR", "pip"),
    ("YARN_CACHE_FOLDER", "yarn"),
];
/// The same for modules of Go, which are downloads: without a network an empty place would be of no use,
/// and the user's can be read.
const DOWNLOADS: (&str, &str) = ("GOMODCACHE", "go-mod");

/// Sets what a command inherits.
///
/// This file is the one place of the crate that looks at the environment of the program, to find what is
/// not for commands: a child inherits whatever nobody takes out.
///
/// `withheld` are further variables that are not for commands, whatever they are called.
pub(super) fn quiet(mut command: Command, sandboxed: bool, withheld: &[String]) -> Command {
    for (name, value) in std::env::vars_os() {
        if is_secret(&name, &value) {
            command = command.env_remove(name);
        }
    }
    for name in withheld {
        command = command.env_remove(name);
    }
    let in_sandbox = UNSET_IN_SANDBOX.iter().filter(|_| sandboxed);
    for name in UNSET.iter().chain(in_sandbox) {
        command = command.env_remove(name);
    }
    for (name, value) in SET {
        command = command.env(name, value);
    }
    command
}

/// Takes out what is called like a secret, for programs that are told their secrets by name.
///
/// Addresses with a password stay: those of proxies are such, and these programs may have no other way
/// to the network.
pub(crate) fn without_secrets(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        if has_secret_name(&name) {
            command = command.env_remove(name);
        }
    }
    command
}

/// Points programs to a cache, except those that the environment points elsewhere.
pub(super) fn point_to_cache(mut command: Command, cache: &Path, network: bool) -> Command {
    let downloads = Some(&DOWNLOADS).filter(|_| network);
    for (name, place) in CACHES.iter().chain(downloads) {
        if std::env::var_os(name).is_none_or(|value| value.is_empty()) {
            command = command.env(name, cache.join(place));
        }
    }
    command
}

fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    has_secret_name(name) || has_password(&value.to_string_lossy())
}

fn has_secret_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let mut words = name.split(|char: char| !char.is_ascii_alphanumeric());
    SECRET_NAMES.contains(&name.as_str()) || words.any(|word| SECRET_WORDS.contains(&word))
}

/// Returns whether a text has an address with a password, such as `scheme://user:password@host`.
fn has_password(text: &str) -> bool {
    let mut addresses = text.split("://").skip(1);
    addresses.any(|address| {
        let end = address.find(|char: char| char.is_whitespace() || "/?#\"'".contains(char));
        let host = address.get(..end.unwrap_or(address.len()));
        let user = host.and_then(|host| host.rsplit_once('@'));
        let password = user.and_then(|(user, _)| user.split_once(':'));
        password.is_some_and(|(_, password)| !password.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_told_from_others() {
        let named = |name: &str| is_secret(OsStr::new(name), OsStr::new("1"));
        let secret = [
            "OPENAI_API_KEY",
            "github_token",
            "TOKEN",
            "A_SECRET",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "GITHUB_PAT",
            "SENTRY_DSN",
            "DB_PASS",
            "MYSQL_PASSWD",
            "PGPASSWORD",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "DEPLOY_PRIVATE_PEM",
            "database_url",
            "MYSQL_PWD",
            "npm_config_//registry/:_password",
        ];
        for name in secret {
            assert!(named(name), "{name}");
        }
        let plain = [
            "PATH",
            "PWD",
            "OLDPWD",
            "HOME",
            "SSH_AUTH_SOCK",
            "TOKENIZERS_PARALLELISM",
            "MONKEY",
            "BETOKEN",
            "COMPASS",
            "KEYBOARD",
            "PATTERN",
        ];
        for name in plain {
            assert!(!named(name), "{name}");
        }
    }

    #[test]
    fn addresses_with_a_password_are_secrets() {
        for value in [
            "postgres://me:word@host/db",
            "redis://:word@host",
            "http://proxy:p@ss@host:3128",
            "first https://host/ then amqp://a:b@c",
        ] {
            assert!(is_secret(OsStr::new("X"), OsStr::new(value)), "{value}");
        }
        for value in [
            "",
            "https://host:443/a@b",
            "ssh://git@host:22/path",
            "http://me:@host",
            "unix:///run/user/1:2@3",
            "a:b@c",
        ] {
            assert!(!is_secret(OsStr::new("X"), OsStr::new(value)), "{value}");
        }
    }
}
