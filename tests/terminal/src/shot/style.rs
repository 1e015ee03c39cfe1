//! How a cell is drawn.

use std::fmt;

/// A colour, as the program named it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Colour {
    /// The terminal's own.
    #[default]
    Default,
    /// One of the 256 of the terminal's palette; the first 16 have names.
    Indexed(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// How a cell is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// The colour of the text.
    pub foreground: Colour,
    /// The colour behind the text.
    pub background: Colour,
    /// Bold.
    pub bold: bool,
    /// Faint.
    pub dim: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// Foreground and background change places.
    pub inverse: bool,
}

const NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "bright-black",
    "bright-red",
    "bright-green",
    "bright-yellow",
    "bright-blue",
    "bright-magenta",
    "bright-cyan",
    "bright-white",
];

impl Style {
    pub(super) fn of(cell: &vt100::Cell) -> Self {
        Style {
            foreground: cell.fgcolor().into(),
            background: cell.bgcolor().into(),
            bold: cell.bold(),
            dim: cell.dim(),
            italic: cell.italic(),
            underline: cell.underline(),
            inverse: cell.inverse(),
        }
    }

    /// Tells whether a blank drawn like this differs from a plain one.
    pub(crate) fn shows_on_blanks(&self) -> bool {
        self.background != Colour::Default || self.inverse || self.underline
    }
}

impl From<vt100::Color> for Colour {
    fn from(colour: vt100::Color) -> Self {
        match colour {
            vt100::Color::Default => Colour::Default,
            vt100::Color::Idx(index) => Colour::Indexed(index),
            vt100::Color::Rgb(red, green, blue) => Colour::Rgb(red, green, blue),
        }
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Colour::Default => f.write_str("default"),
            Colour::Indexed(index) => match NAMES.get(usize::from(*index)) {
                Some(name) => f.write_str(name),
                None => write!(f, "colour-{index}"),
            },
            Colour::Rgb(red, green, blue) => write!(f, "#{red:02x}{green:02x}{blue:02x}"),
        }
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        for (is, word) in [
            (self.bold, "bold"),
            (self.dim, "dim"),
            (self.italic, "italic"),
            (self.underline, "underline"),
            (self.inverse, "inverse"),
        ] {
            if is {
                words.push(word.to_owned());
            }
        }
        if self.foreground != Colour::Default {
            words.push(self.foreground.to_string());
        }
        if self.background != Colour::Default {
            words.push(format!("on {}", self.background));
        }
        match words.is_empty() {
            true => f.write_str("plain"),
            false => f.write_str(&words.join(" ")),
        }
    }
}
