//! What the hub asks the editor: each question keeps the id that the editor knows, however often the hub asks it.

use std::collections::VecDeque;

use super::json;

/// Questions that the editor was told to forget and has not answered, which are remembered.
const FORGOTTEN_MAX: usize = 1024;
/// Answers that are remembered in case the hub did not hear them.
const ANSWERS_MAX: usize = 256;

/// The questions between a hub and an editor.
#[derive(Debug, Default)]
pub(super) struct Questions {
    open: VecDeque<Asked>,
    /// Answers that were sent to the hub, newest last.
    answered: VecDeque<(Name, String)>,
    ids: u64,
}

/// What a question has in every connection: its session and its name.
pub(super) type Name = (String, String);

#[derive(Debug)]
struct Asked {
    /// The id that the editor knows.
    editor: u64,
    /// The id that the hub gave it in this connection; none if it did not ask again.
    hub: Option<String>,
    name: Option<Name>,
    /// What the editor answered while the hub was away.
    reply: Option<String>,
    /// Whether the editor was told that no answer is wanted.
    is_forgotten: bool,
}

/// What becomes of a request of the hub.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The editor is asked, under this id.
    Ask(u64),
    /// The editor was asked already.
    Waits,
    /// The editor has answered this.
    Answer(String),
}

impl Questions {
    /// Takes a request of the hub.
    pub(super) fn asked(&mut self, hub: String, name: Option<Name>) -> Fate {
        if let Some(name) = &name {
            let mut open = self.open.iter_mut();
            let known = open.find(|asked| asked.name.as_ref() == Some(name) && !asked.is_forgotten);
            if let Some(asked) = known {
                asked.hub = Some(hub);
                if let Some(reply) = asked.reply.take() {
                    self.open.retain(|asked| asked.name.as_ref() != Some(name));
                    self.remember(name.clone(), reply.clone());
                    return Fate::Answer(reply);
                }
                return Fate::Waits;
            }
            let answered = self.answered.iter().rev();
            if let Some((_, reply)) = answered.clone().find(|(of, _)| of == name) {
                return Fate::Answer(reply.clone());
            }
        }
        self.ids += 1;
        self.open.push_back(Asked {
            editor: self.ids,
            hub: Some(hub),
            name,
            reply: None,
            is_forgotten: false,
        });
        Fate::Ask(self.ids)
    }

    fn remember(&mut self, name: Name, reply: String) {
        self.answered.push_back((name, reply));
        if self.answered.len() > ANSWERS_MAX {
            self.answered.pop_front();
        }
    }

    /// Takes an answer of the editor; returns the hub's id for the question if it can be passed on now, or nothing if there is
    /// no such question.
    pub(super) fn answered(&mut self, editor: u64, reply: &str) -> Option<Option<String>> {
        let at = self.open.iter().position(|asked| asked.editor == editor)?;
        let asked = self.open.get_mut(at)?;
        if asked.hub.is_none() && !asked.is_forgotten {
            asked.reply.get_or_insert_with(|| reply.to_owned());
            return Some(None);
        }
        let asked = self.open.remove(at)?;
        if let Some(name) = asked.name.filter(|_| !asked.is_forgotten) {
            self.remember(name, reply.to_owned());
        }
        Some(asked.hub)
    }

    /// Takes the hub's word that it wants no answer any more; returns the id that the editor knows.
    pub(super) fn forget(&mut self, hub: &str) -> Option<u64> {
        let mut open = self.open.iter_mut();
        let asked = open.find(|asked| asked.hub.as_deref() == Some(hub))?;
        asked.is_forgotten = true;
        Some(asked.editor)
    }

    /// Notes that the hub is gone; returns what tells the editor of questions that cannot be asked again.
    pub(super) fn lost(&mut self) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for asked in &mut self.open {
            asked.hub = None;
            if asked.name.is_none() && !std::mem::replace(&mut asked.is_forgotten, true) {
                lines.push(json::cancel_request(&asked.editor.to_string()));
            }
        }
        self.bound();
        lines
    }

    /// Takes that the hub has asked again everything in a session that it still wants to know; returns what tells the editor
    /// of the rest.
    pub(super) fn resumed(&mut self, session: &str) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        self.open.retain_mut(|asked| {
            let is_over = asked.hub.is_none()
                && !asked.is_forgotten
                && asked.name.as_ref().is_some_and(|(of, _)| of == session);
            if is_over && asked.reply.is_none() {
                asked.is_forgotten = true;
                lines.push(json::cancel_request(&asked.editor.to_string()));
            }
            // One that was answered meanwhile is not waited for by anybody.
            !is_over || asked.reply.is_none()
        });
        self.bound();
        lines
    }

    fn bound(&mut self) {
        let forgotten = self.open.iter().filter(|asked| asked.is_forgotten).count();
        for _ in FORGOTTEN_MAX..forgotten {
            let oldest = self.open.iter().position(|asked| asked.is_forgotten);
            oldest.and_then(|at| self.open.remove(at));
        }
    }
}
