//! Parts of long outputs: the beginning and the end, and how much is between.

use ply_client::transcript::PlainText;
use ply_client::v2;

use super::fixed::size;

/// Lines at either end of an output that are shown when it is opened.
pub(super) const LINES_OPEN: usize = 200;
/// Bytes at either end of an output that are looked at.
const BYTES_MAX: usize = 32 * 1024;
/// Bytes of a line that are shown.
const LINE_BYTES_MAX: usize = 2_000;
/// Bytes up to which lines are counted.
const COUNTED_BYTES_MAX: usize = 1024 * 1024;
/// Items of a tool call's content that are searched for what they are.
pub(super) const ITEMS_SEARCHED_MAX: usize = 64;

/// The lines of a text that are shown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Excerpt<'a> {
    pub(super) head: Vec<&'a str>,
    pub(super) tail: Vec<&'a str>,
    /// What is between them.
    between: Between,
}

#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
struct Between {
    lines: usize,
    bytes: usize,
}

impl<'a> Excerpt<'a> {
    /// Returns so many lines of the beginning and of the end. Costs what is shown, apart from
    /// counting lines where that is cheap.
    pub(super) fn of(text: &'a str, head_lines: usize, tail_lines: usize) -> Self {
        let text = text.strip_suffix('\n').unwrap_or(text);
        if text.is_empty() {
            return Self::default();
        }
        let head_end = text.floor_char_boundary(BYTES_MAX);
        let mut rest = 0;
        let mut head = Vec::new();
        for line in text
            .get(..head_end)
            .unwrap_or_default()
            .split_inclusive('\n')
            .take(head_lines)
        {
            rest += line.len();
            head.push(shown(line));
        }
        let after = text.get(rest..).unwrap_or_default();
        let tail_start = after.ceil_char_boundary(after.len().saturating_sub(BYTES_MAX));
        let mut left = after.len();
        let mut tail = Vec::new();
        let lines = after
            .get(tail_start..)
            .unwrap_or_default()
            .split_inclusive('\n');
        for line in lines.rev().take(tail_lines) {
            left -= line.len();
            tail.push(shown(line));
        }
        tail.reverse();
        let between = after.get(..left).unwrap_or_default();
        let lines = if between.len() <= COUNTED_BYTES_MAX {
            between.split_terminator('\n').count()
        } else {
            0
        };
        let bytes = between.len();
        Self {
            head,
            tail,
            between: Between { lines, bytes },
        }
    }

    /// Returns what to say about what is between, if there is something.
    pub(super) fn left_out(&self) -> Option<String> {
        match self.between {
            Between { bytes: 0, .. } => None,
            Between { lines: 0, bytes } => Some(format!("… {} left out", size(bytes))),
            Between { lines: 1, .. } => Some("… 1 line left out".to_owned()),
            Between { lines, .. } => Some(format!("… {lines} lines left out")),
        }
    }
}

/// Lines without an end in sight, such as data, are cut; whoever wants them has them in a file.
fn shown(line: &str) -> &str {
    let line = line.trim_end_matches(['\n', '\r']);
    line.get(..line.floor_char_boundary(LINE_BYTES_MAX))
        .unwrap_or_default()
}

/// The texts of a tool call's content: all of them, or the beginning and the end.
#[derive(Debug, Default)]
pub(super) struct Texts {
    head: String,
    between: usize,
    tail: String,
    /// Bytes of all of it.
    pub(super) bytes: usize,
}

impl Texts {
    /// Collects the texts, one per line. Costs the number of items, not their size.
    pub(super) fn of(content: &[v2::ToolCallContent]) -> Self {
        let texts = || content.iter().filter_map(text_of);
        let bytes = texts()
            .map(|text| text.len() + 1)
            .sum::<usize>()
            .saturating_sub(1);
        if bytes <= 2 * BYTES_MAX {
            let head = texts().collect::<Vec<_>>().join("\n");
            let whole = Self {
                head,
                bytes,
                ..Self::default()
            };
            return whole.without_escapes();
        }
        let mut head = String::new();
        for text in texts() {
            if !head.is_empty() {
                head.push('\n');
            }
            let free = BYTES_MAX.saturating_sub(head.len());
            let end = text.floor_char_boundary(free);
            head.push_str(text.get(..end).unwrap_or_default());
            if end < text.len() {
                break;
            }
        }
        let mut tail = Vec::new();
        let mut free = BYTES_MAX;
        for text in content.iter().rev().filter_map(text_of) {
            let start = text.ceil_char_boundary(text.len().saturating_sub(free));
            tail.push(text.get(start..).unwrap_or_default());
            free = free.saturating_sub(text.len() + 1);
            if free == 0 {
                break;
            }
        }
        tail.reverse();
        let tail = tail.join("\n");
        let ends = Self {
            between: bytes.saturating_sub(head.len() + tail.len()),
            head,
            tail,
            bytes,
        };
        ends.without_escapes()
    }

    /// Takes out what would colour a terminal, as programs print it when nobody stops them.
    fn without_escapes(mut self) -> Self {
        for text in [&mut self.head, &mut self.tail] {
            if text.contains('\u{1b}') {
                let mut plain = PlainText::new();
                plain.push(text.as_bytes());
                plain.as_str().clone_into(text);
            }
        }
        self
    }

    /// Returns how much there is: lines, or bytes where they are many.
    pub(super) fn length(&self) -> String {
        if !self.tail.is_empty() {
            return size(self.bytes);
        }
        match unfenced(&self.head).lines().count() {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        }
    }

    /// Returns the last lines.
    pub(super) fn end(&self, lines: usize) -> Excerpt<'_> {
        let last = if self.tail.is_empty() {
            &self.head
        } else {
            &self.tail
        };
        let mut excerpt = Excerpt::of(unfenced(last), 0, lines);
        if !self.tail.is_empty() {
            let bytes = excerpt.between.bytes + self.between + self.head.len();
            excerpt.between = Between { lines: 0, bytes };
        }
        excerpt
    }

    /// Returns the first and the last lines.
    pub(super) fn both_ends(&self) -> Excerpt<'_> {
        if self.tail.is_empty() {
            return Excerpt::of(unfenced(&self.head), LINES_OPEN, LINES_OPEN);
        }
        let head = Excerpt::of(&self.head, LINES_OPEN, 0);
        let tail = Excerpt::of(&self.tail, 0, LINES_OPEN);
        let bytes = head.between.bytes + self.between + tail.between.bytes;
        Excerpt {
            head: head.head,
            tail: tail.tail,
            between: Between { lines: 0, bytes },
        }
    }
}

/// Some agents send outputs as Markdown, in a fence of its own.
fn unfenced(text: &str) -> &str {
    let inside = || {
        let text = text.trim();
        let (fence, rest) = text.strip_prefix("```")?.split_once('\n')?;
        let body = rest.strip_suffix("```")?;
        (!fence.contains('`')
            && (body.is_empty() || body.ends_with('\n'))
            && !body.contains("\n```"))
        .then_some(body)
    };
    inside().unwrap_or(text)
}

fn text_of(item: &v2::ToolCallContent) -> Option<&str> {
    match item {
        v2::ToolCallContent::Content(content) => match &content.content {
            v2::ContentBlock::Text(text) => Some(&text.text),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> String {
        (0..count).map(|line| format!("line {line}\n")).collect()
    }

    #[test]
    fn what_fits_is_shown_whole() {
        let text = lines(5);
        let excerpt = Excerpt::of(&text, 3, 3);
        assert_eq!(excerpt.head, ["line 0", "line 1", "line 2"]);
        assert_eq!(excerpt.tail, ["line 3", "line 4"]);
        assert_eq!(excerpt.left_out(), None);
        assert_eq!(Excerpt::of("", 3, 3), Excerpt::default());
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let text = lines(100);
        let excerpt = Excerpt::of(&text, 2, 2);
        assert_eq!(excerpt.tail, ["line 98", "line 99"]);
        assert_eq!(excerpt.left_out().unwrap(), "… 96 lines left out");
        let huge = "x".repeat(10_000_000);
        let excerpt = Excerpt::of(&huge, 2, 2);
        assert!(
            excerpt
                .head
                .iter()
                .chain(&excerpt.tail)
                .all(|line| line.len() <= LINE_BYTES_MAX)
        );
        assert_eq!(excerpt.left_out().unwrap(), "… 9.9 MB left out");
    }

    #[test]
    fn texts_of_many_chunks_are_collected_from_both_ends() {
        let item = |text: String| v2::ToolCallContent::from(v2::ContentBlock::from(text));
        let content: Vec<_> = (0..20_000)
            .map(|line| item(format!("chunk {line}")))
            .collect();
        let texts = Texts::of(&content);
        let excerpt = texts.both_ends();
        assert_eq!(excerpt.head.first(), Some(&"chunk 0"));
        assert_eq!(excerpt.tail.last(), Some(&"chunk 19999"));
        let shown = |lines: &[&str]| lines.iter().map(|line| line.len() + 1).sum::<usize>();
        let bytes = shown(&excerpt.head) + shown(&excerpt.tail) + excerpt.between.bytes;
        assert!(
            bytes.abs_diff(texts.bytes) < 4,
            "{bytes} of {}",
            texts.bytes
        );
        assert_eq!(texts.end(1).tail, ["chunk 19999"]);
    }

    #[test]
    fn a_fence_around_all_of_it_is_not_shown() {
        assert_eq!(unfenced("```sh\na\nb\n```\n"), "a\nb\n");
        assert_eq!(unfenced("a\n```\nb\n```"), "a\n```\nb\n```");
        assert_eq!(unfenced("```\na\n```\nb\n```"), "```\na\n```\nb\n```");
    }
}
