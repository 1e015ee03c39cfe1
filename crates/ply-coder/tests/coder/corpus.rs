//! The corpus of command lines by which the judge of commands is tested, and a project that they run in. The tests of
//! `ply run` include this file too: both doors get the same lines.

const COMMANDS: &str = include_str!("commands.txt");

/// How many commands each kind has at least.
pub(crate) const COMMANDS_MIN: usize = 60;

/// Every kind.
pub(crate) const KINDS: [&str; 8] = [
    "reads", "changes", "unknown", "runs", "network", "destroys", "unclear", "secrets",
];

/// Returns the commands of a kind.
pub(crate) fn commands(kind: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in COMMANDS.lines() {
        match line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            Some(name) if !name.contains(' ') => inside = name == kind,
            _ if line.is_empty() || line.starts_with('#') => {}
            _ if inside => found.push(unescaped(line)),
            _ => {}
        }
    }
    assert!(found.len() >= COMMANDS_MIN, "{kind}: {}", found.len());
    found
}

/// Returns a line with the signs for control characters as these, and `⟨7f⟩` as the character of that number.
pub(crate) fn unescaped(text: &str) -> String {
    let signs = [('␊', "\n"), ('␍', "\r"), ('␉', "\t"), ('␀', "\0")];
    let text = signs
        .iter()
        .fold(text.to_owned(), |text, (sign, is)| text.replace(*sign, is));
    let mut parts = text.split('⟨');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_once('⟩').unwrap();
        out.push(char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap());
        out.push_str(rest);
    }
    out
}

/// Makes a project with a few files and a plain repository.
pub(crate) fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("README.md", "a\n"),
        ("Cargo.toml", "[package]\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/lib.rs", "\n"),
        ("docs/a.md", "\n"),
        ("data.json", "{}\n"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/config", "[core]\n\tbare = false\n"),
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// Makes a project that has passwords, too.
pub(crate) fn project_with_secrets() -> tempfile::TempDir {
    let folder = project();
    for (name, text) in [
        (".env", "KEY=1\n"),
        ("config/.env.production", "KEY=2\n"),
        ("server.key", "x\n"),
        ("id_rsa", "x\n"),
        ("certs/tls.pem", "x\n"),
        (".npmrc", "x\n"),
        (
            ".git/config",
            "[remote \"o\"]\n\turl = https://me:token@example.com/a\n",
        ),
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink(".env", folder.path().join("plain.txt")).unwrap();
    folder
}
