//! The text that is being written: one string in which pastes, files and images are single characters.

mod history;
mod motion;
mod piece;

pub(crate) use self::history::{HISTORY_ENTRIES_MAX, History};
pub(crate) use self::motion::Move;
pub(crate) use self::piece::{Block, Outgoing, Piece};

use self::piece::{is_mark, mark, place_of};

/// Lines from which a paste is shown folded.
const FOLD_LINES_MIN: usize = 8;
/// Bytes from which a paste is shown folded.
const FOLD_BYTES_MIN: usize = 2000;
/// Bytes of text that a composer takes; more is cut off, and that is said.
pub(crate) const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes from which a text that comes whole, from an editor or the history, is shown folded.
const WHOLE_BYTES_MIN: usize = 64 * 1024;
/// Pieces that one text can hold.
const PIECES_MAX: usize = 1000;

/// A text with a cursor in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Composer {
    text: String,
    /// A byte offset at the border of two graphemes.
    cursor: usize,
    pieces: Vec<Piece>,
    killed: Killed,
    /// The column that moves up and down try to keep.
    column: Option<usize>,
}

/// What was deleted last: a text whose marks count in the pieces beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Killed {
    text: String,
    pieces: Vec<Piece>,
}

impl Composer {
    /// Returns a composer with a text and the cursor behind it.
    pub(crate) fn with_text(text: &str) -> Self {
        let mut composer = Self::default();
        composer.put(text);
        composer
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns whether there is nothing to send.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the text with a mark for each piece.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Returns the piece that a character stands for.
    pub(crate) fn piece(&self, char: char) -> Option<&Piece> {
        self.pieces.get(place_of(char)?)
    }

    /// Puts text at the cursor. Returns false if it did not fit and was left out.
    pub(crate) fn insert(&mut self, text: &str) -> bool {
        if self.bytes() + text.len() > TEXT_BYTES_MAX {
            return false;
        }
        let clean = clean(text);
        self.text.insert_str(self.cursor, &clean);
        self.cursor += clean.len();
        self.column = None;
        true
    }

    /// Takes a paste; a large one is folded into one character. Returns false if it did not fit.
    pub(crate) fn paste(&mut self, text: &str) -> bool {
        // Before lines are counted: terminals send carriage returns for them.
        let text = clean(text);
        let lines = text.lines().count();
        if lines < FOLD_LINES_MIN && text.len() < FOLD_BYTES_MIN {
            return self.insert(&text);
        }
        self.bytes() + text.len() <= TEXT_BYTES_MAX && self.add(Piece::Paste(text))
    }

    /// Puts a piece where a pasted text stands, if it still does. Returns whether it did.
    pub(crate) fn put_piece_for(&mut self, pasted: &str, piece: Piece) -> bool {
        let pasted = clean(pasted);
        let Some(start) = self.text.rfind(&pasted).filter(|_| !pasted.is_empty()) else {
            return false;
        };
        let end = start + pasted.len();
        // The cursor stays where it is in the text around it.
        let behind = self.text.len() - self.cursor.max(end);
        let is_behind = self.cursor > start;
        let before = self.cursor;
        if self.pieces.len() >= PIECES_MAX {
            return false;
        }
        self.remove(start..end);
        self.cursor = start;
        let is_there = self.add(piece);
        self.cursor = match is_behind {
            true => self.text.len() - behind,
            false => before,
        };
        is_there
    }

    /// Returns another text with the pieces of this one, wherever it still says what they stand for.
    pub(crate) fn rewritten(&self, text: &str) -> Self {
        let mut composer = Self {
            killed: self.killed.clone(),
            ..Self::default()
        };
        let mut rest = text;
        for piece in self.text.chars().filter_map(|char| self.piece(char)) {
            let plain = piece.plain();
            let words = plain.trim_end();
            // Whoever edits a text may cut off the line end that a paste has.
            let found = rest.split_once(&plain).or_else(|| rest.split_once(words));
            if let Some((before, after)) = found.filter(|_| !words.is_empty()) {
                composer.put(before);
                composer.add(piece.clone());
                rest = after;
            }
        }
        composer.put(rest);
        composer
    }

    /// Puts text at the cursor that comes whole.
    fn put(&mut self, text: &str) -> bool {
        match text.len() < WHOLE_BYTES_MIN {
            true => self.insert(text),
            false => self.paste(text),
        }
    }

    /// Puts a piece at the cursor. Returns false if there are too many.
    pub(crate) fn add(&mut self, piece: Piece) -> bool {
        let Some(mark) = mark(self.pieces.len()).filter(|_| self.pieces.len() < PIECES_MAX) else {
            return false;
        };
        self.pieces.push(piece);
        self.text.insert(self.cursor, mark);
        self.cursor += mark.len_utf8();
        self.column = None;
        true
    }

    /// Replaces the bytes from `start` to the cursor with a text.
    pub(crate) fn replace_back_to(&mut self, start: usize, text: &str) {
        self.remove(start..self.cursor);
        self.insert(text);
    }

    /// Replaces the bytes from `start` to the cursor with a piece and a blank.
    pub(crate) fn replace_with_piece(&mut self, start: usize, piece: Piece) {
        self.remove(start..self.cursor);
        if self.add(piece) {
            self.insert(" ");
        }
    }

    pub(crate) fn clear(&mut self) {
        let killed = std::mem::take(&mut self.killed);
        *self = Self {
            killed,
            ..Self::default()
        };
    }

    /// Clears the text, which can be put back.
    pub(crate) fn kill(&mut self) {
        let all = self.remove(0..self.text.len());
        self.keep_killed(&all);
        self.clear();
    }

    fn keep_killed(&mut self, text: &str) {
        let mut killed = Killed::default();
        for char in text.chars() {
            match self.piece(char) {
                Some(piece) => {
                    killed.text.extend(mark(killed.pieces.len()));
                    killed.pieces.push(piece.clone());
                }
                None => killed.text.push(char),
            }
        }
        self.killed = killed;
    }

    /// Takes everything out.
    pub(crate) fn take(&mut self) -> Self {
        let taken = self.clone();
        self.clear();
        taken
    }

    /// Returns the word before the cursor that begins with `sign` at a word's begin, and where it starts.
    pub(crate) fn word_with(&self, sign: char) -> Option<(usize, &str)> {
        let before = self.text.get(..self.cursor)?;
        let start = before
            .rfind(|char: char| char.is_whitespace() || is_mark(char))
            .map_or(0, |place| {
                place
                    + before
                        .get(place..)
                        .and_then(|rest| rest.chars().next())
                        .map_or(1, char::len_utf8)
            });
        let word = before.get(start..)?.strip_prefix(sign)?;
        Some((start, word))
    }

    /// Returns everything as plain text: pastes whole, files and images by name.
    pub(crate) fn plain(&self) -> String {
        let mut plain = String::with_capacity(self.text.len());
        for char in self.text.chars() {
            match self.piece(char) {
                Some(piece) => plain.push_str(&piece.plain()),
                None => plain.push(char),
            }
        }
        plain
    }

    /// Returns what is sent.
    pub(crate) fn outgoing(&self) -> Outgoing {
        let mut outgoing = Outgoing::default();
        for char in self.text.trim().chars() {
            match self.piece(char) {
                Some(Piece::Paste(text)) => outgoing.push_text(text),
                Some(Piece::File(path)) => outgoing.push(Block::Link(path.clone())),
                Some(Piece::Image { path, mime }) => outgoing.push(Block::Image {
                    path: path.clone(),
                    mime,
                }),
                None => outgoing.push_text(char.encode_utf8(&mut [0; 4])),
            }
        }
        outgoing
    }

    fn bytes(&self) -> usize {
        let pastes = self.pieces.iter().map(Piece::bytes).sum::<usize>();
        self.text.len() + pastes
    }

    fn remove(&mut self, range: std::ops::Range<usize>) -> String {
        let (start, end) = (range.start, range.end.min(self.text.len()));
        if start >= end || !self.text.is_char_boundary(start) || !self.text.is_char_boundary(end) {
            return String::new();
        }
        let removed: String = self.text.drain(start..end).collect();
        self.cursor = match self.cursor {
            cursor if cursor >= end => cursor - removed.len(),
            cursor => cursor.min(start),
        };
        self.column = None;
        removed
    }
}

/// Leaves out what a text must not bring in: carriage returns become line ends, and nobody types our marks.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let is_kept = |char: &char| match char {
        '\n' | '\t' => true,
        char => !char.is_control() && !is_mark(*char),
    };
    text.chars().filter(is_kept).collect()
}

#[cfg(test)]
mod tests;
