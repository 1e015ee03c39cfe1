//! What can be given where a journal is wanted.

use std::sync::Arc;

use crate::Journal;

/// A journal, or the path of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a journal",
    label = "give it a `Journal`, such as `Memory::new()`, or the path of a file",
    note = "paths are journals with the feature `sqlite`"
)]
pub trait IntoJournal {
    /// Returns the journal.
    fn into_journal(self) -> Arc<dyn Journal>;
}

impl<J: Journal> IntoJournal for J {
    fn into_journal(self) -> Arc<dyn Journal> {
        Arc::new(self)
    }
}

impl IntoJournal for Arc<dyn Journal> {
    fn into_journal(self) -> Arc<dyn Journal> {
        self
    }
}

#[cfg(feature = "sqlite")]
mod path {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use super::IntoJournal;
    use crate::{Journal, Sqlite};

    /// The file of a store in SQLite, which is made when it is first needed.
    impl IntoJournal for PathBuf {
        fn into_journal(self) -> Arc<dyn Journal> {
            Arc::new(Sqlite::new(self))
        }
    }

    impl IntoJournal for &Path {
        fn into_journal(self) -> Arc<dyn Journal> {
            self.to_path_buf().into_journal()
        }
    }

    impl IntoJournal for &str {
        fn into_journal(self) -> Arc<dyn Journal> {
            PathBuf::from(self).into_journal()
        }
    }
}
