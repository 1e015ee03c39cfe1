//! Messages: v1 only appends to them, so what was sent decides how a v2 message update can be
//! shown.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    slice,
};

use serde_json::json;

use super::{
    Down,
    gone::{Gone, REMEMBERED_MAX},
    mark,
};
use crate::{
    MaybeUndefined,
    convert::content,
    transcript::{MessageKind, is_plain_text},
    v1, v2,
};

/// What a v1 client is shown when a message it already has is emptied.
const WITHDRAWN_NOTE: &str = "(message withdrawn)";

/// The revision in which a message has its own id.
const FIRST_REVISION: u32 = 1;

type Key = (MessageKind, v2::MessageId);

/// What was sent of each message.
#[derive(Debug)]
pub(super) struct Messages {
    sent: HashMap<Key, Sent>,
    /// The messages in their order, but for those that are remembered for good because the client
    /// knows them under an id that was made up.
    order: VecDeque<Key>,
    remembered_max: usize,
    gone: Gone,
    /// Ids that were made up for replacements.
    made_up: HashSet<(MessageKind, v1::MessageId)>,
}

#[derive(Debug)]
struct Sent {
    kind: MessageKind,
    /// The id under which the v1 client knows the current content.
    id: v1::MessageId,
    revision: u32,
    /// What was sent; none if its beginning was forgotten.
    print: Option<Print>,
    withdrawn: bool,
}

impl Default for Messages {
    fn default() -> Self {
        Self {
            sent: HashMap::new(),
            order: VecDeque::new(),
            remembered_max: REMEMBERED_MAX,
            gone: Gone::default(),
            made_up: HashSet::new(),
        }
    }
}

impl Messages {
    pub(super) fn remember(&mut self, count: usize) {
        self.remembered_max = count;
    }

    pub(super) fn chunk(
        &mut self,
        kind: MessageKind,
        chunk: &v2::ContentChunk,
        out: &mut Vec<Down>,
    ) {
        let id = &chunk.message_id;
        let key = (kind, id.clone());
        let is_new_revision = match self.sent.get_mut(&key) {
            Some(sent) if !sent.withdrawn => return sent.send_chunk(chunk, out),
            Some(_) => true,
            // The agent uses an id that was made up here.
            None => self.is_made_up(kind, id),
        };
        if is_new_revision {
            let meta = mark::without_marks(chunk.meta.as_ref()).unwrap_or_default();
            let (sent, meta) = self.revise(key, meta);
            sent.send(&chunk.content, Some(meta), out);
        } else {
            self.sent_of(key).send_chunk(chunk, out);
        }
    }

    /// Returns what was sent of a message, which is nothing if it is new. The oldest one is
    /// forgotten for it.
    fn sent_of(&mut self, key: Key) -> &mut Sent {
        if !self.sent.contains_key(&key) {
            self.order.push_back(key.clone());
            if self.order.len() > self.remembered_max
                && let Some(oldest) = self.order.pop_front()
                && self.sent.get(&oldest).is_some_and(Sent::is_first_revision)
            {
                self.sent.remove(&oldest);
                self.gone.insert(&oldest);
            }
        }
        let gone = &mut self.gone;
        let (kind, id) = key.clone();
        self.sent.entry(key).or_insert_with_key(|key| {
            let mut sent = Sent::new(kind, &id);
            if gone.take(key) {
                sent.print = None;
            }
            sent
        })
    }

    fn is_made_up(&self, kind: MessageKind, id: &v2::MessageId) -> bool {
        // Rarely is there any, and then the id need not be copied.
        !self.made_up.is_empty() && self.made_up.contains(&(kind, id_down(id)))
    }

    /// Starts a message anew under another id and returns the metadata for its first chunk.
    fn revise(&mut self, key: Key, mut meta: v1::Meta) -> (&mut Sent, v1::Meta) {
        let (kind, id) = key.clone();
        let mut revision = self
            .sent
            .get(&key)
            .map_or(FIRST_REVISION, |sent| sent.revision);
        let fresh = loop {
            revision = revision.saturating_add(1);
            let fresh = format!("{id}~{revision}");
            let is_used = self.sent.contains_key(&(kind, fresh.as_str().into()));
            let fresh = v1::MessageId::new(fresh);
            if !is_used && self.made_up.insert((kind, fresh.clone())) {
                break fresh;
            }
        };
        meta.insert(mark::REPLACES.to_owned(), json!(id));
        let sent = self.sent_of(key);
        *sent = Sent {
            id: fresh,
            revision,
            ..Sent::new(kind, &id)
        };
        (sent, meta)
    }

    /// Notes an update of a user message that the client wrote itself: the client has it, though it
    /// was not sent.
    pub(super) fn written(&mut self, update: &v2::SessionUpdate) {
        let (id, blocks, is_chunk) = match update {
            v2::SessionUpdate::UserMessageChunk(chunk) => {
                (&chunk.message_id, slice::from_ref(&chunk.content), true)
            }
            v2::SessionUpdate::UserMessage(message) => match &message.content {
                MaybeUndefined::Undefined => return,
                MaybeUndefined::Null => (&message.message_id, [].as_slice(), false),
                MaybeUndefined::Value(blocks) => (&message.message_id, blocks.as_slice(), false),
            },
            _ => return,
        };
        let kind = MessageKind::User;
        let sent = self.sent_of((kind, id.clone()));
        if !is_chunk {
            sent.print = Some(Print::default());
        }
        blocks.iter().for_each(|block| sent.note(block));
    }

    /// Shows the whole new content of a message.
    pub(super) fn content(
        &mut self,
        kind: MessageKind,
        id: &v2::MessageId,
        blocks: &[v2::ContentBlock],
        out: &mut Vec<Down>,
    ) {
        let key = (kind, id.clone());
        let is_new = !self.sent.contains_key(&key) && !self.gone.contains(&key);
        if is_new && blocks.is_empty() {
            return;
        }
        if blocks.is_empty() {
            return self.withdraw(key, out);
        }
        let is_free = !is_new || !self.is_made_up(kind, id);
        let sent = self.sent_of(key.clone());
        if let Some(rest) = sent.rest(blocks).filter(|_| is_free) {
            rest.iter().for_each(|block| sent.send(block, None, out));
        } else {
            let (sent, meta) = self.revise(key, v1::Meta::new());
            let mut meta = Some(meta);
            blocks
                .iter()
                .for_each(|block| sent.send(block, meta.take(), out));
        }
    }

    fn withdraw(&mut self, key: Key, out: &mut Vec<Down>) {
        if self.sent.get(&key).is_some_and(|sent| sent.withdrawn) {
            return;
        }
        let (sent, mut meta) = self.revise(key, v1::Meta::new());
        meta.insert(mark::WITHDRAWN.to_owned(), json!(true));
        sent.withdrawn = true;
        let note = v1::ContentBlock::Text(v1::TextContent::new(WITHDRAWN_NOTE));
        let update = chunk(sent.kind, note, sent.id.clone(), Some(meta));
        out.push(Down::Update(update));
    }
}

impl Sent {
    fn new(kind: MessageKind, id: &v2::MessageId) -> Self {
        Self {
            kind,
            id: id_down(id),
            revision: FIRST_REVISION,
            print: Some(Print::default()),
            withdrawn: false,
        }
    }

    fn is_first_revision(&self) -> bool {
        self.revision == FIRST_REVISION
    }

    fn note(&mut self, block: &v2::ContentBlock) {
        if let Some(print) = &mut self.print {
            print.push(block);
        }
    }

    /// Sends a chunk as it came. One of plain text under its own id looks the same in v1 and v2.
    fn send_chunk(&mut self, chunk: &v2::ContentChunk, out: &mut Vec<Down>) {
        let is_same = self.kind != MessageKind::User
            && self.is_first_revision()
            && chunk.meta.is_none()
            && is_plain_text(&chunk.content);
        if is_same {
            self.note(&chunk.content);
            out.push(Down::Same);
        } else {
            let meta = mark::without_marks(chunk.meta.as_ref());
            self.send(&chunk.content, meta, out);
        }
    }

    fn send(&mut self, block: &v2::ContentBlock, meta: Option<v1::Meta>, out: &mut Vec<Down>) {
        self.note(block);
        let update = chunk(
            self.kind,
            content::down(block.clone()),
            self.id.clone(),
            meta,
        );
        out.push(Down::Update(update));
    }

    /// Returns what is left to send of the blocks, or none if they do not begin with what was sent
    /// or that is not known any more.
    fn rest(&self, blocks: &[v2::ContentBlock]) -> Option<Vec<v2::ContentBlock>> {
        let was_sent = self.print.as_ref().filter(|_| !self.withdrawn)?;
        let mut print = Print::default();
        let mut blocks = blocks.iter();
        let mut rest = Vec::new();
        while print.len < was_sent.len {
            let block = blocks.next()?;
            let missing = was_sent.len - print.len;
            match block {
                v2::ContentBlock::Text(text)
                    if is_plain_text(block) && text.text.len() > missing =>
                {
                    let (head, tail) = text.text.split_at_checked(missing)?;
                    print.bytes(head.as_bytes());
                    rest.push(v2::ContentBlock::from(tail));
                }
                _ => print.push(block),
            }
        }
        rest.extend(blocks.cloned());
        (print == *was_sent).then_some(rest)
    }
}

fn id_down(id: &v2::MessageId) -> v1::MessageId {
    v1::MessageId::new(id.0.clone())
}

pub(super) fn chunk(
    kind: MessageKind,
    content: v1::ContentBlock,
    id: v1::MessageId,
    meta: Option<v1::Meta>,
) -> v1::SessionUpdate {
    let chunk = v1::ContentChunk::new(content).message_id(id).meta(meta);
    match kind {
        MessageKind::User => v1::SessionUpdate::UserMessageChunk(chunk),
        MessageKind::Agent => v1::SessionUpdate::AgentMessageChunk(chunk),
        MessageKind::Thought => v1::SessionUpdate::AgentThoughtChunk(chunk),
    }
}

/// Returns the v1 form of an update that [`Down::Same`] stands for.
pub(super) fn same(update: &v2::SessionUpdate) -> Option<v1::SessionUpdate> {
    let (kind, same) = match update {
        v2::SessionUpdate::AgentMessageChunk(chunk) => (MessageKind::Agent, chunk),
        v2::SessionUpdate::AgentThoughtChunk(chunk) => (MessageKind::Thought, chunk),
        _ => return None,
    };
    let content = content::down(same.content.clone());
    let id = id_down(&same.message_id);
    Some(chunk(kind, content, id, same.meta.clone()))
}

/// Length and hash of content, however it was cut into chunks: enough to know whether other content
/// begins with it, without keeping a copy of every message for every client.
#[derive(Debug, PartialEq, Eq)]
struct Print {
    len: usize,
    hash: u128,
    /// What does not fill a word yet.
    rest: [u8; WORD_BYTES],
}

const WORD_BYTES: usize = 16;

impl Default for Print {
    fn default() -> Self {
        Self {
            len: 0,
            hash: 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d,
            rest: [0; WORD_BYTES],
        }
    }
}

impl Print {
    fn push(&mut self, block: &v2::ContentBlock) {
        match block {
            v2::ContentBlock::Text(text) if is_plain_text(block) => {
                self.bytes(text.text.as_bytes())
            }
            // 0xff is no part of UTF-8, so no text can look like a block.
            other => {
                self.bytes(&[0xff]);
                self.bytes(&serde_json::to_vec(other).unwrap_or_default());
                self.bytes(&[0xff]);
            }
        }
    }

    /// FNV-1a over words instead of bytes, which can still be fed in any pieces.
    fn bytes(&mut self, mut bytes: &[u8]) {
        let filled = self.len % WORD_BYTES;
        self.len += bytes.len();
        if filled > 0 {
            let missing = WORD_BYTES - filled;
            let (head, tail) = bytes.split_at(missing.min(bytes.len()));
            for (place, byte) in self.rest.iter_mut().skip(filled).zip(head) {
                *place = *byte;
            }
            if head.len() < missing {
                return;
            }
            self.word(self.rest);
            bytes = tail;
        }
        let (words, rest) = bytes.as_chunks::<WORD_BYTES>();
        for word in words {
            self.word(*word);
        }
        self.rest = [0; WORD_BYTES];
        for (place, byte) in self.rest.iter_mut().zip(rest) {
            *place = *byte;
        }
    }

    fn word(&mut self, word: [u8; WORD_BYTES]) {
        self.hash ^= u128::from_le_bytes(word);
        self.hash = self.hash.wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        // Multiplication only carries upward, so the upper half is brought down.
        self.hash ^= self.hash >> 64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::{Projector, Shows};

    fn whole(projector: &mut Projector, id: &str, text: &str) -> Vec<serde_json::Value> {
        let message = v2::AgentMessage::new(id.to_owned()).content(vec![text.into()]);
        apply(projector, &v2::SessionUpdate::AgentMessage(message))
    }

    fn chunk(projector: &mut Projector, id: &str, text: &str) -> Vec<serde_json::Value> {
        let chunk = v2::ContentChunk::new(text.into(), id.to_owned());
        apply(projector, &v2::SessionUpdate::AgentMessageChunk(chunk))
    }

    fn apply(projector: &mut Projector, update: &v2::SessionUpdate) -> Vec<serde_json::Value> {
        let mut out = Vec::new();
        projector.apply(update, &mut out);
        let shown = out.into_iter().filter_map(|down| down.into_update(update));
        shown.map(|update| json!(update)).collect()
    }

    fn after_many_messages() -> Projector {
        let mut projector = Projector::new(Shows::ALL, "v/");
        for number in 0..4 * REMEMBERED_MAX {
            chunk(&mut projector, &format!("m{number}"), "text");
        }
        projector
    }

    #[test]
    fn memory_does_not_grow_with_the_number_of_messages() {
        let mut projector = after_many_messages();
        assert_eq!(projector.messages.sent.len(), REMEMBERED_MAX);
        assert_eq!(projector.messages.order.len(), REMEMBERED_MAX);
        // Only those that the client knows under other ids are kept.
        whole(&mut projector, "m1", "other");
        for number in 0..2 * REMEMBERED_MAX {
            chunk(&mut projector, &format!("n{number}"), "text");
        }
        assert_eq!(projector.messages.sent.len(), REMEMBERED_MAX + 1);
    }

    #[test]
    fn a_forgotten_message_takes_more_text_under_its_id() {
        let mut projector = after_many_messages();
        let shown = chunk(&mut projector, "m0", " more");
        assert_eq!(shown[0]["messageId"], "m0");
        assert_eq!(shown[0]["content"]["text"], " more");
    }

    #[test]
    fn new_content_of_a_forgotten_message_replaces_what_the_client_has() {
        let mut projector = after_many_messages();
        // Whether the client has its beginning is not known any more, so nothing is appended to it.
        chunk(&mut projector, "m0", " more");
        for id in ["m0", "m1"] {
            let shown = whole(&mut projector, id, "text more");
            assert_eq!(shown.len(), 1);
            assert_eq!(shown[0]["messageId"], format!("{id}~2"));
            assert_eq!(shown[0]["_meta"][mark::REPLACES], id);
            assert_eq!(shown[0]["content"]["text"], "text more");
        }
        // One that is still known goes on where it was.
        let last = format!("m{}", 4 * REMEMBERED_MAX - 1);
        let shown = whole(&mut projector, &last, "text more");
        assert_eq!(shown[0]["messageId"], last.as_str());
        assert_eq!(shown[0]["content"]["text"], " more");
    }
}
