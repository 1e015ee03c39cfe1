//! Commands by what they do.
//!
//! These tables choose words for a question and whether a rule is offered. What may run unasked does not
//! depend on them.

use crate::permission::launch;

/// The beginning of a command: a program, and if there are any, one of the words that follow it.
pub(super) struct Phrase {
    programs: &'static [&'static str],
    /// Words of which the first that is no option must be one.
    subcommands: &'static [&'static str],
    /// Words of which one must be among the others.
    words: &'static [&'static str],
}

const fn programs(programs: &'static [&'static str]) -> Phrase {
    Phrase {
        programs,
        subcommands: &[],
        words: &[],
    }
}

const fn phrase(programs: &'static [&'static str], subcommands: &'static [&'static str]) -> Phrase {
    Phrase {
        programs,
        subcommands,
        words: &[],
    }
}

const fn with(
    programs: &'static [&'static str],
    subcommands: &'static [&'static str],
    words: &'static [&'static str],
) -> Phrase {
    Phrase {
        programs,
        subcommands,
        words,
    }
}

impl Phrase {
    pub(super) fn begins(&self, words: &[&str]) -> bool {
        let Some((first, rest)) = words.split_first() else {
            return false;
        };
        let program = launch::program(first);
        let named = self.programs.contains(&program.as_str())
            || (self.programs.contains(&"mkfs") && program.starts_with("mkfs."));
        let subcommand = rest.iter().find(|word| !word.starts_with(['-', '+']));
        named
            && (self.subcommands.is_empty()
                || subcommand.is_some_and(|word| self.subcommands.contains(word)))
            && (self.words.is_empty() || rest.iter().any(|word| self.words.contains(word)))
    }
}

#[rustfmt::skip]
pub(super) const DESTROYS: &[Phrase] = &[
    programs(&[
        "rm", "rmdir", "unlink", "shred", "srm", "dd", "truncate", "mkfs", "fdisk", "sfdisk", "parted", "wipefs",
        "mkswap", "kill", "pkill", "killall", "skill", "chmod", "chown", "chgrp", "chattr", "setfacl", "shutdown",
        "reboot", "halt", "poweroff", "init", "passwd", "useradd", "userdel", "usermod", "groupadd", "groupdel",
        "visudo", "iptables", "ip6tables", "nft", "ufw", "blkdiscard", "hdparm", "swapoff", "dropdb", "trash",
        "rmmod", "logrotate",
    ]),
    phrase(&["git"], &["clean", "gc", "prune", "filter-branch", "filter-repo", "update-ref", "rm", "restore"]),
    with(&["git"], &["reset"], &["--hard", "--merge", "--keep"]),
    with(&["git"], &["push"], &["-f", "--force", "--force-with-lease", "--delete", "-d", "--mirror", "--prune"]),
    with(&["git"], &["branch", "tag"], &["-d", "-D", "--delete", "-f", "--force", "-M", "-C"]),
    with(&["git"], &["stash"], &["drop", "clear", "pop"]),
    with(&["git"], &["reflog"], &["expire", "delete"]),
    with(&["git"], &["worktree", "remote", "notes", "submodule"], &["remove", "rm", "prune", "deinit"]),
    with(&["git"], &["checkout", "switch"], &["--", ".", "-f", "--force", "--discard-changes", "-B"]),
    with(&["find", "gfind"], &[], &["-delete"]),
    with(&["rsync"], &[], &["--delete", "--delete-after", "--delete-before", "--delete-excluded", "--remove-source-files"]),
    with(&["docker", "podman", "nerdctl"], &[], &["rm", "rmi", "prune", "kill", "stop"]),
    phrase(&["kubectl", "oc"], &["delete", "drain", "replace"]),
    phrase(&["helm"], &["uninstall", "delete", "rollback"]),
    phrase(&["terraform", "tofu", "pulumi"], &["destroy"]),
    phrase(&["cargo"], &["clean", "uninstall", "yank"]),
    phrase(&["npm", "pnpm", "yarn"], &["uninstall", "unpublish", "prune", "remove"]),
    with(&["npm", "pnpm", "yarn"], &["cache"], &["clean"]),
    phrase(&["pip", "pip3", "gem", "brew", "conda"], &["uninstall", "remove", "prune"]),
    phrase(&["apt", "apt-get", "dnf", "yum", "pacman", "zypper", "apk", "snap"], &["remove", "purge", "autoremove", "erase", "del"]),
    phrase(&["systemctl", "service"], &["stop", "disable", "mask", "kill"]),
    with(&["crontab"], &[], &["-r"]),
    with(&["make", "just", "ninja", "gradle", "mvn", "go", "mix"], &["clean"], &[]),
    phrase(&["aws", "gcloud", "az"], &["delete", "rm"]),
    with(&["aws", "gcloud", "az", "gh", "heroku", "fly"], &[], &["delete", "rm", "destroy", "apps:destroy"]),
    phrase(&["redis-cli"], &["flushall", "flushdb", "FLUSHALL", "FLUSHDB"]),
];

#[rustfmt::skip]
pub(super) const CONNECTS: &[Phrase] = &[
    programs(&[
        "curl", "wget", "wget2", "aria2c", "http", "https", "xh", "ssh", "scp", "sftp", "rsync", "mosh", "telnet", "nc",
        "ncat", "netcat", "socat", "ftp", "lftp", "ping", "ping6", "traceroute", "tracepath", "mtr", "dig", "nslookup",
        "host", "whois", "nmap", "ssh-copy-id", "ssh-keyscan", "gh", "glab", "hub", "aws", "gcloud", "az", "kubectl", "oc",
        "helm", "heroku", "fly", "flyctl", "vercel", "netlify", "wrangler", "rclone", "s3cmd", "gsutil", "mail", "sendmail",
        "mutt", "yt-dlp", "youtube-dl", "npx", "pnpx", "bunx", "uvx", "ngrok", "tailscale", "psql", "mysql", "mongosh",
        "redis-cli", "apt", "apt-get", "dnf", "yum", "pacman", "zypper", "apk", "snap", "brew", "nix-shell",
    ]),
    phrase(&["git"], &["fetch", "pull", "push", "clone", "ls-remote", "submodule", "send-email", "request-pull", "lfs"]),
    with(&["git"], &["remote"], &["update", "show"]),
    phrase(&["cargo"], &["install", "add", "update", "fetch", "publish", "search", "login", "owner", "info", "generate-lockfile", "vendor"]),
    phrase(&["npm", "pnpm", "yarn", "bun"], &["install", "i", "ci", "add", "update", "up", "upgrade", "publish", "view", "info",
        "outdated", "audit", "search", "login", "whoami", "dlx", "create", "init", "pack", "exec", "x"]),
    phrase(&["pip", "pip3", "pipx", "uv", "poetry", "conda", "mamba", "gem", "bundle", "composer"],
        &["install", "add", "download", "update", "upgrade", "sync", "lock", "publish", "search", "pip", "push", "fetch"]),
    phrase(&["go"], &["get", "install", "mod"]),
    phrase(&["docker", "podman", "nerdctl"], &["pull", "push", "login", "search", "build", "compose"]),
    phrase(&["rustup"], &["update", "install", "toolchain", "target", "component", "self"]),
    phrase(&["terraform", "tofu", "pulumi"], &["init", "plan", "apply", "up", "refresh"]),
    phrase(&["nix", "guix"], &["build", "develop", "run", "shell", "flake"]),
    phrase(&["dotnet"], &["restore", "add", "nuget"]),
    phrase(&["openssl"], &["s_client"]),
    phrase(&["python", "python3"], &["http.server"]),
];

/// What makes `git` run programs where it changes or shows something.
#[rustfmt::skip]
pub(super) const GIT_RUNS: &[&str] = &[
    "ext-diff", "textconv", "signature", "%G", "upload-pack", "receive-pack", "exec", "pager", "extcmd", "tool", "::",
    "gpg", "edit",
];

/// Programs that run code of the project.
#[rustfmt::skip]
pub(super) const BUILDS: &[Phrase] = &[
    programs(&[
        "make", "gmake", "bmake", "ninja", "just", "task", "rake", "cmake", "ctest", "meson", "scons", "bazel", "buck2",
        "gradle", "gradlew", "mvn", "mvnw", "ant", "sbt", "pytest", "tox", "nox", "jest", "vitest", "mocha", "rspec",
        "phpunit", "webpack", "vite", "rollup", "esbuild", "tsc", "eslint", "tsx", "ts-node", "nodemon", "gcc", "g++",
        "cc", "c++", "clang", "clang++", "rustc", "rustdoc", "javac", "java", "kotlinc", "ghc", "swift", "swiftc", "zig",
        "docker-compose", "pre-commit", "lefthook", "husky", "ansible", "ansible-playbook", "vagrant", "mypy", "pylint",
        "bacon", "cross", "trunk", "wasm-pack", "protoc", "xcodebuild", "flutter", "dart", "mix", "elixir",
    ]),
    phrase(&["cargo"], &["build", "b", "test", "t", "run", "r", "check", "c", "clippy", "bench", "doc", "d", "rustc",
        "rustdoc", "fix", "nextest", "tree", "metadata", "expand", "miri", "watch", "xtask", "llvm-cov", "hack", "package"]),
    phrase(&["npm", "pnpm", "yarn", "bun"], &["test", "t", "run", "run-script", "start", "stop", "restart", "rebuild", "build", "dev"]),
    phrase(&["go"], &["build", "test", "run", "vet", "generate", "list", "tool", "env"]),
    phrase(&["dotnet"], &["build", "test", "run", "publish", "tool"]),
    phrase(&["swift"], &["build", "test", "run"]),
    phrase(&["git"], &["bisect", "rebase", "difftool", "mergetool", "instaweb", "gui", "citool", "svn", "p4", "filter-branch"]),
    phrase(&["docker", "podman", "nerdctl"], &["run", "exec", "start", "create"]),
    phrase(&["uv", "poetry", "pipenv", "pdm", "hatch", "rye"], &["run", "shell"]),
];

#[rustfmt::skip]
pub(super) const CHANGES: &[Phrase] = &[
    programs(&[
        "mkdir", "touch", "cp", "mv", "ln", "tee", "install", "mktemp", "mkfifo", "patch", "unzip", "zip", "tar", "gtar",
        "bsdtar", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "7z", "cpio", "split",
        "csplit", "sed", "gsed", "sort", "gsort", "uniq", "xxd", "tree", "rename", "dos2unix", "unix2dos", "iconv",
        "rustfmt", "gofmt", "goimports", "black", "isort", "prettier", "clang-format", "shfmt", "ruff", "taplo", "stylua",
        "yq", "sponge", "convert", "magick", "ffmpeg", "pandoc", "jq", "fallocate", "link", "symlink", "diff", "shuf",
        "ed", "ex", "base64", "curl-config", "ctags", "cscope", "dot", "sqlite3",
    ]),
    phrase(&["cargo"], &["fmt", "new", "init", "remove", "rm"]),
    phrase(&["git"], &["add", "commit", "mv", "stash", "tag", "branch", "checkout", "switch", "merge", "revert", "reset",
        "cherry-pick", "apply", "am", "init", "config", "notes", "remote", "worktree", "sparse-checkout", "format-patch",
        "archive", "bundle", "update-index", "read-tree", "write-tree", "commit-tree", "hash-object", "maintenance",
        "diff", "log", "show", "reflog", "replace", "symbolic-ref", "pack-refs", "repack", "shortlog", "rerere"]),
    phrase(&["go"], &["fmt", "work"]),
    phrase(&["npm"], &["version", "pkg", "dedupe"]),
];
