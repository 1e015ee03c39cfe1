//! What stands around a frame without being part of it: byte order marks, blanks, terminal control sequences.

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// Strips what terminals, shells and editors put around a frame; an empty result is a blank line.
///
/// Only the outside is touched: bytes after the first other byte are kept as they are.
#[must_use]
pub fn strip(line: &[u8]) -> &[u8] {
    let mut rest = line;
    loop {
        rest = match rest {
            // The common case first: a frame as it should be.
            [b'{', ..] => break,
            [0xef, 0xbb, 0xbf, tail @ ..] => tail,
            [ESC, tail @ ..] => skip_escape(tail),
            [byte, tail @ ..] if *byte <= b' ' || *byte == 0x7f => tail,
            _ => break,
        };
    }
    while let [head @ .., last] = rest {
        if *last > b' ' {
            break;
        }
        rest = head;
    }
    rest
}

/// Skips one escape sequence, whose ESC is gone already.
fn skip_escape(rest: &[u8]) -> &[u8] {
    match rest {
        // CSI: parameters and intermediates, then one final byte.
        [b'[', tail @ ..] => after(tail, |byte| (0x40..=0x7e).contains(&byte)),
        // OSC, DCS, SOS, PM, APC: a string up to BEL or ESC \.
        [b']' | b'P' | b'X' | b'^' | b'_', tail @ ..] => skip_string(tail),
        // Designations such as ESC ( B: intermediates, then one final byte.
        [0x20..=0x2f, ..] => after(rest, |byte| (0x30..=0x7e).contains(&byte)),
        [_, tail @ ..] => tail,
        [] => rest,
    }
}

fn skip_string(rest: &[u8]) -> &[u8] {
    match memchr::memchr2(BEL, ESC, rest).map(|at| rest.split_at(at)) {
        Some((_, [ESC, b'\\', tail @ ..])) => tail,
        Some((_, [_, tail @ ..])) => tail,
        // Unterminated: the string reaches to the end of the line.
        _ => &[],
    }
}

fn after(bytes: &[u8], is_final: impl Fn(u8) -> bool) -> &[u8] {
    let end = bytes.iter().position(|byte| is_final(*byte));
    end.and_then(|at| bytes.get(at + 1..)).unwrap_or_default()
}

/// Makes a line harmless to show: control and direction-changing characters become `\u{…}`, and it is cut.
#[must_use]
pub fn for_display(line: &[u8], chars_max: usize) -> String {
    // Cut before decoding, so that a line of 64 MiB costs no more than a short one.
    let cut = line.get(..chars_max * 4).unwrap_or(line);
    let text = String::from_utf8_lossy(cut);
    let mut shown = String::new();
    let mut chars = text.chars();
    for char in chars.by_ref().take(chars_max) {
        if is_harmless(char) {
            shown.push(char);
        } else {
            shown.extend(char.escape_unicode());
        }
    }
    if chars.next().is_some() || cut.len() < line.len() {
        shown.push('…');
    }
    shown
}

fn is_harmless(char: char) -> bool {
    let invisible = matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !char.is_control() && !invisible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &[u8], expected: &[u8]) {
        assert_eq!(strip(line), expected, "{:?}", String::from_utf8_lossy(line));
    }

    #[test]
    fn a2_escape_sequences_glued_before_a_frame_are_stripped() {
        check(b"\x1b[?2004h{}", b"{}");
        check(b"\x1b[0m\x1b[1;31m{}", b"{}");
        check(b"\x1b]0;title\x07{}", b"{}");
        check(b"\x1b]0;title\x1b\\{}", b"{}");
        check(b"\x1bP1$r0m\x1b\\{}", b"{}");
        check(b"\x1b(B{}", b"{}");
        check(b"\x1b={}", b"{}");
        check(b"\x07\x08{}", b"{}");
        check(b"\x1b]0;never ends {}", b"");
        check(b"\x1b[", b"");
        check(b"\x1b", b"");
    }

    #[test]
    fn a9_a_byte_order_mark_is_ignored() {
        check(b"\xef\xbb\xbf{}", b"{}");
        check(b"\xef\xbb\xbf\xef\xbb\xbf {}", b"{}");
        check(b"\xef\xbb\xbf", b"");
    }

    #[test]
    fn a10_line_ends_and_blanks_are_ignored() {
        check(b"{}\r", b"{}");
        check(b" \t{}  \r", b"{}");
        check(b"\r", b"");
        check(b"", b"");
    }

    #[test]
    fn a11_nul_runs_are_blank() {
        check(b"\0\0\0", b"");
        check(b"\0\0{}\0\0", b"{}");
    }

    #[test]
    fn the_inside_of_a_line_is_kept() {
        check(b"hello \x1b[0m", b"hello \x1b[0m");
        check(b"{\"a\":\"\x1b[0m\"}", b"{\"a\":\"\x1b[0m\"}");
    }

    #[test]
    fn a_line_for_display_has_no_control_characters_and_is_cut() {
        assert_eq!(for_display(b"ok\x1b[2J", 20), "ok\\u{1b}[2J");
        assert_eq!(for_display("a\u{202e}b".as_bytes(), 20), "a\\u{202e}b");
        assert_eq!(for_display(b"abcdef", 3), "abc…");
        assert_eq!(for_display(b"\xff", 3), "\u{fffd}");
    }
}
