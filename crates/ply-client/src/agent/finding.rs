//! Finding sessions in the agent's list.

use std::path::Path;

use ply_wire::v2;

use super::{Agent, SessionFilter};
use crate::Error;

impl Agent {
    /// Returns the session of a directory that was used last, if there is one.
    ///
    /// # Errors
    ///
    /// As for [`Agent::list_sessions`].
    ///
    /// # Cancel safety
    ///
    /// Nothing is changed by it.
    pub async fn latest_session(&self, cwd: &Path) -> Result<Option<v2::SessionInfo>, Error> {
        let listed = self.list_sessions(SessionFilter::all().cwd(cwd)).await?;
        Ok(latest_of(listed, cwd))
    }

    /// Returns the session with an id, or else those whose ids begin so.
    ///
    /// # Errors
    ///
    /// As for [`Agent::list_sessions`].
    ///
    /// # Cancel safety
    ///
    /// Nothing is changed by it.
    pub async fn find_sessions(&self, id: &str) -> Result<Vec<v2::SessionInfo>, Error> {
        let listed = self.list_sessions(SessionFilter::all()).await?;
        Ok(named(listed, id))
    }
}

/// Returns the session of a directory that was used last. Agents need not heed the filter, nor keep to an order.
fn latest_of(listed: Vec<v2::SessionInfo>, cwd: &Path) -> Option<v2::SessionInfo> {
    let is_here = |it: &v2::SessionInfo| {
        let found = it.cwd.0.canonicalize();
        it.cwd.0 == cwd || found.is_ok_and(|found| found == cwd)
    };
    let here = listed.into_iter().rev().filter(is_here);
    let time = |it: &v2::SessionInfo| -> Option<jiff::Timestamp> {
        it.updated_at.as_deref().and_then(|time| time.parse().ok())
    };
    here.max_by_key(time)
}

fn named(mut listed: Vec<v2::SessionInfo>, id: &str) -> Vec<v2::SessionInfo> {
    listed.retain(|it| it.session_id.0.starts_with(id));
    let exact = listed.iter().find(|it| *it.session_id.0 == *id).cloned();
    match exact {
        Some(exact) => vec![exact],
        None => listed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str, cwd: &Path, time: &str) -> v2::SessionInfo {
        let time = (!time.is_empty()).then(|| time.to_owned());
        v2::SessionInfo::new(id.to_owned(), cwd).updated_at(time)
    }

    #[test]
    fn the_latest_session_is_found_by_its_time_and_its_directory() {
        let cwd = std::env::temp_dir().canonicalize().unwrap();
        // Another name of it.
        let other = cwd.join("..").join(cwd.file_name().unwrap());
        let found = |listed| latest_of(listed, &cwd).map(|it| it.session_id.0.to_string());
        let listed = vec![
            session("early", &cwd, "2026-07-14T11:30:00+02:00"),
            session("late", &other, "2026-07-14T10:00:00Z"),
            session("unknown", &cwd, ""),
            session("elsewhere", Path::new("/"), "2030-01-01T00:00:00Z"),
        ];
        assert_eq!(found(listed).as_deref(), Some("late"));
        assert_eq!(found(vec![session("elsewhere", Path::new("/"), "")]), None);
        let same = vec![session("first", &cwd, ""), session("second", &cwd, "")];
        assert_eq!(found(same).as_deref(), Some("first"));
    }

    #[test]
    fn an_id_or_its_beginning_names_sessions() {
        let listed = ["ab", "abc", "abd", "x"].map(|id| session(id, Path::new("/"), ""));
        let found = |id: &str| {
            let found = named(listed.to_vec(), id).into_iter();
            let ids: Vec<_> = found.map(|it| it.session_id.0.to_string()).collect();
            ids.join(" ")
        };
        assert_eq!(found("ab"), "ab");
        assert_eq!(found("abc"), "abc");
        assert_eq!(found("a"), "ab abc abd");
        assert_eq!((found("x"), found("y")), ("x".into(), String::new()));
    }
}
