//! `session/cancel`.

mod open;
mod running;

use super::bench::Bench;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "a cancel in the middle of a turn",
        rules: &[
            id::V1_CANCEL_04,
            id::V1_CANCEL_05,
            id::V1_CANCEL_06,
            id::V1_CANCEL_07,
            id::V1_CANCEL_09,
            id::V1_CANCEL_10,
            id::V1_STOP_07,
            id::V1_TOOL_17,
            id::V2_CANCEL_05,
            id::V2_CANCEL_06,
            id::V2_CANCEL_07,
            id::V2_CANCEL_08,
            id::V2_TOOL_10,
        ],
        run: |bench| Box::pin(running::in_the_middle(bench)),
    },
    Probe {
        name: "a cancel with nothing to cancel",
        rules: &[
            id::V1_CANCEL_11,
            id::V1_CANCEL_09,
            id::V2_CANCEL_14,
            id::V2_CANCEL_06,
        ],
        run: |bench| Box::pin(running::while_idle(bench)),
    },
    Probe {
        name: "a cancel of one session of two",
        rules: &[id::V1_CANCEL_13],
        run: |bench| Box::pin(running::one_of_two(bench)),
    },
    Probe {
        name: "a cancel while a question is open",
        rules: &[
            id::V1_CANCEL_05,
            id::V1_CREQ_07,
            id::V1_PERM_09,
            id::V2_CANCEL_04,
            id::V2_CANCEL_12,
            id::V2_STATE_05,
            id::V2_STATE_13,
        ],
        run: |bench| Box::pin(open::question(bench)),
    },
    Probe {
        name: "a cancel while a prompt waits",
        rules: &[id::V2_CANCEL_10],
        run: |bench| Box::pin(open::prompt(bench)),
    },
];
