//! What a reader had of messages before the events that wait for it.

use ply_wire::transcript::{Change, Message, MessageKind, Transcript};
use ply_wire::v2;

/// Where a reader stands in the transcript when nothing waits for it.
#[derive(Debug)]
pub(super) struct Known {
    /// How many updates the transcript had.
    since: u64,
    /// How many entries it had. Of later ones the reader knows nothing.
    entries: usize,
    messages: Vec<Part>,
}

/// The beginning of a message that grew since.
#[derive(Debug)]
struct Part {
    place: usize,
    /// Blocks that the reader had whole.
    blocks: usize,
    /// Bytes that it had of the text of the next one.
    bytes: usize,
}

impl Known {
    /// Returns where a reader stood before the last change of the transcript.
    pub(super) fn before(change: Change, transcript: &Transcript) -> Self {
        let entries = match change {
            Change::Added(place) => place,
            _ => transcript.entries().len(),
        };
        Self {
            since: match change {
                // The transcript may not even have seen it.
                Change::Nothing => transcript.applied(),
                _ => transcript.applied().saturating_sub(1),
            },
            entries,
            messages: Vec::new(),
        }
    }

    /// Notes what the reader had of a message that grew by this update.
    pub(super) fn grew(
        &mut self,
        change: Change,
        update: &v2::SessionUpdate,
        transcript: &Transcript,
    ) {
        let Change::Extended(place) = change else {
            return;
        };
        let (v2::SessionUpdate::AgentMessageChunk(chunk)
        | v2::SessionUpdate::AgentThoughtChunk(chunk)
        | v2::SessionUpdate::UserMessageChunk(chunk)) = update
        else {
            return;
        };
        if place >= self.entries || self.messages.iter().any(|part| part.place == place) {
            return;
        }
        let entry = transcript.entry(place).and_then(|entry| entry.as_message());
        let Some(message) = entry else {
            return;
        };
        let last = message.content.len().saturating_sub(1);
        // A chunk of text grows the text before it, if there is one.
        let bytes = match (message.content.last(), &chunk.content) {
            (Some(v2::ContentBlock::Text(text)), v2::ContentBlock::Text(chunk)) => {
                text.text.len().saturating_sub(chunk.text.len())
            }
            _ => 0,
        };
        self.messages.push(Part {
            place,
            blocks: last,
            bytes,
        });
    }

    /// Returns the places of what has changed since.
    pub(super) fn changed(&self, transcript: &Transcript) -> Vec<usize> {
        transcript.changed_since(self.since).collect()
    }

    /// Tells what is at a place: the rest of a message of which the reader had the beginning, anything else whole.
    pub(super) fn tell(
        &self,
        place: usize,
        transcript: &Transcript,
        mut tell: impl FnMut(v2::SessionUpdate),
    ) {
        let stamp = transcript.stamp(place);
        let is_rewritten = stamp.is_none_or(|stamp| stamp.rewritten_at > self.since);
        let part = self.messages.iter().find(|part| part.place == place);
        let entry = transcript.entry(place).and_then(|entry| entry.as_message());
        match (entry, part) {
            (Some(message), Some(part)) if !is_rewritten => part.rest(message, tell),
            _ => transcript.update_at(place).into_iter().for_each(&mut tell),
        }
    }
}

impl Part {
    fn rest(&self, message: &Message, mut tell: impl FnMut(v2::SessionUpdate)) {
        let blocks = message.content.iter().enumerate().skip(self.blocks);
        for (at, block) in blocks {
            let block = match block {
                v2::ContentBlock::Text(text) if at == self.blocks && self.bytes > 0 => {
                    let rest = text.text.get(self.bytes..).unwrap_or_default();
                    v2::ContentBlock::from(rest)
                }
                block => block.clone(),
            };
            let chunk = v2::ContentChunk::new(block, message.id.clone());
            tell(match message.kind {
                MessageKind::User => v2::SessionUpdate::UserMessageChunk(chunk),
                MessageKind::Agent => v2::SessionUpdate::AgentMessageChunk(chunk),
                MessageKind::Thought => v2::SessionUpdate::AgentThoughtChunk(chunk),
            });
        }
    }
}
