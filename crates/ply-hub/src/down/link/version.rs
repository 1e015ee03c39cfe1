//! Protocol versions as the numbers that they have on the wire.

use ply_wire::negotiate::{Supported, Version};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

pub(super) fn serialize<S: Serializer>(
    version: &Version,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    version.wire().serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
    let wire = Deserialize::deserialize(deserializer)?;
    let version = Supported::Both.find(wire);
    version.ok_or_else(|| D::Error::custom("expected protocol version 1 or 2"))
}
