//! Every rule, as one table: whom it binds and how much, where it is written, what it says, why it matters and how to keep it.
//!
//! A row reads `ID => Side Level Text("page").option(): "says" "matters" "fix";`. Rules that bind both sides in the same words have
//! `Agent|Client`; in other words they have two rows under one id. Each id becomes a constant of [`super::id`], so that code can
//! name only rules that stand here.

use super::{Level, Rule, Side, Text};

/// A row: a rule, for each of the sides that it binds.
pub(super) struct Row {
    pub(super) sides: &'static [Side],
    pub(super) rule: Rule,
}

/// Returns the name of a constant as an id, `V1-RPC-01` for `V1_RPC_01`.
#[expect(
    clippy::indexing_slicing,
    reason = "it runs while this is compiled, and a mistake does not compile"
)]
const fn dashed<const LENGTH: usize>(name: &str) -> [u8; LENGTH] {
    let mut id = [b'-'; LENGTH];
    let mut at = 0;
    while at < LENGTH {
        let letter = name.as_bytes()[at];
        if letter != b'_' {
            id[at] = letter;
        }
        at += 1;
    }
    id
}

macro_rules! rules {
    ($($id:ident => $(
        $($side:ident)|+ $level:ident $text:ident $(($page:literal))? $(.$option:ident($($value:literal)?))*:
        $says:literal $matters:literal $fix:literal
    ),+;)*) => {
        $(pub(crate) const $id: &str = {
            const ID: [u8; stringify!($id).len()] = super::super::dashed(stringify!($id));
            match std::str::from_utf8(&ID) {
                Ok(id) => id,
                Err(_) => panic!("ids are ASCII"),
            }
        };)*

        pub(in crate::rule) const ROWS: &[super::super::Row] = &[$($(super::super::Row {
            sides: &[$(super::super::Side::$side),+],
            rule: super::super::Rule::new(
                $id,
                super::super::Level::$level,
                (super::super::Text::$text, concat!("" $(, $page)?)),
                [$says, $matters, $fix],
            )$(.$option($($value)?))*,
        },)+)*];
    };
}

pub(super) mod v1 {
    pub(in crate::rule) mod content;
    pub(in crate::rule) mod hello;
    pub(in crate::rule) mod service;
    pub(in crate::rule) mod sessions;
    pub(in crate::rule) mod tool;
    pub(in crate::rule) mod turn;
    pub(in crate::rule) mod wire;
}

pub(super) mod v2 {
    pub(in crate::rule) mod content;
    pub(in crate::rule) mod hello;
    pub(in crate::rule) mod sessions;
    pub(in crate::rule) mod tool;
    pub(in crate::rule) mod turn;
    pub(in crate::rule) mod wire;
}

/// The parts of the table.
pub(super) static PARTS: [&[Row]; 13] = [
    v1::wire::ROWS,
    v1::hello::ROWS,
    v1::sessions::ROWS,
    v1::turn::ROWS,
    v1::tool::ROWS,
    v1::content::ROWS,
    v1::service::ROWS,
    v2::wire::ROWS,
    v2::hello::ROWS,
    v2::sessions::ROWS,
    v2::turn::ROWS,
    v2::tool::ROWS,
    v2::content::ROWS,
];
