//! What an agent may serve before, at and after `initialize`.

use crate::negotiate::Version;

/// The place of one connection in its handshake, as its agent sees it.
///
/// Until `initialize` has succeeded nothing else is served. A version 1 client may initialize again at any time, and the latest
/// time counts; a version 2 client only until its first other request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Handshake {
    version: Option<Version>,
    /// Whether anything but `initialize` was served.
    used: bool,
}

/// What to do with a message of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Serve it.
    Serve,
    /// Answer with `-32600` and this reason. Never with the code for missing authentication, which sends clients off to log in.
    Refuse(&'static str),
    /// It is a notification that comes too early: drop it.
    Ignore,
}

impl Handshake {
    /// Judges a request by its method.
    pub fn request(&mut self, method: &str) -> Verdict {
        match (self.version, method) {
            (Some(Version::V2), "initialize") if self.used => {
                Verdict::Refuse("the connection is initialized already")
            }
            (_, "initialize") => Verdict::Serve,
            (None, _) => Verdict::Refuse("the first request must be `initialize`"),
            (Some(_), _) => {
                self.used = true;
                Verdict::Serve
            }
        }
    }

    /// Judges a notification.
    pub fn notification(&self) -> Verdict {
        if self.version.is_some() {
            Verdict::Serve
        } else {
            Verdict::Ignore
        }
    }

    /// Notes a successful `initialize`.
    ///
    /// # Errors
    ///
    /// Gives the version that is spoken already and cannot change under the client's sessions.
    pub fn initialized(&mut self, version: Version) -> Result<(), Version> {
        match self.version {
            Some(spoken) if self.used && spoken != version => Err(spoken),
            _ => {
                self.version = Some(version);
                Ok(())
            }
        }
    }

    /// Returns the version spoken, once there is one.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(verdict: Verdict) -> bool {
        matches!(verdict, Verdict::Refuse(_))
    }

    #[test]
    fn b10_v1_init_19_v2_init_17_nothing_is_served_before_initialize() {
        let mut handshake = Handshake::default();
        assert!(is_refused(handshake.request("session/new")));
        assert_eq!(handshake.notification(), Verdict::Ignore);
        assert_eq!(handshake.request("initialize"), Verdict::Serve);
        // Failed: still nothing is served.
        assert!(is_refused(handshake.request("session/new")));
        handshake.initialized(Version::V1).unwrap();
        assert_eq!(handshake.request("session/new"), Verdict::Serve);
        assert_eq!(handshake.notification(), Verdict::Serve);
    }

    #[test]
    fn b10_v1_init_20_a_version_1_client_may_initialize_again() {
        let mut handshake = Handshake::default();
        handshake.initialized(Version::V1).unwrap();
        assert_eq!(handshake.request("session/new"), Verdict::Serve);
        assert_eq!(handshake.request("initialize"), Verdict::Serve);
        assert_eq!(handshake.initialized(Version::V1), Ok(()));
        assert_eq!(handshake.initialized(Version::V2), Err(Version::V1));
    }

    #[test]
    fn b10_v2_init_15_16_a_version_2_client_may_not_after_another_request() {
        let mut handshake = Handshake::default();
        handshake.initialized(Version::V2).unwrap();
        assert_eq!(handshake.request("initialize"), Verdict::Serve);
        handshake.initialized(Version::V2).unwrap();
        assert_eq!(handshake.request("session/new"), Verdict::Serve);
        assert!(is_refused(handshake.request("initialize")));
        assert_eq!(
            handshake.request("session/new"),
            Verdict::Serve,
            "the connection is as it was"
        );
    }
}
