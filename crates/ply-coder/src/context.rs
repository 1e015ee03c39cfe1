//! What a model is told: instructions, the conversation, and how it stays short enough.

pub(crate) mod agents_md;
pub(crate) mod budget;
pub(crate) mod compaction;
pub(crate) mod content;
pub(crate) mod conversation;
pub(crate) mod files;
pub(crate) mod front_matter;
pub(crate) mod git;
pub(crate) mod instructions;
pub(crate) mod notes;
