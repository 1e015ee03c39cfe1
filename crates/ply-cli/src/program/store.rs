//! Where the sessions are, if nobody says so.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ply_client::Recent;

use crate::program::Error;

/// The variable that names the store.
const STORE: &str = "PLY_STORE";
/// The directory for data of users, by the XDG Base Directory Specification.
const DATA_HOME: &str = "XDG_DATA_HOME";
const HOME: &str = "HOME";

/// Returns the file of the store: the one that was given, else what the environment says.
pub(crate) fn path(
    given: Option<PathBuf>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<PathBuf, Error> {
    let set = |name| {
        let value = variable(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    // A relative one is to be ignored, says the specification; so is such a home.
    let absolute = |name| set(name).filter(|path| path.is_absolute());
    let in_data = |data: PathBuf| data.join("ply/sessions.db");
    given
        .or_else(|| set(STORE))
        .or_else(|| absolute(DATA_HOME).map(in_data))
        .or_else(|| absolute(HOME).map(|home| in_data(home.join(".local/share"))))
        .ok_or(Error::NoStore)
}

/// Returns the list of sessions that clients ran, which is beside the store; none if there is no place for it.
pub(crate) fn recent(
    given: Option<PathBuf>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<Recent> {
    path(given, variable)
        .ok()
        .map(|store| recent_beside(&store))
}

/// Returns the list beside a store.
pub(crate) fn recent_beside(store: &Path) -> Recent {
    Recent::at(store.with_extension("recent.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: Option<&str>, variables: &[(&str, &str)], expected: Option<&str>) {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        let found = path(given.map(PathBuf::from), variable).ok();
        assert_eq!(found, expected.map(PathBuf::from));
    }

    #[test]
    fn what_is_said_nearer_wins() {
        let all = [
            (STORE, "/s/store.db"),
            (DATA_HOME, "/data"),
            (HOME, "/home/me"),
        ];
        let [_, data, home] = all;
        check(Some("here.db"), &all, Some("here.db"));
        check(None, &all, Some("/s/store.db"));
        check(None, &[data, home], Some("/data/ply/sessions.db"));
        let in_home = Some("/home/me/.local/share/ply/sessions.db");
        check(None, &[home], in_home);
    }

    #[test]
    fn empty_and_relative_variables_count_as_unset() {
        let in_home = Some("/home/me/.local/share/ply/sessions.db");
        let home = (HOME, "/home/me");
        check(None, &[(STORE, ""), (DATA_HOME, ""), home], in_home);
        check(None, &[(DATA_HOME, "data"), home], in_home);
        check(None, &[(HOME, "")], None);
        check(None, &[], None);
        // A store is chosen by its user, like an argument.
        check(None, &[(STORE, "here.db"), home], Some("here.db"));
    }
}
