//! The handshake: versions, and what is offered.

mod hello;
mod offers;
mod order;
mod versions;

use super::bench::Bench;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "the greeting",
        rules: &[
            id::V1_INIT_05,
            id::V1_INIT_06,
            id::V1_INIT_07,
            id::V1_INIT_13,
            id::V1_INIT_14,
            id::V1_EXT_01,
            id::V1_RPC_12,
            id::V2_RPC_01,
            id::V2_INIT_02,
            id::V2_INIT_03,
            id::V2_INIT_04,
            id::V2_INIT_09,
        ],
        run: |bench| Box::pin(hello::greeting(bench)),
    },
    Probe {
        name: "greetings with strange capabilities",
        rules: &[
            id::V1_INIT_12,
            id::V1_INIT_18,
            id::V1_INIT_23,
            id::V2_INIT_14,
            id::V2_INIT_20,
            id::V2_INIT_21,
        ],
        run: |bench| Box::pin(hello::odd_capabilities(bench)),
    },
    Probe {
        name: "versions that nobody has",
        rules: &[
            id::V1_INIT_08,
            id::V1_INIT_21,
            id::V2_INIT_04,
            id::V2_INIT_05,
            id::V2_INIT_18,
            id::V2_ERR_01,
        ],
        run: |bench| Box::pin(versions::unknown(bench)),
    },
    Probe {
        name: "the other version",
        rules: &[id::V2_INIT_08],
        run: |bench| Box::pin(versions::older(bench)),
    },
    Probe {
        name: "a greeting that says too little",
        rules: &[id::V1_RPC_11, id::V2_RPC_01, id::V2_INIT_03],
        run: |bench| Box::pin(versions::incomplete(bench)),
    },
    Probe {
        name: "requests before the greeting",
        rules: &[id::V1_INIT_19, id::V2_INIT_17],
        run: |bench| Box::pin(order::early(bench)),
    },
    Probe {
        name: "a second greeting",
        rules: &[id::V1_INIT_20, id::V2_INIT_16],
        run: |bench| Box::pin(order::again(bench)),
    },
    Probe {
        name: "what is offered and what is not",
        rules: &[
            id::V1_INIT_15,
            id::V1_INIT_16,
            id::V1_INIT_10,
            id::V2_INIT_07,
            id::V2_INIT_10,
        ],
        run: |bench| Box::pin(offers::methods(bench)),
    },
];
