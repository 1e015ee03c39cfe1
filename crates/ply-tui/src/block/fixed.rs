//! Lines that are laid out at once.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::markdown::Pen;
use crate::theme::Theme;
use crate::transcript_view::End;
use crate::wrap::{self, Breaks, Margin};

/// The frames of the mark that moves while something runs.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Bytes of a title that are shown.
const TITLE_BYTES_MAX: usize = 1_000;

/// How long each of them is shown, in milliseconds.
const SPINNER_MS: u64 = 100;

/// Returns the mark for a tick.
pub(crate) fn spinner_frame(tick: u64) -> &'static str {
    let frame = usize::try_from(tick / SPINNER_MS).unwrap_or(0) % SPINNER.len();
    SPINNER.get(frame).copied().unwrap_or("·")
}

/// Lines that are laid out at once.
#[derive(Debug, Default)]
pub(crate) struct Fixed {
    pub(crate) lines: Vec<Line<'static>>,
    /// The line and the column of a mark that moves.
    pub(crate) spinner: Option<(usize, u16)>,
}

impl Fixed {
    /// Appends one line, cut at the edge.
    pub(super) fn line(&mut self, spans: &[Span<'_>], pen: &Pen<'_>) {
        self.lines.push(wrap::cut(spans, pen.width));
    }

    /// Appends a text, broken between words.
    pub(super) fn text(&mut self, text: &str, style: Style, margin: &Margin, pen: &Pen<'_>) {
        for line in text.lines() {
            let span = Span::styled(wrap::clean(line), style);
            wrap::wrap(&[span], pen.width, margin, Breaks::Words, &mut self.lines);
        }
    }

    /// Puts the end of the turn before it on top.
    pub(super) fn insert_end(&mut self, end: &End, pen: &Pen<'_>) {
        self.insert_gap();
        let line = wrap::cut(&end.line(pen.theme).spans, pen.width);
        self.lines.insert(0, line.style(end.line(pen.theme).style));
        if let Some((line, _)) = &mut self.spinner {
            *line += 1;
        }
    }

    pub(super) fn insert_gap(&mut self) {
        self.lines.insert(0, Line::default());
        if let Some((line, _)) = &mut self.spinner {
            *line += 1;
        }
    }
}

/// Returns a text of others that is to be the title of something: its first line, not too long.
pub(super) fn title(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    let end = line.floor_char_boundary(TITLE_BYTES_MAX);
    let mut shown = wrap::clean(line.get(..end).unwrap_or_default());
    if end < text.len() {
        shown.push_str(" …");
    }
    shown
}

/// Returns a title in pieces: what stands between backticks is code, and they are not shown.
pub(super) fn titled(text: &str, theme: &Theme) -> Vec<Span<'static>> {
    let text = title(text);
    if text.matches('`').count() % 2 == 1 {
        return vec![Span::styled(text, theme.text)];
    }
    let pieces = text.split('`').enumerate();
    let pieces = pieces.filter(|(_, piece)| !piece.is_empty());
    let styled = pieces.map(|(place, piece)| {
        let style = match place % 2 {
            0 => theme.text,
            _ => theme.code,
        };
        Span::styled(piece.to_owned(), style)
    });
    styled.collect()
}

/// Returns how long something took, from a second on: `12 s`.
pub(super) fn time(ms: u64) -> Option<String> {
    match ms / 1000 {
        0 => None,
        seconds @ 1..60 => Some(format!("{seconds} s")),
        seconds => Some(format!("{} min {} s", seconds / 60, seconds % 60)),
    }
}

/// Returns a number of bytes as people say it.
pub(super) fn size(bytes: usize) -> String {
    const UNITS: [(&str, usize); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    for (name, unit) in UNITS {
        if bytes >= unit {
            let tenths = bytes / (unit / 10);
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_said_as_people_do() {
        assert_eq!(size(12), "12 bytes");
        assert_eq!(size(1_250), "1.2 kB");
        assert_eq!(size(10_000_000), "10.0 MB");
    }

    #[test]
    fn code_in_a_title_has_no_backticks() {
        let pieces = |text: &str| {
            let pieces = titled(text, &Theme::plain()).into_iter();
            pieces
                .map(|span| span.content.into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            pieces("Search `a b` in `src`"),
            ["Search ", "a b", " in ", "src"]
        );
        assert_eq!(pieces("`ls`"), ["ls"]);
        assert_eq!(pieces("a ` b"), ["a ` b"]);
    }

    #[test]
    fn times_are_said_from_a_second_on() {
        assert_eq!(time(999), None);
        assert_eq!(time(1_000).unwrap(), "1 s");
        assert_eq!(time(125_000).unwrap(), "2 min 5 s");
    }

    #[test]
    fn a_title_is_one_harmless_line() {
        assert_eq!(title("  echo a\necho b"), "echo a …");
        assert_eq!(title("\x1b[2Jx"), "\\u{1b}[2Jx");
        assert_eq!(title(&"x".repeat(5_000)).len(), 1_000 + " …".len());
    }
}
