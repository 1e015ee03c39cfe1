//! One segment of Markdown as lines.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Pen;
use super::code::{plain_lines, without_indent};
use super::scan::{Kind, Segment};
use super::table::Table;
use crate::theme::Theme;
use crate::wrap::{self, Breaks, Margin};

/// Quotes and lists inside of each other that are still shown as such.
const FRAMES_MAX: usize = 10;
/// Columns of a rule.
const RULE_COLUMNS_MAX: usize = 60;

/// Appends the lines of a segment; `text` is the whole text, for the head of its table.
pub(super) fn segment(
    segment: &Segment,
    source: &str,
    text: &str,
    pen: &mut Pen<'_>,
    lines: &mut Vec<Line<'static>>,
) {
    let Kind::Text { head, number } = &segment.kind else {
        return;
    };
    let before = lines.len();
    let head = head.clone().and_then(|head| text.get(head));
    let mut markdown = String::with_capacity(source.len());
    for line in head.unwrap_or_default().split_inclusive('\n') {
        markdown.push_str(without_indent(line, segment.indent));
    }
    for line in source.split_inclusive('\n') {
        markdown.push_str(without_indent(line, segment.indent));
    }
    pen.work.parsed_bytes += markdown.len();
    let indent = segment.indent.min(pen.width / 2);
    let mut renderer = Renderer {
        theme: pen.theme,
        width: pen.width,
        lines: &mut *lines,
        frames: vec![Frame::Indent(indent)],
        spans: Vec::new(),
        styles: vec![pen.theme.text],
        targets: Vec::new(),
        number: *number,
        table: None,
        code: None,
        is_first: true,
    };
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(&markdown, options) {
        renderer.event(event);
    }
    renderer.flush();
    if lines.len() == before {
        // Such as the definition of a link: it means nothing here, but nothing is ever left out.
        let style = pen.theme.dim;
        plain_lines(
            markdown.lines(),
            style,
            &Margin::default(),
            pen.width,
            lines,
        );
    }
}

struct Renderer<'a> {
    theme: &'a Theme,
    width: usize,
    lines: &'a mut Vec<Line<'static>>,
    frames: Vec<Frame>,
    /// The text of the block so far.
    spans: Vec<Span<'static>>,
    styles: Vec<Style>,
    /// Addresses of the links that are open, and where their text began.
    targets: Vec<(String, usize)>,
    /// The number of the first item.
    number: Option<u64>,
    table: Option<Table>,
    code: Option<String>,
    /// Whether nothing stands in the innermost frame yet.
    is_first: bool,
}

/// What stands around a block.
enum Frame {
    Indent(usize),
    Quote,
    /// A list with the number of its next item.
    List(Option<u64>),
    /// An item, with its mark until that was shown.
    Item {
        mark: Option<String>,
        columns: usize,
    },
}

impl Renderer<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.push(&text, self.style()),
            },
            Event::Code(code) => self.push(&code, self.style().patch(self.theme.code)),
            Event::Html(html) | Event::InlineHtml(html) => {
                for line in html.lines() {
                    self.push(line, self.theme.dim);
                    if html.ends_with('\n') {
                        self.flush();
                    }
                }
            }
            Event::SoftBreak => self.push(" ", self.style()),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                let columns = self.width.min(RULE_COLUMNS_MAX);
                self.push(&"─".repeat(columns), self.theme.border);
                self.flush();
            }
            Event::TaskListMarker(is_done) => {
                let shown = if is_done { "[x] " } else { "[ ] " };
                if let Some(Frame::Item { mark, columns }) = self.frames.last_mut() {
                    *mark = Some(shown.to_owned());
                    *columns = shown.len();
                }
            }
            Event::FootnoteReference(name) => self.push(&name, self.theme.link),
            Event::InlineMath(math) | Event::DisplayMath(math) => self.push(&math, self.theme.code),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.begin_block(),
            Tag::Heading { .. } => {
                self.begin_block();
                self.styles.push(self.theme.heading);
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.frames.push(Frame::Quote);
                self.styles.push(self.style().patch(self.theme.quote));
                self.is_first = true;
            }
            Tag::List(number) => {
                self.flush();
                let is_top = !self
                    .frames
                    .iter()
                    .any(|frame| matches!(frame, Frame::List(_)));
                let own = self.number.take().filter(|_| is_top && number.is_some());
                self.frames.push(Frame::List(own.or(number)));
            }
            Tag::Item => {
                self.flush();
                let mark = match self.frames.last_mut() {
                    Some(Frame::List(Some(number))) => {
                        let mark = format!("{number}. ");
                        *number = number.saturating_add(1);
                        mark
                    }
                    _ => "• ".to_owned(),
                };
                let columns = wrap::columns(&mark);
                let mark = Some(mark);
                self.frames.push(Frame::Item { mark, columns });
                self.is_first = true;
            }
            Tag::CodeBlock(_) => {
                self.flush();
                self.code = Some(String::new());
            }
            Tag::Table(alignments) => {
                self.begin_block();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.begin_row();
                }
            }
            Tag::Emphasis => self.styles.push(self.style().patch(self.theme.emphasis)),
            Tag::Strong => self.styles.push(self.style().patch(self.theme.strong)),
            Tag::Strikethrough => self.styles.push(self.style().patch(self.theme.struck)),
            Tag::Link { dest_url, .. } => {
                self.targets
                    .push((dest_url.into_string(), self.spans.len()));
                self.styles.push(self.style().patch(self.theme.link));
            }
            Tag::Image { dest_url, .. } => {
                self.push("[image: ", self.theme.dim);
                self.targets
                    .push((dest_url.into_string(), self.spans.len()));
                self.styles.push(self.style());
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.frames.pop();
                self.styles.pop();
            }
            TagEnd::List(_) => {
                self.frames.pop();
            }
            TagEnd::Item => {
                let is_empty =
                    matches!(self.frames.last(), Some(Frame::Item { mark: Some(_), .. }));
                if is_empty && self.spans.is_empty() {
                    self.push("", self.style());
                }
                self.flush();
                self.frames.pop();
            }
            TagEnd::CodeBlock => {
                let code = self.code.take().unwrap_or_default();
                let margin = self.margin();
                let style = self.theme.code;
                plain_lines(code.lines(), style, &margin, self.width, self.lines);
                self.is_first = false;
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(table) = &mut self.table {
                    table.push_cell(cell);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let margin = self.margin();
                    table.lines(self.width, &margin, self.theme, self.lines);
                    self.is_first = false;
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link => {
                self.styles.pop();
                self.show_target(" (", ")");
            }
            TagEnd::Image => {
                self.styles.pop();
                self.show_target("] (", ")");
            }
            _ => {}
        }
    }

    /// Shows where a link leads, unless its text says so.
    fn show_target(&mut self, before: &str, after: &str) {
        let Some((target, start)) = self.targets.pop() else {
            return;
        };
        let shown = self.spans.iter().skip(start);
        let shown: String = shown.map(|span| span.content.as_ref()).collect();
        let is_same = target == shown || target.strip_prefix("mailto:") == Some(&shown);
        match before.strip_prefix(']') {
            Some(_) if target.is_empty() => self.push("]", self.theme.dim),
            None if is_same || target.is_empty() => {}
            _ => self.push(&format!("{before}{target}{after}"), self.theme.dim),
        }
    }

    /// Begins a block that stands apart from the one before it.
    fn begin_block(&mut self) {
        self.flush();
        if !self.is_first {
            let margin = self.margin().rest;
            self.lines.push(Line::from(margin));
        }
    }

    fn push(&mut self, text: &str, style: Style) {
        self.spans.push(Span::styled(wrap::clean(text), style));
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or(self.theme.text)
    }

    fn flush(&mut self) {
        if self.spans.is_empty() {
            return;
        }
        let spans = std::mem::take(&mut self.spans);
        let margin = self.margin();
        wrap::wrap(&spans, self.width, &margin, Breaks::Words, self.lines);
        self.is_first = false;
    }

    /// Returns what stands before the next lines, and takes the marks that are shown by it.
    fn margin(&mut self) -> Margin {
        let mut margin = Margin::default();
        let mut free = self.width / 2;
        for frame in self.frames.iter_mut().take(2 * FRAMES_MAX) {
            let (first, rest, style) = match frame {
                Frame::List(_) | Frame::Indent(0) => continue,
                Frame::Indent(columns) => (None, " ".repeat(*columns), self.theme.text),
                Frame::Quote => (None, "▎ ".to_owned(), self.theme.border),
                Frame::Item { mark, columns } => {
                    (mark.take(), " ".repeat(*columns), self.theme.accent)
                }
            };
            let Some(left) = free.checked_sub(wrap::columns(&rest)) else {
                continue;
            };
            free = left;
            let first = first.unwrap_or_else(|| rest.clone());
            margin.first.push(Span::styled(first, style));
            margin.rest.push(Span::styled(rest, style));
        }
        margin
    }
}
