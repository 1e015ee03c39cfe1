//! Secrets that can be told from how they look, wherever they stand in a text.

use super::{is_marker, marker, names};

/// Keys that begin with a mark of whoever issued them: the mark, and how many characters follow at least.
const KEYS: &[(&str, usize)] = &[
    ("sk-", 16),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("whsec_", 16),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 12),
    ("AKIA", 12),
    ("ASIA", 12),
    ("AIza", 24),
    ("ya29.", 16),
    ("xoxa-", 8),
    ("xoxb-", 8),
    ("xoxe-", 8),
    ("xoxo-", 8),
    ("xoxp-", 8),
    ("xoxr-", 8),
    ("xoxs-", 8),
    ("xapp-", 8),
    ("hf_", 20),
    ("gsk_", 20),
    ("xai-", 20),
    ("npm_", 24),
    ("pypi-", 24),
    ("dop_v1_", 24),
    ("AGE-SECRET-KEY-", 16),
    ("SG.", 24),
];

/// Headers whose whole value is a secret, when they stand in a text.
const HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "api-key",
    "x-auth-token",
];

/// The shortest value of `NAME=value` that is taken for a secret.
const VALUE_BYTES_MIN: usize = 4;

const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_KEY: &str = "PRIVATE KEY";
const PEM_END: &str = "-----END ";

/// Returns the text without secrets, or `None` if it has none.
pub(super) fn redact(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while at < text.len() {
        match secret_at(text, at) {
            Some((from, to)) if to > from => {
                out.push_str(text.get(copied..from).unwrap_or_default());
                out.push_str(&marker(to - from));
                copied = to;
                at = to;
            }
            _ => at = next_start(text, at),
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Some(out)
}

/// Returns where the next word, mark or separator begins.
fn next_start(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(|byte| is_name(*byte));
    let mut next = at + 1;
    // Inside of a word nothing begins.
    if is_word(at) {
        while is_word(next) {
            next += 1;
        }
    }
    while next < text.len() && !text.is_char_boundary(next) {
        next += 1;
    }
    next
}

/// Returns the secret that begins at a place, or whose name does.
fn secret_at(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = text.get(at..)?;
    match rest.as_bytes().first()? {
        b'-' => pem(rest)
            .map(|(from, to)| (at + from, at + to))
            .or_else(|| named(text, at)),
        b':' => userinfo(rest).map(|(from, to)| (at + from, at + to)),
        byte if byte.is_ascii_alphanumeric() || *byte == b'_' => key(rest)
            .or_else(|| web_token(rest))
            .map(|length| (at, at + length))
            .or_else(|| scheme(rest).map(|(from, to)| (at + from, at + to)))
            .or_else(|| named(text, at)),
        _ => None,
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=')
}

fn run(text: &str, is_in: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| is_in(*byte)).count()
}

/// Returns the length of a key that begins with a known mark.
fn key(rest: &str) -> Option<usize> {
    KEYS.iter().find_map(|(mark, least)| {
        let after = rest.strip_prefix(mark)?;
        let length = run(after, |byte| is_name(byte) || byte == b'.');
        (length >= *least).then_some(mark.len() + length)
    })
}

/// Returns the length of a JSON web token: parts of base64 with dots in between, the first an object.
fn web_token(rest: &str) -> Option<usize> {
    rest.strip_prefix("eyJ")?;
    let length = run(rest, |byte| is_name(byte) || matches!(byte, b'.' | b'='));
    let token = rest.get(..length)?;
    (length >= 16 && token.contains('.')).then_some(length)
}

/// Returns where the credentials are after `Bearer` or `Basic`.
fn scheme(rest: &str) -> Option<(usize, usize)> {
    const LONG: usize = 20;
    let name = ["Bearer ", "bearer ", "Basic ", "basic "];
    let name = name.iter().find(|name| rest.starts_with(**name))?;
    let value = rest.get(name.len()..)?;
    let length = run(value, is_token);
    let token = value.get(..length)?;
    // Words of a sentence have neither digits nor that length.
    let is_one = length >= LONG || (length >= 8 && token.bytes().any(|byte| byte.is_ascii_digit()));
    is_one.then_some((name.len(), name.len() + length))
}

/// Returns where a private key is, with what is around it. Without an end it goes on to that of the text.
fn pem(rest: &str) -> Option<(usize, usize)> {
    let label = rest.strip_prefix(PEM_BEGIN)?;
    let label = label.get(..label.find("-----")?)?;
    if !label.contains(PEM_KEY) || label.len() > 64 {
        return None;
    }
    let end = rest.find(PEM_END).and_then(|end| {
        let after = rest.get(end + PEM_END.len()..)?;
        Some(end + PEM_END.len() + after.find("-----")? + 5)
    });
    Some((0, end.unwrap_or(rest.len())))
}

/// Returns where name and password are in `://name:password@host`.
fn userinfo(rest: &str) -> Option<(usize, usize)> {
    let authority = rest.strip_prefix("://")?;
    let is_in = |byte: u8| {
        !byte.is_ascii_whitespace()
            && !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>')
    };
    let authority = authority.get(..run(authority, is_in))?;
    let at = authority.rfind('@')?;
    authority.get(..at)?.contains(':').then_some((3, 3 + at))
}

/// Returns where the value is in `NAME=value`, `--flag=value` or `Header: value`, if the name says that it is a secret.
fn named(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = text.get(at..)?;
    let length = run(rest, is_name);
    let name = rest.get(..length)?;
    let after = rest.get(length..)?;
    let header = || {
        HEADERS
            .iter()
            .any(|header| name.eq_ignore_ascii_case(header))
    };
    let (from, to) = match after.as_bytes().first()? {
        b'=' if names::is_secret(name) => {
            let value = after.get(1..)?;
            let quote = value
                .bytes()
                .next()
                .filter(|byte| matches!(byte, b'"' | b'\''));
            let skip = usize::from(quote.is_some());
            let value = value.get(skip..)?;
            let ends = |byte: u8| match quote {
                Some(quote) => byte == quote,
                None => {
                    byte.is_ascii_whitespace()
                        || matches!(byte, b'&' | b'"' | b'\'' | b';' | b',' | b')')
                }
            };
            let size = run(value, |byte| !ends(byte));
            (1 + skip, 1 + skip + size)
        }
        b':' if header() => {
            let value = after.get(1..)?;
            let blank = run(value, |byte| byte == b' ');
            let size = run(value.get(blank..)?, |byte| {
                !matches!(byte, b'\n' | b'\r' | b'"' | b'\'')
            });
            (1 + blank, 1 + blank + size)
        }
        _ => return None,
    };
    let value = after.get(from..to)?;
    let is_secret = value.len() >= VALUE_BYTES_MIN && !value.starts_with('$') && !is_marker(value);
    // What was redacted before keeps its spaces, and only its beginning is in `value`.
    let is_secret = is_secret && !value.starts_with("[redacted");
    is_secret.then_some((at + length + from, at + length + to))
}
