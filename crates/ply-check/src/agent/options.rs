//! Modes and config options.

mod config;
mod modes;

pub(super) use self::modes::{Modes, of as modes_of};
use super::bench::Bench;
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "modes",
        rules: &[
            id::V1_MODE_01,
            id::V1_MODE_02,
            id::V1_MODE_03,
            id::V1_MODE_04,
            id::V1_MODE_07,
            id::V1_CONF_12,
        ],
        run: |bench| Box::pin(modes::modes(bench)),
    },
    Probe {
        name: "setting options",
        rules: &[
            id::V1_CONF_01,
            id::V1_CONF_04,
            id::V1_CONF_05,
            id::V1_CONF_08,
            id::V2_CONF_01,
            id::V2_CONF_05,
            id::V1_CONF_09,
            id::V1_CONF_10,
            id::V1_CONF_12,
            id::V1_MODE_05,
            id::V2_CONF_03,
            id::V2_CONF_04,
            id::V2_ERR_02,
        ],
        run: |bench| Box::pin(config::setting(bench)),
    },
];
