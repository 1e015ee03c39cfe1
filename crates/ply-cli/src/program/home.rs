//! The user's own directory, also where the environment does not name it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// The variable that names it.
const HOME: &str = "HOME";

/// Returns a variable of the environment. Where `HOME` is not set, the directory in the user's password entry stands for it: some
/// editors start agents with nothing but `PATH`. A `HOME` that is not absolute is a mistake, and there is none then.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    let value = std::env::var_os(name);
    match name {
        HOME => home(value, std::env::home_dir()),
        _ => value,
    }
}

/// Returns the one that counts, if it can be one.
fn home(set: Option<OsString>, entry: Option<PathBuf>) -> Option<OsString> {
    let is_absolute = |home: &OsString| Path::new(home).is_absolute();
    // Users of services have entries such as `/` and `/nonexistent`, where nothing can be kept.
    let is_usable = |home: &PathBuf| home.is_dir() && access(home, Access::WRITE_OK).is_ok();
    let home = match set.filter(|home| !home.is_empty()) {
        Some(set) => Some(set),
        None => entry.filter(is_usable).map(OsString::from),
    };
    home.filter(is_absolute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_entry_stands_for_a_home_that_is_not_set() {
        let temp = std::env::temp_dir();
        let of = |set: Option<&str>, entry: &Path| {
            let home = home(set.map(OsString::from), Some(entry.to_owned()));
            home.map(PathBuf::from)
        };
        let set = Some(PathBuf::from("/home/me"));
        assert_eq!(of(Some("/home/me"), &temp), set);
        assert_eq!(of(Some("here"), &temp), None);
        for unset in [None, Some("")] {
            assert_eq!(of(unset, &temp), Some(temp.clone()));
            assert_eq!(of(unset, Path::new("/nonexistent")), None);
            assert_eq!(of(unset, Path::new(".")), None);
        }
        assert_eq!(home(None, None), None);
    }
}
