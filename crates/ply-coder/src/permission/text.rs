//! Text from models, made fit to be shown.

/// Says whether a character is not seen, or is taken for something else: controls, spaces that are no
/// spaces for a shell, marks that turn the direction of writing.
pub(crate) fn is_deceptive(c: char) -> bool {
    if matches!(c, ' ' | '\t' | '\n') {
        return false;
    }
    c.is_control()
        || c.is_whitespace()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns a text with everything that deceives written out, on one line.
///
/// A new line is no `\n`, which a command may well have in it as two letters.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push('⏎'),
            '\t' => out.push_str("\\t"),
            c if is_deceptive(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Returns what is shown as code: as it is, between more backticks than it has in a row.
pub(crate) fn code(shown: &str) -> String {
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{shown}{space}{fence}")
}
