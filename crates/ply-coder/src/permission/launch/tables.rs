//! Which programs run others, and by which of their words.

/// Words that make a program run others, or write where nobody looks.
pub(super) struct Danger {
    pub(super) programs: &'static [&'static str],
    /// Words as they stand.
    pub(super) words: &'static [&'static str],
    /// Options without their dashes; a value may be glued to them with `=`.
    pub(super) options: &'static [&'static str],
    /// Letters of one-letter options, also in a cluster.
    pub(super) letters: &'static str,
    /// Whether `NAME=value` is one.
    pub(super) assignments: bool,
}

const NONE: Danger = Danger {
    programs: &[],
    words: &[],
    options: &[],
    letters: "",
    assignments: false,
};

pub(super) const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "ash", "rbash", "pwsh",
    "nu", "elvish", "xonsh",
];

pub(super) const INTERPRETERS: &[&str] = &[
    "python",
    "pypy",
    "ipython",
    "perl",
    "ruby",
    "irb",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "expect",
    "osascript",
    "rscript",
    "r",
    "julia",
    "guile",
    "ghci",
    "runghc",
    "scala",
    "groovy",
    "jshell",
    "elixir",
    "iex",
    "erl",
    "ts-node",
    "tsx",
    "bc",
    "dc",
    "m4",
    "sqlite",
    "psql",
    "mysql",
];

/// Programs whose work it is to run others, to reach other machines, or to change how the shell reads
/// what follows.
#[rustfmt::skip]
pub(super) const LAUNCHERS: &[&str] = &[
    // As someone else.
    "sudo", "doas", "su", "runuser", "pkexec", "gosu", "su-exec", "setpriv", "capsh", "newgrp", "sg", "machinectl",
    // Otherwise than usual.
    "env", "xargs", "nice", "ionice", "chrt", "taskset", "numactl", "prlimit", "nohup", "timeout", "setsid",
    "stdbuf", "unbuffer", "chroot", "unshare", "nsenter", "bwrap", "firejail", "fakeroot", "proot", "strace",
    "ltrace", "gdb", "lldb", "valgrind", "perf", "time", "watch", "parallel", "flock", "script", "rlwrap",
    "busybox", "toybox", "entr", "watchexec", "hyperfine", "xvfb-run", "dbus-run-session", "start-stop-daemon",
    "systemd-run", "ld.so", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "faketime", "catchsegv", "dotenv",
    // Later, or out of sight.
    "at", "batch", "crontab", "tmux", "screen", "zellij", "systemctl", "launchctl", "disown", "bg", "fg",
    // The shell's own.
    "eval", "exec", "source", ".", "command", "builtin", "trap", "alias", "unalias", "set", "shopt", "enable",
    "export", "declare", "typeset", "local", "readonly", "unset", "let", "read", "mapfile", "readarray",
    "getopts", "hash", "bind", "complete", "test", "[", "printf", "wait", "fc", "history",
    "exit", "return", "logout", "umask", "ulimit", "cd", "chdir", "pushd", "popd",
    // Other machines, and other systems on this one.
    "ssh", "scp", "sftp", "rsync", "mosh", "telnet", "nc", "ncat", "netcat", "socat", "curl", "wget", "ftp",
    "docker", "podman", "nerdctl", "buildah", "kubectl", "oc", "helm", "vagrant", "lxc", "incus", "wsl",
    // Programs fetched for the purpose.
    "npx", "pnpx", "bunx", "uvx", "pipx", "nix-shell", "nix-build", "guix",
    // Those that take commands while they are used.
    "vi", "vim", "nvim", "view", "ex", "ed", "emacs", "nano", "pico", "less", "more", "man", "info", "fzf",
    "mail", "mutt", "gpg", "openssl", "tclsh", "ip", "mount", "umount", "insmod", "modprobe", "git-shell",
];

/// Those of them that run nothing that they are given, unless it is for a shell to expand.
pub(super) const PLAIN: &[&str] = &[
    "cd", "chdir", "pushd", "popd", "test", "[", "printf", "exit", "return", "logout", "wait",
    "umask", "ulimit", "unset", "hash", "curl", "wget", "less", "more",
];

#[rustfmt::skip]
pub(super) const DANGERS: &[Danger] = &[
    Danger { programs: SHELLS, options: &["rcfile", "init-file", "command"], letters: "csioO", ..NONE },
    Danger { programs: &["python", "pypy", "ipython"], words: &["-"], letters: "cmi", ..NONE },
    Danger { programs: &["perl"], words: &["-"], letters: "eEMmIid", ..NONE },
    Danger { programs: &["ruby", "irb"], words: &["-"], letters: "erIi", options: &["require"], ..NONE },
    Danger {
        programs: &["node", "nodejs", "bun", "deno", "ts-node", "tsx"],
        words: &["-", "eval", "repl", "x", "exec"],
        options: &["eval", "print", "require", "import", "loader", "experimental-loader", "preload", "env-file"],
        letters: "epr", ..NONE
    },
    Danger { programs: &["php", "lua", "luajit", "julia", "rscript", "osascript", "elixir", "groovy"],
        words: &["-"], options: &["eval", "run", "expr", "process-code"], letters: "erRBEFlL", ..NONE },
    Danger {
        programs: &["find", "gfind"],
        options: &["exec", "execdir", "ok", "okdir", "delete", "fprint", "fprint0", "fprintf", "fls", "files0-from"],
        ..NONE
    },
    Danger { programs: &["fd", "fdfind"], options: &["exec", "exec-batch"], letters: "xX", ..NONE },
    Danger { programs: &["rg"], options: &["pre", "hostname-bin"], ..NONE },
    Danger {
        programs: &["cargo"],
        words: &["install", "rustc", "rustdoc"],
        options: &["config", "manifest-path", "target-dir", "out-dir", "artifact-dir", "lockfile-path", "open",
            "codegen", "config-file", "tool-config-file"],
        letters: "CZ", ..NONE
    },
    Danger { programs: &["rustup"], words: &["run"], ..NONE },
    Danger {
        programs: &["tar", "gtar", "bsdtar"],
        options: &["to-command", "use-compress-program", "checkpoint-action", "rsh-command", "rmt-command",
            "info-script", "new-volume-script"],
        letters: "IF", ..NONE
    },
    Danger { programs: &["zip"], options: &["unzip-command"], letters: "T", ..NONE },
    Danger { programs: &["split"], options: &["filter"], ..NONE },
    Danger { programs: &["sort", "gsort"], options: &["compress-program", "output", "files0-from"], letters: "oT", ..NONE },
    Danger { programs: &["tcpdump"], letters: "zw", ..NONE },
    Danger {
        programs: &["make", "gmake", "bmake", "ninja", "just", "task"],
        options: &["file", "makefile", "eval", "directory", "include-dir", "justfile", "command", "shell", "set"],
        letters: "fCIEct", assignments: true, ..NONE
    },
    Danger { programs: &["cmake"], words: &["-E", "-P"], letters: "EPC", ..NONE },
    Danger {
        programs: &["npm", "pnpm", "yarn"],
        words: &["exec", "x", "dlx", "create", "init", "innit", "explore", "edit", "config", "c", "set", "node",
            "env", "link", "publish"],
        options: &["script-shell", "shell", "call", "prefix", "dir", "cwd", "globalconfig", "userconfig",
            "node-options", "init-module", "git", "use-yarnrc", "package", "editor", "viewer", "browser"],
        letters: "cC", ..NONE
    },
    Danger { programs: &["pip"], words: &["config"], options: &["editor", "target", "prefix", "root"], letters: "t", ..NONE },
    Danger {
        programs: &["uv", "poetry", "pipenv", "pdm", "rye", "hatch", "conda", "mamba", "bundle", "bundler", "mise",
            "asdf", "rbenv", "pyenv", "direnv", "devbox", "flox", "nix", "op", "aws-vault", "heroku", "rails",
            "mix", "stack", "cabal", "opam", "dotnet", "flutter", "dart", "composer", "gem"],
        words: &["run", "exec", "x", "tool", "shell", "develop", "runner", "foreach", "config", "edit"],
        ..NONE
    },
    Danger {
        programs: &["go"],
        words: &["run", "generate", "tool", "env", "install"],
        options: &["exec", "toolexec", "vettool", "overlay", "modfile", "ldflags", "gccgoflags", "C", "o",
            "outputdir", "coverprofile", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "trace"],
        ..NONE
    },
    Danger {
        programs: &["gcc", "g++", "cc", "c++", "clang", "clang++", "ld"],
        options: &["wrapper", "fplugin", "specs", "plugin", "load"], letters: "B", ..NONE
    },
    Danger {
        programs: &["gradle", "gradlew", "mvn", "mvnw", "ant", "sbt", "bazel"],
        words: &["run", "exec:java", "exec:exec"],
        options: &["init-script", "build-file", "project-dir", "include-build", "file", "settings", "run_under"],
        letters: "IbpfsD", ..NONE
    },
    Danger { programs: &["bat", "batcat", "delta", "gh", "glab", "hub", "aws", "gcloud"],
        words: &["alias", "extension", "config"], options: &["pager"], ..NONE },
    Danger { programs: &["hg"], options: &["config", "repository", "cwd"], words: &["debugshell"], letters: "R", ..NONE },
    Danger { programs: &["jj"], options: &["config", "config-toml", "repository", "tool"], words: &["config", "util"], letters: "R", ..NONE },
];
