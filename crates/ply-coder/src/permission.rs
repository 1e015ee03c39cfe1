//! Who may do what: modes, rules and their scopes. No input and output but the rules file.

/// How much the agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Look, change nothing.
    Plan,
    /// Ask before anything is changed or run.
    #[default]
    Ask,
    /// Change files, ask before commands are run.
    AutoEdit,
    /// Do everything that no rule denies.
    Full,
}

/// A rule of the user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule;
