//! What is kept of finished tool calls, in case they change again.
//!
//! v1 sends the content of a call as a whole, so a late change needs what was there before. Such
//! changes are rare and a long session has much tool output, so only the content of the calls that
//! finished last is kept. A call whose content was dropped still takes new content; a piece that is
//! added to it is shown with a note in place of the rest. Of a call that finished long ago nothing
//! is kept but that the client has it.

use std::collections::VecDeque;

use serde_json::Value;

use super::{
    Projector, Screens,
    gone::{Gone, REMEMBERED_MAX},
    terminal::Screen,
    tool_call::{Call, Item},
};
use crate::v2;

/// How much content of finished calls is kept per client and session.
const FINISHED_BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Finished {
    /// What finished, oldest first, each with the bytes that are counted for it here. What grew
    /// after it finished is here several times.
    kept: VecDeque<(Kept, usize)>,
    bytes: usize,
    /// The calls that finished and are remembered, oldest first, each once.
    remembered: VecDeque<v2::ToolCallId>,
    remembered_max: usize,
    gone_calls: Gone,
    gone_terminals: Gone,
}

#[derive(Debug)]
enum Kept {
    Call(v2::ToolCallId),
    /// A terminal that calls have shown and none shows any more.
    Terminal(v2::TerminalId),
}

impl Default for Finished {
    fn default() -> Self {
        Self {
            kept: VecDeque::new(),
            bytes: 0,
            remembered: VecDeque::new(),
            remembered_max: REMEMBERED_MAX,
            gone_calls: Gone::default(),
            gone_terminals: Gone::default(),
        }
    }
}

impl Finished {
    pub(super) fn remember(&mut self, count: usize) {
        self.remembered_max = count;
    }
}

impl Projector {
    /// Counts the content of a call if it has come to its end, and drops that of the oldest ones.
    pub(super) fn keep_finished(&mut self, id: &v2::ToolCallId) {
        let at_rest = |call: &&mut Call| call.is_at_rest(&self.screens);
        if let Some(call) = self.calls.get_mut(id).filter(at_rest) {
            let bytes = call.kept_bytes(&self.screens);
            let grown = count(&mut call.kept, bytes);
            let is_new = !std::mem::replace(&mut call.is_remembered, true);
            self.keep(Kept::Call(id.clone()), grown);
            if is_new {
                self.remember_call(id.clone());
            }
        }
    }

    /// The same for a terminal.
    pub(super) fn keep_terminal(&mut self, id: &v2::TerminalId) {
        if !self.is_loose(id) {
            return;
        }
        if let Some(screen) = self.screens.get_mut(id) {
            let bytes = screen.text_bytes();
            let grown = count(&mut screen.kept, bytes);
            self.keep(Kept::Terminal(id.clone()), grown);
        }
    }

    /// Returns what is known of a call, which is nothing if it is new. One that was forgotten is
    /// known to be with the client.
    pub(super) fn call(&mut self, id: &v2::ToolCallId) -> &mut Call {
        let gone = &mut self.finished.gone_calls;
        self.calls.entry(id.clone()).or_insert_with(|| {
            let mut call = Call::new(id.clone());
            let is_gone = gone.take(id);
            call.sent = is_gone;
            call.left_out = is_gone;
            call
        })
    }

    /// Returns what is known of a terminal that a call is about to show.
    pub(super) fn shown_screen(&mut self, id: &v2::TerminalId) -> &mut Screen {
        let gone = &mut self.finished.gone_terminals;
        self.screens.entry(id.clone()).or_insert_with(|| {
            if gone.take(id) {
                Screen::forgotten()
            } else {
                Screen::default()
            }
        })
    }

    /// Returns whether a terminal was shown and forgotten.
    pub(super) fn is_terminal_gone(&self, id: &v2::TerminalId) -> bool {
        self.finished.gone_terminals.contains(id)
    }

    /// Takes one more call into those that are remembered, and forgets the oldest with what it has shown.
    fn remember_call(&mut self, id: v2::ToolCallId) {
        let remembered = &mut self.finished.remembered;
        remembered.push_back(id);
        if remembered.len() <= self.finished.remembered_max {
            return;
        }
        let Some(oldest) = remembered.pop_front() else {
            return;
        };
        let Some(call) = self.calls.get_mut(&oldest) else {
            return;
        };
        if !call.is_at_rest(&self.screens) {
            // It is remembered anew when it ends.
            call.is_remembered = false;
            return;
        }
        let shown = std::mem::take(&mut call.shown);
        self.calls.remove(&oldest);
        self.finished.gone_calls.insert(&oldest);
        for terminal in shown {
            if self.is_loose(&terminal) {
                self.screens.remove(&terminal);
                self.finished.gone_terminals.insert(&terminal);
            }
        }
    }

    fn keep(&mut self, kept: Kept, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.finished.bytes = self.finished.bytes.saturating_add(bytes);
        self.finished.kept.push_back((kept, bytes));
        while self.finished.bytes > FINISHED_BYTES_MAX
            || self.finished.kept.len() > 2 * REMEMBERED_MAX
        {
            let Some((oldest, bytes)) = self.finished.kept.pop_front() else {
                break;
            };
            self.finished.bytes = self.finished.bytes.saturating_sub(bytes);
            match oldest {
                Kept::Call(id) => self.drop_call(&id, bytes),
                Kept::Terminal(id) => self.drop_terminal(&id, bytes),
            }
        }
    }

    fn drop_call(&mut self, id: &v2::ToolCallId, counted: usize) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        call.kept = call.kept.saturating_sub(counted);
        // One that runs again is counted anew when it ends.
        if !call.is_at_rest(&self.screens) {
            return;
        }
        let terminals: Vec<_> = call.terminals().cloned().collect();
        call.leave_out();
        for terminal in terminals {
            self.drop_terminal(&terminal, 0);
        }
    }

    fn drop_terminal(&mut self, id: &v2::TerminalId, counted: usize) {
        let is_loose = self.is_loose(id);
        if let Some(screen) = self.screens.get_mut(id) {
            screen.kept = screen.kept.saturating_sub(counted);
            if is_loose {
                screen.leave_out();
            }
        }
    }

    /// Returns whether a terminal has ended, or is the client's, and is no more part of any call, though it was.
    fn is_loose(&self, id: &v2::TerminalId) -> bool {
        let Some(screen) = self.screens.get(id) else {
            return false;
        };
        let shows = |call: &v2::ToolCallId| {
            let call = self.calls.get(call);
            call.is_some_and(|call| call.terminals().any(|shown| shown == id))
        };
        (screen.exit_status.is_some() || screen.is_clients)
            && !screen.shown_in.is_empty()
            && !screen.shown_in.iter().any(shows)
    }
}

/// Raises what is counted to `bytes` and returns by how much.
fn count(counted: &mut usize, bytes: usize) -> usize {
    let grown = bytes.saturating_sub(*counted);
    *counted += grown;
    grown
}

impl Call {
    /// Returns whether nothing more is expected of the call and the client has all of it.
    fn is_at_rest(&self, screens: &Screens) -> bool {
        let has_ended = |id| {
            let screen: Option<&Screen> = screens.get(id);
            screen.is_some_and(|screen| screen.exit_status.is_some() || screen.is_clients)
        };
        let is_sent = self.sent && self.unsent.is_none();
        is_sent && self.fields.is_finished() && self.terminals().all(has_ended)
    }

    fn kept_bytes(&self, screens: &Screens) -> usize {
        let texts = self.terminals().filter_map(|id| screens.get(id));
        let raw = [&self.fields.raw_input, &self.fields.raw_output];
        self.items.iter().map(Item::bytes).sum::<usize>()
            + texts.map(Screen::text_bytes).sum::<usize>()
            + raw.into_iter().flatten().map(value_bytes).sum::<usize>()
    }

    /// Drops what only a late change could need.
    fn leave_out(&mut self) {
        self.left_out |= !self.items.is_empty();
        self.items = Vec::new();
        self.fields.raw_input = None;
        self.fields.raw_output = None;
    }
}

/// Returns about how much memory a value takes.
fn value_bytes(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(value_bytes).sum(),
            Value::Object(fields) => {
                let fields = fields.iter();
                fields
                    .map(|(key, value)| key.len() + value_bytes(value))
                    .sum()
            }
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use serde_json::json;

    use super::*;
    use crate::project::Shows;

    fn apply(projector: &mut Projector, json: serde_json::Value) -> Vec<serde_json::Value> {
        let mut out = Vec::new();
        let update: v2::SessionUpdate = serde_json::from_value(json).expect("an update");
        projector.apply(&update, &mut out);
        let shown = out.into_iter().filter_map(|down| down.into_update(&update));
        shown.map(|update| json!(update)).collect()
    }

    fn text(text: &str) -> serde_json::Value {
        json!({"type": "content", "content": {"type": "text", "text": text}})
    }

    fn completed(id: usize, content: &serde_json::Value) -> serde_json::Value {
        json!({"sessionUpdate": "tool_call_update", "toolCallId": format!("c{id}"), "title": "T",
            "status": "completed", "content": [content], "rawOutput": {"text": "x".repeat(1000)}})
    }

    fn short(projector: &mut Projector, number: usize) -> Vec<serde_json::Value> {
        let terminal = json!({"sessionUpdate": "terminal_update", "terminalId": format!("t{number}"),
            "command": "true", "exitStatus": {"exitCode": 0}});
        let reference = json!({"type": "terminal", "terminalId": format!("t{number}")});
        let mut shown = apply(projector, terminal);
        shown.extend(apply(projector, completed(number, &reference)));
        shown
    }

    #[test]
    fn memory_does_not_grow_with_the_number_of_calls() {
        let mut projector = Projector::new(Shows::ALL, "v/");
        for number in 0..4 * REMEMBERED_MAX {
            short(&mut projector, number);
        }
        assert!(projector.calls.len() <= REMEMBERED_MAX);
        assert!(projector.screens.len() <= REMEMBERED_MAX);
        assert!(projector.finished.kept.len() <= 2 * REMEMBERED_MAX);
        assert!(projector.unshown.is_empty());
    }

    #[test]
    fn late_changes_of_a_forgotten_call_and_terminal_are_understood() {
        let mut projector = Projector::new(Shows::ALL, "v/");
        for number in 0..2 * REMEMBERED_MAX {
            short(&mut projector, number);
        }
        let changed = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c0",
            "title": "Other"});
        assert_eq!(apply(&mut projector, changed.clone()), [changed]);
        let failed = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1",
            "status": "failed"});
        assert_eq!(apply(&mut projector, failed.clone()), [failed]);
        let chunk = json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "t0",
            "data": STANDARD.encode("late")});
        assert_eq!(apply(&mut projector, chunk), [json!(null); 0]);
        let mut out = Vec::new();
        projector.flush(&mut out);
        assert_eq!(out, [], "a forgotten terminal was shown already");
    }

    fn kept(projector: &Projector) -> usize {
        let calls = projector.calls.values();
        calls.map(|call| call.kept_bytes(&projector.screens)).sum()
    }

    #[test]
    fn memory_does_not_grow_with_all_tool_output() {
        let mut projector = Projector::new(Shows::ALL, "v/");
        for id in 0..100 {
            apply(&mut projector, completed(id, &text(&"x".repeat(100_000))));
        }
        assert!(kept(&projector) <= FINISHED_BYTES_MAX);
        for id in 0..40 {
            let output = STANDARD.encode("y".repeat(100_000));
            let terminal = format!("t{id}");
            let ended = json!({"sessionUpdate": "terminal_update", "terminalId": terminal,
                "output": {"data": output}, "exitStatus": {}});
            apply(&mut projector, ended);
            let reference = json!({"type": "terminal", "terminalId": terminal});
            apply(&mut projector, completed(1000 + id, &reference));
        }
        assert!(kept(&projector) <= FINISHED_BYTES_MAX);
        // A text may take the place of the terminal in the end.
        for id in 0..40 {
            apply(&mut projector, completed(1000 + id, &text("done")));
        }
        let screens = projector.screens.values();
        assert!(screens.map(Screen::text_bytes).sum::<usize>() <= FINISHED_BYTES_MAX);
    }

    #[test]
    fn late_changes_of_a_dropped_call_are_understood() {
        let mut projector = Projector::new(Shows::ALL, "v/");
        apply(&mut projector, completed(0, &text("old")));
        for id in 1..20 {
            apply(&mut projector, completed(id, &text(&"x".repeat(100_000))));
        }
        let update = |fields: serde_json::Value| {
            let mut update = fields;
            update["sessionUpdate"] = json!("tool_call_update");
            update["toolCallId"] = json!("c0");
            update
        };
        // The client still has the content, so nothing may take it away.
        let failed = update(json!({"status": "cancelled"}));
        assert_eq!(
            apply(&mut projector, failed),
            [update(json!({"status": "failed"}))]
        );
        apply(&mut projector, update(json!({"status": "completed"})));
        let chunk = json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": "c0",
            "content": text("more")});
        let note = text("[earlier content left out]");
        let grown = update(json!({"content": [note, text("more")]}));
        assert_eq!(apply(&mut projector, chunk), [grown]);
        let whole = update(json!({"content": [text("new")]}));
        assert_eq!(apply(&mut projector, whole.clone()), [whole]);
    }
}
