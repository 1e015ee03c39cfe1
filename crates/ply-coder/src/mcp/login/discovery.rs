//! Where to log in: from a server's challenge to the addresses of its authorization server.

use std::net::IpAddr;

use reqwest::Url;
use serde_json::Value;

use super::{ask, web_client};
use crate::mcp::words;

/// How many scopes are asked for.
const SCOPES_MAX: usize = 64;
/// How long the name of an authorization server may be in a message, in characters.
const NAME_CHARS_MAX: usize = 200;

/// An authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authority {
    /// Its name, where it says one.
    pub(super) issuer: Option<String>,
    /// Whether it says its name when a login comes back (RFC 9207).
    pub(super) signs: bool,
    pub(super) authorize: Url,
    pub(super) token: Url,
    pub(super) register: Option<Url>,
    /// What is asked for.
    pub(super) scope: Option<String>,
}

/// Finds the authorization server of a server that answered with this challenge.
pub(super) async fn find(server: &Url, challenge: &str) -> Result<Authority, String> {
    let named = parameter(challenge, "resource_metadata").and_then(|url| Url::parse(&url).ok());
    let places = match named {
        Some(named) => vec![safe(named, server)?],
        None => well_known(server, "oauth-protected-resource"),
    };
    let mut resource = None;
    for place in places {
        if let Some(found) = document(place).await? {
            resource = Some(found);
            break;
        }
    }
    if let Some(resource) = &resource {
        belongs(resource, server)?;
    }
    let own = resource
        .as_ref()
        .and_then(|resource| resource.pointer("/authorization_servers/0"));
    let issuer = match own.and_then(Value::as_str).map(Url::parse) {
        Some(Ok(issuer)) => safe(issuer, server)?,
        Some(Err(_)) => return Err("it names an authorization server that is no URL".to_owned()),
        // Servers of before the metadata were their own.
        None => origin(server),
    };
    let scope = parameter(challenge, "scope").or_else(|| scopes(resource.as_ref()?));
    let places = well_known(&issuer, "oauth-authorization-server")
        .into_iter()
        .chain(well_known(&issuer, "openid-configuration"))
        .chain(below(&issuer, "openid-configuration"));
    for place in places {
        if let Some(found) = document(place).await? {
            return read(&found, &issuer, scope);
        }
    }
    if resource.is_some() {
        let name = words::line(issuer.as_str(), NAME_CHARS_MAX);
        return Err(format!(
            "its authorization server {name} does not say how to log in"
        ));
    }
    let at = |path: &str| issuer.join(path).ok();
    match (at("/authorize"), at("/token")) {
        (Some(authorize), Some(token)) => Ok(Authority {
            issuer: None,
            signs: false,
            authorize,
            token,
            register: at("/register"),
            scope,
        }),
        _ => Err("it does not say where to log in".to_owned()),
    }
}

/// Reads the metadata of an authorization server.
fn read(found: &Value, issuer: &Url, scope: Option<String>) -> Result<Authority, String> {
    let same = |name: &str| name.trim_end_matches('/') == issuer.as_str().trim_end_matches('/');
    let name = found.get("issuer").and_then(Value::as_str);
    if name.is_some_and(|name| !same(name)) {
        return Err("its authorization server calls itself by another name".to_owned());
    }
    let methods = found.get("code_challenge_methods_supported");
    let methods = methods.and_then(Value::as_array);
    if !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
        return Err("its authorization server does not protect logins (PKCE with S256)".to_owned());
    }
    let url = |key: &str| -> Result<Option<Url>, String> {
        let Some(url) = found.get(key).and_then(Value::as_str) else {
            return Ok(None);
        };
        let url =
            Url::parse(url).map_err(|_| format!("its authorization server's `{key}` is no URL"))?;
        safe(url, issuer).map(Some)
    };
    let needed = |key: &str| {
        let missing = || format!("its authorization server has no `{key}`");
        url(key).and_then(|url| url.ok_or_else(missing))
    };
    let signs = found.get("authorization_response_iss_parameter_supported");
    Ok(Authority {
        issuer: name.map(str::to_owned),
        signs: signs == Some(&Value::Bool(true)),
        authorize: needed("authorization_endpoint")?,
        token: needed("token_endpoint")?,
        register: url("registration_endpoint")?,
        scope,
    })
}

/// Checks that metadata speak of this server, so that none gets the tokens of another.
fn belongs(resource: &Value, server: &Url) -> Result<(), String> {
    let named = resource.get("resource").and_then(Value::as_str);
    let named = named.and_then(|named| Url::parse(named).ok());
    let is_it = named.is_some_and(|named| {
        let path = named.path().trim_end_matches('/');
        let below = server.path().strip_prefix(path);
        named.origin() == server.origin()
            && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    match is_it {
        true => Ok(()),
        false => Err("its metadata for logins speak of another server".to_owned()),
    }
}

/// Refuses an address that others could listen to, and one of this machine that somebody elsewhere named: what listens there is
/// none of their business.
fn safe(url: Url, named_by: &Url) -> Result<Url, String> {
    match url.scheme() {
        "http" | "https" if is_here(&url) => match is_here(named_by) {
            true => Ok(url),
            false => Err("it sends logins to an address of this machine".to_owned()),
        },
        "https" => Ok(url),
        _ => Err("it sends logins to an address that is not https".to_owned()),
    }
}

fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_end_matches('.');
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    // All zeros lead here as well.
    let is_own = |address: IpAddr| {
        let address = address.to_canonical();
        address.is_loopback() || address.is_unspecified()
    };
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(is_own)
}

/// Reads a document; there may be none.
async fn document(place: Url) -> Result<Option<Value>, String> {
    let request = web_client()?
        .get(place)
        .header("accept", "application/json");
    let (status, answer) = ask(request).await?;
    Ok((status.is_success() && answer.is_object()).then_some(answer))
}

fn origin(url: &Url) -> Url {
    let mut origin = url.clone();
    origin.set_path("/");
    origin.set_query(None);
    origin.set_fragment(None);
    origin
}

/// Returns where a document about an address is: before its path, and for the whole host.
fn well_known(url: &Url, name: &str) -> Vec<Url> {
    let path = url.path().trim_end_matches('/');
    let mut places = Vec::new();
    for path in [path, ""] {
        let mut place = origin(url);
        place.set_path(&format!("/.well-known/{name}{path}"));
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// Returns where a document about an address is behind its path.
fn below(url: &Url, name: &str) -> Option<Url> {
    let path = url.path().trim_end_matches('/');
    let mut place = origin(url);
    place.set_path(&format!("{path}/.well-known/{name}"));
    (!path.is_empty()).then_some(place)
}

fn scopes(resource: &Value) -> Option<String> {
    let scopes = resource.get("scopes_supported")?.as_array()?;
    let scopes = scopes.iter().filter_map(Value::as_str).take(SCOPES_MAX);
    let scopes: Vec<_> = scopes.collect();
    (!scopes.is_empty()).then(|| scopes.join(" "))
}

/// Returns a parameter of a challenge, such as `Bearer scope="a b", resource_metadata="https://…"`.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let mut rest = challenge;
    loop {
        let (before, after) = rest.split_once('=')?;
        let key = before.rsplit([' ', ',', '\t']).next().unwrap_or_default();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_at(after.find([',', ' ']).unwrap_or(after.len())),
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value.to_owned());
        }
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn parameters_of_a_challenge_are_found() {
        let challenge = r#"Bearer realm="a, b", scope="read write", resource_metadata="https://a/x?y=1", error=invalid"#;
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(parameter(challenge, name).as_deref(), expected, "{name}");
        };
        check("scope", Some("read write"));
        check("Resource_Metadata", Some("https://a/x?y=1"));
        check("error", Some("invalid"));
        check("a", None);
        assert_eq!(parameter("Bearer scope=\"open", "scope"), None);
    }

    #[test]
    fn documents_are_looked_for_before_the_path_and_for_the_host() {
        let places = well_known(&url("https://a/b/c?d"), "x");
        assert_eq!(
            places,
            [
                url("https://a/.well-known/x/b/c"),
                url("https://a/.well-known/x")
            ]
        );
        assert_eq!(well_known(&url("https://a"), "x").len(), 1);
        assert_eq!(
            below(&url("https://a/b/"), "x"),
            Some(url("https://a/b/.well-known/x"))
        );
    }

    #[test]
    fn metadata_of_another_server_are_refused() {
        let server = url("https://a/mcp");
        let check = |resource: &str, expected: bool| {
            let found = belongs(&json!({ "resource": resource }), &server);
            assert_eq!(found.is_ok(), expected, "{resource}");
        };
        check("https://a/mcp", true);
        check("https://a", true);
        check("https://b/mcp", false);
        check("https://a/mcp/other", false);
        check("https://a/m", false);
        check("nonsense", false);
    }

    #[test]
    fn an_authority_without_pkce_or_https_is_refused() {
        let issuer = url("https://a/");
        let whole = json!({
            "issuer": "https://a",
            "authorization_endpoint": "https://a/authorize",
            "token_endpoint": "https://a/token",
            "code_challenge_methods_supported": ["plain", "S256"],
        });
        assert!(read(&whole, &issuer, None).is_ok());
        for (key, value) in [
            ("issuer", json!("https://b")),
            ("code_challenge_methods_supported", json!(["plain"])),
            ("code_challenge_methods_supported", Value::Null),
            ("token_endpoint", json!("http://a/token")),
            ("authorization_endpoint", Value::Null),
        ] {
            let mut broken = whole.clone();
            broken[key] = value;
            assert!(read(&broken, &issuer, None).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_server_elsewhere_names_no_address_of_this_machine() {
        let check = |address: &str, named_by: &str, expected: bool| {
            let found = safe(url(address), &url(named_by));
            assert_eq!(found.is_ok(), expected, "{address} by {named_by}");
        };
        for here in [
            "http://localhost:2375/x",
            "http://127.0.0.1/x",
            "https://127.8.9.1/x",
            "http://[::1]:80/x",
            "http://[::ffff:127.0.0.1]/x",
            "http://0.0.0.0:1/x",
            "https://a.localhost./x",
        ] {
            check(here, "https://a/mcp", false);
            check(here, "http://127.0.0.1:9/mcp", true);
        }
        check("https://b/x", "https://a/mcp", true);
        check("http://b/x", "https://a/mcp", false);
    }
}
