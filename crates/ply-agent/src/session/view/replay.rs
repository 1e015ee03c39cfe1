//! What a client is shown of the past, as JSON.

use ply_wire::project::Down;
use serde::Serialize;

use super::Out;

/// Returns what a replay sends; it settles nothing.
pub(super) fn replayed(downs: &mut Vec<Down>) -> impl Iterator<Item = Out> {
    downs.drain(..).filter_map(|down| match down {
        Down::Update(update) => encoded(&update),
        _ => None,
    })
}

pub(super) fn encoded(update: &impl Serialize) -> Option<Out> {
    // Only a path that is not UTF-8 has no JSON form, and such a path cannot have come in.
    let encoded = serde_json::value::to_raw_value(update);
    let told = encoded.inspect_err(|error| tracing::error!(%error, "an update has no JSON form"));
    told.ok().map(Out::Replayed)
}
