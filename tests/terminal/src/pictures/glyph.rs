//! Characters as pixels.

use std::collections::HashMap;

use spleen_font::{FONT_12X24, Glyph, PSF2Font};

use super::stroke::{self, Stroke};

/// The size of a cell, in pixels.
pub(super) const WIDTH: i32 = 12;
pub(super) const HEIGHT: i32 = 24;

/// Turns characters into pixels.
pub(super) struct Glyphs {
    font: PSF2Font<'static>,
    /// Which glyph of the font a character has. The font's own lookup finds only those that share theirs with no other.
    numbers: HashMap<char, u32>,
}

/// What ends the characters of one glyph in the font's table, and begins sequences of several, which are not used here.
const END: u8 = 0xff;
const SEQUENCES: u8 = 0xfe;

impl Glyphs {
    pub(super) fn new() -> Self {
        let font = PSF2Font::new(FONT_12X24).expect("the font is a font");
        let start = u64::from(font.header_size)
            + u64::from(font.num_glyphs) * u64::from(font.bytes_per_glyph);
        let table = usize::try_from(start)
            .ok()
            .and_then(|start| FONT_12X24.get(start..));
        let mut numbers = HashMap::new();
        for (number, entry) in (0..).zip(table.unwrap_or_default().split(|byte| *byte == END)) {
            let single = entry
                .split(|byte| *byte == SEQUENCES)
                .next()
                .unwrap_or_default();
            for char in String::from_utf8_lossy(single).chars() {
                numbers.entry(char).or_insert(number);
            }
        }
        Glyphs { font, numbers }
    }

    /// Returns the pixels of a character that are set, in a cell or, for a wide one, in two. What nothing here can draw is a
    /// box, so that it is seen to be something.
    pub(super) fn pixels(&self, text: &str, columns: u16) -> Vec<(i32, i32)> {
        let width = WIDTH * i32::from(columns);
        let char = text.chars().next().unwrap_or(' ');
        let number = self.numbers.get(&char).filter(|_| columns == 1);
        if let Some(glyph) = number.and_then(|number| self.font.glyph_by_idx(*number)) {
            let glyph = Glyph::new(glyph, WIDTH.unsigned_abs() as usize);
            let rows = (0..).zip(glyph);
            return rows
                .flat_map(|(y, row)| {
                    (0..)
                        .zip(row)
                        .filter(|(_, set)| *set)
                        .map(move |(x, _)| (x, y))
                })
                .collect();
        }
        if let Some(strokes) = stroke::strokes(char) {
            return strokes.iter().flat_map(|stroke| line(*stroke)).collect();
        }
        let all = (0..HEIGHT).flat_map(|y| (0..width).map(move |x| (x, y)));
        if stroke::shape(char, 0, 0).is_some() {
            return all
                .filter(|(x, y)| stroke::shape(char, *x, *y) == Some(true))
                .collect();
        }
        let (left, right, top, bottom) = (1, width - 2, 5, 18);
        all.filter(|(x, y)| {
            let is_inside = (left..=right).contains(x) && (top..=bottom).contains(y);
            is_inside && (*x == left || *x == right || *y == top || *y == bottom)
        })
        .collect()
    }
}

/// A line, two pixels thick.
fn line(((from_x, from_y), (to_x, to_y)): Stroke) -> Vec<(i32, i32)> {
    let steps = (to_x - from_x).abs().max((to_y - from_y).abs()).max(1);
    (0..=steps)
        .flat_map(|step| {
            let x = from_x + (to_x - from_x) * step / steps;
            let y = from_y + (to_y - from_y) * step / steps;
            [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)]
        })
        .filter(|(x, y)| (0..WIDTH).contains(x) && (0..HEIGHT).contains(y))
        .collect()
}
