//! The tool `read_file`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ply_agent::{image_type, v2};
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::lines::push_numbered;
use super::{Access, Outcome, Prepared, Preparing, Tool, ToolContext};
use crate::model::{Content, ToolSpec};
use crate::workspace::{Error, Spot, Text};

/// Lines returned when the call does not say how many.
const LINES_DEFAULT: usize = 2000;
/// Bytes returned, whatever the call says.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// Bytes of an image.
const IMAGE_BYTES_MAX: usize = 5 * 1024 * 1024;

/// Reads a file: text with numbered lines, or an image.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadFile;

impl Tool for ReadFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read_file".to_owned(),
            description: "Reads a text file and returns its lines as `cat -n` does: line number from 1, tab, text. \
                The number and the tab are not part of the file. Also shows images (PNG, JPEG, GIF, WebP) if you \
                can see them. Returns up to 2000 lines; use offset and limit to read further. Read a file before \
                you edit or overwrite it. Changes that the user has not saved in the editor are included."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "The file, relative to the working directory or absolute."
                    },
                    "offset": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "The first line to return, counted from 1. Default: 1."
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "How many lines to return. Default: 2000."
                    }
                },
                "required": ["path"]
            }),
        }
    }

    fn kind(&self) -> v2::ToolKind {
        v2::ToolKind::Read
    }

    fn prepare<'t>(&'t self, arguments: Value, context: ToolContext<'t>) -> Preparing<'t> {
        Box::pin(async move {
            let arguments = Arguments::new(arguments)?;
            let path = arguments.text("path")?;
            let part = Part {
                offset: arguments.count("offset")?.unwrap_or(1).max(1),
                limit: arguments.count("limit")?.unwrap_or(LINES_DEFAULT).max(1),
            };
            let spot = context.workspace.file_to_read(&path).await;
            let spot = spot.map_err(|error| error.refuse("read", &path))?;
            let label = context.workspace.label(&spot);
            let line = (part.offset > 1).then(|| u32::try_from(part.offset).unwrap_or(u32::MAX));
            let title = format!("Read `{label}`");
            let (shown, real) = (spot.shown.clone(), spot.real.clone());
            Ok(Prepared::new(title, v2::ToolKind::Read, async move {
                match read(context, &spot, part).await {
                    Ok(outcome) => outcome,
                    Err(error) => error.refuse("read", &label),
                }
            })
            .touches(shown, line)
            .needs(Access::Read(real)))
        })
    }
}

/// Which lines to return.
#[derive(Debug, Clone, Copy)]
struct Part {
    offset: usize,
    limit: usize,
}

async fn read(context: ToolContext<'_>, spot: &Spot, part: Part) -> Result<Outcome, Error> {
    let workspace = context.workspace;
    match workspace.load(spot, context.surface).await {
        Ok(Some(loaded)) => {
            workspace.show(spot, &loaded);
            let mut text = String::new();
            if loaded.unsaved {
                text.push_str(
                    "[This is the text in the user's editor, with changes that are not saved to disk yet.]\n",
                );
            }
            number(&loaded.text, part, &mut text);
            Ok(Outcome::done(text))
        }
        Ok(None) => Err(Error::NotFound),
        Err(error @ (Error::Binary | Error::NotUtf8 | Error::Utf16)) => {
            let bytes = workspace.bytes(spot).await?.ok_or(Error::NotFound)?;
            match image_type(&bytes) {
                Some(mime_type) => image(&bytes, mime_type),
                None if matches!(error, Error::NotUtf8) => Ok(lossy(&bytes, part)),
                None => Err(error),
            }
        }
        Err(error) => Err(error),
    }
}

/// Shows text in an unknown encoding. It does not count as read: written back it would be damaged.
fn lossy(bytes: &[u8], part: Part) -> Outcome {
    let mut text = String::from(
        "[The file is not valid UTF-8. Bytes that could not be read are shown as \u{fffd}, and the file cannot be edited.]\n",
    );
    let decoded = Text::new(String::from_utf8_lossy(bytes));
    number(&decoded, part, &mut text);
    Outcome::done(text)
}

fn number(text: &Text, part: Part, out: &mut String) {
    if text.text.is_empty() {
        out.push_str("[The file is empty.]");
        return;
    }
    let start = out.len();
    let mut shown = 0;
    let mut total = 0;
    let last = part.offset.saturating_add(part.limit);
    let mut full = false;
    for (number, line) in (1..).zip(text.text.lines()) {
        total = number;
        if number < part.offset || number >= last || full {
            continue;
        }
        push_numbered(out, number, line);
        shown = number;
        full = out.len() - start >= OUTPUT_BYTES_MAX;
    }
    if shown == 0 {
        out.push_str(&format!(
            "[The file has {total} lines; there is nothing from line {} on.]",
            part.offset
        ));
    } else if shown < total {
        out.push_str(&format!(
            "[Lines {} to {shown} of {total}. Go on with offset = {}.]",
            part.offset,
            shown + 1
        ));
    }
}

fn image(bytes: &[u8], mime_type: &str) -> Result<Outcome, Error> {
    if bytes.len() > IMAGE_BYTES_MAX {
        return Ok(Outcome::failed(format!(
            "The image has {} bytes, over the limit of {IMAGE_BYTES_MAX}. Make it smaller with a shell command first.",
            bytes.len()
        )));
    }
    let text = format!("[An image, {mime_type}, {} bytes.]", bytes.len());
    Ok(Outcome {
        images: vec![Content::Image {
            mime_type: mime_type.to_owned(),
            data: STANDARD.encode(bytes),
        }],
        ..Outcome::done(text)
    })
}
