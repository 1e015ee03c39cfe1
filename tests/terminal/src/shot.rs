//! A screen at one moment.

mod style;
mod styled;

use std::fmt;

pub use style::{Colour, Style};

/// A screen at one moment: its cells with their styles, its cursor, its modes.
#[derive(Clone)]
pub struct Shot {
    screen: vt100::Screen,
}

/// One cell: what is written in it, and how.
#[derive(PartialEq)]
pub(crate) struct Cell<'a> {
    /// Empty for a blank.
    pub(crate) text: &'a str,
    /// How many columns it takes: one or two.
    pub(crate) width: u16,
    pub(crate) style: Style,
}

impl Shot {
    pub(crate) fn new(screen: &vt100::Screen) -> Self {
        Shot {
            screen: screen.clone(),
        }
    }

    /// Returns the screen that a terminal of this size shows after these bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8], columns: u16, rows: u16) -> Self {
        let mut parser = vt100::Parser::new(cells(rows), cells(columns), 0);
        parser.process(bytes);
        Shot::new(parser.screen())
    }

    /// Returns the width of the screen, in cells.
    #[must_use]
    pub fn columns(&self) -> u16 {
        self.screen.size().1.get()
    }

    /// Returns the height of the screen, in cells.
    #[must_use]
    pub fn rows(&self) -> u16 {
        self.screen.size().0.get()
    }

    /// Returns the text on the screen, without blanks at the ends of rows and without empty rows at the end.
    #[must_use]
    pub fn text(&self) -> String {
        let rows: Vec<_> = (0..self.rows()).map(|row| self.row(row)).collect();
        rows.join("\n").trim_end_matches('\n').to_owned()
    }

    /// Returns the text of one row, the first being 0, without blanks at its end.
    #[must_use]
    pub fn row(&self, row: u16) -> String {
        let mut text = String::new();
        for (_, cell) in self.cells(row) {
            text.push_str(match cell.text {
                "" => " ",
                text => text,
            });
        }
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// Tells whether some row has this text.
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        self.row_with(text).is_some()
    }

    /// Returns the first row with this text.
    #[must_use]
    pub fn row_with(&self, text: &str) -> Option<u16> {
        (0..self.rows()).find(|row| self.row(*row).contains(text))
    }

    /// Returns the column and row of the cursor, or nothing while it is hidden.
    #[must_use]
    pub fn cursor(&self) -> Option<(u16, u16)> {
        let (row, column) = self.screen.cursor_position();
        (!self.screen.hide_cursor()).then_some((column, row))
    }

    /// Tells whether this is the alternate screen, where full-screen programs draw.
    #[must_use]
    pub fn is_alternate(&self) -> bool {
        self.screen.alternate_screen()
    }

    /// Tells whether the program asked for brackets around pasted text.
    #[must_use]
    pub fn is_paste_bracketed(&self) -> bool {
        self.screen.bracketed_paste()
    }

    /// Tells whether the program asked for the mouse.
    #[must_use]
    pub fn is_mouse_taken(&self) -> bool {
        self.screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None
    }

    /// Returns how a cell is drawn; outside of the screen it is the plain style.
    #[must_use]
    pub fn style(&self, column: u16, row: u16) -> Style {
        self.screen
            .cell(row, column)
            .map(Style::of)
            .unwrap_or_default()
    }

    /// Returns the style of the first cell of this text, where it first occurs.
    #[must_use]
    pub fn style_of(&self, text: &str) -> Option<Style> {
        let row = self.row_with(text)?;
        let mut before = String::new();
        let start = self.row(row).find(text)?;
        for (column, cell) in self.cells(row) {
            if before.len() >= start {
                return Some(self.style(column, row));
            }
            before.push_str(match cell.text {
                "" => " ",
                text => text,
            });
        }
        None
    }

    /// Returns the text with a line of marks under each row that has styles, and what the marks mean at the end.
    ///
    /// Made for snapshots: rows begin with `|`, marks are letters in the order in which their styles occur.
    #[must_use]
    pub fn styled(&self) -> String {
        styled::styled(self)
    }

    /// The cells of a row with their columns; the second half of a wide character is not one.
    pub(crate) fn cells(&self, row: u16) -> impl Iterator<Item = (u16, Cell<'_>)> {
        (0..self.columns()).filter_map(move |column| {
            let cell = self.screen.cell(row, column)?;
            if cell.is_wide_continuation() {
                return None;
            }
            let cell = Cell {
                text: cell.contents(),
                width: if cell.is_wide() { 2 } else { 1 },
                style: Style::of(cell),
            };
            Some((column, cell))
        })
    }
}

impl PartialEq for Shot {
    /// Two shots are equal when they look the same.
    fn eq(&self, other: &Self) -> bool {
        self.screen.size() == other.screen.size()
            && self.cursor() == other.cursor()
            && (0..self.rows()).all(|row| self.cells(row).eq(other.cells(row)))
    }
}

impl fmt::Debug for Shot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Shot {}x{}:\n{}",
            self.columns(),
            self.rows(),
            self.styled()
        )
    }
}

/// A number of cells as the emulator wants it: there is at least one.
pub(crate) fn cells(number: u16) -> std::num::NonZeroU16 {
    std::num::NonZeroU16::new(number).unwrap_or(std::num::NonZeroU16::MIN)
}
