//! Who listens on a port of this machine.

/// The state of a socket that listens, in the kernel's tables.
const LISTENS: &str = "0A";

/// Returns the user whose process listens at an address of this machine, if the kernel tells.
pub(super) fn user_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split('/').next()?;
    let (name, port) = host.rsplit_once(':')?;
    if !matches!(name, "localhost" | "127.0.0.1" | "[::1]") {
        return None;
    }
    let port = port.parse().ok()?;
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let mut tables = tables
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok());
    let uid = tables.find_map(|table| uid_of(&table, port))?;
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    Some(
        name_of(&users, uid)
            .map_or_else(|| format!("with the id {uid}"), |name| format!("`{name}`")),
    )
}

/// Finds the user of a socket that listens on a port.
fn uid_of(table: &str, port: u16) -> Option<u32> {
    let port = format!("{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, local) = fields.get(1)?.rsplit_once(':')?;
        let is_it = local == port && fields.get(3) == Some(&LISTENS);
        is_it.then(|| fields.get(7)?.parse().ok()).flatten()
    })
}

fn name_of(users: &str, uid: u32) -> Option<&str> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_whose_port_it_is() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:2CAA 00000000:0000 01 00000000:00000000 00:00000000 00000000     7        0 1\n   \
                     1: 0100007F:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 2\n";
        assert_eq!(uid_of(table, 11434), Some(998));
        assert_eq!(uid_of(table, 11435), None);
        assert_eq!(
            name_of("root:x:0:0::/:/bin/sh\nollama:x:998:998::/:/bin/sh\n", 998),
            Some("ollama")
        );
    }

    #[test]
    fn a_port_of_this_process_has_its_user() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        assert!(user_of(&url).is_some());
        assert_eq!(user_of("http://example.com:80"), None);
    }
}
