//! Images by path, and prompts made of blocks.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ply_client::{Prompt, v2};
use tokio::sync::mpsc;

use super::sessions::Note;
use crate::app::{Event, TabId};
use crate::composer::{Block, Outgoing};

/// Bytes of an image that can be sent.
const IMAGE_BYTES_MAX: u64 = 20 * 1024 * 1024;

/// Finds out whether a pasted text is the path of an image.
pub(super) fn check(tab: TabId, text: String, home: Option<PathBuf>, notes: mpsc::Sender<Note>) {
    tokio::task::spawn_blocking(move || {
        let path = path_of(&text, home.as_deref());
        let image = kind_of(&path).map(|mime| (path, mime));
        drop(notes.blocking_send(Note::App(Event::Image(tab, text, image))));
    });
}

/// Returns the path that terminals make of a file dropped on them: quoted, escaped or as an address. `~` is what it is in a shell.
fn path_of(text: &str, home: Option<&Path>) -> PathBuf {
    let text = text.trim();
    let quoted = ['\'', '"']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    let path = match (quoted, text.strip_prefix("file://")) {
        (Some(inside), _) => inside.to_owned(),
        (None, Some(path)) => path.replace("%20", " "),
        (None, None) => text.replace("\\ ", " "),
    };
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => path.into(),
    }
}

/// Returns what an image is, by its first bytes.
fn kind_of(path: &Path) -> Option<&'static str> {
    // Only a file: whatever else there is might never give a byte.
    let facts = std::fs::metadata(path).ok()?;
    if !facts.is_file() {
        return None;
    }
    let mut first = [0; 12];
    let file = std::fs::File::open(path).ok()?;
    let mut file = file.take(12);
    file.read_exact(&mut first).ok()?;
    match &first {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P'] => Some("image/webp"),
        _ => None,
    }
}

/// Makes the prompt: links get their address, images are read.
pub(super) async fn prompt(outgoing: Outgoing, cwd: PathBuf) -> Result<Prompt, String> {
    let made = tokio::task::spawn_blocking(move || {
        let mut prompt = Prompt::default();
        for block in outgoing.blocks {
            prompt = match block {
                Block::Text(text) => prompt.text(text),
                Block::Link(path) => prompt.link(address(&cwd.join(path))),
                Block::Image { path, mime } => prompt.block(read(&path, mime)?),
            };
        }
        Ok(prompt)
    });
    made.await.unwrap_or_else(|error| Err(error.to_string()))
}

fn read(path: &Path, mime: &str) -> Result<v2::ContentBlock, String> {
    let shown = ply_client::text::path(path);
    let size = std::fs::metadata(path).map_or(0, |facts| facts.len());
    if size > IMAGE_BYTES_MAX {
        return Err(format!("{shown} is too large; images may have 20 MiB"));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
    let image = v2::ImageContent::new(STANDARD.encode(bytes), v2::MediaType::new(mime));
    Ok(v2::ContentBlock::Image(image))
}

/// Returns a path as an address.
fn address(path: &Path) -> String {
    let mut address = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                address.push(char::from(*byte));
            }
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_file_is_known_however_the_terminal_writes_it() {
        for text in ["/a b.png", "'/a b.png'", "/a\\ b.png ", "file:///a%20b.png"] {
            assert_eq!(path_of(text, None), Path::new("/a b.png"), "{text}");
        }
        let home = Some(Path::new("/home"));
        assert_eq!(path_of("~/a.png", home), Path::new("/home/a.png"));
        assert_eq!(path_of("'~/a b.png'", home), Path::new("/home/a b.png"));
    }

    #[test]
    fn images_are_known_by_their_bytes_and_not_by_their_names() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.txt");
        std::fs::write(&file, b"\x89PNG\r\n\x1a\n\0\0\0\0").unwrap();
        assert_eq!(kind_of(&file), Some("image/png"));
        std::fs::write(&file, b"no image at all").unwrap();
        assert_eq!(kind_of(&file), None);
        assert_eq!(kind_of(directory.path()), None);
    }

    #[test]
    fn addresses_keep_every_byte() {
        assert_eq!(address(Path::new("/a b/ü.rs")), "file:///a%20b/%C3%BC.rs");
    }
}
