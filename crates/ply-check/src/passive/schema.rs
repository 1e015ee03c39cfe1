//! Whether messages fit the official schema.

use ply_wire::negotiate::Version;
use serde_json::Value;

use super::Passive;
use super::finding::quote;
use crate::rule::{Side, id};
use crate::schema::{self, Part};

/// The rule; version 2 has it under its own number.
const RULE: &str = id::V1_SCHEMA_01;

impl Passive {
    /// Judges a part of the current frame.
    pub(super) fn fits(&mut self, from: Side, part: Part, method: &str, value: &Value) {
        self.fits_at(self.frame, from, part, method, value);
    }

    /// Judges a part of a frame, once the version is known.
    pub(super) fn fits_at(
        &mut self,
        frame: usize,
        from: Side,
        part: Part,
        method: &str,
        value: &Value,
    ) {
        let version = match self.link.version {
            Some(0 | 1) => Version::V1,
            Some(2) => Version::V2,
            _ => return,
        };
        // In version 1 null stands for an empty result.
        if part == Part::Result && version == Version::V1 && value.is_null() {
            return;
        }
        if frame == self.frame {
            self.strange_members(from, part, method, value);
        }
        self.look(RULE, from);
        if let Some(what) = schema::fault(version, part, method, value) {
            self.find_at(RULE, from, vec![frame], what);
        }
    }

    /// Judges the names of members: what is not the protocol's belongs into a `_meta`.
    pub(super) fn strange_members(&mut self, from: Side, part: Part, method: &str, value: &Value) {
        let version = match self.link.is_v2() {
            true => Version::V2,
            false => Version::V1,
        };
        let strange = schema::strange_member(version, part, method, value);
        let is_snake = |name: &&String| name.trim_start_matches('_').contains('_');
        let misspelled = schema::misspelled(value).map(str::to_owned);
        let misspelled = misspelled.or_else(|| strange.as_ref().filter(is_snake).cloned());
        let what = format!(
            "a member is named {}",
            quote(misspelled.as_deref().unwrap_or_default())
        );
        self.keeps(id::V1_RPC_12, from, misspelled.is_none(), &what);
        let strange = strange.filter(|_| misspelled.is_none());
        let name = quote(strange.as_deref().unwrap_or_default());
        let what = format!("{name} is not a member of this message, and not in a `_meta`");
        self.keeps(id::V1_EXT_01, from, strange.is_none(), &what);
    }
}
