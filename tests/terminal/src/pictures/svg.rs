//! Screens as SVG.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::time::Duration;

use super::{Frame, Palette, Rgb};
use crate::shot::Cell;
use crate::{Shot, Style};

/// The size of a cell, in the units of the picture. Fonts of one width are 0.6 of their size wide.
const CELL_WIDTH: u32 = 9;
const CELL_HEIGHT: u32 = 18;
const FONT_SIZE: u32 = 15;
/// How far below the upper edge of a cell its letters stand.
const BASELINE: u32 = 14;
/// The empty space around the screen.
const MARGIN: u32 = 16;

/// One row at one time: where, what, and from when to when.
struct Layer {
    row: u16,
    content: String,
    from: Duration,
    to: Duration,
}

pub(super) fn moving(frames: &[Frame], title: &str, palette: &Palette) -> String {
    let mut svg = String::new();
    write(&mut svg, frames, title, palette).expect("a string takes everything");
    svg
}

fn write(svg: &mut String, frames: &[Frame], title: &str, palette: &Palette) -> fmt::Result {
    let columns = frames.iter().map(|frame| frame.shot.columns()).max();
    let rows = frames.iter().map(|frame| frame.shot.rows()).max();
    let width = u32::from(columns.unwrap_or(1)) * CELL_WIDTH + 2 * MARGIN;
    let height = u32::from(rows.unwrap_or(1)) * CELL_HEIGHT + 2 * MARGIN;
    let total: Duration = frames.iter().map(|frame| frame.shown).sum();
    let layers = layers(frames, rows.unwrap_or(0), palette);
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" xml:space=\"preserve\">"
    )?;
    writeln!(svg, "<title>{}</title>", Escaped(title))?;
    writeln!(svg, "<style>")?;
    writeln!(
        svg,
        "text{{font:{FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;white-space:pre}}"
    )?;
    writeln!(
        svg,
        ".b{{font-weight:bold}}.i{{font-style:italic}}.u{{text-decoration:underline}}"
    )?;
    let times = keyframes(svg, &layers, total)?;
    writeln!(svg, "</style>")?;
    writeln!(
        svg,
        "<rect width=\"{width}\" height=\"{height}\" rx=\"10\" fill=\"{}\"/>",
        palette.back()
    )?;
    for layer in &layers {
        let y = MARGIN + u32::from(layer.row) * CELL_HEIGHT;
        write!(svg, "<g transform=\"translate({MARGIN} {y})\"")?;
        if let Some(number) = times.get(&(layer.from, layer.to)) {
            let last = if layer.to == total { " l" } else { "" };
            write!(svg, " class=\"m m{number}{last}\"")?;
        }
        writeln!(svg, ">{}</g>", layer.content)?;
    }
    writeln!(svg, "</svg>")
}

/// Writes when each layer can be seen, and numbers the times. One that can always be seen has none.
fn keyframes(
    svg: &mut String,
    layers: &[Layer],
    total: Duration,
) -> Result<BTreeMap<(Duration, Duration), usize>, fmt::Error> {
    let mut times = BTreeMap::new();
    for layer in layers {
        if layer.from > Duration::ZERO || layer.to < total {
            let number = times.len();
            times.entry((layer.from, layer.to)).or_insert(number);
        }
    }
    if times.is_empty() {
        return Ok(times);
    }
    // Hidden without motion, but for the last frame; so nothing but the keyframes has to tell when.
    writeln!(svg, ".m{{visibility:hidden}}.l{{visibility:visible}}")?;
    writeln!(svg, "@media(prefers-reduced-motion:no-preference){{")?;
    writeln!(
        svg,
        ".m{{animation:{}s step-end infinite}}",
        total.as_secs_f64()
    )?;
    for ((from, to), number) in &times {
        let percent = |time: &Duration| 100.0 * time.as_secs_f64() / total.as_secs_f64();
        write!(
            svg,
            ".m{number}{{animation-name:k{number}}}@keyframes k{number}{{"
        )?;
        if *from > Duration::ZERO {
            write!(svg, "0%{{visibility:hidden}}")?;
        }
        write!(svg, "{:.3}%{{visibility:visible}}", percent(from))?;
        if *to < total {
            write!(svg, "{:.3}%{{visibility:hidden}}", percent(to))?;
        }
        writeln!(svg, "}}")?;
    }
    writeln!(svg, "}}")?;
    Ok(times)
}

/// What is seen in each row, and from when to when. An empty row is no layer.
fn layers(frames: &[Frame], rows: u16, palette: &Palette) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    for row in 0..rows {
        let mut now = Duration::ZERO;
        let mut open: Option<Layer> = None;
        for frame in frames {
            let content = content(&frame.shot, row, palette);
            let end = now + frame.shown;
            match &mut open {
                Some(layer) if layer.content == content => layer.to = end,
                _ => {
                    layers.extend(open.take());
                    open = Some(Layer {
                        row,
                        content,
                        from: now,
                        to: end,
                    });
                }
            }
            now = end;
        }
        layers.extend(open);
    }
    layers.retain(|layer| !layer.content.is_empty());
    layers
}

/// Cells side by side that are drawn alike.
struct Run {
    column: u16,
    width: u16,
    text: String,
    style: Style,
}

fn content(shot: &Shot, row: u16, palette: &Palette) -> String {
    let mut svg = String::new();
    for run in runs(shot, row) {
        run.write(&mut svg, palette)
            .expect("a string takes everything");
    }
    svg
}

fn runs(shot: &Shot, row: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let cursor = shot.cursor();
    for (
        column,
        Cell {
            text,
            width,
            mut style,
        },
    ) in shot.cells(row)
    {
        // The cursor is a block.
        style.inverse ^= cursor == Some((column, row));
        let text = match text {
            "" => " ",
            text => text,
        };
        match runs.last_mut() {
            // A wide character stands alone: its glyph is seldom as wide as two others.
            Some(run)
                if run.style == style
                    && width == 1
                    && run.width == run.text.chars().count() as u16 =>
            {
                run.width += width;
                run.text.push_str(text);
            }
            _ => runs.push(Run {
                column,
                width,
                text: text.to_owned(),
                style,
            }),
        }
    }
    runs
}

impl Run {
    fn write(&self, svg: &mut String, palette: &Palette) -> fmt::Result {
        let (text, back) = palette.of_style(self.style);
        let x = u32::from(self.column) * CELL_WIDTH;
        let width = u32::from(self.width) * CELL_WIDTH;
        if back != palette.back() {
            write!(
                svg,
                "<rect x=\"{x}\" width=\"{width}\" height=\"{CELL_HEIGHT}\" fill=\"{back}\"/>"
            )?;
        }
        match self.style.underline {
            true => self.write_text(svg, &self.text, 0, text),
            false => {
                let start = self.text.trim_start_matches(' ');
                let skipped = self.text.len() - start.len();
                self.write_text(svg, start.trim_end_matches(' '), skipped, text)
            }
        }
    }

    fn write_text(&self, svg: &mut String, text: &str, skipped: usize, colour: Rgb) -> fmt::Result {
        let length = text.chars().count();
        if length == 0 {
            return Ok(());
        }
        let x =
            u32::from(self.column) * CELL_WIDTH + u32::try_from(skipped).unwrap_or(0) * CELL_WIDTH;
        write!(svg, "<text x=\"{x}\" y=\"{BASELINE}\"")?;
        // Fonts differ in width, and columns have to stay columns.
        if length > 1 && self.width > 2 {
            let width = u32::try_from(length).unwrap_or(0) * CELL_WIDTH;
            write!(svg, " textLength=\"{width}\"")?;
        }
        let classes: Vec<_> = [
            (self.style.bold, "b"),
            (self.style.italic, "i"),
            (self.style.underline, "u"),
        ]
        .into_iter()
        .filter_map(|(is, class)| is.then_some(class))
        .collect();
        if !classes.is_empty() {
            write!(svg, " class=\"{}\"", classes.join(" "))?;
        }
        write!(svg, " fill=\"{colour}\">{}</text>", Escaped(text))
    }
}

/// Text as XML has it.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|char| match char {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            // XML has no way to write these.
            char if char.is_control() || matches!(char, '\u{fffe}' | '\u{ffff}') => {
                f.write_char('\u{fffd}')
            }
            char => f.write_char(char),
        })
    }
}
