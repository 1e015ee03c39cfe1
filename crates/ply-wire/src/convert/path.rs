//! Paths, which may be of another system than this one.

use std::path::Path;

/// Returns whether a path is absolute here or on Windows, where the agent may run.
pub(crate) fn is_absolute(path: &Path) -> bool {
    let windows = |path: &str| match path.as_bytes() {
        [b'\\', b'\\', ..] => true,
        [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    };
    path.has_root() || path.to_str().is_some_and(windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_either_system_are_told_apart_from_relative_ones() {
        for path in ["/a", "C:\\a", "c:/a", "\\\\host\\share"] {
            assert!(is_absolute(Path::new(path)), "{path}");
        }
        for path in ["", "a", "./a", "../a", "a:b", "C:a"] {
            assert!(!is_absolute(Path::new(path)), "{path}");
        }
    }
}
