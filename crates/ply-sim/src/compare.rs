//! Whether a client has seen what the journal says.

use ply_session::{Event, History, Question};
use ply_wire::negotiate::Version;
use ply_wire::transcript::{Transcript, what_v1_can_carry};
use ply_wire::v2;

use crate::Broken;
use crate::client::{Client, Link};

/// Checks that the client has seen what the journal says: live equals replay, and version 1 equals
/// version 2 but for what it cannot carry.
pub(crate) fn compare(client: &Client, history: &History, events: &[Event]) -> Result<(), Broken> {
    if client.link != Link::Attached || !client.is_whole {
        return Ok(());
    }
    let (expected, seen) = match client.version {
        Version::V2 => (
            history.transcript().normalized(),
            client.transcript.normalized(),
        ),
        Version::V1 => (
            what_v1_can_carry(&not_own(client, events)),
            what_v1_can_carry(&client.transcript),
        ),
    };
    if expected == seen {
        return Ok(());
    }
    Err(format!(
        "the transcript of a {:?} client is not what the journal says:\n{}",
        client.version,
        difference(&expected, &seen)
    ))
}

/// Returns the fold of what a version 1 client is shown: all but the messages it wrote itself.
fn not_own(client: &Client, events: &[Event]) -> Transcript {
    let mut transcript = Transcript::new();
    for event in events {
        match event {
            Event::Asked {
                question: Question::Permission(request),
                ..
            } => {
                transcript.permission_requested(request);
            }
            event => {
                if let Some(update) = event.update().filter(|update| !is_own(client, update)) {
                    transcript.apply(update);
                }
            }
        }
    }
    transcript
}

fn is_own(client: &Client, update: &v2::SessionUpdate) -> bool {
    let v2::SessionUpdate::UserMessage(message) = update else {
        return false;
    };
    let content = message.content.value().map_or(&[][..], Vec::as_slice);
    match content.first() {
        Some(v2::ContentBlock::Text(text)) => client.own.contains(&text.text),
        _ => false,
    }
}

/// Returns the first entries that differ.
fn difference(expected: &Transcript, seen: &Transcript) -> String {
    let mut pairs = expected.entries().zip(seen.entries());
    match pairs.find(|(expected, seen)| expected != seen) {
        Some((expected, seen)) => format!("expected {expected:?}\nand saw {seen:?}"),
        None => format!(
            "expected {} entries, {:?}, {:?}, {:?}\nand saw {}, {:?}, {:?}, {:?}",
            expected.entries().len(),
            expected.state(),
            expected.config_options(),
            expected.entries().last(),
            seen.entries().len(),
            seen.state(),
            seen.config_options(),
            seen.entries().last(),
        ),
    }
}
