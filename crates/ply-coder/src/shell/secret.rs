//! Variables that hold secrets, told by their names and by their values.

use std::ffi::OsStr;

/// Words in names of variables that hold secrets.
const WORDS: [&str; 25] = [
    "APIKEY",
    "APIKEYS",
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "CREDENTIAL",
    "CREDENTIALS",
    "CREDS",
    "DSN",
    "JWT",
    "KEY",
    "KEYS",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "PRIVATE",
    "PWD",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
    "WEBHOOK",
    "COOKIE",
];

/// Ends of words that are written together with what is before them: `GITHUBTOKEN`, `DBPASSWORD`.
const ENDS: [&str; 12] = [
    "ACCESSKEY",
    "APIKEY",
    "AUTHKEY",
    "CREDENTIALS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PRIVATEKEY",
    "SECRET",
    "SECRETKEY",
    "TOKEN",
    "AUTHTOKEN",
];

/// Words that end like a secret and are none.
const HARMLESS: [&str; 1] = ["BETOKEN"];

/// Whole names of variables that hold secrets and do not look so.
const NAMES: [&str; 3] = ["DATABASE_URL", "MONGODB_URI", "REDIS_URL"];

/// Whole names that have such a word and hold none.
const PLAIN_NAMES: [&str; 2] = ["PWD", "SSH_AUTH_SOCK"];

/// How the tokens of well-known services begin.
const PREFIXES: [&str; 25] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "npm_",
    "pypi-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "hf_",
    "dop_v1_",
    "SG.",
    "eyJ",
];
/// How long such a token is at least, in bytes.
const TOKEN_BYTES_MIN: usize = 20;

/// Parts of values that only secrets have.
const PARTS: [&str; 6] = [
    "-----BEGIN ",
    "AccountKey=",
    "SharedAccessKey=",
    "Password=",
    "password=",
    "Pwd=",
];

/// Returns whether a variable looks as if it held a secret.
pub(super) fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    has_secret_name(name) || is_secret_value(&value.to_string_lossy())
}

pub(super) fn has_secret_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    if PLAIN_NAMES.contains(&name.as_str()) {
        return false;
    }
    let mut words = name.split(|char: char| !char.is_ascii_alphanumeric());
    let is_secret = |word: &str| {
        // Numbers at the end tell several of a kind apart.
        let word = word.trim_end_matches(|char: char| char.is_ascii_digit());
        WORDS.contains(&word) || is_compound(word)
    };
    NAMES.contains(&name.as_str()) || words.any(is_secret)
}

/// Returns whether a word was written together with one for a secret.
fn is_compound(word: &str) -> bool {
    !HARMLESS.contains(&word) && ENDS.iter().any(|end| word.ends_with(end))
}

fn is_secret_value(value: &str) -> bool {
    let mut words = value.split(|char: char| char.is_whitespace() || "\"',;=".contains(char));
    PARTS.iter().any(|part| value.contains(part)) || words.any(is_token) || has_password(value)
}

fn is_token(word: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let begins = PREFIXES.iter().any(|prefix| word.starts_with(prefix));
    begins && word.len() >= TOKEN_BYTES_MIN && word.bytes().all(fits)
}

/// Returns whether a text has an address with a password, such as `scheme://user:password@host`, or with
/// a token in place of the user.
fn has_password(text: &str) -> bool {
    let mut addresses = text.split("://").skip(1);
    addresses.any(|address| {
        let end = address.find(|char: char| char.is_whitespace() || "/?#\"'".contains(char));
        let host = address.get(..end.unwrap_or(address.len()));
        let user = host.and_then(|host| host.rsplit_once('@'));
        user.is_some_and(|(user, _)| match user.split_once(':') {
            Some((_, password)) => !password.is_empty(),
            None => is_token(user),
        })
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
            "NPM_AUTH",
            "npm_config__auth",
            "GITHUBTOKEN",
            "GITLABTOKEN2",
            "MYAPIKEY",
            "DBPASSWORD",
            "TWINE_PASSWORD",
            "SLACK_WEBHOOK",
            "SESSION_COOKIE",
            "CLIENTSECRET",
            "APP_KEY_2",
            "REDIS_URL",
            "HTTP_AUTHORIZATION",
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
            "AUTHOR",
            "GIT_AUTHOR_NAME",
            "XAUTHORITY",
            "SSL_CERT_FILE",
            "CARGO_HOME",
            "GOPATH",
            "LS_COLORS",
        ];
        for name in plain {
            assert!(!named(name), "{name}");
        }
    }

    #[test]
    fn values_of_secrets_are_told_from_others() {
        let valued = |value: &str| is_secret(OsStr::new("X"), OsStr::new(value));
        for value in [
            "postgres://me:word@host/db",
            "redis://:word@host",
            "http://proxy:p@ss@host:3128",
            "first https://host/ then amqp://a:b@c",
            "https://ghp_0123456789abcdefghij0123456789@github.com/x",
            "ghp_0123456789abcdefghij0123456789abcdef",
            "Bearer sk-0123456789abcdefghijkl",
            "AKIAIOSFODNN7EXAMPLE",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nAA",
            "Server=db;Database=x;User Id=sa;Password=word;",
            "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=AAAA==",
            "host=db user=me password=word",
        ] {
            assert!(valued(value), "{value}");
        }
        for value in [
            "",
            "https://host:443/a@b",
            "ssh://git@host:22/path",
            "http://me:@host",
            "unix:///run/user/1:2@3",
            "a:b@c",
            "sk-short",
            "npm_",
            "/usr/bin:/bin",
            "eyJ",
            "--max-old-space-size=4096",
        ] {
            assert!(!valued(value), "{value}");
        }
    }
}
