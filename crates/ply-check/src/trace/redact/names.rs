//! Names of members, variables, headers and flags that say that a secret follows.

/// Ends of such names, in lower case and without what separates words.
const ENDS: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "secret",
    "secrets",
    "token",
    "apikey",
    "authorization",
    "cookie",
    "cookies",
    "credential",
    "credentials",
    "privatekey",
    "accesskey",
    "accesskeyid",
    "secretkey",
    "signingkey",
    "encryptionkey",
    "sessionkey",
    "authkey",
    "connectionstring",
];

/// Returns whether a name says that its value is a secret: `apiKey`, `GITHUB_TOKEN`, `x-api-key`.
pub(super) fn is_secret(name: &str) -> bool {
    let plain = |char: &char| char.is_ascii_alphanumeric();
    let name: String = name.chars().filter(plain).collect();
    let name = name.to_ascii_lowercase();
    ENDS.iter().any(|end| name.ends_with(end))
}

/// Returns whether a word of a command says that the next one is a secret: `--api-key`.
pub(super) fn is_secret_flag(word: &str) -> bool {
    word.starts_with('-') && !word.contains('=') && is_secret(word)
}

/// Returns whether a member holds variables or headers, all of whose values are taken for secrets.
pub(super) fn holds_pairs(name: &str) -> bool {
    ["env", "environment", "headers", "httpHeaders"].contains(&name)
}
