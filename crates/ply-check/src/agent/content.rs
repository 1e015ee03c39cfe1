//! Content: what prompts may hold, and what agents say.

mod taken;

use super::bench::Bench;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "prompts with content that every agent takes",
        rules: &[id::V1_CONTENT_03, id::V1_CONTENT_09, id::V2_INIT_12],
        run: |bench| Box::pin(taken::by_all(bench)),
    },
    Probe {
        name: "prompts with content that was not offered",
        rules: &[id::V1_CONTENT_11, id::V2_PROMPT_03, id::V2_PROMPT_12],
        run: |bench| Box::pin(taken::by_some(bench)),
    },
];
