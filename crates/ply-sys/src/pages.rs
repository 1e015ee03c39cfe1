//! The pages that hold the program's own code.

use std::os::unix::ffi::OsStrExt as _;

/// Gives back the pages of the program's code that were read so far; those that are used again come back from the file.
///
/// For a program that starts, then waits: what it needs to start is spread over all of its code, and around each place the
/// system maps fifteen more pages. Where the list of mappings cannot be read nothing changes.
pub fn give_back_code() {
    let Ok(program) = std::fs::read_link("/proc/self/exe") else {
        return;
    };
    let mappings = std::fs::read("/proc/self/maps").unwrap_or_default();
    let mappings = String::from_utf8_lossy(&mappings);
    for (start, end) in mappings
        .lines()
        .filter_map(|line| code(line, program.as_os_str().as_bytes()))
    {
        // SAFETY: the range is a whole mapping of this program's file that is private, can be executed and cannot be written,
        // so every page in it is as in the file, from which the system reads it again at the next access. The mapping was
        // made by the loader, which never takes it away.
        unsafe {
            libc::madvise(
                std::ptr::without_provenance_mut(start),
                end - start,
                libc::MADV_DONTNEED,
            );
        }
    }
}

/// Returns where a mapping lies, if it is of a program's code.
fn code(line: &str, program: &[u8]) -> Option<(usize, usize)> {
    let mut fields = line.split_ascii_whitespace();
    let (range, rights) = (fields.next()?, fields.next()?);
    // The path is the sixth field and the last, and may have spaces.
    let path = line.get(line.find('/')?..)?;
    if rights != "r-xp" || path.as_bytes() != program {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some((number(start)?, number(end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_the_program_itself_is_given_back() {
        let program = b"/opt/my program";
        let line = |rights: &str, path: &str| {
            format!("5581c000-5581d000 {rights} 00001000 fd:00 99                 {path}")
        };
        assert_eq!(
            code(&line("r-xp", "/opt/my program"), program),
            Some((0x5581_c000, 0x5581_d000))
        );
        for (rights, path) in [
            ("r--p", "/opt/my program"),
            ("rw-p", "/opt/my program"),
            ("rwxp", "/opt/my program"),
            ("r-xp", "/lib/libc.so.6"),
            ("r-xp", "[vdso]"),
            ("r-xp", ""),
        ] {
            assert_eq!(code(&line(rights, path), program), None, "{rights} {path}");
        }
    }

    #[test]
    fn the_program_goes_on_afterwards() {
        give_back_code();
        let sorted = std::hint::black_box(vec![3, 1, 2]);
        give_back_code();
        assert_eq!(sorted.iter().max(), Some(&3));
    }
}
