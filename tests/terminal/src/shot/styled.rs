//! A screen with its styles, as text.

use std::fmt::Write as _;

use super::{Shot, Style};

/// Marks in the order they are given out; what comes after the last is marked with it too, which no screen of ours needs.
const MARKS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

pub(super) fn styled(shot: &Shot) -> String {
    let mut known: Vec<Style> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for row in 0..shot.rows() {
        lines.push(format!("|{}", shot.row(row)).trim_end().to_owned());
        let mut marks = String::from(" ");
        for (_, cell) in shot.cells(row) {
            let blank = cell.text.trim().is_empty() && !cell.style.shows_on_blanks();
            let mark = match blank || cell.style == Style::default() {
                true => ' ',
                false => mark(&mut known, cell.style),
            };
            marks.extend(std::iter::repeat_n(mark, cell.width.into()));
        }
        let marks = marks.trim_end();
        if !marks.is_empty() {
            lines.push(marks.to_owned());
        }
    }
    while lines.last().is_some_and(|line| line == "|") {
        lines.pop();
    }
    let mut text = lines.join("\n");
    if let Some((column, row)) = shot.cursor() {
        write!(text, "\ncursor: column {column}, row {row}").expect("a string takes everything");
    }
    for (style, mark) in known.iter().zip(MARKS) {
        write!(text, "\n{}: {style}", char::from(*mark)).expect("a string takes everything");
    }
    text
}

fn mark(known: &mut Vec<Style>, style: Style) -> char {
    let number = known.iter().position(|known| *known == style);
    let number = number.unwrap_or_else(|| {
        known.push(style);
        known.len() - 1
    });
    char::from(MARKS.get(number).copied().unwrap_or(b'9'))
}
