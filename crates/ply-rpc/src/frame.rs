//! Message to line: frames are encoded outside any lock, into buffers that are used again.

use std::cell::RefCell;

use bytes::Bytes;
use ply_json::Sink;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{RequestId, RpcError};

/// Buffers kept for reuse per thread, and the largest one worth keeping.
const POOLED_MAX: usize = 8;
const POOLED_BYTES_MAX: usize = 16 * 1024;

thread_local! {
    static POOL: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Growth from which on the system is told that a buffer will be written as a whole.
const LARGE_BYTES: usize = 1024 * 1024;

/// What closes a message. Room for it is made together with that for the rest: to grow a large buffer by two bytes is to copy it.
const END: &[u8] = b"}\n";

/// One encoded message with its newline.
#[derive(Debug)]
pub(crate) struct Encoded {
    text: Vec<u8>,
    /// What stands in the text from some place on, and is not copied: others have it too.
    shared: Option<(usize, Bytes)>,
}

/// Encodes into a buffer, with an eye on the large ones.
struct Writer<'a>(&'a mut Vec<u8>);

impl Sink for Writer<'_> {
    // The encoder calls this for every key, comma and value.
    #[inline]
    fn put(&mut self, text: &str) {
        let Self(out) = self;
        if out.capacity() - out.len() < text.len() {
            grow(out, text.len());
        }
        out.extend_from_slice(text.as_bytes());
    }

    #[inline]
    fn put_quoted(&mut self, text: &str) {
        let Self(out) = self;
        let bytes = text.len() + 2;
        if out.capacity() - out.len() < bytes {
            grow(out, bytes);
        }
        out.put_quoted(text);
    }
}

/// Makes room for `bytes` more, in large steps once the message is large: each step may copy what is there, and memory that is
/// not written costs nothing.
#[cold]
fn grow(out: &mut Vec<u8>, bytes: usize) {
    if out.len() + bytes < LARGE_BYTES {
        return out.reserve(bytes);
    }
    out.reserve(bytes.max(7 * out.len()));
    ply_sys::expect_large_write(out.spare_capacity_mut());
}

impl Encoded {
    pub(crate) fn request(
        id: i64,
        method: &str,
        params: &(impl Serialize + ?Sized),
    ) -> Result<Self, serde_json::Error> {
        let mut out = start();
        out.extend_from_slice(b",\"id\":");
        RequestId::from(id).write_to(&mut out);
        Self::with_method(out, method, params)
    }

    /// Encodes a request whose params `write` appends, as JSON of about so many bytes.
    pub(crate) fn request_by(
        id: i64,
        method: &str,
        bytes: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Self {
        let mut out = start();
        out.extend_from_slice(b",\"id\":");
        RequestId::from(id).write_to(&mut out);
        out.extend_from_slice(b",\"method\":\"");
        out.extend_from_slice(method.as_bytes());
        out.extend_from_slice(b"\",\"params\":");
        let from = out.len();
        let bytes = bytes + END.len();
        if out.capacity() - out.len() < bytes {
            grow(&mut out, bytes);
        }
        write(&mut out);
        Self::finish(out, from)
    }

    pub(crate) fn notification(
        method: &str,
        params: &(impl Serialize + ?Sized),
    ) -> Result<Self, serde_json::Error> {
        Self::with_method(start(), method, params)
    }

    /// Encodes a notification whose params are JSON already.
    pub(crate) fn notification_of(method: &str, params: &[&str]) -> Self {
        let mut out = start();
        out.extend_from_slice(b",\"method\":\"");
        out.extend_from_slice(method.as_bytes());
        out.extend_from_slice(b"\",\"params\":");
        let from = out.len();
        let bytes = params.iter().map(|part| part.len()).sum::<usize>() + END.len();
        if out.capacity() - out.len() < bytes {
            grow(&mut out, bytes);
        }
        for part in params {
            out.extend_from_slice(part.as_bytes());
        }
        Self::finish(out, from)
    }

    /// Encodes a notification whose params are JSON already, one part of which is long and stays where it is, unless it has line
    /// breaks.
    pub(crate) fn notification_around(
        method: &str,
        (before, body, after): (&str, Bytes, &str),
    ) -> Self {
        let breaks = memchr::memchr2(b'\n', b'\r', &body);
        if let (Some(_), Ok(body)) = (breaks, std::str::from_utf8(&body)) {
            return Self::notification_of(method, &[before, body, after]);
        }
        let mut encoded = Self::notification_of(method, &[before, after]);
        let at = encoded.text.len() - after.len() - END.len();
        encoded.shared = Some((at, body));
        encoded
    }

    fn with_method(
        mut out: Vec<u8>,
        method: &str,
        params: &(impl Serialize + ?Sized),
    ) -> Result<Self, serde_json::Error> {
        out.extend_from_slice(b",\"method\":");
        ply_json::write(method, &mut out)?;
        out.extend_from_slice(b",\"params\":");
        let from = out.len();
        ply_json::write(params, &mut Writer(&mut out))?;
        if out.get(from..) == Some(b"null") {
            // JSON-RPC params are an object or an array, or are left out.
            out.truncate(from - b",\"params\":".len());
        }
        Ok(Self::finish(out, from))
    }

    pub(crate) fn result(
        id: &RequestId,
        result: &(impl Serialize + ?Sized),
    ) -> Result<Self, serde_json::Error> {
        let mut out = start_answer(|out| id.write_to(out));
        out.extend_from_slice(b",\"result\":");
        let from = out.len();
        ply_json::write(result, &mut Writer(&mut out))?;
        Ok(Self::finish(out, from))
    }

    pub(crate) fn error(id: &RequestId, error: &RpcError) -> Self {
        Self::with_error(start_answer(|out| id.write_to(out)), error)
    }

    /// Encodes a refusal under an id that is a scalar but no request id.
    pub(crate) fn error_to_text(id: &str, error: &RpcError) -> Self {
        Self::with_error(
            start_answer(|out| out.extend_from_slice(id.as_bytes())),
            error,
        )
    }

    fn with_error(mut out: Vec<u8>, error: &RpcError) -> Self {
        out.extend_from_slice(b",\"error\":");
        let from = out.len();
        ply_json::write(error, &mut out)
            .expect("an error object is a number, a string and valid JSON");
        Self::finish(out, from)
    }

    /// Closes the object and the line.
    ///
    /// Raw JSON given by a caller may hold line breaks between its tokens; one inside a frame would end it early. In valid
    /// JSON they stand only where a blank may, since strings cannot hold them.
    fn finish(mut out: Vec<u8>, from: usize) -> Self {
        let mut rest = out.get_mut(from..).unwrap_or_default();
        while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
            let (_, tail) = rest.split_at_mut(at);
            if let Some(byte) = tail.first_mut() {
                *byte = b' ';
            }
            rest = tail;
        }
        out.extend_from_slice(END);
        Self {
            text: out,
            shared: None,
        }
    }

    /// Returns how long the line is.
    pub(crate) fn len(&self) -> usize {
        let shared = self.shared.as_ref();
        self.text.len() + shared.map_or(0, |(_, body)| body.len())
    }

    /// Returns the text, and what stands in it from which place on.
    pub(crate) fn parts(&mut self) -> (&[u8], Option<(usize, Bytes)>) {
        (&self.text, self.shared.take())
    }

    /// Returns the line.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        let mut line = self.text;
        if let Some((at, body)) = self.shared {
            line.splice(at..at, body);
        }
        line
    }

    /// Gives the buffer back for the next message of this thread.
    pub(crate) fn recycle(self) {
        let mut buffer = self.text;
        if buffer.capacity() <= POOLED_BYTES_MAX {
            buffer.clear();
            POOL.with_borrow_mut(|pool| {
                if pool.len() < POOLED_MAX {
                    pool.push(buffer);
                }
            });
        }
    }
}

fn start() -> Vec<u8> {
    let mut out = POOL.with_borrow_mut(Vec::pop).unwrap_or_default();
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
    out
}

fn start_answer(write_id: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = start();
    out.extend_from_slice(b",\"id\":");
    write_id(&mut out);
    out
}

/// Decodes params or a result, an absent one being the empty object.
pub(crate) fn decode<'a, T: serde::Deserialize<'a>>(
    params: Option<&'a RawValue>,
) -> Result<T, serde_json::Error> {
    serde_json::from_str(params.map_or("{}", RawValue::get))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(frame: Encoded) -> String {
        String::from_utf8(frame.into_vec()).unwrap()
    }

    #[test]
    fn frames_are_single_lines_in_the_expected_shape() {
        let frame = Encoded::request(-1, "a/\"b", &serde_json::json!({"text": "x\ny"})).unwrap();
        assert_eq!(
            text(frame),
            "{\"jsonrpc\":\"2.0\",\"id\":-1,\"method\":\"a/\\\"b\",\"params\":{\"text\":\"x\\ny\"}}\n"
        );
        assert_eq!(
            text(Encoded::notification("m", &()).unwrap()),
            "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n"
        );
        let error = RpcError::new(-1, "no");
        let frame = Encoded::error(&RequestId::NULL, &error);
        assert_eq!(
            text(frame),
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"no\"}}\n"
        );
    }

    #[test]
    fn what_is_shared_stands_where_it_would_be_copied_to() {
        let parts = ["{\"a\":", "[1,2]", ",\"b\":3}"];
        let [before, body, after] = parts;
        let copied = Encoded::notification_of("m", &parts);
        let body = Bytes::from_static(body.as_bytes());
        let shared = Encoded::notification_around("m", (before, body, after));
        assert_eq!(shared.len(), copied.len());
        assert_eq!(text(shared), text(copied));
    }

    #[test]
    fn line_breaks_in_raw_json_do_not_end_the_frame() {
        let raw = RawValue::from_string("{\n  \"a\": 1\r\n}".to_owned()).unwrap();
        let frame = text(Encoded::result(&1.into(), &raw).unwrap());
        assert_eq!(frame.matches('\n').count(), 1);
        assert!(frame.ends_with("\"result\":{   \"a\": 1  }}\n"), "{frame}");
    }
}
