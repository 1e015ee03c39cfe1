//! Forms and pages that agents ask users with.

mod answers;

use super::bench::Bench;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "a form for a client without forms",
        rules: &[id::V1_ELIC_01, id::V1_ELIC_02, id::V2_ELIC_01],
        run: |bench| Box::pin(answers::not_offered(bench)),
    },
    Probe {
        name: "a form that is answered in every way",
        rules: &[
            id::V1_ELIC_01,
            id::V1_ELIC_03,
            id::V1_ELIC_04,
            id::V1_ELIC_12,
            id::V1_ELIC_13,
            id::V1_ELIC_17,
            id::V1_ELIC_28,
            id::V2_ELIC_01,
            id::V2_ELIC_04,
        ],
        run: |bench| Box::pin(answers::forms(bench)),
    },
    Probe {
        name: "a form that is left open",
        rules: &[id::V2_CANCEL_13, id::V2_ELIC_02, id::V2_STATE_04],
        run: |bench| Box::pin(answers::left_open(bench)),
    },
    Probe {
        name: "a page to visit",
        rules: &[
            id::V1_ELIC_01,
            id::V1_ELIC_19,
            id::V1_ELIC_20,
            id::V1_ELIC_25,
            id::V2_ELIC_01,
        ],
        run: |bench| Box::pin(answers::page(bench)),
    },
];
