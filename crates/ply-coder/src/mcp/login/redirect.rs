//! The port of this machine to which a browser brings the code of a login.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::discovery::Authority;
use super::{ERROR_CHARS_MAX, words};

/// Where the browser comes back to.
const PATH: &str = "/callback";
/// How much of a request is read.
const REQUEST_BYTES_MAX: usize = 16 * 1024;
/// How many connections are heard at a time.
const CONNECTIONS_MAX: usize = 32;
/// How long a request may take.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(5);

/// A port that a browser comes back to.
#[derive(Debug)]
pub(super) struct Redirect {
    listener: TcpListener,
    port: u16,
}

impl Redirect {
    /// Listens on a port that only this machine reaches.
    pub(super) async fn listen() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// Returns the address that the browser is sent back to.
    pub(super) fn uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for the code of a login with this state. Whoever else comes by is turned away, and holds up nobody: browsers open
    /// connections that they may never use.
    pub(super) async fn code(&self, state: &str, authority: &Authority) -> Result<String, String> {
        let mut asked = JoinSet::new();
        loop {
            let (mut stream, target) = tokio::select! {
                accepted = self.listener.accept(), if asked.len() < CONNECTIONS_MAX => {
                    let (mut stream, _) =
                        accepted.map_err(|error| format!("the login cannot come back ({error})"))?;
                    asked.spawn(async move {
                        let target = timeout(REQUEST_TIME_MAX, target(&mut stream)).await;
                        target.ok()?.ok().map(|target| (stream, target))
                    });
                    continue;
                }
                Some(found) = asked.join_next() => match found {
                    Ok(Some(found)) => found,
                    _ => continue,
                },
            };
            let answer = read(&target, state, authority);
            let (status, words) = match &answer {
                Some(Ok(_)) => ("200 OK", "You are logged in. You can close this page."),
                Some(Err(_)) => ("400 Bad Request", "The login failed. Go back to Ply."),
                None => ("404 Not Found", "There is nothing here."),
            };
            let told = timeout(REQUEST_TIME_MAX, tell(&mut stream, status, words)).await;
            if !matches!(told, Ok(Ok(()))) {
                tracing::debug!("a browser did not wait for the answer to a login");
            }
            if let Some(answer) = answer {
                return answer;
            }
        }
    }
}

/// Reads what a browser asks for: `GET /callback?code=… HTTP/1.1`.
async fn target(stream: &mut TcpStream) -> io::Result<String> {
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut buffer).await?;
        request.extend_from_slice(buffer.get(..read).unwrap_or_default());
        if read == 0 || request.len() > REQUEST_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    let request = String::from_utf8_lossy(&request);
    let mut words = request.split(' ');
    match (words.next(), words.next()) {
        (Some("GET"), Some(target)) => Ok(target.to_owned()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

async fn tell(stream: &mut TcpStream, status: &str, words: &str) -> io::Result<()> {
    let bytes = words.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {bytes}\r\nconnection: close\r\n\r\n{words}"
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

/// Reads the code, or why there is none. What is not about this login is nothing.
fn read(target: &str, state: &str, authority: &Authority) -> Option<Result<String, String>> {
    let url = Url::parse("http://127.0.0.1").ok()?.join(target).ok()?;
    if url.path() != PATH {
        return None;
    }
    let value = |name: &str| {
        let mut pairs = url.query_pairs();
        let found = pairs.find(|(key, _)| key == name);
        found.map(|(_, value)| value.into_owned())
    };
    // Any page can make a browser come here; only the login that we began has the state.
    if value("state").as_deref() != Some(state) {
        return None;
    }
    let is_it = match (value("iss"), &authority.issuer) {
        (Some(told), Some(issuer)) => told == *issuer,
        (None, _) => !authority.signs,
        (Some(_), None) => true,
    };
    if !is_it {
        return Some(Err("the login came back from another server".to_owned()));
    }
    if let Some(error) = value("error") {
        let why = value("error_description").unwrap_or(error);
        let why = words::line(&why, ERROR_CHARS_MAX);
        return Some(Err(format!("the login was refused: {why}")));
    }
    let code = value("code").filter(|code| !code.is_empty());
    Some(code.ok_or_else(|| "the login came back without a code".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authority(signs: bool) -> Authority {
        let url = Url::parse("https://a").unwrap();
        Authority {
            issuer: Some("https://a".to_owned()),
            signs,
            authorize: url.clone(),
            token: url,
            register: None,
            scope: None,
        }
    }

    #[tokio::test]
    async fn a_connection_that_says_nothing_does_not_hold_up_the_login() {
        let redirect = Redirect::listen().await.unwrap();
        let authority = authority(false);
        let at = (Ipv4Addr::LOCALHOST, redirect.port);
        let browser = async {
            let idle = TcpStream::connect(at).await.unwrap();
            let mut stream = TcpStream::connect(at).await.unwrap();
            let request = b"GET /callback?code=c&state=s HTTP/1.1\r\n\r\n";
            stream.write_all(request).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            drop(idle);
            answer
        };
        let both = async { tokio::join!(redirect.code("s", &authority), browser) };
        let (code, answer) = timeout(REQUEST_TIME_MAX / 2, both).await.unwrap();
        assert_eq!(code.as_deref(), Ok("c"));
        assert!(answer.contains("You are logged in."), "{answer}");
    }

    #[test]
    fn a_server_that_signs_logins_signs_each() {
        let check = |target: &str, is_fine: bool| {
            let found = read(target, "s", &authority(true)).unwrap();
            assert_eq!(found.is_ok(), is_fine, "{target}");
        };
        check("/callback?code=c&state=s&iss=https://a", true);
        check("/callback?code=c&state=s", false);
        check("/callback?code=c&state=s&iss=https://b", false);
    }

    #[test]
    fn only_the_login_that_we_began_is_heard() {
        let check = |target: &str, expected: Option<Result<&str, &str>>| {
            let found = read(target, "s", &authority(false));
            match (&found, expected) {
                (Some(Ok(code)), Some(Ok(expected))) => assert_eq!(code, expected),
                (Some(Err(why)), Some(Err(part))) => assert!(why.contains(part), "{why}"),
                (None, None) => {}
                _ => panic!("{target}: {found:?}"),
            }
        };
        check("/callback?code=c%20d&state=s", Some(Ok("c d")));
        check(
            "/callback?code=c&state=s&iss=https%3A%2F%2Fa",
            Some(Ok("c")),
        );
        check(
            "/callback?code=c&state=s&iss=https://b",
            Some(Err("another server")),
        );
        check("/callback?code=c&state=x", None);
        check("/callback?code=c", None);
        check("/other?code=c&state=s", None);
        check(
            "/callback?error=access_denied&state=s",
            Some(Err("access_denied")),
        );
        check("/callback?state=s", Some(Err("without a code")));
    }
}
