//! Markdown as it streams: wrapped by words, and with a little colour.
//!
//! Only what can be told from the beginning of a line, or inside a word, is shown: text is never held back for
//! longer than a word, and never taken back.

use ply_client::text;

use super::paint::{Look, Paint};

/// Narrower than this, wrapping does more harm than good.
const WIDTH_MIN: usize = 20;
/// Columns of a tab.
const TAB: &str = "    ";

/// A message on its way to the reader.
#[derive(Debug)]
pub(super) struct Prose {
    paint: Paint,
    /// Columns to wrap at; none to leave lines as they are.
    width: Option<usize>,
    line: Line,
    /// The beginning of a line or a word, not yet written.
    held: String,
    /// The mark that ends the code block we are in.
    fence: Option<String>,
    column: usize,
    indent: usize,
    is_bold: bool,
    is_code: bool,
    is_emphasised: bool,
    has_blank: bool,
    /// Whether something else began a line since, in the middle of ours.
    is_broken: bool,
    /// The last character that was said.
    last: Option<char>,
}

/// What the line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Not known yet.
    Beginning,
    /// Words.
    Words,
    Heading,
    /// To be left as it is.
    Verbatim,
}

impl Prose {
    pub(super) fn new(paint: Paint, width: Option<usize>) -> Self {
        Self {
            paint,
            width: width.filter(|width| *width >= WIDTH_MIN),
            line: Line::Beginning,
            held: String::new(),
            fence: None,
            column: 0,
            indent: 0,
            is_bold: false,
            is_code: false,
            is_emphasised: false,
            has_blank: false,
            is_broken: false,
            last: None,
        }
    }

    /// Whether the next character begins a line.
    pub(super) fn is_at_line_start(&self) -> bool {
        match self.is_plain() {
            _ if self.is_broken => true,
            true => self.column == 0,
            false => self.line == Line::Beginning && self.held.is_empty(),
        }
    }

    /// Whether what was said so far may well be all of it.
    pub(super) fn is_at_sentence_end(&self) -> bool {
        let last = self.last;
        last.is_some_and(|last| matches!(last, '.' | '!' | '?' | ':' | '…' | ')' | '`'))
    }

    /// Writes the word that is held back, since its end may be long in coming.
    pub(super) fn show_held(&mut self, out: &mut String) {
        let rest = self.held.trim_start_matches(' ');
        let may_be_fence = rest.starts_with("```") || rest.starts_with("~~~");
        if rest.is_empty()
            || (self.line == Line::Beginning && (self.fence.is_some() || may_be_fence))
        {
            return;
        }
        if self.line == Line::Beginning {
            self.words(out);
        }
        self.word(out);
    }

    /// Ends the line on the screen, so that something else can be said there; the message goes on after it.
    pub(super) fn break_line(&mut self, out: &mut String) {
        if self.is_at_line_start() {
            return;
        }
        self.show_held(out);
        if !self.held.is_empty() {
            return;
        }
        out.push_str(self.paint.end());
        out.push('\n');
        self.column = 0;
        self.has_blank = false;
        self.is_broken = true;
    }

    /// Whether there is nothing to do but to make the text harmless.
    fn is_plain(&self) -> bool {
        self.width.is_none() && !self.paint.is_on
    }

    /// Takes the next piece of the message.
    pub(super) fn push(&mut self, text: &str, out: &mut String) {
        for char in text.chars() {
            self.last = Some(char);
            if std::mem::take(&mut self.is_broken) {
                match char {
                    // The line was ended, and what begins the next one has no use.
                    ' ' => {
                        self.is_broken = true;
                        continue;
                    }
                    '\n' if self.is_plain() => continue,
                    _ => {}
                }
            }
            match char {
                '\r' => {}
                '\n' if self.is_plain() => {
                    out.push('\n');
                    self.column = 0;
                }
                '\n' => self.end_line(out),
                '\t' => TAB.chars().for_each(|char| self.char(char, out)),
                char if text::is_harmless(char) => self.char(char, out),
                char => char.escape_unicode().for_each(|char| self.char(char, out)),
            }
        }
    }

    /// Ends the message; the next one begins on a new line, outside of everything.
    pub(super) fn finish(&mut self, out: &mut String) {
        match (self.is_at_line_start(), self.is_plain()) {
            (true, _) => {}
            (false, true) => out.push('\n'),
            (false, false) => self.end_line(out),
        }
        *self = Self::new(self.paint, self.width);
    }

    fn char(&mut self, char: char, out: &mut String) {
        if self.is_plain() {
            out.push(char);
            self.column = 1;
            return;
        }
        match self.line {
            Line::Beginning => {
                self.held.push(char);
                self.begin(out);
            }
            Line::Verbatim => out.push(char),
            Line::Words | Line::Heading if char == ' ' => {
                self.word(out);
                self.blank(out);
            }
            Line::Words | Line::Heading => self.held.push(char),
        }
    }

    /// Finds out what the line is, once enough of it is there.
    fn begin(&mut self, out: &mut String) {
        let rest = self.held.trim_start_matches(' ');
        if let Some(fence) = &self.fence {
            let is_open = rest.chars().all(|char| fence.starts_with(char));
            if !is_open {
                self.verbatim(Some(Look::Code), out);
            }
            return;
        }
        let Some(first) = rest.chars().next() else {
            return;
        };
        let ends_with_blank = rest.ends_with(' ');
        let mark = rest.trim_end_matches(' ');
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        match first {
            '#' if mark.bytes().all(|byte| byte == b'#') && mark.len() <= 6 => {
                if ends_with_blank {
                    self.line = Line::Heading;
                    let held = std::mem::take(&mut self.held);
                    out.push_str(&self.paint.begin(Look::Bold));
                    self.mark(&held, out);
                    self.indent = 0;
                }
            }
            '-' | '*' | '+' | '>' if mark.chars().count() == 1 => {
                if ends_with_blank {
                    self.list(out);
                }
            }
            '0'..='9' if is_digits(mark) && !ends_with_blank => {}
            '0'..='9' if mark.strip_suffix(['.', ')']).is_some_and(is_digits) => {
                if ends_with_blank {
                    self.list(out);
                }
            }
            '`' | '~' if mark.chars().all(|char| char == first) && mark.len() < 3 => {
                if ends_with_blank {
                    self.words(out);
                }
            }
            // The rest of the line may hold a word for the language.
            '`' | '~' if rest.starts_with("```") || rest.starts_with("~~~") => {}
            '|' => self.verbatim(None, out),
            _ => self.words(out),
        }
    }

    fn verbatim(&mut self, look: Option<Look>, out: &mut String) {
        self.line = Line::Verbatim;
        if let Some(look) = look {
            out.push_str(&self.paint.begin(look));
        }
        out.push_str(&std::mem::take(&mut self.held));
    }

    /// Writes the mark of a list or a quote; words that do not fit go below its first word.
    fn list(&mut self, out: &mut String) {
        self.line = Line::Words;
        let held = std::mem::take(&mut self.held);
        self.mark(&held, out);
        self.indent = text::columns(&held);
    }

    fn mark(&mut self, held: &str, out: &mut String) {
        out.push_str(held);
        self.column = text::columns(held);
        self.has_blank = false;
    }

    fn words(&mut self, out: &mut String) {
        self.line = Line::Words;
        let held = std::mem::take(&mut self.held);
        let rest = held.trim_start_matches(' ');
        let spaces = held.len() - rest.len();
        out.push_str(&" ".repeat(spaces));
        (self.column, self.indent) = (spaces, spaces);
        let rest = rest.to_owned();
        rest.chars().for_each(|char| self.char(char, out));
    }

    fn blank(&mut self, out: &mut String) {
        match self.width {
            // Kept back: it is left out if the line is broken here.
            Some(_) => self.has_blank = true,
            None => out.push(' '),
        }
    }

    /// Writes the word that is held, on the next line if it does not fit.
    fn word(&mut self, out: &mut String) {
        if self.held.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.held);
        let is_first = self.column <= self.indent;
        let (shown, columns) = self.inline(&word, is_first);
        let blank = usize::from(self.has_blank);
        if let Some(width) = self.width
            && !is_first
            && self.column + blank + columns > width
        {
            out.push('\n');
            out.push_str(&" ".repeat(self.indent));
            self.column = self.indent;
        } else if self.has_blank {
            out.push(' ');
            self.column += 1;
        }
        self.has_blank = false;
        out.push_str(&shown);
        self.column += columns;
    }

    /// Returns a word with its marks turned into looks, and its columns.
    fn inline(&mut self, word: &str, is_first: bool) -> (String, usize) {
        if !self.paint.is_on {
            return (word.to_owned(), text::columns(word));
        }
        let mut shown = String::new();
        let mut columns = 0;
        let mut rest = word;
        while let Some(char) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix('`') {
                self.is_code = !self.is_code;
                shown.push_str(&self.looks());
                rest = after;
            } else if let Some(after) = rest.strip_prefix("**").filter(|_| !self.is_code) {
                self.is_bold = !self.is_bold;
                shown.push_str(&self.looks());
                rest = after;
            } else if char == '_' && !self.is_code && self.is_emphasis_mark(word, rest, is_first) {
                self.is_emphasised = !self.is_emphasised;
                shown.push_str(&self.looks());
                rest = rest.get(1..).unwrap_or_default();
            } else {
                shown.push(char);
                rest = rest.get(char.len_utf8()..).unwrap_or_default();
                columns += text::columns(char.encode_utf8(&mut [0; 4]));
            }
        }
        (shown, columns)
    }

    /// Returns whether the underscore before the rest of a word begins or ends emphasis. What follows the word is not known yet,
    /// so emphasis of several words is only seen at the beginning of a line and before a capital letter: everywhere else the
    /// underscore may belong to a name.
    fn is_emphasis_mark(&self, word: &str, rest: &str, is_first: bool) -> bool {
        let before = word.get(..word.len() - rest.len()).unwrap_or_default();
        let after = rest.get(1..).unwrap_or_default();
        let is_outside = |char: Option<char>| {
            char.is_none_or(|char| !char.is_alphanumeric() && !matches!(char, '_' | '/'))
        };
        if self.is_emphasised {
            return !before.is_empty() && is_outside(after.chars().next());
        }
        let ends_here = after
            .trim_end_matches(|char: char| char.is_ascii_punctuation() && char != '_')
            .strip_suffix('_')
            .is_some_and(|inside| !inside.is_empty() && !inside.contains('_'));
        let is_line = is_first && before.is_empty() && after.starts_with(char::is_uppercase);
        is_outside(before.chars().next_back())
            && after.starts_with(char::is_alphanumeric)
            && (ends_here || is_line && !after.contains('_'))
    }

    /// Returns the escapes for what is on now.
    fn looks(&self) -> String {
        let mut looks = self.paint.end().to_owned();
        if self.is_bold || self.line == Line::Heading {
            looks.push_str(&self.paint.begin(Look::Bold));
        }
        if self.is_emphasised {
            looks.push_str(&self.paint.begin(Look::Emphasis));
        }
        if self.is_code {
            looks.push_str(&self.paint.begin(Look::Code));
        }
        looks
    }

    fn end_line(&mut self, out: &mut String) {
        match self.line {
            Line::Beginning => self.end_beginning(out),
            Line::Words | Line::Heading => {
                self.word(out);
                let is_marked = self.is_bold || self.is_code || self.is_emphasised;
                if self.line == Line::Heading || is_marked {
                    out.push_str(self.paint.end());
                }
            }
            Line::Verbatim if self.fence.is_some() => out.push_str(self.paint.end()),
            Line::Verbatim => {}
        }
        out.push('\n');
        self.line = Line::Beginning;
        (self.column, self.indent) = (0, 0);
        (self.is_bold, self.is_code, self.has_blank) = (false, false, false);
        self.is_emphasised = false;
    }

    /// Ends a line that never said what it is: a fence, or nothing but a mark.
    fn end_beginning(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        let rest = held.trim();
        let ticks = |mark: char| rest.chars().take_while(|char| *char == mark).count();
        let opens = ['`', '~'].into_iter().find(|mark| ticks(*mark) >= 3);
        match (&self.fence, opens) {
            (Some(fence), _) => {
                if !rest.is_empty() && rest.len() >= fence.len() {
                    self.fence = None;
                }
            }
            (None, Some(mark)) => self.fence = Some(mark.to_string().repeat(ticks(mark))),
            (None, None) => {}
        }
        match opens.is_some() {
            true => out.push_str(&self.paint.paint(Look::Dim, &held)),
            false => out.push_str(&held),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Paint = Paint { is_on: false };

    fn shown(text: &str, width: Option<usize>, paint: Paint, piece: usize) -> String {
        let mut prose = Prose::new(paint, width);
        let mut out = String::new();
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(piece) {
            prose.push(&piece.iter().collect::<String>(), &mut out);
        }
        prose.finish(&mut out);
        out
    }

    /// However a message is cut, it looks the same.
    #[track_caller]
    fn check(text: &str, width: Option<usize>, paint: Paint, expected: &str) {
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(shown(text, width, paint, piece), expected, "by {piece}");
        }
    }

    #[test]
    fn what_is_held_can_be_shown_and_a_line_broken_for_something_else() {
        for (width, paint) in [
            (Some(40), PLAIN),
            (None, PLAIN),
            (Some(40), Paint { is_on: true }),
        ] {
            let mut prose = Prose::new(paint, width);
            let mut out = String::new();
            prose.push("Is it done", &mut out);
            prose.show_held(&mut out);
            assert_eq!(out, "Is it done");
            assert!(!prose.is_at_line_start() && !prose.is_at_sentence_end());
            prose.push("? Well.", &mut out);
            assert!(prose.is_at_sentence_end());
            prose.break_line(&mut out);
            prose.break_line(&mut out);
            assert!(prose.is_at_line_start());
            prose.push(" Yes. ", &mut out);
            prose.finish(&mut out);
            let out = out.replace("\u{1b}[0m", "");
            let lines: Vec<_> = out.lines().map(str::trim_end).collect();
            assert_eq!(lines, ["Is it done? Well.", "Yes."]);
        }
    }

    #[test]
    fn without_width_and_colour_a_message_is_as_it_came() {
        for text in [
            "# A heading\n\nSome *text* and  `code`.\n\n- a\n  - b\n\n1. one\n12) two\n",
            "```rust\nfn main() {}\n```\n",
            "-\n#\n**bold** start\n1986 was a year\n| a | b |\n|---|---|\n> quote\n",
            "`a` `` b\n--- \n***\n",
        ] {
            check(text, None, PLAIN, text);
        }
        check("no end", None, PLAIN, "no end\n");
    }

    #[test]
    fn words_are_wrapped_and_lists_hang() {
        check(
            "one two three four five six seven",
            Some(20),
            PLAIN,
            "one two three four\nfive six seven\n",
        );
        check(
            "- one two three four five six",
            Some(20),
            PLAIN,
            "- one two three four\n  five six\n",
        );
        check(
            "12. 漢字漢字 漢字漢字漢字",
            Some(20),
            PLAIN,
            "12. 漢字漢字\n    漢字漢字漢字\n",
        );
        let code = "```\na very long line of code that is not to be broken\n```\n";
        check(code, Some(20), PLAIN, code);
    }

    #[test]
    fn marks_become_looks_where_there_is_colour() {
        let paint = Paint { is_on: true };
        check(
            "# Hi\na **b** `c`\n",
            Some(40),
            paint,
            "\x1b[1m# Hi\x1b[0m\na \x1b[0m\x1b[1mb\x1b[0m \x1b[0m\x1b[36mc\x1b[0m\n",
        );
        check(
            "```\nx **y**\n```\n",
            Some(40),
            paint,
            "\x1b[2m```\x1b[0m\n\x1b[36mx **y**\x1b[0m\n\x1b[2m```\x1b[0m\n",
        );
        check(
            "_Looked up by `ply`, offline._\nan _odd_, _word_.\n",
            Some(60),
            paint,
            "\x1b[0m\x1b[3mLooked up by \x1b[0m\x1b[3m\x1b[36mply\x1b[0m\x1b[3m, offline.\x1b[0m\nan \x1b[0m\x1b[3modd\x1b[0m, \x1b[0m\x1b[3mword\x1b[0m.\n",
        );
        // Underscores of names stay.
        let names = "_start a_b_c __main__ _x, call _foo(a) or /_x_/y\n_B_c_ is_it_\n";
        check(names, Some(80), paint, names);
        // What was opened and not closed ends with its line.
        check("a `b\nc", Some(40), paint, "a \x1b[0m\x1b[36mb\x1b[0m\nc\n");
    }

    #[test]
    fn j1_what_a_terminal_obeys_is_shown_escaped() {
        check(
            "a\x1b[2J\u{202e}b\r\n\tc",
            None,
            PLAIN,
            "a\\u{1b}[2J\\u{202e}b\n    c\n",
        );
    }

    #[test]
    fn a_message_that_ends_in_a_fence_does_not_swallow_the_next() {
        let mut prose = Prose::new(PLAIN, Some(30));
        let mut out = String::new();
        prose.push("```\ncode", &mut out);
        prose.finish(&mut out);
        prose.push("some words that are longer than a line", &mut out);
        prose.finish(&mut out);
        assert_eq!(out, "```\ncode\nsome words that are longer\nthan a line\n");
    }
}
