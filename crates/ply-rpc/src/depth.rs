//! The nesting limit, checked without recursion before anything recursive sees the text.

/// Returns whether arrays and objects in `json` are nested deeper than `max`.
///
/// The text need not be valid; the answer is only ever too strict for text that no parser would take.
#[must_use]
pub(crate) fn exceeds(json: &[u8], max: usize) -> bool {
    // Each level costs an opening and a closing byte, so short lines cannot be deep, nor can long ones with few brackets: nearly
    // all lines end here.
    if json.len() <= 2 * max || memchr::memchr2_iter(b'{', b'[', json).nth(max).is_none() {
        return false;
    }
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth > max {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => rest = after_string(tail),
            _ => {}
        }
    }
    false
}

fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        let (skip, closed) = if rest.get(at) == Some(&b'"') {
            (at + 1, true)
        } else {
            (at + 2, false)
        };
        rest = rest.get(skip..).unwrap_or_default();
        if closed {
            return rest;
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a12_depth_is_counted_outside_strings_only() {
        assert!(!exceeds(&b"[".repeat(128), 128));
        assert!(exceeds(&b"[".repeat(100_000), 128));
        assert!(exceeds(&b"{\"a\":".repeat(129), 128));
        assert!(!exceeds(
            &[&b"\""[..], &b"[".repeat(1000), b"\""].concat(),
            128
        ));
        assert!(!exceeds(
            &[&b"\"\\\""[..], &b"[".repeat(1000), b"\""].concat(),
            128
        ));
        assert!(!exceeds(&b"[]".repeat(1000), 128));
        assert!(!exceeds(&[&b"\""[..], &b"x\\".repeat(1000)].concat(), 128));
    }
}
