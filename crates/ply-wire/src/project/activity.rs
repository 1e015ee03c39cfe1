//! Tool calls and terminals as they come.

use super::{Down, EditTexts, Projector, mark, terminal::Screen, tool_call::Item};
use crate::{MaybeUndefined, v2};

impl Projector {
    pub(super) fn tool_call(
        &mut self,
        update: &v2::ToolCallUpdate,
        edits: &dyn EditTexts,
        out: &mut Vec<Down>,
    ) {
        let id = &update.tool_call_id;
        let items: Option<Vec<_>> = match &update.content {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(Vec::new()),
            MaybeUndefined::Value(items) => Some(
                items
                    .iter()
                    .map(|item| Item::new(id, item, edits))
                    .collect(),
            ),
        };
        for terminal in items.iter().flatten().filter_map(Item::terminal) {
            self.show_in(terminal, id);
        }
        self.call(id);
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        let replaced: Vec<_> = match &items {
            Some(_) => call.terminals().cloned().collect(),
            None => Vec::new(),
        };
        out.extend(call.update(update, items, &self.screens).map(Down::Update));
        self.keep_finished(id);
        for terminal in &replaced {
            self.keep_terminal(terminal);
        }
    }

    pub(super) fn tool_call_chunk(
        &mut self,
        chunk: &v2::ToolCallContentChunk,
        edits: &dyn EditTexts,
        out: &mut Vec<Down>,
    ) {
        let id = &chunk.tool_call_id;
        let item = Item::new(id, &chunk.content, edits);
        if let Some(terminal) = item.terminal() {
            self.show_in(terminal, id);
        }
        if self.call(id).push(item) {
            let Some(call) = self.calls.get_mut(id) else {
                return;
            };
            out.extend(call.send_content(&self.screens).map(Down::Update));
            self.keep_finished(id);
        } else if !self.unsent.contains(id) {
            self.unsent.push(id.clone());
        }
    }

    /// Notes that a call shows a terminal.
    fn show_in(&mut self, terminal: &v2::TerminalId, call: &v2::ToolCallId) {
        if self.shown_screen(terminal).show_in(call) {
            self.call(call).shown.push(terminal.clone());
            self.unshown.retain(|unshown| unshown != terminal);
        }
    }

    pub(super) fn screen(&mut self, id: &v2::TerminalId) -> &mut Screen {
        if !self.screens.contains_key(id) {
            self.unshown.push(id.clone());
        }
        self.screens.entry(id.clone()).or_default()
    }

    pub(super) fn terminal(&mut self, update: &v2::TerminalUpdate, out: &mut Vec<Down>) {
        let id = &update.terminal_id;
        if self.is_terminal_gone(id) {
            return;
        }
        let screen = self.screen(id);
        if screen.is_clients {
            return;
        }
        let changed = screen.apply(update);
        let ended = screen.exit_status.is_some();
        // One that nothing refers to waits for the next flush also if it has ended: the reference
        // may come after the end, as it does on load, and a terminal is shown once.
        if let Some(bytes) = changed {
            self.screen_grew(id, bytes, out);
        }
        if let Some(call) = self.calls.get_mut(&stand_in_call(id))
            && ended
            && !call.fields.is_finished()
        {
            let failed = self.screens.get(id).is_some_and(Screen::failed);
            let status = if failed {
                v2::ToolCallStatus::Failed
            } else {
                v2::ToolCallStatus::Completed
            };
            let update = v2::ToolCallUpdate::new(stand_in_call(id)).status(status);
            out.extend(call.update(&update, None, &self.screens).map(Down::Update));
            self.keep_finished(&stand_in_call(id));
        }
        if ended {
            self.keep_terminal(id);
        }
    }

    /// Shows more output in the calls that refer to the terminal, now or with the next flush.
    pub(super) fn screen_grew(&mut self, id: &v2::TerminalId, bytes: usize, out: &mut Vec<Down>) {
        let Some(screen) = self.screens.get(id).filter(|screen| !screen.is_clients) else {
            return;
        };
        for shown_in in &screen.shown_in.clone() {
            let Some(call) = self.calls.get_mut(shown_in) else {
                continue;
            };
            if !call.terminals().any(|shown| shown == id) {
                continue;
            }
            if call.grew(bytes) {
                out.extend(call.send_content(&self.screens).map(Down::Update));
                self.keep_finished(shown_in);
            } else if !self.unsent.contains(shown_in) {
                self.unsent.push(shown_in.clone());
            }
        }
    }

    /// Shows a terminal that no call refers to as a call of its own.
    pub(super) fn show_terminal_alone(&mut self, id: &v2::TerminalId, out: &mut Vec<Down>) {
        let call = stand_in_call(id);
        let Some(screen) = self.screens.get(id) else {
            return;
        };
        if !screen.shown_in.is_empty() {
            return;
        }
        if screen.is_blank() {
            // Ask again later.
            self.unshown.push(id.clone());
            return;
        }
        let status = match &screen.exit_status {
            None => v2::ToolCallStatus::InProgress,
            Some(_) if screen.failed() => v2::ToolCallStatus::Failed,
            Some(_) => v2::ToolCallStatus::Completed,
        };
        let title = screen
            .command
            .clone()
            .unwrap_or_else(|| "Terminal".to_owned());
        let terminal = v2::ToolCallContent::Terminal(v2::Terminal::new(id.clone()));
        let update = v2::ToolCallUpdate::new(call)
            .title(title)
            .kind(v2::ToolKind::Execute)
            .status(status)
            .content(vec![terminal]);
        self.tool_call(&update, &(), out);
    }
}

fn stand_in_call(terminal: &v2::TerminalId) -> v2::ToolCallId {
    v2::ToolCallId::new(format!("{}terminal/{terminal}", mark::STAND_IN))
}
