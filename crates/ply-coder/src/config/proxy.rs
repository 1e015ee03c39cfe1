//! The proxy, from the variables that programs share.

use crate::model::service::Secret;

/// Returns the proxy for an address of the web; none for one on this machine.
pub(super) fn proxy(
    env: &dyn Fn(&str) -> Option<String>,
    base_url: Option<&str>,
) -> Option<Secret> {
    let host = base_url.map(host);
    // Services at their usual places are all reached by https.
    let (names, host) = match (base_url, host) {
        (Some(url), Some(host)) if url.starts_with("http://") => {
            (["http_proxy", "HTTP_PROXY"], Some(host))
        }
        (_, host) => (["https_proxy", "HTTPS_PROXY"], host),
    };
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    let first = |names: &[&str]| names.iter().find_map(|name| set(name));
    let proxy = first(&names).or_else(|| first(&["all_proxy", "ALL_PROXY"]))?;
    let except = first(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
    let direct = host.is_some_and(|host| is_local(host) || is_listed(host, &except));
    (!direct && except != "*").then(|| Secret::new(proxy))
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host == "::1" || host.starts_with("127.")
}

fn is_listed(host: &str, list: &str) -> bool {
    list.split(',')
        .map(|entry| entry.trim().trim_start_matches('.'))
        .filter(|entry| !entry.is_empty())
        .any(|entry| {
            host.strip_suffix(entry)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], url: Option<&str>, expected: Option<&str>) {
        let env = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let proxy = proxy(&env, url);
        assert_eq!(proxy.as_ref().map(Secret::reveal), expected, "{url:?}");
    }

    #[test]
    fn a_proxy_is_used_for_the_web_and_not_for_this_machine() {
        let variables = [
            ("HTTPS_PROXY", "http://p:1"),
            ("NO_PROXY", "a.example, .b.example"),
        ];
        let proxy = Some("http://p:1");
        check(&variables, None, proxy);
        check(&variables, Some("https://api.example/v1"), proxy);
        check(&variables, Some("https://x.a.example:8443/v1"), None);
        check(&variables, Some("https://b.example"), None);
        check(&variables, Some("https://bb.example"), proxy);
        check(&variables, Some("http://localhost:11434"), None);
        check(&variables, Some("http://plain.example"), None);
        check(
            &[("ALL_PROXY", "http://p:1")],
            Some("http://[::1]:80/v1"),
            None,
        );
        check(
            &[("ALL_PROXY", "http://p:1"), ("no_proxy", "*")],
            None,
            None,
        );
        check(&[("HTTPS_PROXY", "")], None, None);
    }
}
