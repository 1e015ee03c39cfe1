//! Where the hub is, and how it is greeted.

use std::ffi::OsString;
use std::path::PathBuf;

use ply_hub::ask::{Ask, Told};
use ply_hub::connect::{self, ConnectError};
use ply_hub::hello::{Hello, PROTOCOL};
use ply_hub::{Place, PlaceError, Wanted};

use crate::program::{Error, home, store};

/// The directory for what lives as long as the user is logged in, by the XDG Base Directory Specification.
const RUNTIME: &str = "XDG_RUNTIME_DIR";
const STATE: &str = "XDG_STATE_HOME";
const HOME: &str = "HOME";

/// Returns the directory of the hub.
pub(super) fn find() -> Result<Place, Error> {
    let path = directory(home::variable).ok_or(Error::NoStore)?;
    Place::at(path).map_err(|error: PlaceError| Error::Hub(error.to_string()))
}

/// Returns where the directory of the hub is, whether there is one or not.
pub(crate) fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| {
        let path = variable(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let in_state = |state: PathBuf| state.join("ply/run");
    let in_home = || absolute(HOME).map(|home| in_state(home.join(".local/state")));
    absolute(RUNTIME)
        .map(|runtime| runtime.join("ply"))
        .or_else(|| absolute(STATE).map(in_state))
        .or_else(in_home)
}

/// Returns the greeting of a client.
pub(super) fn hello(given: Option<PathBuf>, agent: Option<Wanted>) -> Result<Hello, Error> {
    let store = store::path(given, home::variable)?;
    let store = std::path::absolute(&store).map_err(Error::Start)?;
    Ok(Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        store,
        agent,
        ask: None,
        principal: None,
    })
}

/// Asks the hub something; none if no hub runs.
pub(crate) async fn ask(store: Option<PathBuf>, ask: Ask) -> Result<Option<Told>, Error> {
    let place = find()?;
    let mut hello = hello(store, None)?;
    hello.ask = Some(ask);
    match connect::ask(&place, &hello).await {
        Ok(told) => Ok(Some(told)),
        Err(ConnectError::None) => Ok(None),
        Err(error) => Err(Error::Hub(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: Option<&str>) {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        assert_eq!(directory(variable), expected.map(PathBuf::from));
    }

    #[test]
    fn the_hub_is_where_the_login_is_or_beside_other_state() {
        let (runtime, state, home) = ((RUNTIME, "/run/me"), (STATE, "/state"), (HOME, "/home/me"));
        check(&[runtime, state, home], Some("/run/me/ply"));
        check(&[state, home], Some("/state/ply/run"));
        check(
            &[(RUNTIME, "run"), home],
            Some("/home/me/.local/state/ply/run"),
        );
        check(&[], None);
    }
}
