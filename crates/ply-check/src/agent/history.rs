//! Sessions that are taken up again: loading, resuming and closing.

mod close;
pub(super) mod load;
mod resume;

use super::bench::Bench;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "loading a session",
        rules: &[
            id::V1_LOAD_04,
            id::V1_LOAD_05,
            id::V1_LOAD_06,
            id::V1_LOAD_08,
            id::V1_LOAD_09,
            id::V1_LOAD_11,
            id::V1_LOAD_12,
            id::V1_LOAD_13,
        ],
        run: |bench| Box::pin(load::loading(bench)),
    },
    Probe {
        name: "resuming a session",
        rules: &[
            id::V1_RESUME_03,
            id::V1_RESUME_04,
            id::V2_RESUME_01,
            id::V2_RESUME_02,
            id::V2_RESUME_03,
            id::V2_RESUME_04,
            id::V2_RESUME_05,
            id::V2_RESUME_06,
            id::V2_RESUME_07,
            id::V2_RESUME_08,
            id::V2_RESUME_13,
            id::V2_RESUME_15,
            id::V2_ERR_02,
            id::V2_SESS_09,
        ],
        run: |bench| Box::pin(resume::resuming(bench)),
    },
    Probe {
        name: "closing a session",
        rules: &[
            id::V1_CLOSE_03,
            id::V1_CLOSE_04,
            id::V2_CLOSE_04,
            id::V2_CLOSE_05,
            id::V2_RPC_05,
            id::V2_SESS_09,
        ],
        run: |bench| Box::pin(close::closing(bench)),
    },
    Probe {
        name: "closing a session in the middle of a turn",
        rules: &[
            id::V1_CLOSE_02,
            id::V2_CLOSE_01,
            id::V2_CLOSE_02,
            id::V2_CLOSE_03,
            id::V2_CLOSE_04,
            id::V2_CLOSE_07,
        ],
        run: |bench| Box::pin(close::closing_amid(bench)),
    },
];
