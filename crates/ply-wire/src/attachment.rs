//! What is attached to prompts: addresses of files, and what an image is.

use std::path::Path;

/// Returns the address of a file. Bytes that are not plain in one are written as `%NN`, so that every name can be said.
///
/// ```
/// let uri = ply_wire::attachment::file_uri("/a b/ü.rs".as_ref());
/// assert_eq!(uri, "file:///a%20b/%C3%BC.rs");
/// ```
#[must_use]
pub fn file_uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// Returns the media type of an image that models take, by how it begins: names lie.
#[must_use]
pub fn image_type(bytes: &[u8]) -> Option<&'static str> {
    if let Some(rest) = bytes.strip_prefix(b"RIFF") {
        // Four bytes of length stand between the two words.
        let is_webp = rest.get(4..).is_some_and(|rest| rest.starts_with(b"WEBP"));
        return is_webp.then_some("image/webp");
    }
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_first_bytes() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\nrest"[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\0\0\0\0WAVEfmt ", None),
            (b"RIFF", None),
            (b"<svg", None),
            (b"", None),
        ] {
            assert_eq!(image_type(bytes), expected);
        }
    }

    #[cfg(unix)]
    #[test]
    fn g5_every_file_name_has_an_address() {
        use std::os::unix::ffi::OsStrExt as _;

        let odd = Path::new(std::ffi::OsStr::from_bytes(b"/a b/\xff%\xc3\xa9.txt"));
        assert_eq!(file_uri(odd), "file:///a%20b/%FF%25%C3%A9.txt");
    }
}
