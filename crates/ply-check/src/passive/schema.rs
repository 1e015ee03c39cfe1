//! Whether messages fit the official schema.

use ply_wire::negotiate::Version;
use serde_json::Value;

use super::Passive;
use crate::rule::Side;
use crate::schema::{self, Part};

/// The rule; version 2 has it under its own number.
const RULE: &str = "V1-SCHEMA-01";

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
        self.look(RULE, from);
        if let Some(what) = schema::fault(version, part, method, value) {
            self.find_at(RULE, from, vec![frame], what);
        }
    }
}
