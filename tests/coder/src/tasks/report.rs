//! What came of a task.

use std::fmt;

/// What came of a task.
#[derive(Debug, Clone)]
pub struct Report {
    /// The task's name.
    pub name: String,
    /// The API that the model spoke.
    pub api: String,
    /// How many requests the model got.
    pub requests: usize,
    /// How many calls it made.
    pub calls: usize,
    /// How many files are other than before.
    pub changed: usize,
    /// Everything that is not as it has to be.
    pub problems: Vec<String>,
}

impl Report {
    /// Says whether everything is as it has to be.
    pub fn is_well(&self) -> bool {
        self.problems.is_empty()
    }
}

/// One line, and the problems below it.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<20} {:<10} {:>3} requests {:>3} calls {:>3} files changed  {}",
            self.name,
            self.api,
            self.requests,
            self.calls,
            self.changed,
            if self.is_well() { "ok" } else { "FAILED" }
        )?;
        for problem in &self.problems {
            for line in problem.trim_end().lines() {
                write!(f, "\n    {line}")?;
            }
        }
        Ok(())
    }
}
