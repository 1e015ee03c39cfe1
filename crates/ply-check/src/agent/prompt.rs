//! Prompts: what they get, and in which order.

mod busy;
mod plain;

use super::bench::Bench;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "a short turn",
        rules: &[
            id::V1_PROMPT_03,
            id::V1_PROMPT_06,
            id::V1_PROMPT_07,
            id::V1_PROMPT_10,
            id::V1_STOP_01,
            id::V1_STOP_02,
            id::V1_MSGID_01,
            id::V1_CONTENT_01,
            id::V1_CONTENT_02,
            id::V1_CONTENT_08,
            id::V2_PROMPT_05,
            id::V2_PROMPT_07,
            id::V2_PROMPT_09,
            id::V2_STATE_01,
            id::V2_STATE_02,
            id::V2_STATE_03,
            id::V2_STATE_11,
            id::V2_STOP_01,
            id::V2_STOP_03,
            id::V2_STOP_04,
            id::V2_MSG_01,
            id::V2_CONTENT_01,
            id::V2_CONTENT_03,
        ],
        run: |bench| Box::pin(plain::short(bench)),
    },
    Probe {
        name: "prompts that cannot be taken",
        rules: &[id::V1_PROMPT_14, id::V2_PROMPT_12],
        run: |bench| Box::pin(plain::impossible(bench)),
    },
    Probe {
        name: "prompts during a turn",
        rules: &[
            id::V1_PROMPT_13,
            id::V1_PROMPT_07,
            id::V2_PROMPT_06,
            id::V2_PROMPT_14,
            id::V2_STATE_12,
        ],
        run: |bench| Box::pin(busy::more_prompts(bench)),
    },
    Probe {
        name: "a command",
        rules: &[id::V2_PROMPT_21],
        run: |bench| Box::pin(plain::command(bench)),
    },
];
