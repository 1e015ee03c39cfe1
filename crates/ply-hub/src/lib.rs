//! A hub for ACP: it hosts sessions of any agent, and several clients of either version share them. A prompt is queued, a question
//! waits and a turn goes on when the editor is closed.

pub mod hold;
pub mod pipe;
