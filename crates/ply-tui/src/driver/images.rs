//! Images by path, and prompts made of blocks.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ply_client::{Prompt, file_uri, image_type, v2};
use tokio::sync::mpsc;

use super::sessions::Note;
use crate::app::{Event, TabId};
use crate::composer::{Block, Outgoing};

/// Bytes of an image that can be sent.
const IMAGE_BYTES_MAX: u64 = 20 * 1024 * 1024;
/// Bytes that say what an image is.
const FIRST_BYTES: u64 = 16;

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
    let mut first = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(FIRST_BYTES).read_to_end(&mut first).ok()?;
    image_type(&first)
}

/// Makes the prompt: links get their address, images are read.
pub(super) async fn prompt(outgoing: Outgoing, cwd: PathBuf) -> Result<Prompt, String> {
    let made = tokio::task::spawn_blocking(move || {
        let mut prompt = Prompt::default();
        for block in outgoing.blocks {
            prompt = match block {
                Block::Text(text) => prompt.text(text),
                Block::Link(path) => prompt.link(file_uri(&cwd.join(path))),
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
}
