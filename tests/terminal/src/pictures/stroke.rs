//! Glyphs that the font does not have and terminal programs like, as strokes.

/// From here to there, in pixels of a glyph of 12 by 24.
pub(super) type Stroke = ((i32, i32), (i32, i32));

const RIGHT: [Stroke; 3] = [((1, 12), (10, 12)), ((6, 8), (10, 12)), ((6, 16), (10, 12))];
const LEFT: [Stroke; 3] = [((1, 12), (10, 12)), ((5, 8), (1, 12)), ((5, 16), (1, 12))];
const UP: [Stroke; 3] = [((5, 6), (5, 18)), ((1, 10), (5, 6)), ((9, 10), (5, 6))];
const DOWN: [Stroke; 3] = [((5, 6), (5, 18)), ((1, 14), (5, 18)), ((9, 14), (5, 18))];
const CHECK: [Stroke; 2] = [((1, 13), (4, 17)), ((4, 17), (10, 6))];
const CHEVRON: [Stroke; 2] = [((3, 6), (8, 12)), ((8, 12), (3, 18))];
const DASH: [Stroke; 1] = [((0, 12), (11, 12))];
const ELBOW: [Stroke; 2] = [((4, 0), (4, 12)), ((4, 12), (11, 12))];
const RETURN: [Stroke; 4] = [
    ((10, 6), (10, 13)),
    ((2, 13), (10, 13)),
    ((2, 13), (5, 10)),
    ((2, 13), (5, 16)),
];
const STAR: [Stroke; 3] = [((5, 7), (5, 17)), ((1, 9), (9, 15)), ((9, 9), (1, 15))];
const TURN: [Stroke; 5] = [
    ((9, 8), (3, 8)),
    ((3, 8), (2, 15)),
    ((2, 15), (9, 16)),
    ((9, 8), (6, 5)),
    ((9, 8), (6, 11)),
];
const WARNING: [Stroke; 5] = [
    ((5, 5), (0, 18)),
    ((5, 5), (10, 18)),
    ((0, 18), (10, 18)),
    ((5, 10), (5, 14)),
    ((5, 16), (5, 16)),
];
const SQUARE: [Stroke; 4] = [
    ((2, 8), (9, 8)),
    ((9, 8), (9, 16)),
    ((9, 16), (2, 16)),
    ((2, 16), (2, 8)),
];

const SEARCH: [Stroke; 9] = [
    ((3, 6), (6, 6)),
    ((6, 6), (8, 8)),
    ((8, 8), (8, 11)),
    ((8, 11), (6, 13)),
    ((6, 13), (3, 13)),
    ((3, 13), (1, 11)),
    ((1, 11), (1, 8)),
    ((1, 8), (3, 6)),
    ((7, 12), (10, 17)),
];
const THEREFORE: [Stroke; 3] = [((5, 8), (5, 8)), ((2, 15), (2, 15)), ((8, 15), (8, 15))];

/// Returns the strokes of a character, if it is one of these.
pub(super) fn strokes(char: char) -> Option<&'static [Stroke]> {
    Some(match char {
        '→' | '⟶' => &RIGHT,
        '←' => &LEFT,
        '↑' => &UP,
        '↓' => &DOWN,
        '✓' | '✔' | '√' => &CHECK,
        '❯' | '⟩' => &CHEVRON,
        '—' | '―' => &DASH,
        '⎿' => &ELBOW,
        '⏎' | '↵' | '↩' => &RETURN,
        '✱' | '✻' | '★' | '✶' | '∗' => &STAR,
        '⟳' | '↻' | '↺' => &TURN,
        '⚠' => &WARNING,
        '⌕' => &SEARCH,
        '∴' => &THEREFORE,
        '□' | '▢' | '◻' => &SQUARE,
        _ => return None,
    })
}

/// Tells whether a pixel of a filled shape is set, if the character is one.
pub(super) fn shape(char: char, x: i32, y: i32) -> Option<bool> {
    // As far from the middle, up or down, as it is from the tip.
    let (across, along) = ((y - 12).abs(), (x - 5).abs());
    Some(match char {
        '▶' | '▸' | '►' => (2..=9).contains(&x) && across <= 9 - x,
        '◀' | '◂' | '◄' => (2..=9).contains(&x) && across <= x - 2,
        '▼' | '▾' => (8..=15).contains(&y) && along <= (15 - y) * 5 / 7,
        '▲' | '▴' => (8..=15).contains(&y) && along <= (y - 8) * 5 / 7,
        '■' | '◼' | '▪' => (2..=9).contains(&x) && (8..=15).contains(&y),
        '◎' => {
            let far = along * along + across * across;
            far <= 2 || (14..=24).contains(&far)
        }
        '⏺' => along * along + across * across <= 20,
        '▏' => x < 2,
        '▎' => x < 3,
        '▍' => x < 5,
        '▋' => x < 8,
        '▊' => x < 9,
        '▉' => x < 11,
        '\u{2800}'..='\u{28ff}' => braille(char, x, y),
        _ => return None,
    })
}

/// Eight dots, two columns of four; the bits of the character say which.
fn braille(char: char, x: i32, y: i32) -> bool {
    const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
    let is_dot = x % 6 >= 1 && x % 6 <= 4 && y % 6 >= 1 && y % 6 <= 4;
    let row = usize::try_from(y / 6).ok().and_then(|row| DOTS.get(row));
    let bit = usize::try_from(x / 6)
        .ok()
        .and_then(|column| row?.get(column));
    is_dot && bit.is_some_and(|bit| (u32::from(char) - 0x2800) & bit != 0)
}
