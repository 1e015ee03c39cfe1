//! One connection of a command: asked for a host, and joined with it if that is allowed.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::permission::is_private;
use crate::shell::sandbox::hosts::{Host, split};

/// How long the beginning of a request may be.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// How long a command may take to say what it wants.
const HEAD_TIME_MAX: Duration = Duration::from_secs(30);
/// How long a host may take to answer.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(30);

/// What a command asks a proxy for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    host: String,
    port: u16,
    /// What is sent on to the host; nothing where the command asked for a tunnel.
    forward: Option<Vec<u8>>,
}

/// Serves one connection until one of its sides is done with it.
pub(super) async fn serve(
    mut command: TcpStream,
    hosts: &[Host],
    refuse: &(dyn Fn(String) + Sync),
) -> io::Result<()> {
    let head = timeout(HEAD_TIME_MAX, read_head(&mut command)).await??;
    let Some(wanted) = read(&head) else {
        return answer(
            &mut command,
            "400 Bad Request",
            "This proxy speaks HTTP/1.1 with CONNECT.",
        )
        .await;
    };
    let Wanted { host, port, .. } = &wanted;
    let Some(rule) = hosts.iter().find(|rule| rule.allows(host, *port)) else {
        let named = format!("{host}:{port}");
        let words =
            format!("Ply's sandbox does not allow {named}. It is not in `hosts` in `[sandbox]`.");
        refuse(named);
        return answer(&mut command, "403 Forbidden", &words).await;
    };
    let mut remote = match timeout(CONNECT_TIME_MAX, connect(host, *port, rule.is_near())).await {
        Ok(Ok(remote)) => remote,
        Ok(Err(error)) => {
            let words = format!("{host}:{port} cannot be reached: {error}.");
            return answer(&mut command, "502 Bad Gateway", &words).await;
        }
        Err(_) => {
            return answer(
                &mut command,
                "504 Gateway Timeout",
                "The host does not answer.",
            )
            .await;
        }
    };
    match &wanted.forward {
        Some(bytes) => remote.write_all(bytes).await?,
        None => {
            command
                .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                .await?
        }
    }
    copy_bidirectional(&mut command, &mut remote).await?;
    Ok(())
}

/// Reads the beginning of a request, with what came along behind it.
async fn read_head(command: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while end_of_head(&head).is_none() {
        if head.len() >= HEAD_BYTES_MAX || command.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(head)
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(end + 4)
}

/// Reads what a command wants.
fn read(bytes: &[u8]) -> Option<Wanted> {
    let (head, rest) = bytes.split_at_checked(end_of_head(bytes)?)?;
    let head = std::str::from_utf8(head).ok()?;
    let (line, headers) = head.split_once("\r\n")?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if method == "CONNECT" {
        let (host, port) = split(target)?;
        // What came before the tunnel was there is for nobody.
        return Some(Wanted {
            host,
            port: port?,
            forward: None,
        })
        .filter(|_| rest.is_empty());
    }
    let target = target.strip_prefix("http://")?;
    let path_at = target.find(['/', '?', '#']).unwrap_or(target.len());
    let (authority, path) = target.split_at(path_at);
    let (host, port) = split(authority)?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut forward = format!("{method} {slash}{path} {version}\r\n");
    for header in headers.split("\r\n").filter(|header| !header.is_empty()) {
        let name = header
            .split(':')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        // A second request on the same connection would go to the same host; it ends here instead. And a
        // server with several names would answer for whichever it is told.
        if !matches!(
            name.as_str(),
            "host" | "connection" | "proxy-connection" | "proxy-authorization" | "keep-alive"
        ) {
            forward.push_str(header);
            forward.push_str("\r\n");
        }
    }
    forward.push_str(&format!("Host: {authority}\r\nConnection: close\r\n\r\n"));
    let mut forward = forward.into_bytes();
    forward.extend_from_slice(rest);
    Some(Wanted {
        host,
        port: port.unwrap_or(80),
        forward: Some(forward),
    })
}

/// Connects to a host. A name on the Internet that leads to this machine or into its network is refused:
/// whoever owns a name decides where it leads.
async fn connect(host: &str, port: u16, near: bool) -> io::Result<TcpStream> {
    let addresses = tokio::net::lookup_host((host, port)).await?;
    let addresses: Vec<SocketAddr> = addresses
        .filter(|address| near || !is_private(address.ip()))
        .collect();
    if addresses.is_empty() {
        return Err(io::Error::other("it has no public address"));
    }
    TcpStream::connect(addresses.as_slice()).await
}

async fn answer(command: &mut TcpStream, status: &str, words: &str) -> io::Result<()> {
    let bytes = words.len() + 1;
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {bytes}\r\nConnection: close\r\n\r\n{words}\n"
    );
    command.write_all(answer.as_bytes()).await?;
    command.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let wanted = read(b"CONNECT Crates.io:443 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        assert_eq!((wanted.host.as_str(), wanted.port), ("crates.io", 443));
        assert_eq!(wanted.forward, None);
        let request = b"POST http://a.b:81/x?y HTTP/1.1\r\nHost: evil\r\nProxy-Connection: keep-alive\r\n\r\nbody";
        let wanted = read(request).unwrap();
        assert_eq!((wanted.host.as_str(), wanted.port), ("a.b", 81));
        let forward = String::from_utf8(wanted.forward.unwrap()).unwrap();
        assert_eq!(
            forward,
            "POST /x?y HTTP/1.1\r\nHost: a.b:81\r\nConnection: close\r\n\r\nbody"
        );
        let wanted = read(b"GET http://a HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!((wanted.host.as_str(), wanted.port), ("a", 80));
        assert!(wanted.forward.unwrap().starts_with(b"GET / HTTP/1.1\r\n"));
        for wrong in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET https://a/ HTTP/1.1\r\n\r\n",
            "CONNECT a HTTP/1.1\r\n\r\n",
            "CONNECT a:443 HTTP/1.1\r\n\r\nearly",
            "GET http://user@a/ HTTP/1.1",
            "\r\n\r\n",
        ] {
            assert_eq!(read(wrong.as_bytes()), None, "{wrong:?}");
        }
    }
}
