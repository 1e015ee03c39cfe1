//! What may be asked of a user, and where they may be sent.

use ply_wire::{convert, v2};

use crate::{Error, Result};

/// Words of which one is enough to make a field about a secret.
const SECRET_WORDS: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "credential",
    "credentials",
    "apikey",
    "token",
];
/// Pairs of words that do.
const SECRET_PAIRS: [(&str, &str); 4] = [
    ("api", "key"),
    ("private", "key"),
    ("access", "key"),
    ("secret", "key"),
];
/// Parameters of a URL that give access to whoever has it.
const ACCESS_PARAMETERS: [&str; 8] = [
    "access_token",
    "id_token",
    "refresh_token",
    "token",
    "api_key",
    "apikey",
    "password",
    "secret",
];

/// Refuses a form that would put a secret through the client, and perhaps its model: URLs are for that (V1-ELIC-12). Refuses
/// one that is not flat, too (V1-ELIC-13).
pub(crate) fn check_form(schema: &v2::ElicitationSchema) -> Result<()> {
    if !convert::elicitation::is_flat(schema) {
        let reason = "A form holds plain values and choices only; ask for nested ones one by one.";
        return Err(Error::invalid_params(reason));
    }
    for (name, property) in &schema.properties {
        // A number or a choice is no secret, whatever it is called.
        let v2::ElicitationPropertySchema::String(string) = property else {
            continue;
        };
        let is_free = string.enum_values.is_none() && string.one_of.is_none();
        let title = string.title.as_deref().unwrap_or_default();
        if is_free && (is_secret(name) || is_secret(title)) {
            let reason =
                format!("The field `{name}` asks for a secret; send the user to a URL instead.");
            return Err(Error::invalid_params(reason));
        }
    }
    Ok(())
}

/// Refuses a URL that holds what nobody but its visitor may have, or that others can read on its way (V1-ELIC-25).
pub(crate) fn check_url(url: &str, session: Option<&v2::SessionId>) -> Result<()> {
    let refuse = |reason: &str| Err(Error::invalid_params(reason));
    let Some((scheme, rest)) = url.split_once("://") else {
        return refuse("The URL needs a scheme and a host.");
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if authority.contains('@') {
        return refuse("The URL must not hold a user name or a password.");
    }
    if authority.is_empty() {
        return refuse("The URL needs a host.");
    }
    if !(scheme == "https" || (scheme == "http" && is_loopback(authority))) {
        return refuse("The URL must be https; http is for this machine only.");
    }
    let lower = path.to_ascii_lowercase();
    if lower.contains('@') || lower.contains("%40") {
        return refuse("The URL must not hold a mail address.");
    }
    let parameters = lower.split(['?', '&', '#']).skip(1);
    let mut names = parameters.filter_map(|parameter| parameter.split_once('='));
    if names.any(|(name, value)| !value.is_empty() && ACCESS_PARAMETERS.contains(&name)) {
        return refuse("The URL must not hold a token or a password.");
    }
    if session.is_some_and(|session| url.contains(&*session.0)) {
        return refuse("The URL must not hold the id of the session.");
    }
    Ok(())
}

/// Returns whether a name or a title is that of a secret.
fn is_secret(name: &str) -> bool {
    let words = words(name);
    let has_pair = |pair: &[String]| match pair {
        [first, second] => SECRET_PAIRS.contains(&(first, second)),
        _ => false,
    };
    words
        .iter()
        .any(|word| SECRET_WORDS.contains(&word.as_str()))
        || words.windows(2).any(has_pair)
}

/// Returns the words of a name, however they are joined: `apiKey`, `api_key`, `API key`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    let mut goes_on = false;
    for char in name.chars() {
        if !char.is_alphanumeric() {
            (was_lower, goes_on) = (false, false);
            continue;
        }
        let begins = !goes_on || (was_lower && char.is_uppercase());
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(char.to_lowercase());
        }
        (was_lower, goes_on) = (char.is_lowercase(), true);
    }
    words
}

fn is_loopback(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => authority.split(':').next(),
    };
    let host = host.unwrap_or_default();
    let address: Option<std::net::IpAddr> = host.parse().ok();
    host == "localhost" || address.is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_elic_12_a_field_for_a_secret_is_refused_and_others_are_not() {
        let form = |name: &str| check_form(&v2::ElicitationSchema::new().string(name, true));
        for secret in [
            "password",
            "dbPassword",
            "API key",
            "api_key",
            "apiKey",
            "accessToken",
            "Secret",
            "private-key",
            "aws_secret_access_key",
            "passphrase",
        ] {
            assert!(form(secret).is_err(), "{secret}");
        }
        for plain in [
            "name",
            "key",
            "passenger",
            "tokenizer",
            "apiUrl",
            "secretary",
            "project",
        ] {
            assert!(form(plain).is_ok(), "{plain}");
        }
        let titled = v2::StringPropertySchema::new().title("Your password".to_owned());
        let schema = v2::ElicitationSchema::new().property("p", titled, true);
        assert!(check_form(&schema).is_err());
        let schema = v2::ElicitationSchema::new().integer("token", 0, 9, true);
        assert!(check_form(&schema).is_ok(), "a number of them is no secret");
    }

    #[test]
    fn v1_elic_25_a_url_holds_nothing_that_gives_access() {
        let session = v2::SessionId::new("s-123");
        let check = |url: &str| check_url(url, Some(&session));
        for good in [
            "https://example.org",
            "https://example.org/login?state=abc&client_id=ply&code_challenge=x",
            "http://localhost:8080/login",
            "http://127.0.0.1/a",
            "http://[::1]:80/",
            "https://example.org/?token=",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in [
            "example.org",
            "https://",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "http://example.org/",
            "http://localhost.example.org/",
            "https://ann:secret@example.org/",
            "https://example.org/?access_token=abc",
            "https://example.org/#token=abc",
            "https://example.org/?user=ann@example.org",
            "https://example.org/?user=ann%40example.org",
            "https://example.org/s-123",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
