//! Lists of content blocks: appending to them, and comparing them however they were cut into
//! chunks.

use crate::v2;

/// Returns whether two such blocks in a row mean the same as one with the joined text.
pub(crate) fn is_plain_text(block: &v2::ContentBlock) -> bool {
    matches!(block, v2::ContentBlock::Text(text) if text.annotations.is_none() && text.meta.is_none())
}

/// Appends a block; plain text grows the plain text before it.
pub(crate) fn append(blocks: &mut Vec<v2::ContentBlock>, block: &v2::ContentBlock) {
    if let Some(last) = blocks.last_mut()
        && is_plain_text(last)
        && is_plain_text(block)
        && let (v2::ContentBlock::Text(last), v2::ContentBlock::Text(block)) = (last, block)
    {
        last.text.push_str(&block.text);
    } else {
        blocks.push(block.clone());
    }
}

/// Joins adjacent plain texts and drops empty ones, except that content stays content.
pub(super) fn normalize(blocks: &mut Vec<v2::ContentBlock>) {
    let mut joined = Vec::with_capacity(blocks.len());
    for block in blocks.iter() {
        let is_empty = matches!(block, v2::ContentBlock::Text(text) if text.text.is_empty());
        if !(is_empty && is_plain_text(block)) {
            append(&mut joined, block);
        }
    }
    if joined.is_empty() {
        joined.extend(blocks.first().cloned());
    }
    *blocks = joined;
}

/// Returns the texts of the blocks, one after the other; other blocks are left out.
pub(super) fn text(blocks: &[v2::ContentBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        v2::ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect()
}
