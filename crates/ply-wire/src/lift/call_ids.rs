//! Which tool call of the session an id of the agent means.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::{v1, v2};

/// The calls that ids of the agent stand for.
///
/// v1 says that ids are unique within a session, but some agents count their calls anew for each
/// turn. Each use of such an id gets an id of its own: `c`, `c~2`, `c~3`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallIds {
    /// The newest use of each id that does not stand for itself.
    newest: HashMap<v1::ToolCallId, Use>,
    /// Every id that was made up here. An agent that uses one of them means something else.
    made: HashSet<v2::ToolCallId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Use {
    id: v2::ToolCallId,
    number: u64,
}

impl CallIds {
    /// Returns the call that an id means now.
    pub(super) fn newest(&self, id: &v1::ToolCallId) -> Option<v2::ToolCallId> {
        if let Some(newest) = self.newest.get(id) {
            return Some(newest.id.clone());
        }
        let same = v2::ToolCallId::new(id.0.clone());
        (!self.made.contains(&same)).then_some(same)
    }

    /// Makes an id for a new call that the agent calls `id`. `is_taken` tells which ids are in use.
    pub(super) fn renew(
        &mut self,
        id: &v1::ToolCallId,
        is_taken: impl Fn(&v2::ToolCallId) -> bool,
    ) -> v2::ToolCallId {
        let mut number = self.newest.get(id).map_or(1, |newest| newest.number);
        let fresh = loop {
            number += 1;
            let fresh = v2::ToolCallId::new(format!("{id}~{number}"));
            if !is_taken(&fresh) {
                break fresh;
            }
        };
        self.made.insert(fresh.clone());
        let newest = Use {
            id: fresh.clone(),
            number,
        };
        self.newest.insert(id.clone(), newest);
        fresh
    }
}
