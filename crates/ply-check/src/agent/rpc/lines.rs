//! Lines that are no messages, or not the messages that they should be.

use serde_json::json;

use super::super::bench::Bench;
use super::super::judging::PING;
use super::super::junk::{code, react};
use crate::peer::Stopped;
use crate::rule::id;

/// Levels of nesting, beyond what any message needs.
const DEEP_LEVELS: usize = 20_000;

pub(super) async fn no_messages(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    for (line, wanted) in [
        ("{", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"#, -32700),
        ("42", -32600),
        (r#""x""#, -32600),
        ("{}", -32600),
    ] {
        let reaction = react(&mut agent, line.as_bytes()).await?;
        let is_kept = reaction.is_refusal(&[wanted]);
        let saw = reaction.tell(&format!("the line `{line}`"));
        bench.judge(id::V1_RPC_10, is_kept, &agent, &reaction.frames(), saw);
        if !reaction.is_alive {
            return Ok(());
        }
    }
    // Empty lines and lines too deep for a parser say nothing about codes; whoever reads on has passed.
    let deep = [vec![b'['; DEEP_LEVELS], vec![b']'; DEEP_LEVELS]].concat();
    let deep = [
        br#"{"jsonrpc":"2.0","method":"_x/deep","params":{"x":"#.as_slice(),
        &deep,
        b"}}",
    ]
    .concat();
    for (line, what) in [
        (b"".as_slice(), "an empty line"),
        (b"  \t", "a line of white space"),
        (&deep, "a line nested 20,000 levels deep"),
    ] {
        let reaction = react(&mut agent, line).await?;
        let saw = reaction.tell(what);
        bench.judge(
            id::V1_RPC_10,
            reaction.is_alive,
            &agent,
            &reaction.frames(),
            saw,
        );
        if !reaction.is_alive {
            return Ok(());
        }
    }
    Ok(())
}

pub(super) async fn bad_bytes(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let ping = format!(r#"{{"jsonrpc":"2.0","method":"{PING}","params":{{}}}}"#);
    let marked = [b"\xef\xbb\xbf".as_slice(), ping.as_bytes()].concat();
    for (line, what) in [
        (b"\xff\xfe\x00{".as_slice(), "a line that is no UTF-8"),
        (
            b"{\"jsonrpc\":\"2.0\",\"method\":\"_x/bad\",\"params\":{\"x\":\"\xc3\x28\"}}",
            "a message with a text that is no UTF-8",
        ),
        (&marked, "a message behind a byte order mark"),
    ] {
        let reaction = react(&mut agent, line).await?;
        let (frames, saw) = (reaction.frames(), reaction.tell(what));
        bench.judge(id::V1_RPC_10, reaction.is_alive, &agent, &frames, &*saw);
        if !reaction.is_alive {
            return Ok(());
        }
        // It may be refused or repaired, but a result or another code would be wrong.
        let mut codes = reaction.answers.iter().map(code);
        let is_kept = codes.all(|code| matches!(code, Some(-32700 | -32600)));
        bench.judge(id::V1_RPC_10, is_kept, &agent, &frames, saw);
    }
    Ok(())
}

pub(super) async fn no_version(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    for (line, what) in [
        (
            json!({"id": "a", "method": PING, "params": {}}),
            "a request without `jsonrpc`",
        ),
        (
            json!({"jsonrpc": "1.0", "id": "b", "method": PING, "params": {}}),
            "a request of JSON-RPC 1.0",
        ),
    ] {
        let reaction = react(&mut agent, line.to_string().as_bytes()).await?;
        // An agent may be lenient and take it for what it means, so that -32601 is lawful too.
        let mut codes = reaction.answers.iter().map(code);
        let is_kept = reaction.is_alive
            && !reaction.answers.is_empty()
            && codes.all(|code| matches!(code, Some(-32600 | -32601)));
        let saw = reaction.tell(what);
        bench.judge(id::V1_RPC_10, is_kept, &agent, &reaction.frames(), saw);
        if !reaction.is_alive {
            return Ok(());
        }
    }
    Ok(())
}

pub(super) async fn arrays(bench: &mut Bench) -> Result<(), Stopped> {
    let mut agent = bench.greeted().await?;
    let ask = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": PING, "params": {}});
    let tell = json!({"jsonrpc": "2.0", "method": "_x/y"});
    for (array, what) in [
        (json!([]), "an empty array"),
        (json!([ask("one")]), "an array with one request"),
        (
            json!([ask("two"), tell, ask("three")]),
            "an array with two requests and a notification",
        ),
    ] {
        let reaction = react(&mut agent, array.to_string().as_bytes()).await?;
        let heard = agent.heard_since(reaction.sent);
        let has_array = heard
            .iter()
            .any(|frame| frame.json.as_ref().is_some_and(serde_json::Value::is_array));
        let is_kept = reaction.is_refusal(&[-32600]) && !has_array;
        let (frames, saw) = (reaction.frames(), reaction.tell(what));
        bench.judge_all(
            &[id::V1_RPC_18, id::V2_BATCH_01],
            is_kept,
            &agent,
            &frames,
            saw,
        );
        if !reaction.is_alive {
            return Ok(());
        }
    }
    Ok(())
}
