use proptest::prelude::*;
use serde_json::json;

use super::{PlainPrompt, TextChunk};
use crate::method::decode_params;
use crate::{v1, v2};

/// A line as types read it: they notice a member that occurs twice.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<T> {
    jsonrpc: String,
    method: String,
    params: T,
}

/// Reads a line as the official types do.
pub(super) fn by_types<T: serde::de::DeserializeOwned>(line: &str) -> Option<T> {
    let line: Line<T> = serde_json::from_str(line).ok()?;
    let is_update = line.jsonrpc == "2.0" && line.method == "session/update";
    is_update.then_some(line.params)
}

/// What is read directly is what the official types read, in both versions.
#[track_caller]
fn check(line: &str) -> bool {
    let Some(chunk) = TextChunk::read(line) else {
        return false;
    };
    let session = chunk.session().to_owned();
    let known = v1::SessionNotification::new(session.clone(), chunk.clone().into_v1());
    assert_eq!(Some(known), by_types(line), "{line}");
    let known = chunk
        .into_v2()
        .map(|update| v2::UpdateSessionNotification::new(session, update));
    assert_eq!(known, by_types(line), "{line}");
    true
}

#[test]
fn chunks_are_read_as_the_official_types_read_them() {
    let text = "a\"b\\c\n\r\t\u{8}\u{c}\u{1f}\u{7f}é\u{2028}😀";
    for kind in ["agent_message_chunk", "agent_thought_chunk"] {
        for id in [None, Some("m-1"), Some("m\"1\"")] {
            let mut update = json!({
                "sessionUpdate": kind, "content": { "type": "text", "text": text },
            });
            if let Some(id) = id {
                update["messageId"] = json!(id);
            }
            let line = json!({
                "jsonrpc": "2.0", "method": "session/update",
                "params": { "sessionId": "s \u{1}", "update": update },
            });
            assert!(check(&line.to_string()));
            assert!(check(&serde_json::to_string_pretty(&line).expect("JSON")));
        }
    }
}

#[test]
fn escapes_of_every_kind_are_read() {
    let line = |text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}}}"#
        )
    };
    for text in [
        "",
        r"\/\b\f\n\r\t\\\u0041\u00e9\u20ac",
        r"\ud83d\ude00 and \uD83D\uDE00",
    ] {
        assert!(check(&line(text)), "{text}");
    }
    for text in [
        r"\ud83d",
        r"\ude00\ud83d",
        r"\ud83d\n",
        r"\u12g4",
        r"\u+123",
        r"\x41",
        r"\",
        "\u{1}",
        "\n",
    ] {
        assert!(!check(&line(text)), "{text}");
    }
}

#[test]
fn what_it_does_not_know_is_left_to_the_official_types() {
    for line in [
        "",
        "{}",
        "[]",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}}}"#,
        r#"{"jsonrpc":"1.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/other","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","content":{"type":"text","text":""}}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image","text":""}}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","_meta":null,"content":{"type":"text","text":""}}}}"#,
        r#"{"jsonrpc":"1.0","jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}}}"#,
        r#"{"jsonrpc":"2.0","method":"x","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image","type":"text","text":""}}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","sessionId":"t","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}}}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}}} x"#,
    ] {
        assert_eq!(TextChunk::read(line), None, "{line}");
    }
}

/// Good lines, and such with a few edits.
fn damaged() -> impl Strategy<Value = String> {
    let good = (".{0,40}", any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(text, thought, has_id, pretty)| {
            let kind = if thought {
                "agent_thought_chunk"
            } else {
                "agent_message_chunk"
            };
            let mut update =
                json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } });
            if has_id {
                update["messageId"] = json!("m-1");
            }
            let line = json!({
                "jsonrpc": "2.0", "method": "session/update",
                "params": { "sessionId": "s-1", "update": update },
            });
            match pretty {
                true => serde_json::to_string_pretty(&line).expect("JSON"),
                false => line.to_string(),
            }
        },
    );
    edited(good)
}

/// Cuts, doubles and replaces characters of good lines.
pub(super) fn edited(good: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "",
        "\"",
        "\\",
        "{",
        "}",
        ",",
        ":",
        " ",
        "\n",
        "\u{1}",
        "null",
        "\\u00",
        "\\ud83d",
        "é",
        "\"id\":1,",
        "\"_meta\":{},",
        "\"text\":\"x\",",
        "\"type\":\"text\",",
        "[",
        "0",
    ]);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..4usize, pieces), 0..3);
    (good, edits).prop_map(|(line, edits)| {
        let mut chars: Vec<char> = line.chars().collect();
        for (at, cut, piece) in edits {
            let at = at.index(chars.len() + 1).min(chars.len());
            let end = (at + cut).min(chars.len());
            chars.splice(at..end, piece.chars());
        }
        chars.into_iter().collect()
    })
}

/// What is read directly is what the official types read, in both versions.
#[track_caller]
fn check_prompt(params: &str) -> bool {
    let Some(prompt) = PlainPrompt::read(params) else {
        return false;
    };
    let (session, content) = (prompt.session(), prompt.into_content());
    let known = v2::PromptRequest::new(session, content);
    let read = serde_json::from_str::<v2::PromptRequest>(params);
    assert_eq!(known, read.expect("the official type reads it"), "{params}");
    let read = serde_json::from_str::<v1::PromptRequest>(params).expect("and version 1");
    let up = read.prompt.into_iter().map(crate::convert::content::up);
    assert_eq!(known.prompt, up.collect::<Vec<_>>(), "{params}");
    true
}

#[test]
fn prompts_are_read_as_the_official_types_read_them() {
    for params in [
        r#"{"sessionId":"s","prompt":[{"type":"text","text":"a\n\ud83d\ude00"}]}"#,
        r#"{ "prompt" : [ {"text":"a","type":"text"} , {"type":"text","text":""} ] , "sessionId":"s\"" }"#,
    ] {
        assert!(check_prompt(params), "{params}");
    }
    for params in [
        "{}",
        r#"{"sessionId":"s","prompt":[]}"#,
        r#"{"sessionId":"s","prompt":[{"type":"text","text":"a"},]}"#,
        r#"{"sessionId":"s","prompt":[{"type":"text","text":"a"}],"_meta":{}}"#,
        r#"{"sessionId":"s","prompt":[{"type":"text","text":"a","annotations":null}]}"#,
        r#"{"sessionId":"s","prompt":[{"type":"image","data":"","mimeType":"image/png"}]}"#,
        r#"{"sessionId":1,"prompt":[{"type":"text","text":"a"}]}"#,
        r#"{"sessionId":"s","prompt":[{"type":"image","type":"text","text":"a"}]}"#,
    ] {
        assert_eq!(PlainPrompt::read(params), None, "{params}");
    }
}

proptest! {
    #[test]
    fn prompts_are_read_as_they_were_written(texts in prop::collection::vec(any::<String>(), 1..4)) {
        let blocks = texts.into_iter().map(v2::ContentBlock::from).collect();
        let params = serde_json::to_string(&v2::PromptRequest::new("s", blocks));
        prop_assert!(check_prompt(&params.expect("JSON")));
    }

    #[test]
    fn lines_are_read_as_the_official_types_read_them(line in damaged()) {
        check(&line);
    }

    #[test]
    fn texts_are_read_as_they_were_written(text in any::<String>()) {
        let params = v1::SessionNotification::new(
            "s",
            v1::SessionUpdate::AgentMessageChunk(v1::ContentChunk::new(text.into())),
        );
        let line = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
        prop_assert!(check(&line.to_string()));
    }
}

#[test]
fn params_that_the_typed_reader_takes_are_the_same() {
    let line = r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"content":{"text":"hi","type":"text"},"sessionUpdate":"agent_thought_chunk"},"sessionId":"s"}}"#;
    let raw: serde_json::Value = serde_json::from_str(line).expect("JSON");
    let params = serde_json::value::to_raw_value(&raw["params"]).expect("JSON");
    let typed: v1::SessionNotification = decode_params(Some(&params)).expect("it fits");
    let read = TextChunk::read(line).expect("it is known");
    assert_eq!(typed.update, read.into_v1());
}
