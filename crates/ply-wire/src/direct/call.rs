//! Tool calls of version 1 as agents report them most: a title, a kind, a status, some text.

use std::borrow::Cow;

use super::json::Reader;
use super::text_block;
use crate::v1;

/// A `session/update` notification of version 1 about a tool call that has nothing but plain fields and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallUpdate<'a> {
    session: Cow<'a, str>,
    is_new: bool,
    id: Cow<'a, str>,
    fields: Fields<'a>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Fields<'a> {
    title: Option<Cow<'a, str>>,
    kind: Option<v1::ToolKind>,
    status: Option<v1::ToolCallStatus>,
    texts: Option<Vec<Cow<'a, str>>>,
}

impl<'a> CallUpdate<'a> {
    /// Reads a whole line, if it is such a notification and has no member that this does not know.
    #[must_use]
    pub fn read(line: &'a str) -> Option<Self> {
        let mut reader = Reader::new(line);
        let (mut is_rpc, mut is_update, mut params) = (false, false, None);
        reader.object(|reader, name| {
            match name {
                "jsonrpc" if !is_rpc => is_rpc = reader.word("2.0")?,
                "method" if !is_update => is_update = reader.word("session/update")?,
                "params" if params.is_none() => params = Some(Self::params(reader)?),
                _ => return None,
            }
            Some(())
        })?;
        params.filter(|_| is_rpc && is_update && reader.is_at_end())
    }

    fn params(reader: &mut Reader<'a>) -> Option<Self> {
        let (mut session, mut update) = (None, None);
        reader.object(|reader, name| {
            match name {
                "sessionId" if session.is_none() => session = Some(reader.text()?),
                "update" if update.is_none() => update = Some(Self::update(reader)?),
                _ => return None,
            }
            Some(())
        })?;
        let (is_new, id, fields) = update?;
        Some(Self {
            session: session?,
            is_new,
            id,
            fields,
        })
    }

    fn update(reader: &mut Reader<'a>) -> Option<(bool, Cow<'a, str>, Fields<'a>)> {
        let (mut is_new, mut id, mut fields) = (None, None, Fields::default());
        reader.object(|reader, name| {
            match name {
                "sessionUpdate" if is_new.is_none() => {
                    is_new = Some(match reader.plain_text()? {
                        "tool_call" => true,
                        "tool_call_update" => false,
                        _ => return None,
                    });
                }
                "toolCallId" if id.is_none() => id = Some(reader.text()?),
                "title" if fields.title.is_none() => fields.title = Some(reader.text()?),
                "kind" if fields.kind.is_none() => fields.kind = Some(kind(reader)?),
                "status" if fields.status.is_none() => fields.status = Some(status(reader)?),
                "content" if fields.texts.is_none() => {
                    fields.texts = Some(reader.array(call_content)?);
                }
                _ => return None,
            }
            Some(())
        })?;
        let is_new = is_new?;
        // A call without a title is for the official types to refuse.
        let is_whole = !is_new || fields.title.is_some();
        is_whole.then_some((is_new, id?, fields))
    }

    /// Returns the session that it belongs to.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the update.
    #[must_use]
    pub fn into_v1(self) -> v1::SessionUpdate {
        let Fields {
            title,
            kind,
            status,
            texts,
        } = self.fields;
        let block = |text: Cow<'_, str>| {
            let text = v1::ContentBlock::Text(v1::TextContent::new(text.into_owned()));
            v1::ToolCallContent::Content(v1::Content::new(text))
        };
        let content = texts.map(|texts| texts.into_iter().map(block).collect::<Vec<_>>());
        let id = v1::ToolCallId::new(self.id);
        if self.is_new {
            let title = title.map(Cow::into_owned).unwrap_or_default();
            let call = v1::ToolCall::new(id, title)
                .kind(kind.unwrap_or_default())
                .status(status.unwrap_or_default())
                .content(content.unwrap_or_default());
            return v1::SessionUpdate::ToolCall(call);
        }
        let fields = v1::ToolCallUpdateFields::new()
            .title(title.map(Cow::into_owned))
            .kind(kind)
            .status(status)
            .content(content);
        v1::SessionUpdate::ToolCallUpdate(v1::ToolCallUpdate::new(id, fields))
    }
}

fn kind(reader: &mut Reader<'_>) -> Option<v1::ToolKind> {
    Some(match reader.plain_text()? {
        "read" => v1::ToolKind::Read,
        "edit" => v1::ToolKind::Edit,
        "delete" => v1::ToolKind::Delete,
        "move" => v1::ToolKind::Move,
        "search" => v1::ToolKind::Search,
        "execute" => v1::ToolKind::Execute,
        "think" => v1::ToolKind::Think,
        "fetch" => v1::ToolKind::Fetch,
        "switch_mode" => v1::ToolKind::SwitchMode,
        "other" => v1::ToolKind::Other,
        _ => return None,
    })
}

fn status(reader: &mut Reader<'_>) -> Option<v1::ToolCallStatus> {
    Some(match reader.plain_text()? {
        "pending" => v1::ToolCallStatus::Pending,
        "in_progress" => v1::ToolCallStatus::InProgress,
        "completed" => v1::ToolCallStatus::Completed,
        "failed" => v1::ToolCallStatus::Failed,
        _ => return None,
    })
}

/// Reads an item of a call's content that is plain text.
fn call_content<'a>(reader: &mut Reader<'a>) -> Option<Cow<'a, str>> {
    let (mut is_content, mut text) = (false, None);
    reader.object(|reader, name| {
        match name {
            "type" if !is_content => is_content = reader.word("content")?,
            "content" if text.is_none() => text = Some(text_block(reader)?),
            _ => return None,
        }
        Some(())
    })?;
    text.filter(|_| is_content)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::tests::{by_types, edited};
    use super::*;

    /// What is read directly is what the official types read.
    #[track_caller]
    fn check(line: &str) -> bool {
        let Some(update) = CallUpdate::read(line) else {
            return false;
        };
        let session = update.session().to_owned();
        let known = v1::SessionNotification::new(session, update.into_v1());
        assert_eq!(Some(known), by_types(line), "{line}");
        true
    }

    fn line(update: &Value) -> Value {
        let params = json!({ "sessionId": "s-1", "update": update });
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
    }

    #[test]
    fn calls_are_read_as_the_official_types_read_them() {
        let content = json!([
            { "type": "content", "content": { "type": "text", "text": "a\n\u{1}é" } },
            { "type": "content", "content": { "type": "text", "text": "" } },
        ]);
        let kinds = "read edit delete move search execute think fetch switch_mode other";
        for kind in kinds.split(' ') {
            let call = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "kind": kind });
            assert!(check(&line(&call).to_string()), "{kind}");
        }
        for status in ["pending", "in_progress", "completed", "failed"] {
            for kind in ["tool_call", "tool_call_update"] {
                let call = json!({
                    "sessionUpdate": kind, "toolCallId": "c\"1\"", "title": "t",
                    "status": status, "content": content,
                });
                assert!(check(&line(&call).to_string()), "{status}");
                let pretty = serde_json::to_string_pretty(&line(&call)).expect("JSON");
                assert!(check(&pretty), "{status}");
            }
        }
        let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c" });
        assert!(check(&line(&update).to_string()));
    }

    #[test]
    fn what_it_does_not_know_is_left_to_the_official_types() {
        for update in [
            json!({ "sessionUpdate": "tool_call", "toolCallId": "c" }),
            json!({ "sessionUpdate": "tool_call", "title": "t" }),
            json!({ "sessionUpdate": "plan", "toolCallId": "c", "title": "t" }),
            json!({ "toolCallId": "c", "title": "t" }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "title": null }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "new" }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": "new" }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "content": [] }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "content": [{ "type": "terminal", "terminalId": "t" }] }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "rawInput": {} }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "locations": [] }),
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "_meta": null }),
        ] {
            let line = line(&update).to_string();
            assert_eq!(CallUpdate::read(&line), None, "{line}");
        }
    }

    /// Good lines, and such with a few edits.
    fn lines() -> impl Strategy<Value = String> {
        let status = prop::sample::select(vec!["pending", "completed", "odd"]);
        let good = (any::<bool>(), ".{0,20}", status, any::<[bool; 4]>()).prop_map(
            |(is_new, text, status, [has_title, has_status, has_content, is_pretty])| {
                let kind = if is_new {
                    "tool_call"
                } else {
                    "tool_call_update"
                };
                let mut call = json!({ "sessionUpdate": kind, "toolCallId": "c-1" });
                if has_title || is_new {
                    call["title"] = json!(text);
                }
                if has_status {
                    call["status"] = json!(status);
                }
                if has_content {
                    let text = json!({ "type": "text", "text": text });
                    call["content"] = json!([{ "type": "content", "content": text }]);
                }
                match is_pretty {
                    true => serde_json::to_string_pretty(&line(&call)).expect("JSON"),
                    false => line(&call).to_string(),
                }
            },
        );
        edited(good)
    }

    proptest! {
        #[test]
        fn lines_are_read_as_the_official_types_read_them(line in lines()) {
            check(&line);
        }
    }
}
