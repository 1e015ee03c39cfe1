//! Where requests go: which server, and whether it is one of the public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    /// The name, with the port when it is not the usual one.
    pub(super) name: String,
    /// The name alone.
    pub(super) bare: String,
    /// Whether nobody on the way can read or change what is said.
    pub(super) sealed: bool,
    /// Whether it is this machine, or one of a network that is not public.
    pub(super) private: bool,
}

impl Host {
    /// Returns where a request to an address goes, as the client that sends it reads the address.
    pub(super) fn of(address: &str) -> Option<Self> {
        let url = if address.contains("://") {
            reqwest::Url::parse(address).ok()?
        } else {
            let url = reqwest::Url::parse(&format!("https://{address}")).ok()?;
            // More than a host without a scheme has no one meaning.
            (url.path() == "/" && url.query().is_none() && url.fragment().is_none())
                .then_some(url)?
        };
        if !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        let bare = url.host_str()?.trim_end_matches('.').to_lowercase();
        let local = matches!(bare.as_str(), "localhost" | "127.0.0.1" | "[::1]");
        let sealed = match url.scheme() {
            "https" => true,
            "http" => local,
            _ => return None,
        };
        let name = match url.port() {
            Some(port) => format!("{bare}:{port}"),
            None => bare.clone(),
        };
        Some(Self {
            private: is_private_name(&bare),
            name,
            bare,
            sealed,
        })
    }

    /// Says whether a pattern of a rule means it.
    pub(super) fn is_meant_by(&self, pattern: &str) -> bool {
        host_matches(pattern, &self.name)
    }
}

pub(super) fn host_matches(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        // No lesser name may pass for the domain: the dot belongs to it.
        Some(domain) => host
            .strip_suffix(domain)
            .is_some_and(|sub| sub.len() > 1 && sub.ends_with('.')),
        None => pattern == "*" || pattern == host,
    }
}

/// Ends of names that only networks of one's own have.
const PRIVATE_ENDS: &[&str] = &[
    "localhost",
    "local",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "home.arpa",
];

/// Says whether a host is private by its name: an address that is, or a name that only local networks know.
fn is_private_name(bare: &str) -> bool {
    let literal = bare.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = literal.parse::<IpAddr>() {
        return is_private(address);
    }
    let ends = |end: &str| {
        bare.strip_suffix(end)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    !bare.contains('.') || PRIVATE_ENDS.iter().any(|end| ends(end))
}

/// Says whether an address is this machine, one of a network that is not public, or none that a page of the
/// web can have.
pub(crate) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (b == 18 || b == 19))
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let [first, second, third, ..] = parts;
    // Addresses of version 4 in the forms that are passed on to version 4.
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_private_v4(Ipv4Addr::new(a, b, c, d))
    };
    let [.., high, low] = parts;
    let mapped = parts.starts_with(&[0, 0, 0, 0, 0]);
    let translated = first == 0x64 && second == 0xff9b;
    let tunnelled = first == 0x2002;
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || (first & 0xfe00) == 0xfc00
        || (first & 0xffc0) == 0xfe80
        || (first & 0xffc0) == 0xfec0
        || (first == 0x2001 && (second == 0 || second == 0xdb8))
        || ((mapped || translated) && embedded(high, low))
        || (tunnelled && embedded(second, third))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h8_addresses_that_are_not_public_are_known_in_every_form() {
        for address in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://0.0.0.0/",
            "http://10.1.2.3/",
            "http://172.16.0.1/",
            "http://172.31.255.255/",
            "http://192.168.1.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://100.64.0.1/",
            "http://198.18.0.1/",
            "http://255.255.255.255/",
            "http://224.0.0.1/",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::127.0.0.1]/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://[fec0::1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[2001:0:1::]/",
            "http://[ff02::1]/",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://printer.local/",
            "http://metadata.google.internal/",
            "http://intranet/",
            "http://nas.lan/",
            "http://１２７.0.0.1/",
            "localhost:3000",
        ] {
            let host = Host::of(address);
            assert!(host.is_some_and(|host| host.private), "{address}");
        }
        for address in [
            "https://docs.rs/",
            "http://1.1.1.1/",
            "http://172.32.0.1/",
            "http://[2606:4700::1111]/",
            "http://[64:ff9b::101:101]/",
            "https://local.example/",
            "https://mylocalhost.example/",
        ] {
            let host = Host::of(address);
            assert!(host.is_some_and(|host| !host.private), "{address}");
        }
    }
}
