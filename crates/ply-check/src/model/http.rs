//! As much HTTP as clients of models need: requests with a body, answers that are whole or a stream of events.

use std::io;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Bytes of the lines before a body.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a body: agents send whole conversations with their tools.
const BODY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes that are read at a time.
const READ_BYTES: usize = 16 * 1024;

/// What is asked.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// Reads a request; none if the other side is done. What comes after it stays in the buffer.
pub(super) async fn read(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<Request>> {
    let head = loop {
        if let Some(end) = find(buffer, b"\r\n\r\n") {
            break end;
        }
        if buffer.len() > HEAD_BYTES_MAX {
            return Err(io::Error::other("the headers are too long"));
        }
        if !more(stream, buffer).await? {
            return Ok(None);
        }
    };
    let lines = String::from_utf8_lossy(buffer.get(..head).unwrap_or_default()).into_owned();
    buffer.drain(..head + 4);
    let mut lines = lines.lines();
    let mut words = lines.next().unwrap_or_default().split_whitespace();
    let (method, path) = (words.next(), words.next());
    let (Some(method), Some(path)) = (method, path) else {
        return Err(io::Error::other("a request has no method or path"));
    };
    let mut length = 0;
    let mut is_chunked = false;
    for line in lines {
        let (name, value) = line.split_once(':').unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().map_err(io::Error::other)?,
            "transfer-encoding" => is_chunked = value.to_ascii_lowercase().contains("chunked"),
            "expect" => stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?,
            _ => {}
        }
    }
    let (method, path) = (method.to_owned(), path.to_owned());
    let body = match is_chunked {
        true => chunks(stream, buffer).await?,
        false => exactly(stream, buffer, length).await?,
    };
    Ok(Some(Request { method, path, body }))
}

/// Reads more into a buffer; false if there is no more.
async fn more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<bool> {
    let mut piece = vec![0; READ_BYTES];
    let read = stream.read(&mut piece).await?;
    buffer.extend_from_slice(piece.get(..read).unwrap_or_default());
    Ok(read > 0)
}

async fn exactly(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
    length: usize,
) -> io::Result<Vec<u8>> {
    if length > BODY_BYTES_MAX {
        return Err(io::Error::other("the body is too long"));
    }
    while buffer.len() < length {
        if !more(stream, buffer).await? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(buffer.drain(..length).collect())
}

async fn chunks(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = loop {
            match find(buffer, b"\r\n") {
                Some(end) => break end,
                None if more(stream, buffer).await? => {}
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        };
        let line: Vec<u8> = buffer.drain(..end + 2).collect();
        let line = String::from_utf8_lossy(&line);
        let size = line.trim().split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
        if body.len() + size > BODY_BYTES_MAX {
            return Err(io::Error::other("the body is too long"));
        }
        body.extend(exactly(stream, buffer, size).await?);
        exactly(stream, buffer, 2).await?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn find(buffer: &[u8], wanted: &[u8]) -> Option<usize> {
    buffer.windows(wanted.len()).position(|it| it == wanted)
}

/// Writes an answer that is whole.
pub(super) async fn whole(stream: &mut TcpStream, status: u16, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await
}

/// Writes an answer as a stream of events, with a pause after each.
pub(super) async fn events(
    stream: &mut TcpStream,
    events: &[String],
    pause: Duration,
) -> io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    for event in events {
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        stream.write_all(chunk.as_bytes()).await?;
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }
    stream.write_all(b"0\r\n\r\n").await
}
