//! Lists of content blocks: appending to them, and comparing them however they were cut into
//! chunks.

use crate::v2;

/// Returns whether two such blocks in a row mean the same as one with the joined text.
pub(crate) fn is_plain_text(block: &v2::ContentBlock) -> bool {
    matches!(block, v2::ContentBlock::Text(text) if text.annotations.is_none() && text.meta.is_none())
}

/// Appends a block; plain text grows the plain text before it.
pub(crate) fn append(blocks: &mut Vec<v2::ContentBlock>, block: v2::ContentBlock) {
    if !grow(blocks, &block) {
        blocks.push(block);
    }
}

/// Appends a copy of a block, of which only the text is copied where it grows another.
pub(crate) fn append_copy(blocks: &mut Vec<v2::ContentBlock>, block: &v2::ContentBlock) {
    if !grow(blocks, block) {
        if blocks.is_empty() {
            // Nearly every message is one block, and blocks are large.
            blocks.reserve_exact(1);
        }
        blocks.push(block.clone());
    }
}

fn grow(blocks: &mut [v2::ContentBlock], block: &v2::ContentBlock) -> bool {
    if let Some(last) = blocks.last_mut()
        && is_plain_text(last)
        && is_plain_text(block)
        && let (v2::ContentBlock::Text(last), v2::ContentBlock::Text(block)) = (last, block)
    {
        last.text.push_str(&block.text);
        true
    } else {
        false
    }
}

/// Joins adjacent plain texts and drops empty ones, except that content stays content.
pub(super) fn normalize(blocks: &mut Vec<v2::ContentBlock>) {
    let is_empty = |block: &v2::ContentBlock| {
        let text = matches!(block, v2::ContentBlock::Text(text) if text.text.is_empty());
        text && is_plain_text(block)
    };
    if blocks.iter().all(is_empty) {
        blocks.truncate(1);
        return;
    }
    for block in std::mem::take(blocks) {
        if !is_empty(&block) {
            append(blocks, block);
        }
    }
}

/// Returns the texts of the blocks, one after the other; other blocks are left out.
pub(super) fn text(blocks: &[v2::ContentBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        v2::ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect()
}
