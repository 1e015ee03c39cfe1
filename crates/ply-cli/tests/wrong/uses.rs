//! The wrong uses, by command. Adding one means a line.

/// A wrong use.
pub(crate) struct Wrong {
    pub(crate) words: &'static [&'static str],
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// The exit code.
    pub(crate) code: i32,
    /// Whether there is a line that begins with `error: `; a command without its words shows its help instead.
    pub(crate) wants_error: bool,
    /// What the answer has to say: what was given, or what would be accepted.
    pub(crate) says: &'static [&'static str],
}

/// A use that is refused with the code for wrong arguments.
const fn wrong(words: &'static [&'static str], says: &'static [&'static str]) -> Wrong {
    ends(2, words, says)
}

/// A use that ends with a code of its own.
const fn ends(code: i32, words: &'static [&'static str], says: &'static [&'static str]) -> Wrong {
    Wrong {
        words,
        environment: &[],
        code,
        wants_error: true,
        says,
    }
}

/// A command without its words, which is answered with its help.
const fn bare(words: &'static [&'static str]) -> Wrong {
    Wrong {
        words,
        environment: &[],
        code: 2,
        wants_error: false,
        says: &["Usage: "],
    }
}

/// A use that is wrong because of a variable.
const fn set(
    environment: &'static [(&'static str, &'static str)],
    words: &'static [&'static str],
    says: &'static [&'static str],
) -> Wrong {
    Wrong {
        words,
        environment,
        code: 2,
        wants_error: true,
        says,
    }
}

pub(crate) const USES: &[Wrong] = &[
    // No command, or none that there is.
    wrong(&[], &["needs a terminal", "ply run"]),
    wrong(&["sesions", "ls"], &["`sesions`", "ply sessions"]),
    wrong(&["frobnicate"], &["`frobnicate`", "ply --help"]),
    wrong(&["--bogus"], &["--bogus"]),
    wrong(&["-a"], &["--agent"]),
    wrong(&["help", "frobnicate"], &["frobnicate"]),
    wrong(&["Run", "hello"], &["`Run`", "ply run"]),
    wrong(&["rnu", "hello"], &["did you mean `ply run`?"]),
    wrong(
        &["explain", "this", "repository"],
        &["`explain`", "ply \"explain …\""],
    ),
    wrong(&["login"], &["did you mean `ply agents login`?"]),
    wrong(&["resume"], &["did you mean `ply --continue`?"]),
    wrong(&["version"], &["did you mean `ply --version`?"]),
    wrong(&["--resume"], &["--resume", "`--continue`"]),
    wrong(&["-p", "hello"], &["`ply run \"PROMPT\"`"]),
    wrong(&["run", "--json", "hello"], &["`ply run --output json`"]),
    wrong(&["run", "--yolo", "hello"], &["`ply run --permit all`"]),
    wrong(
        &["check", "agent", "ply", "agent"],
        &["the command of an agent goes after `--`"],
    ),
    // chat
    wrong(&["chat"], &["needs a terminal", "ply run"]),
    wrong(&["a prompt without a terminal"], &["needs a terminal"]),
    wrong(&["chat", "--continue", "--pick"], &["--continue", "--pick"]),
    wrong(&["chat", "--set", "mode"], &["ID=VALUE"]),
    wrong(&["chat", "--offer", "shells"], &["files", "terminals"]),
    wrong(&["chat", "-a", "claude", "--", "sh"], &["--agent"]),
    wrong(&["chat", "--color", "never"], &["--color"]),
    // demo, completions
    wrong(&["demo"], &["needs a terminal"]),
    wrong(&["completions"], &["<SHELL>"]),
    wrong(&["completions", "tcsh"], &["tcsh", "bash"]),
    // run: the prompt
    wrong(&["run"], &["no prompt"]),
    wrong(&["run", ""], &["PROMPT"]),
    wrong(&["run", "  "], &["empty"]),
    wrong(&["run", "-"], &["empty"]),
    wrong(&["run", "-f", "missing.txt", "hi"], &["missing.txt"]),
    wrong(&["run", "-f", "binary.bin", "hi"], &["binary.bin", "UTF-8"]),
    wrong(&["run", "-f", "directory", "hi"], &["directory"]),
    wrong(
        &["run", "--image", "notes.txt", "hi"],
        &["notes.txt", "PNG"],
    ),
    wrong(&["run", "--image", "missing.png", "hi"], &["missing.png"]),
    // run: the agent
    wrong(
        &["run", "-a", "nobody-knows-it", "hi"],
        &["nobody-knows-it", "claude"],
    ),
    wrong(&["run", "-a", "gemni", "hi"], &["gemni", "gemini"]),
    wrong(&["run", "-a", "", "hi"], &["agent"]),
    wrong(&["run", "-a", "claude", "hi", "--", "sh"], &["--agent"]),
    ends(
        7,
        &["run", "hi", "--", "no-such-program"],
        &["no-such-program"],
    ),
    ends(7, &["run", "hi", "--", "./notes.txt"], &["notes.txt"]),
    wrong(&["run", "--protocol", "3", "hi"], &["3", "auto"]),
    wrong(
        &["run", "--offer", "shells", "hi"],
        &["shells", "terminals"],
    ),
    // run: the session
    wrong(&["run", "-C", "missing", "hi"], &["missing"]),
    wrong(
        &["run", "-C", "notes.txt", "hi"],
        &["notes.txt", "not a directory"],
    ),
    wrong(&["run", "--add-dir", "missing", "hi"], &["missing"]),
    wrong(
        &["run", "--session", "x", "--continue", "hi"],
        &["--continue"],
    ),
    ends(
        4,
        &["run", "--session", "no-such-session", "hi"],
        &["no-such-session"],
    ),
    wrong(&["run", "--set", "mode", "hi"], &["ID=VALUE"]),
    wrong(&["run", "--set", "=plan", "hi"], &["ID=VALUE"]),
    wrong(&["run", "--set", "nope=1", "hi"], &["nope"]),
    wrong(&["run", "--mode", "nope", "hi"], &["nope"]),
    wrong(&["run", "--model", "nope", "hi"], &["nope"]),
    wrong(&["run", "--mcp", "missing.json", "hi"], &["missing.json"]),
    wrong(&["run", "--mcp", "bad.json", "hi"], &["bad.json"]),
    wrong(
        &["run", "--mcp", "list.json", "hi"],
        &["list.json", "mcpServers"],
    ),
    // run: permissions, limits and output
    wrong(
        &["run", "--permit", "maybe", "hi"],
        &["maybe", "policy:FILE"],
    ),
    wrong(&["run", "--permit", "policy:", "hi"], &["policy:FILE"]),
    wrong(
        &["run", "--permit", "policy:missing.toml", "hi"],
        &["missing.toml"],
    ),
    wrong(&["run", "--permit", "policy:bad.toml", "hi"], &["bad.toml"]),
    wrong(&["run", "--timeout", "0", "hi"], &["greater than zero"]),
    wrong(&["run", "--timeout", "5d", "hi"], &["5d", "`90s`"]),
    wrong(&["run", "--timeout=-5", "hi"], &["-5"]),
    wrong(&["run", "--idle-timeout", "soon", "hi"], &["soon"]),
    wrong(&["run", "--output", "yaml", "hi"], &["yaml", "json"]),
    wrong(&["run", "--color", "blue", "hi"], &["blue", "never"]),
    wrong(&["run", "--bogus", "hi"], &["--bogus"]),
    // agent, models and the configuration
    wrong(&["agent", "--bogus"], &["--bogus"]),
    wrong(&["agent", "extra"], &["extra"]),
    wrong(&["models", "--config", "missing.toml"], &["missing.toml"]),
    wrong(&["models", "--config", "bad.toml"], &["bad.toml"]),
    set(&[("PLY_CONFIG", "bad.toml")], &["run", "hi"], &["bad.toml"]),
    set(
        &[("PLY_CONFIG", "strange.toml")],
        &["run", "-a", "x", "hi"],
        &["strange.toml"],
    ),
    // mcp
    bare(&["mcp"]),
    wrong(&["mcp", "login"], &["NAME"]),
    wrong(&["mcp", "logout", "nobody"], &["nobody"]),
    // permits
    bare(&["permits"]),
    wrong(&["permits", "revoke"], &["RULE"]),
    wrong(
        &["permits", "revoke", "shell(nothing)"],
        &["shell(nothing)"],
    ),
    wrong(&["permits", "rules", "--cwd"], &["--cwd"]),
    // sessions
    bare(&["sessions"]),
    wrong(&["sessions", "show"], &["ID"]),
    ends(
        4,
        &["sessions", "show", "no-such-session"],
        &["no-such-session"],
    ),
    wrong(&["sessions", "show", ""], &["ID"]),
    ends(
        4,
        &["sessions", "export", "no-such-session"],
        &["no-such-session"],
    ),
    wrong(
        &["sessions", "export", "x", "--format", "pdf"],
        &["pdf", "ndjson"],
    ),
    wrong(&["sessions", "export", "x", "--force"], &["--output"]),
    wrong(&["sessions", "rm"], &["ID"]),
    ends(
        4,
        &["sessions", "rm", "-y", "no-such-session"],
        &["no-such-session"],
    ),
    wrong(&["sessions", "ls", "--limit", "many"], &["many"]),
    wrong(&["sessions", "ls", "--limit=-1"], &["-1"]),
    wrong(&["sessions", "ls", "extra"], &["extra"]),
    ends(
        1,
        &["sessions", "--store", "directory", "ls"],
        &["directory"],
    ),
    ends(
        1,
        &["sessions", "--store", "garbage.db", "ls"],
        &["garbage.db"],
    ),
    // trace
    bare(&["trace"]),
    bare(&["trace", "--"]),
    wrong(
        &["trace", "-o", "notes.txt", "--", "true"],
        &["notes.txt", "--force"],
    ),
    ends(
        1,
        &["trace", "-o", "missing/x", "--", "true"],
        &["missing/x"],
    ),
    ends(
        127,
        &["trace", "--", "no-such-program"],
        &["no-such-program"],
    ),
    wrong(&["trace", "view"], &["FILE"]),
    ends(1, &["trace", "view", "missing.ndjson"], &["missing.ndjson"]),
    ends(1, &["trace", "view", "notes.txt"], &["notes.txt"]),
    wrong(&["trace", "view", "notes.txt", "--from", "soon"], &["soon"]),
    // check
    bare(&["check"]),
    wrong(&["check", "agent"], &["COMMAND"]),
    wrong(
        &["check", "agent", "--", "no-such-program"],
        &["no-such-program"],
    ),
    wrong(&["check", "agent", "--patience", "0", "--", "true"], &["0"]),
    wrong(
        &["check", "agent", "--only", "NOPE-99", "--", "true"],
        &["NOPE-99"],
    ),
    wrong(&["check", "agent", "--version", "9", "--", "true"], &["9"]),
    wrong(&["check", "trace", "missing.ndjson"], &["missing.ndjson"]),
    // Agents.
    wrong(&["agents", "add"], &["<NAME>"]),
    wrong(&["agents", "lst"], &["lst", "list"]),
    wrong(
        &["agents", "login", "nowhere"],
        &["unknown agent `nowhere`"],
    ),
    wrong(
        &["agents", "doctor", "nowhere"],
        &["unknown agent `nowhere`"],
    ),
    ends(
        1,
        &["agents", "remove", "nowhere"],
        &["`nowhere`", "ply agents add"],
    ),
    ends(
        1,
        &["agents", "add", "x", "--registry", "ftp://example.com"],
        &["`ftp://example.com`", "https://"],
    ),
];
