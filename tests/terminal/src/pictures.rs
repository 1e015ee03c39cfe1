//! Pictures of screens: SVG, still or moving, and PNG.
//!
//! Both are drawn here, from the cells, so that a picture needs no terminal program, no browser and no font on the machine.

mod glyph;
mod palette;
mod png_file;
mod stroke;
mod svg;

use std::time::Duration;

use crate::Shot;

pub use palette::{Palette, Rgb};

/// One picture of a moving one.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What is shown.
    pub shot: Shot,
    /// For how long.
    pub shown: Duration,
}

/// Draws a screen as SVG. The title is for those who cannot see it.
#[must_use]
pub fn svg(shot: &Shot, title: &str, palette: &Palette) -> String {
    let frame = Frame {
        shot: shot.clone(),
        shown: Duration::from_secs(1),
    };
    svg::moving(&[frame], title, palette)
}

/// Draws screens as one SVG that moves, over and over. What does not move, and who wants no motion, sees the last of them.
///
/// A row is in the file once for each time it changes, so that typing costs one row for each key.
#[must_use]
pub fn moving_svg(frames: &[Frame], title: &str, palette: &Palette) -> String {
    svg::moving(frames, title, palette)
}

/// Draws a screen as PNG.
///
/// # Errors
///
/// The picture cannot be encoded, which a screen of any size that terminals have can be.
pub fn png(shot: &Shot, palette: &Palette) -> std::io::Result<Vec<u8>> {
    png_file::png(shot, palette).map_err(std::io::Error::other)
}

/// Returns the words of the screen that a PNG of [`png()`] shows, as [`crate::scenes::words`] has them.
#[must_use]
pub fn words_in(png: &[u8]) -> Option<String> {
    png_file::words_in(png)
}
