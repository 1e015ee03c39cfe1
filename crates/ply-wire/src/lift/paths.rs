//! Paths of a v1 agent: they must be absolute, and those that are not are meant from the directory
//! of the session.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{convert::path::is_absolute, v1};

/// Makes paths absolute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Paths {
    /// The directory of the session; empty if it is not known, and then paths stay as they are.
    cwd: PathBuf,
}

impl Paths {
    pub(super) fn new(cwd: PathBuf) -> Self {
        Self { cwd }
    }

    pub(super) fn of_locations(
        &self,
        locations: &[v1::ToolCallLocation],
    ) -> Vec<v1::ToolCallLocation> {
        let mut locations = locations.to_vec();
        for location in &mut locations {
            self.make_absolute(&mut location.path);
        }
        locations
    }

    pub(super) fn of_content<'a>(
        &self,
        content: &'a [v1::ToolCallContent],
    ) -> Cow<'a, [v1::ToolCallContent]> {
        let is_relative = |item: &v1::ToolCallContent| matches!(item, v1::ToolCallContent::Diff(diff) if self.is_relative(&diff.path));
        // Texts of diffs can be whole files, and nearly all agents send absolute paths.
        if !content.iter().any(is_relative) {
            return Cow::Borrowed(content);
        }
        let mut content = content.to_vec();
        for item in &mut content {
            if let v1::ToolCallContent::Diff(diff) = item {
                self.make_absolute(&mut diff.path);
            }
        }
        Cow::Owned(content)
    }

    fn is_relative(&self, path: &Path) -> bool {
        !self.cwd.as_os_str().is_empty() && !is_absolute(path)
    }

    fn make_absolute(&self, path: &mut PathBuf) {
        if self.is_relative(path) {
            // Collecting leaves out `.`; `..` stays, since what it means depends on links.
            *path = self.cwd.join(&*path).components().collect();
        }
    }
}
