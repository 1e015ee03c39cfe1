//! Tool calls of a v1 agent.

use std::{collections::HashMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{Lifter, given, given_or_cleared};
use crate::{
    MaybeUndefined,
    convert::{content, diff, tool_call as convert},
    project::mark,
    transcript::is_final,
    v1, v2,
};

/// What stands for a terminal that lives in another process.
const FOREIGN_TERMINAL: &str = "[terminal of the agent's client]";

/// What the lifter remembers of a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) title: Option<String>,
    status: Option<v2::ToolCallStatus>,
    /// The turn that the status is news of. What an earlier turn left in progress, or what changes
    /// while idle, is background work, if it is anything at all.
    told_in: Option<u64>,
    /// How many prompts there were when the agent last told something of the call.
    told_after: u64,
    locations: Vec<v1::ToolCallLocation>,
}

impl Known {
    /// Returns whether the turn has said that the call runs.
    pub(super) fn is_in_progress(&self, turn: u64) -> bool {
        self.told_in == Some(turn) && self.status == Some(v2::ToolCallStatus::InProgress)
    }

    /// Returns whether the call is finished and nothing was told of it since the last prompt.
    fn is_past(&self, prompts: u64) -> bool {
        self.told_after < prompts && self.status.as_ref().is_some_and(is_final)
    }
}

impl Lifter {
    /// Returns the tool call that an id of the agent means now: the newest one, if the agent used
    /// the id more than once. None if the agent never used an id that stands for another call here.
    #[must_use]
    pub fn tool_call_id(&self, id: &v1::ToolCallId) -> Option<v2::ToolCallId> {
        self.call_ids.newest(id)
    }

    /// Returns the call that the agent announces under an id: a new one if the call it knew by that
    /// id is finished and of an earlier turn. Otherwise the id is repeated to tell more of the call.
    pub(super) fn announced(&mut self, id: &v1::ToolCallId) -> v2::ToolCallId {
        let newest = self.newest_call(id);
        let known = self.calls.get(&newest);
        if known.is_some_and(|known| known.is_past(self.turn.prompts())) {
            return self.renew_call(id);
        }
        newest
    }

    fn newest_call(&mut self, id: &v1::ToolCallId) -> v2::ToolCallId {
        let newest = self.call_ids.newest(id);
        newest.unwrap_or_else(|| self.renew_call(id))
    }

    fn renew_call(&mut self, id: &v1::ToolCallId) -> v2::ToolCallId {
        let calls = &self.calls;
        self.call_ids.renew(id, |fresh| calls.contains_key(fresh))
    }

    pub(super) fn tool_call(&mut self, call: &v1::ToolCall, out: &mut Vec<v2::SessionUpdate>) {
        let id = self.announced(&call.tool_call_id);
        let known = self.calls.contains_key(&id);
        // For a call that an update announced before, an empty field of `tool_call` is one that was
        // left out, not one that takes something back (V1-TOOL-16).
        let told = |is_default: bool| !(known && is_default);
        let fields = v1::ToolCallUpdateFields::new()
            .title(call.title.clone())
            .name(call.name.clone())
            .kind(told(call.kind == v1::ToolKind::Other).then_some(call.kind))
            .status(told(call.status == v1::ToolCallStatus::Pending).then_some(call.status))
            .content(told(call.content.is_empty()).then(|| call.content.clone()))
            .locations(told(call.locations.is_empty()).then(|| call.locations.clone()))
            .raw_input(call.raw_input.clone())
            .raw_output(call.raw_output.clone());
        let update =
            v1::ToolCallUpdate::new(call.tool_call_id.clone(), fields).meta(call.meta.clone());
        self.tool_call_update(&update, out);
    }

    /// Lifts an update of a call and returns it.
    pub(super) fn tool_call_update(
        &mut self,
        update: &v1::ToolCallUpdate,
        out: &mut Vec<v2::SessionUpdate>,
    ) -> v2::ToolCallUpdate {
        let lifted = self.lift_call(update);
        out.push(v2::SessionUpdate::ToolCallUpdate(lifted.clone()));
        self.refresh_state(out);
        lifted
    }

    pub(super) fn lift_call(&mut self, update: &v1::ToolCallUpdate) -> v2::ToolCallUpdate {
        let id = self.newest_call(&update.tool_call_id);
        if !self.calls.contains_key(&id) {
            self.segments.end_segment();
        }
        let known = self.calls.entry(id.clone()).or_default();
        known.told_after = self.turn.prompts();
        let fields = &update.fields;
        let meta = update.meta.as_ref();
        let status = fields.status.map(convert::status_up);
        let locations = fields.locations.as_deref();
        let locations = locations.map(|locations| self.paths.of_locations(locations));
        if let Some(locations) = &locations {
            known.locations.clone_from(locations);
        }
        if fields.title.is_some() {
            known.title.clone_from(&fields.title);
        }
        if status.is_some() {
            known.status.clone_from(&status);
            known.told_in = self.turn.now();
        }
        if known.status.as_ref().is_some_and(is_final) {
            self.open.remove(&id.0);
        } else {
            self.open.insert(id.0.clone());
        }
        let content = fields.content.as_deref();
        let content = content.map(|content| {
            let content = self.paths.of_content(content);
            content_up(&content, &known.locations, |terminal| {
                self.terminals.contains(terminal)
            })
        });
        v2::ToolCallUpdate::new(id)
            .name(given_or_cleared(fields.name.clone(), meta, "name"))
            .title(given(fields.title.clone()))
            .kind(given(fields.kind.map(convert::kind_up)))
            .status(given(status))
            .content(given(content))
            .locations(given(locations.as_deref().map(convert::locations_up)))
            .raw_input(given_or_cleared(fields.raw_input.clone(), meta, "rawInput"))
            .raw_output(given_or_cleared(
                fields.raw_output.clone(),
                meta,
                "rawOutput",
            ))
            .meta(given(mark::without_marks(meta)))
    }

    /// Ends the calls that the agent left open.
    pub(super) fn end_calls(
        &mut self,
        status: &v2::ToolCallStatus,
        out: &mut Vec<v2::SessionUpdate>,
    ) {
        for id in std::mem::take(&mut self.open) {
            let id = v2::ToolCallId::new(id);
            if let Some(known) = self.calls.get_mut(&id) {
                known.status = Some(status.clone());
            }
            let update = v2::ToolCallUpdate::new(id).status(status.clone());
            out.push(v2::SessionUpdate::ToolCallUpdate(update));
        }
    }
}

/// Returns the v2 content for the content of a v1 call; diffs of one file become one diff where the
/// first one was.
pub(crate) fn content_up(
    items: &[v1::ToolCallContent],
    locations: &[v1::ToolCallLocation],
    is_known_terminal: impl Fn(&v1::TerminalId) -> bool,
) -> Vec<v2::ToolCallContent> {
    let text = |text: String| {
        v2::ToolCallContent::Content(Box::new(v2::Content::new(v2::ContentBlock::from(text))))
    };
    let file = |diff: &v1::Diff| (diff.path.clone(), diff.old_text.is_none());
    let mut by_file: HashMap<(PathBuf, bool), Vec<&v1::Diff>> = HashMap::new();
    for item in items {
        if let v1::ToolCallContent::Diff(diff) = item {
            by_file.entry(file(diff)).or_default().push(diff);
        }
    }
    let mut content = Vec::with_capacity(items.len());
    for item in items {
        match item {
            v1::ToolCallContent::Content(item) => {
                let block =
                    v2::Content::new(content::up(item.content.clone())).meta(item.meta.clone());
                content.push(v2::ToolCallContent::Content(Box::new(block)));
            }
            v1::ToolCallContent::Diff(diff) => {
                if let Some(of_file) = by_file.remove(&file(diff)) {
                    let lifted = diff::up(&of_file, locations);
                    content.extend(lifted.map(v2::ToolCallContent::Diff));
                }
            }
            v1::ToolCallContent::Terminal(terminal) => {
                content.push(if is_known_terminal(&terminal.terminal_id) {
                    let id = terminal.terminal_id.0.clone();
                    v2::ToolCallContent::Terminal(v2::Terminal::new(id).meta(terminal.meta.clone()))
                } else {
                    text(FOREIGN_TERMINAL.to_owned())
                })
            }
            _ => content.push(text(content::placeholder("unknown"))),
        }
    }
    content
}

/// Returns the title by which people know a call: the one given now, else the one given before.
pub(super) fn title_of(update: &v2::ToolCallUpdate, known: Option<&Known>) -> String {
    let given = match &update.title {
        MaybeUndefined::Value(title) => Some(title.clone()),
        _ => known.and_then(|known| known.title.clone()),
    };
    given.unwrap_or_else(|| "Tool call".to_owned())
}
