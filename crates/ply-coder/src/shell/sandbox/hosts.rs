//! The hosts that commands may reach.

use std::net::IpAddr;
use std::str::FromStr;

/// The ports of the web, which a host without a port stands for.
const WEB: [u16; 2] = [80, 443];

/// A host that commands may reach: `crates.io`, `*.example.org` for all below a name, or either with a
/// port, such as `localhost:5432`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    name: String,
    /// Whether all names below it are meant, and not the name itself.
    below: bool,
    port: Option<u16>,
}

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` must be a host such as `crates.io`, `*.example.org` or `localhost:8080`"
            )
        };
        let (name, port) = split(text).ok_or_else(wrong)?;
        let (name, below) = match name.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (name.as_str(), false),
        };
        let is_address = name.parse::<IpAddr>().is_ok();
        let is_name = name.split('.').all(is_label);
        let fits = match below {
            false => is_name || is_address,
            // A whole top-level domain is a slip, and below an address there is nothing.
            true => is_name && !is_address && name.contains('.'),
        };
        if !fits {
            return Err(wrong());
        }
        Ok(Self {
            name: name.to_owned(),
            below,
            port,
        })
    }
}

impl Host {
    pub(super) fn allows(&self, name: &str, port: u16) -> bool {
        let right_port = match self.port {
            Some(allowed) => allowed == port,
            None => WEB.contains(&port),
        };
        let right_name = match self.below {
            false => self.name == name,
            true => name
                .strip_suffix(self.name.as_str())
                .and_then(|rest| rest.strip_suffix('.'))
                .is_some_and(|rest| rest.split('.').all(is_label)),
        };
        right_port && right_name
    }

    /// Returns whether addresses of this machine and of private networks are meant.
    pub(super) fn is_near(&self) -> bool {
        self.name == "localhost"
            || self.name.ends_with(".localhost")
            || self.name.parse::<IpAddr>().is_ok()
    }
}

/// Splits a host from its port and spells it as hosts are compared: in small letters, without a last dot.
pub(super) fn split(text: &str) -> Option<(String, Option<u16>)> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (name, port) = rest.split_once(']')?;
            match port {
                "" => (name, None),
                port => (name, Some(port.strip_prefix(':')?)),
            }
        }
        None => match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(port.parse().ok()?),
        Some(_) => return None,
        None => None,
    };
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    (!name.is_empty()).then_some((name, port))
}

fn is_label(label: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !label.is_empty() && label.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(host: &str, allowed: &[(&str, u16)], denied: &[(&str, u16)]) {
        let host: Host = host.parse().unwrap();
        for (name, port) in allowed {
            assert!(host.allows(name, *port), "{host:?} {name} {port}");
        }
        for (name, port) in denied {
            assert!(!host.allows(name, *port), "{host:?} {name} {port}");
        }
    }

    #[test]
    fn a_host_is_allowed_as_it_is_written() {
        check(
            "Crates.IO",
            &[("crates.io", 443), ("crates.io", 80)],
            &[
                ("crates.io", 22),
                ("index.crates.io", 443),
                ("evilcrates.io", 443),
            ],
        );
        check(
            "*.example.org",
            &[("a.example.org", 443), ("a.b.example.org", 80)],
            &[
                ("example.org", 443),
                ("evil-example.org", 443),
                (".example.org", 443),
                ("a.example.org.evil", 443),
                ("192.0.2.1\t.example.org", 443),
                ("evil.com#.example.org", 443),
                ("me@a.example.org", 443),
            ],
        );
        check(
            "localhost:8080",
            &[("localhost", 8080)],
            &[("localhost", 80), ("127.0.0.1", 8080)],
        );
        check("[::1]:80", &[("::1", 80)], &[("::1", 443)]);
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for text in [
            "",
            "*",
            "*.",
            "*.org",
            "a b",
            "https://crates.io",
            "crates.io/x",
            "crates.io:port",
            "a..b",
            "*.127.0.0.1",
            "crates.io:99999",
            "user@crates.io",
        ] {
            assert!(text.parse::<Host>().is_err(), "{text}");
        }
    }
}
