//! What commands inherit from the program's environment.

use std::path::Path;

use ply_rpc::transport::child::Command;

use super::secret::{has_secret_name, is_secret};

/// Turns off whatever would wait for a person.
const SET: [(&str, &str); 11] = [
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Looking at a repository does not write to it.
    ("GIT_OPTIONAL_LOCKS", "0"),
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
/// sandbox has them closed; without the address programs do not even try.
///
/// An agent for SSH keys is among them: what is signed with its keys is out of the sandbox, on any host.
/// Without a sandbox a command could read the keys themselves, so there Git over SSH goes on working. The
/// address of a container engine stays: tests need it where the user lets them out, its usual address
/// needs no variable, and taking it away would send them to that one.
const UNSET_IN_SANDBOX: [&str; 8] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_STARTER_ADDRESS",
    "SSH_AUTH_SOCK",
    "GPG_AGENT_INFO",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
];

/// The variables by which programs find a proxy, in both spellings.
const PROXIES: [&str; 6] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
];

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

/// Gives git a setting, besides those that the environment has for it.
pub(super) fn with_git_setting(command: Command, key: &str, value: &str) -> Command {
    let count = std::env::var("GIT_CONFIG_COUNT").ok();
    let count: u32 = count.and_then(|count| count.parse().ok()).unwrap_or(0);
    command
        .env("GIT_CONFIG_COUNT", (count + 1).to_string())
        .env(format!("GIT_CONFIG_KEY_{count}"), key)
        .env(format!("GIT_CONFIG_VALUE_{count}"), value)
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

/// Points programs to a proxy on this port, and nowhere else.
pub(super) fn point_to_proxy(mut command: Command, port: u16) -> Command {
    for name in PROXIES {
        command = command.env(name, format!("http://127.0.0.1:{port}"));
    }
    for name in ["no_proxy", "NO_PROXY"] {
        command = command.env(name, "localhost,127.0.0.1,::1");
    }
    command
}

/// Takes out the proxies of the user.
pub(super) fn without_proxies(mut command: Command) -> Command {
    for name in PROXIES {
        command = command.env_remove(name);
    }
    command
}
