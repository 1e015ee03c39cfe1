//! Messages of the agent and its thoughts.

use percent_encoding::percent_decode_str;
use ply_client::transcript::{Message, MessageKind};
use ply_client::v2;
use ratatui::text::{Line, Span};

use super::Fold;
use super::fixed::{Fixed, size, title};
use crate::markdown::{Document, Pen};
use crate::theme::Theme;
use crate::wrap;

/// Bytes at either end of a thought that are looked at for its one line.
const THOUGHT_BYTES: usize = 2_000;
/// What stands before the lines of a thought.
const BAR: &str = "│ ";
/// How the URI of a file begins.
const FILE: &str = "file://";
/// What stands before the one line of a thought.
const THOUGHT: &str = "∴ ";

/// Returns whether a message is laid out part by part.
pub(super) fn is_flowing(kind: MessageKind, fold: Fold) -> bool {
    match kind {
        MessageKind::Agent => true,
        MessageKind::Thought => fold == Fold::Open,
        MessageKind::User => false,
    }
}

/// A message that grows.
pub(super) struct Flowing {
    kind: MessageKind,
    /// The empty line before it.
    gap: Vec<Line<'static>>,
    flows: Vec<Flow>,
}

enum Flow {
    Text(Document),
    /// A block that is not text.
    Named(Vec<Line<'static>>),
}

impl Flow {
    fn len(&self) -> usize {
        match self {
            Self::Text(document) => document.len(),
            Self::Named(_) => 1,
        }
    }
}

impl Flowing {
    pub(super) fn new(kind: MessageKind, has_gap: bool) -> Self {
        Self {
            kind,
            gap: vec![Line::default(); usize::from(has_gap)],
            flows: Vec::new(),
        }
    }

    /// Reads what was appended since.
    pub(super) fn feed(&mut self, message: &Message, pen: &mut Pen<'_>) {
        let known = self.flows.len().saturating_sub(1);
        for (place, block) in message.content.iter().enumerate().skip(known) {
            if place >= self.flows.len() {
                self.flows.push(match block {
                    v2::ContentBlock::Text(_) => Flow::Text(Document::default()),
                    block => Flow::Named(vec![named(block, pen)]),
                });
            }
            if let (Some(Flow::Text(document)), v2::ContentBlock::Text(text)) =
                (self.flows.get_mut(place), block)
            {
                document.feed(&text.text);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.gap.len() + self.flows.iter().map(Flow::len).sum::<usize>()
    }

    pub(super) fn bar(&self, part: usize, theme: &Theme) -> Option<Span<'static>> {
        let is_text = part >= self.gap.len();
        (is_text && self.kind == MessageKind::Thought).then(|| Span::styled(BAR, theme.border))
    }

    pub(super) fn lines(
        &mut self,
        part: usize,
        message: &Message,
        pen: &mut Pen<'_>,
    ) -> &[Line<'static>] {
        let Some(mut part) = part.checked_sub(self.gap.len()) else {
            return &self.gap;
        };
        let thought;
        let mut pen = match self.kind {
            MessageKind::Thought => {
                thought = Theme {
                    text: pen.theme.thought,
                    ..pen.theme.clone()
                };
                let width = pen.width.saturating_sub(wrap::columns(BAR)).max(1);
                pen.with(width, &thought)
            }
            _ => pen.with(pen.width, pen.theme),
        };
        for (flow, block) in self.flows.iter_mut().zip(&message.content) {
            let count = flow.len();
            if part >= count {
                part -= count;
                continue;
            }
            return match (flow, block) {
                (Flow::Text(document), v2::ContentBlock::Text(text)) => {
                    document.lines(part, &text.text, &mut pen)
                }
                (Flow::Named(lines), _) => lines,
                _ => &[],
            };
        }
        &[]
    }
}

/// Returns the one line of a thought: how it begins, or what it is at while it grows.
pub(super) fn thought_line(message: &Message, is_growing: bool, pen: &Pen<'_>) -> Fixed {
    let words = if is_growing {
        let text = message
            .content
            .iter()
            .rev()
            .find_map(text_of)
            .unwrap_or_default();
        let start = text.ceil_char_boundary(text.len().saturating_sub(THOUGHT_BYTES));
        let end = text.get(start..).unwrap_or_default().trim_end();
        end.lines().next_back().unwrap_or_default()
    } else {
        let text = message.content.iter().find_map(text_of).unwrap_or_default();
        text.get(..text.floor_char_boundary(THOUGHT_BYTES))
            .unwrap_or_default()
    };
    let words = title(words.trim_start_matches(['#', '*', ' ', '\n']));
    let words = words.replace("**", "");
    let mut fixed = Fixed::default();
    let mark = Span::styled(THOUGHT, pen.theme.thought);
    fixed.line(&[mark, Span::styled(words, pen.theme.thought)], pen);
    if is_growing {
        fixed.spinner = Some((0, 0));
    }
    fixed
}

fn text_of(block: &v2::ContentBlock) -> Option<&str> {
    match block {
        v2::ContentBlock::Text(text) => Some(&text.text),
        _ => None,
    }
}

/// Returns what a URI names: a file by its name, everything else whole.
fn place(uri: &str) -> String {
    let name = uri.strip_prefix(FILE).and_then(|path| {
        let path = path.trim_end_matches('/');
        path.rsplit('/').find(|part| !part.is_empty())
    });
    let name = name.map_or(uri.into(), |name| {
        percent_decode_str(name).decode_utf8_lossy()
    });
    title(&name)
}

/// Returns the line that stands for a block that is not text.
pub(super) fn named(block: &v2::ContentBlock, pen: &Pen<'_>) -> Line<'static> {
    named_in(block, pen.theme, pen.width)
}

/// The same where nothing else is laid out.
pub(crate) fn named_in(block: &v2::ContentBlock, theme: &Theme, width: usize) -> Line<'static> {
    let (what, name, detail) = match block {
        v2::ContentBlock::Text(text) => ("text", title(&text.text), None),
        v2::ContentBlock::Image(image) => {
            let name = image.uri.as_deref().map(place).unwrap_or_default();
            // Four characters of base64 are three bytes.
            let bytes = image.data.len() / 4 * 3;
            (
                "image",
                name,
                Some(format!("{}, {}", title(&image.mime_type.0), size(bytes))),
            )
        }
        v2::ContentBlock::Audio(audio) => {
            let bytes = audio.data.len() / 4 * 3;
            (
                "audio",
                String::new(),
                Some(format!("{}, {}", title(&audio.mime_type.0), size(bytes))),
            )
        }
        v2::ContentBlock::ResourceLink(link) => {
            let name = title(link.title.as_deref().unwrap_or(&link.name));
            // Where a file is, is in its name or near; a page elsewhere can be called anything.
            let uri = (!link.uri.starts_with(FILE)).then(|| title(&link.uri));
            match name.is_empty() || name == link.uri {
                true => ("@", place(&link.uri), None),
                false => ("@", name, uri),
            }
        }
        v2::ContentBlock::Resource(resource) => match &resource.resource {
            v2::EmbeddedResourceResource::TextResourceContents(text) => {
                ("attached", place(&text.uri), Some(size(text.text.len())))
            }
            v2::EmbeddedResourceResource::BlobResourceContents(blob) => (
                "attached",
                place(&blob.uri),
                Some(size(blob.blob.len() / 4 * 3)),
            ),
            _ => ("attached", String::new(), None),
        },
        v2::ContentBlock::Other(other) => ("content of kind", title(&other.type_), None),
        _ => ("content", String::new(), None),
    };
    let detail = detail
        .map(|detail| format!(" ({detail})"))
        .unwrap_or_default();
    let space = if name.is_empty() || what == "@" {
        ""
    } else {
        " "
    };
    let spans = [
        Span::styled(format!("[{what}{space}{name}]"), theme.accent),
        Span::styled(detail, theme.dim),
    ];
    wrap::cut(&spans, width)
}
