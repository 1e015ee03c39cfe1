//! How many colours a terminal has, and which of them is nearest to one that it has not.

use ratatui::style::{Color, Modifier, Style};

/// How many colours a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorDepth {
    /// All of them.
    TrueColor,
    /// The 256 of xterm.
    Indexed,
    /// The 16 that a terminal's own theme gives.
    Ansi16,
}

/// The steps of a channel in xterm's cube of 6 × 6 × 6 colours.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The 16 colours as most terminals show them. The first eight are left to backgrounds and to the
/// user's own theme, except where nothing else is near.
const ANSI: [(Color, [u8; 3]); 14] = [
    (Color::Red, [0xcd, 0x31, 0x31]),
    (Color::Green, [0x0d, 0xa0, 0x50]),
    (Color::Yellow, [0xb5, 0x89, 0x10]),
    (Color::Blue, [0x24, 0x72, 0xc8]),
    (Color::Magenta, [0xa0, 0x3f, 0xbc]),
    (Color::Cyan, [0x11, 0x90, 0xa8]),
    (Color::Gray, [0xcc, 0xcc, 0xcc]),
    (Color::DarkGray, [0x76, 0x76, 0x76]),
    (Color::LightRed, [0xf1, 0x70, 0x70]),
    (Color::LightGreen, [0x60, 0xd0, 0x70]),
    (Color::LightYellow, [0xe5, 0xd0, 0x60]),
    (Color::LightBlue, [0x60, 0xa8, 0xf0]),
    (Color::LightMagenta, [0xd0, 0x90, 0xf0]),
    (Color::LightCyan, [0x60, 0xc8, 0xd8]),
];

/// Backgrounds of diffs, whose nearest by numbers are grays.
const TINTS: [(u32, u8); 8] = [
    (0x14_2e_20, 22),
    (0x38_1c_22, 52),
    (0x23_5c_36, 28),
    (0x742c32, 88),
    (0xe2_f5_e6, 194),
    (0xfc_e6_e7, 224),
    (0xab_e3_b6, 157),
    (0xf6_bc_be, 217),
];

impl ColorDepth {
    pub(super) fn shown(self, style: Style) -> Style {
        match self {
            Self::TrueColor => style,
            Self::Indexed => Style {
                fg: style.fg.map(indexed),
                bg: style.bg.map(indexed),
                ..style
            },
            // No two of 16 colours go together everywhere, so a background becomes a line below, and one that is behind whole
            // lines goes.
            Self::Ansi16 => {
                let marked = style.bg.is_some() && style.fg.is_some();
                let shown = Style {
                    fg: style.fg.map(ansi),
                    bg: None,
                    ..style
                };
                if marked {
                    shown.add_modifier(Modifier::UNDERLINED)
                } else {
                    shown
                }
            }
        }
    }
}

fn indexed(color: Color) -> Color {
    let Color::Rgb(red, green, blue) = color else {
        return color;
    };
    let tint = TINTS
        .iter()
        .find(|(tint, _)| Color::from_u32(*tint) == color);
    if let Some((_, index)) = tint {
        return Color::Indexed(*index);
    }
    let wanted = [red, green, blue];
    let cube = (16_u8..232).map(|index| {
        let place = usize::from(index - 16);
        let channel = |step: usize| CUBE.get(step % 6).copied().unwrap_or_default();
        (
            index,
            [channel(place / 36), channel(place / 6), channel(place)],
        )
    });
    let grays = (232_u8..=255).map(|index| (index, [8 + 10 * (index - 232); 3]));
    let nearest = cube
        .chain(grays)
        .min_by_key(|(_, of)| distance(*of, wanted));
    nearest.map_or(color, |(index, _)| Color::Indexed(index))
}

fn ansi(color: Color) -> Color {
    let Color::Rgb(red, green, blue) = color else {
        return color;
    };
    let wanted = [red, green, blue];
    let nearest = ANSI.iter().min_by_key(|(_, of)| distance(*of, wanted));
    nearest.map_or(color, |(color, _)| *color)
}

fn distance(one: [u8; 3], other: [u8; 3]) -> u32 {
    let channels = one.into_iter().zip(other);
    channels.map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_becomes_the_nearest_that_there_is() {
        assert_eq!(indexed(Color::Rgb(255, 0, 0)), Color::Indexed(196));
        assert_eq!(indexed(Color::Rgb(9, 9, 9)), Color::Indexed(232));
        assert_eq!(ansi(Color::Rgb(0xf0, 0x80, 0x80)), Color::LightRed);
        assert_eq!(ansi(Color::Rgb(0x1f, 0x7a, 0x33)), Color::Green);
        assert_eq!(ansi(Color::Blue), Color::Blue);
    }
}
