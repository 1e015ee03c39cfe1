//! A screen as PNG.

use super::glyph::{Glyphs, HEIGHT, WIDTH};
use super::{Palette, Rgb};
use crate::Shot;
use crate::scenes::words;

/// What the words of the screen are called in the file.
const WORDS: &str = "Screen";
/// The empty space around the screen, in pixels.
const MARGIN: i32 = 20;
/// Where a line under text is, from the upper edge of its cell.
const UNDERLINE: i32 = 21;

struct Picture {
    width: i32,
    height: i32,
    /// Three bytes for each pixel.
    bytes: Vec<u8>,
}

pub(super) fn png(shot: &Shot, palette: &Palette) -> Result<Vec<u8>, png::EncodingError> {
    let picture = draw(shot, palette);
    let mut file = Vec::new();
    let side = |pixels: i32| u32::try_from(pixels).unwrap_or(1);
    let mut encoder = png::Encoder::new(&mut file, side(picture.width), side(picture.height));
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.add_itxt_chunk(WORDS.to_owned(), words(shot))?;
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&picture.bytes)?;
    writer.finish()?;
    Ok(file)
}

/// Returns the words of the screen that a picture shows.
pub(super) fn words_in(file: &[u8]) -> Option<String> {
    let reader = png::Decoder::new(std::io::Cursor::new(file)).read_info();
    let reader = reader.ok()?;
    let mut texts = reader.info().utf8_text.iter();
    texts.find(|text| text.keyword == WORDS)?.get_text().ok()
}

fn draw(shot: &Shot, palette: &Palette) -> Picture {
    let width = i32::from(shot.columns()) * WIDTH + 2 * MARGIN;
    let height = i32::from(shot.rows()) * HEIGHT + 2 * MARGIN;
    let Rgb(red, green, blue) = palette.back();
    let pixels = usize::try_from(width * height).unwrap_or(0);
    let mut picture = Picture {
        width,
        height,
        bytes: [red, green, blue].repeat(pixels),
    };
    let glyphs = Glyphs::new();
    let cursor = shot.cursor();
    for row in 0..shot.rows() {
        for (column, cell) in shot.cells(row) {
            let mut style = cell.style;
            style.inverse ^= cursor == Some((column, row));
            let (text, back) = palette.of_style(style);
            let left = MARGIN + i32::from(column) * WIDTH;
            let top = MARGIN + i32::from(row) * HEIGHT;
            let cell_width = WIDTH * i32::from(cell.width);
            if back != palette.back() {
                picture.fill((left, top), (cell_width, HEIGHT), back);
            }
            if !cell.text.trim().is_empty() {
                for (x, y) in glyphs.pixels(cell.text, cell.width) {
                    // Slanted by a pixel for each eight rows.
                    let slant = if style.italic {
                        (HEIGHT / 2 - y) / 8
                    } else {
                        0
                    };
                    let thickness = if style.bold { 2 } else { 1 };
                    picture.fill((left + x + slant, top + y), (thickness, 1), text);
                }
            }
            if style.underline {
                picture.fill((left, top + UNDERLINE), (cell_width, 1), text);
            }
        }
    }
    picture
}

impl Picture {
    fn fill(
        &mut self,
        (left, top): (i32, i32),
        (width, height): (i32, i32),
        Rgb(red, green, blue): Rgb,
    ) {
        for y in top..top + height {
            let start = usize::try_from((y * self.width + left) * 3).unwrap_or(usize::MAX);
            let end = start.saturating_add(usize::try_from(width * 3).unwrap_or(0));
            let Some(row) = self.bytes.get_mut(start..end) else {
                continue;
            };
            for pixel in row.chunks_exact_mut(3) {
                pixel.copy_from_slice(&[red, green, blue]);
            }
        }
    }
}
