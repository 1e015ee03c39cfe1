//! The colours of pictures.

use crate::{Background, Colour, Style};

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// What the colours of a terminal look like.
#[derive(Clone, Debug)]
pub struct Palette {
    text: Rgb,
    back: Rgb,
    sixteen: [Rgb; 16],
}

/// The levels of the colour cube, as terminals agree on them.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl Palette {
    /// Returns colours for light text on a dark ground.
    #[must_use]
    pub fn dark() -> Self {
        Palette {
            text: hex(0xd6dae3),
            back: hex(0x14171d),
            sixteen: [
                0x2a2f3a, 0xf07178, 0x8fce7c, 0xe6c26a, 0x6cb2f5, 0xc792ea, 0x5fd0c5, 0xc3c9d5,
                0x6b7485, 0xff8f94, 0xa9e394, 0xf5d98a, 0x90c8ff, 0xdab0f7, 0x84e6dc, 0xf4f6fa,
            ]
            .map(hex),
        }
    }

    /// Returns colours for dark text on a light ground.
    #[must_use]
    pub fn light() -> Self {
        Palette {
            text: hex(0x24292f),
            back: hex(0xfdfdfb),
            sixteen: [
                0x24292f, 0xb62334, 0x1a7436, 0x8a6100, 0x0b5cb5, 0x7a3bb8, 0x0f7480, 0xb9c0c9,
                0x6a737d, 0xd73a49, 0x22863a, 0xa87400, 0x1f6feb, 0x8f4fd6, 0x1b8a97, 0xf2f4f6,
            ]
            .map(hex),
        }
    }

    /// Returns the colours for a kind of terminal.
    #[must_use]
    pub fn of(background: Background) -> Self {
        match background {
            Background::Dark => Palette::dark(),
            Background::Light => Palette::light(),
        }
    }

    /// The ground of the picture.
    pub(super) fn back(&self) -> Rgb {
        self.back
    }

    /// The colour of the text of a cell, and of what is behind it.
    pub(super) fn of_style(&self, style: Style) -> (Rgb, Rgb) {
        let text = self.colour(style.foreground, self.text);
        let back = self.colour(style.background, self.back);
        let (text, back) = match style.inverse {
            true => (back, text),
            false => (text, back),
        };
        match style.dim {
            true => (text.towards(back), back),
            false => (text, back),
        }
    }

    fn colour(&self, colour: Colour, default: Rgb) -> Rgb {
        match colour {
            Colour::Default => default,
            Colour::Rgb(red, green, blue) => Rgb(red, green, blue),
            Colour::Indexed(index) => match (self.sixteen.get(usize::from(index)), index) {
                (Some(colour), _) => *colour,
                (None, 232..) => {
                    let level = 8 + 10 * (index - 232);
                    Rgb(level, level, level)
                }
                (None, _) => {
                    let level = |part: u8| CUBE.get(usize::from(part % 6)).copied().unwrap_or(0);
                    let number = index - 16;
                    Rgb(level(number / 36), level(number / 6), level(number))
                }
            },
        }
    }
}

impl Rgb {
    /// Two fifths of the way to another colour: what faint text looks like.
    fn towards(self, other: Rgb) -> Rgb {
        let between = |from: u8, to: u8| {
            let mixed = (u16::from(from) * 3 + u16::from(to) * 2) / 5;
            u8::try_from(mixed).unwrap_or(u8::MAX)
        };
        let (Rgb(red, green, blue), Rgb(to_red, to_green, to_blue)) = (self, other);
        Rgb(
            between(red, to_red),
            between(green, to_green),
            between(blue, to_blue),
        )
    }
}

impl std::fmt::Display for Rgb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

fn hex(number: u32) -> Rgb {
    let [_, red, green, blue] = number.to_be_bytes();
    Rgb(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_256_colours_are_those_of_terminals() {
        let palette = Palette::dark();
        for (index, shown) in [
            (16, "#000000"),
            (21, "#0000ff"),
            (196, "#ff0000"),
            (208, "#ff8700"),
            (231, "#ffffff"),
            (232, "#080808"),
            (255, "#eeeeee"),
        ] {
            let style = Style {
                foreground: Colour::Indexed(index),
                ..Style::default()
            };
            assert_eq!(palette.of_style(style).0.to_string(), shown, "{index}");
        }
    }

    #[test]
    fn inverse_changes_places_and_dim_goes_towards_the_ground() {
        let palette = Palette::dark();
        let plain = palette.of_style(Style::default());
        let inverse = palette.of_style(Style {
            inverse: true,
            ..Style::default()
        });
        assert_eq!(inverse, (plain.1, plain.0));
        let dim = palette.of_style(Style {
            dim: true,
            ..Style::default()
        });
        assert!(dim.0.0 < plain.0.0 && dim.0.0 > plain.1.0);
    }
}
