//! The tools of the moment, each described once for a request.

use std::collections::HashSet;
use std::sync::Arc;

use crate::model::ToolSpec;
use crate::tool::Tool;

/// The tools that a request offers.
#[derive(Debug, Default)]
pub(super) struct Toolbox {
    specs: Vec<ToolSpec>,
    tools: Vec<Arc<dyn Tool>>,
    /// The names of tools that must be found first.
    hidden: HashSet<String>,
}

impl Toolbox {
    /// Describes the tools.
    pub(super) fn new(tools: Vec<Arc<dyn Tool>>, hidden: HashSet<String>) -> Self {
        let specs = tools.iter().map(|tool| tool.spec()).collect();
        Self {
            specs,
            tools,
            hidden,
        }
    }

    /// Returns what a model is told about them.
    pub(super) fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// Returns their names.
    pub(super) fn names(&self) -> Vec<&str> {
        self.specs.iter().map(|spec| spec.name.as_str()).collect()
    }

    /// Says whether there is a tool of that name that must be found first.
    pub(super) fn is_hidden(&self, name: &str) -> bool {
        self.hidden.contains(name)
    }

    /// Returns the tool of that name.
    pub(super) fn find(&self, name: &str) -> Option<&dyn Tool> {
        let mut both = self.specs.iter().zip(&self.tools);
        both.find(|(spec, _)| spec.name == name)
            .map(|(_, tool)| &**tool)
    }
}
