//! What goes into the prompt besides its words: text files and pictures.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ply_client::{Prompt, file_uri, image_type, text, v2};

use super::failure::Failure;
use super::file;

/// The longest text file that is put into a prompt.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The largest picture that is put into a prompt.
const IMAGE_BYTES_MAX: u64 = 20 * 1024 * 1024;

/// Something to be put into the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Attachment {
    Text {
        path: PathBuf,
        text: String,
    },
    Image {
        mime_type: &'static str,
        base64: String,
    },
}

impl Attachment {
    /// Reads a text file.
    pub(super) fn text(path: &Path) -> Result<Self, Failure> {
        let bytes = file::bytes(path, FILE_BYTES_MAX, "text file")?;
        let is_binary = bytes.contains(&0);
        match String::from_utf8(bytes) {
            Ok(text) if !is_binary => Ok(Self::Text {
                path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
                text,
            }),
            _ => {
                let detail = format!("{} is not a text file in UTF-8", text::path(path));
                Err(Failure::usage(detail).hint("`--image FILE` adds pictures"))
            }
        }
    }

    /// Reads a picture, whose kind its first bytes tell.
    pub(super) fn image(path: &Path) -> Result<Self, Failure> {
        let bytes = file::bytes(path, IMAGE_BYTES_MAX, "picture")?;
        let Some(mime_type) = image_type(&bytes) else {
            let path = text::path(path);
            let detail = format!("{path} is not a PNG, JPEG, GIF or WebP image");
            return Err(Failure::usage(detail).hint("`-f FILE` adds text"));
        };
        Ok(Self::Image {
            mime_type,
            base64: STANDARD.encode(&bytes),
        })
    }

    /// Adds it to a prompt, in a form that the agent takes.
    pub(super) fn add_to(&self, prompt: Prompt, agent: &v2::AgentCapabilities) -> Prompt {
        let takes = agent.session.as_ref().and_then(|it| it.prompt.as_ref());
        match self {
            Self::Image { mime_type, base64 } => {
                let image = v2::ImageContent::new(base64.clone(), *mime_type);
                prompt.block(v2::ContentBlock::Image(image))
            }
            Self::Text { path, text } => {
                match takes.is_some_and(|takes| takes.embedded_context.is_some()) {
                    true => prompt.resource(file_uri(path), text.clone()),
                    false => prompt.text(as_text(path, text)),
                }
            }
        }
    }
}

/// Returns a file as part of a text, for agents that take nothing else.
fn as_text(path: &Path, text: &str) -> String {
    format!("\n\nThe file {}:\n\n{}", text::path(path), fenced(text))
}

/// Returns a text between fences that nothing in it can end.
pub(super) fn fenced(text: &str) -> String {
    let ticks = text.split(|char| char != '`').map(str::len).max();
    let fence = "`".repeat((ticks.unwrap_or(0) + 1).max(3));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_a_text_cannot_end_its_own_fence() {
        let text = as_text(Path::new("/a.md"), "```\nx");
        assert_eq!(text, "\n\nThe file /a.md:\n\n````\n```\nx\n````\n");
    }
}
