//! Programs that say which version they are.

use super::{Need, Reads};

/// Programs that do nothing else with `--version`. Those that run code of the project first are left out:
/// `yarn` (`yarnPath`), `pnpm`, `mvn` (`.mvn/jvm.config`), `gradlew`, `bazel`, `dotnet`, `bundle`.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "ar", "as", "awk", "bash", "bat", "bun", "cargo", "cc", "clang", "clang++", "clang-format", "clippy-driver",
    "cmake", "curl", "deno", "docker", "fd", "fdfind", "find", "fish", "fzf", "g++", "gawk", "gcc", "gdb", "gh", "git",
    "gpg", "grep", "helm", "jq", "kotlinc", "ld", "less", "lua", "make", "meson", "ninja", "node", "npm", "npx", "nvim",
    "openssl", "perl", "pip", "pip3", "podman", "python", "python3", "rg", "ruby", "ruff", "rust-analyzer", "rustc",
    "rustfmt", "rustup", "sed", "sqlite3", "strace", "tar", "tmux", "tree", "tsc", "uv", "valgrind", "vim", "wget",
    "zig", "zsh",
];

/// Other ways to ask, as whole lines.
const LINES: &[&[&str]] = &[
    &["cargo", "-V"],
    &["cargo", "-Vv"],
    &["cargo", "-vV"],
    &["cargo", "--list"],
    &["cargo", "--version", "--verbose"],
    &["rustc", "-V"],
    &["rustc", "-vV"],
    &["rustc", "-Vv"],
    &["rustc", "--version", "--verbose"],
    &["rustc", "--print", "sysroot"],
    &["rustc", "--print", "cfg"],
    &["rustc", "--print", "target-list"],
    &["python", "-V"],
    &["python3", "-V"],
    &["node", "-v"],
    &["npm", "-v"],
    &["deno", "-V"],
    &["ruby", "-v"],
    &["perl", "-v"],
    &["lua", "-v"],
    &["go", "version"],
    &["zig", "version"],
    &["git", "version"],
    &["openssl", "version"],
    &["ssh", "-V"],
    &["tmux", "-V"],
    &["gcc", "-dumpversion"],
    &["gcc", "-dumpmachine"],
    &["clang", "-dumpversion"],
];

/// Returns what is read where a program is only asked for its version.
pub(super) fn asks_for_version(program: &str, arguments: &[&str]) -> Option<Reads> {
    let asks = (arguments == ["--version"] && PROGRAMS.contains(&program))
        || LINES
            .iter()
            .filter_map(|line| line.split_first())
            .any(|(first, rest)| *first == program && rest == arguments);
    asks.then(|| Reads {
        needs: Some(Need::Toolchain),
        ..Reads::default()
    })
}
