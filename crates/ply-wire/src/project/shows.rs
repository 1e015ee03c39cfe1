//! What a v1 client can be sent.

use crate::{convert::config::Booleans, v1};

/// What a v1 client said it can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shows {
    /// Notices; without them warnings and errors become agent messages.
    pub notices: bool,
    /// Compactions; without them they are left out.
    pub compaction: bool,
    /// How it takes boolean config options.
    pub booleans: Booleans,
}

impl Shows {
    /// A client that shows everything v1 has.
    pub const ALL: Self = Self {
        notices: true,
        compaction: true,
        booleans: Booleans::Native,
    };
    /// A client that shows only what every v1 client must.
    pub const LEAST: Self = Self {
        notices: false,
        compaction: false,
        booleans: Booleans::AsSelect,
    };
}

impl From<&v1::ClientCapabilities> for Shows {
    fn from(client: &v1::ClientCapabilities) -> Self {
        let session = client.session.as_ref();
        Self {
            notices: session.is_some_and(|session| session.notices.is_some()),
            compaction: session.is_some_and(|session| session.compaction.is_some()),
            booleans: Booleans::wanted_by(client),
        }
    }
}
