//! What the documents show: terminal sessions of the program, played on a real terminal.
//!
//! `cargo xtask demo` draws them. A picture carries the words of its screen, so that a test can play the scene again and tell
//! whether the picture is still true.

mod record;
mod sample;
mod scene;
mod script;

pub use record::{Recording, record};
pub use sample::Sample;
pub use scene::{Kept, Scene, Step};
pub use script::scenes;

use crate::Shot;

/// Why a scene cannot be played.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Returns the words of a screen without what differs from run to run: numbers, ids of sessions, and how far apart words are.
#[must_use]
pub fn words(shot: &Shot) -> String {
    let rows = (0..shot.rows()).map(|row| {
        let row = shot.row(row);
        let words: Vec<String> = row.split_whitespace().map(lasting).collect();
        words.join(" ")
    });
    let rows: Vec<String> = rows.collect();
    rows.join("\n").trim_end().to_owned()
}

fn lasting(word: &str) -> String {
    if let Some((before, _)) = word.split_once("sess-") {
        return format!("{before}sess-");
    }
    // The home of a scene is another one each time.
    if let Some((before, after)) = word.split_once(sample::HOME) {
        let before = before.split('/').next().unwrap_or_default();
        let below = after.split_once('/').map_or("", |(_, below)| below);
        return format!("{before}~/{below}");
    }
    let mut lasting = String::new();
    let mut chars = word.chars().peekable();
    while let Some(char) = chars.next() {
        let is_number = char.is_ascii_digit();
        let is_point = char == '.' && chars.peek().is_some_and(char::is_ascii_digit);
        match (is_number || is_point) && lasting.ends_with('0') {
            true => {}
            false if is_number => lasting.push('0'),
            false => lasting.push(char),
        }
    }
    lasting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_left_out() {
        let shot = Shot::of_bytes(
            b"took 12.5 s   sess-0a1b\r\n\r\n`/tmp/ply-scene-x1/a.rs`",
            40,
            5,
        );
        assert_eq!(words(&shot), "took 0 s sess-\n\n`~/a.rs`");
    }
}
