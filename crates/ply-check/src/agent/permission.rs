//! Questions for permission: their shape, and what comes of each answer.

mod answers;

use super::bench::Bench;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "permission that is given",
        rules: &[
            id::V1_PERM_02,
            id::V1_PERM_03,
            id::V1_PERM_04,
            id::V1_PROMPT_05,
            id::V2_PERM_01,
            id::V2_PERM_04,
            id::V2_STATE_04,
            id::V2_STATE_05,
        ],
        run: |bench| Box::pin(answers::given(bench)),
    },
    Probe {
        name: "permission that is refused",
        rules: &[
            id::V1_PERM_09,
            id::V1_PERM_12,
            id::V2_PERM_07,
            id::V2_STATE_05,
        ],
        run: |bench| Box::pin(answers::refused(bench)),
    },
    Probe {
        name: "permission that is answered in strange ways",
        rules: &[id::V1_PERM_09, id::V1_CREQ_09, id::V2_PERM_07],
        run: |bench| Box::pin(answers::strange(bench)),
    },
    Probe {
        name: "permission that is answered with cancelled",
        rules: &[
            id::V1_PERM_09,
            id::V1_CANCEL_12,
            id::V2_PERM_08,
            id::V2_STATE_05,
        ],
        run: |bench| Box::pin(answers::dismissed(bench)),
    },
];
