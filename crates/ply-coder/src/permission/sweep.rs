//! Looking through a directory for what a command that reads all of it must not read.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::look::Reach;

/// How many entries are looked at. A directory with more of them is asked about.
const ENTRIES_MAX: usize = 20_000;

/// What stands against reading a directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A file that is not to be read unasked.
    File(PathBuf),
    /// There is too much to look at.
    TooMuch,
}

/// Looks for a file below a place that may not be read.
pub(super) fn sweep(
    place: &Path,
    reach: Reach,
    may_read: impl Fn(&Path) -> bool,
) -> Result<(), Found> {
    if reach == Reach::Names || !place.is_dir() {
        return Ok(());
    }
    let mut walk = WalkBuilder::new(place);
    walk.standard_filters(!matches!(reach, Reach::All | Reach::Followed))
        .hidden(reach == Reach::Shown)
        .add_custom_ignore_filename(".rgignore")
        // Millions of them, and none is text.
        .filter_entry(|entry| !entry.path().ends_with(".git/objects"));
    for (count, entry) in walk.build().enumerate() {
        if count >= ENTRIES_MAX {
            return Err(Found::TooMuch);
        }
        // What cannot be opened here cannot be read by the command either.
        let Ok(entry) = entry else { continue };
        let kind = entry.file_type();
        let is_file = kind.is_some_and(|kind| kind.is_file());
        let is_link = kind.is_some_and(|kind| kind.is_symlink());
        let leads_away = is_link && reach == Reach::Followed;
        if leads_away || (is_file && !may_read(entry.path())) {
            return Err(Found::File(entry.into_path()));
        }
    }
    Ok(())
}
