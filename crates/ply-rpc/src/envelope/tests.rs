use super::*;

fn show(line: &[u8]) -> String {
    let raw = |raw: Option<&RawValue>| raw.map_or("-".to_owned(), |raw| raw.get().to_owned());
    match parse(line) {
        Ok(Message::Request { id, method, params }) => {
            format!("request {id} {method} {}", raw(params))
        }
        Ok(Message::Notification { method, params }) => {
            format!("notification {method} {}", raw(params))
        }
        Ok(Message::Response {
            id,
            outcome: Outcome::Result(result),
        }) => format!("result {id} {}", result.get()),
        Ok(Message::Response {
            id,
            outcome: Outcome::Error(error),
        }) => format!("error {id} {}", error.get()),
        Ok(Message::Response {
            id,
            outcome: Outcome::Neither,
        }) => format!("neither {id}"),
        Err(Rejected { error, answer, .. }) => format!("{} {answer:?}", error.code),
    }
}

#[track_caller]
fn check(line: &str, expected: &str) {
    assert_eq!(show(line.as_bytes()), expected, "{line}");
}

#[test]
fn messages_of_each_kind_are_told_apart() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#,
        r#"request 1 m {"a":1}"#,
    );
    check(
        r#"{"params":[1],"method":"m","id":"x","jsonrpc":"2.0"}"#,
        r#"request "x" m [1]"#,
    );
    check(r#"{"jsonrpc":"2.0","method":"m"}"#, "notification m -");
    check(
        r#"{"jsonrpc":"2.0","method":"m","params":null}"#,
        "notification m -",
    );
    check(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result 1 null");
    check(r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, "error 1 {}");
    check(
        r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
        "request null m -",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"m","futureField":[{}]}"#,
        "request 1 m -",
    );
}

#[test]
fn a11_escaped_slashes_are_accepted_and_broken_escapes_cost_one_frame() {
    check(
        r#"{"jsonrpc":"2.0","method":"session\/new"}"#,
        "notification session/new -",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#,
        "-32600 To(RequestId(Int(1)))",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,
        "-32600 ToNull",
    );
}

#[test]
fn a8_bytes_that_are_not_utf_8_reject_the_line() {
    assert_eq!(
        show(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"),
        "-32700 ToNull"
    );
}

#[test]
fn json_that_is_no_message_is_told_from_text_that_is_no_json() {
    for line in [
        "42",
        "\"x\"",
        "true",
        "null",
        "{}",
        "[]",
        "[{}]",
        r#"[{"jsonrpc":"2.0","method":"m"}]"#,
    ] {
        check(line, "-32600 ToNull");
    }
    for line in ["{", "hello", "{\"a\":}", "[1", "\u{1}"] {
        check(line, "-32700 ToNull");
    }
}

#[test]
fn b8_a_message_with_the_wrong_version_is_refused_under_its_id() {
    check(r#"{"id":1,"method":"m"}"#, "-32600 To(RequestId(Int(1)))");
    check(
        r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#,
        "-32600 To(RequestId(Int(1)))",
    );
    check(
        r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#,
        "-32600 To(RequestId(Int(1)))",
    );
    check(r#"{"jsonrpc":"1.0","method":"m"}"#, "-32600 Nobody");
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        "-32600 To(RequestId(Int(1)))",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1}"#,
        "-32600 To(RequestId(Int(1)))",
    );
}

#[test]
fn b8_both_result_and_error_ends_the_call_and_is_not_answered() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#,
        "neither 1",
    );
    check(r#"{"jsonrpc":"2.0","result":1}"#, "-32600 Nobody");
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#,
        "-32600 To(RequestId(Int(1)))",
    );
}

#[test]
fn b6_ids_of_the_wrong_kind_are_refused_with_that_id() {
    check(
        r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#,
        r#"-32600 ToText("1.5")"#,
    );
    check(
        r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
        r#"-32600 ToText("true")"#,
    );
    check(r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "-32600 ToNull");
}

#[test]
fn a12_deep_nesting_is_refused_under_the_id_found_before_it() {
    let deep = "[".repeat(100_000);
    check(
        &format!(r#"{{"jsonrpc":"2.0","id":9,"method":"m","params":{deep}"#),
        "-32600 To(RequestId(Int(9)))",
    );
    assert_eq!(show(deep.as_bytes()), "-32600 ToNull");
}

#[test]
fn a6_the_id_is_found_in_the_head_of_a_cut_off_message() {
    let id = |text: &str| Head::scan(text.as_bytes()).answer();
    assert_eq!(
        id(r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"x":"aaaa"#),
        Answer::To(7.into())
    );
    assert!(
        matches!(id(r#"{"params":{"id":3},"id":"q","method":"m"#), Answer::To(id) if id.to_string() == "\"q\"")
    );
    assert_eq!(
        id(r#"{"method":"m","id":12"#),
        Answer::Nobody,
        "the id may go on"
    );
    assert_eq!(
        id(r#"{"method":"m","params":{"id":12,"#),
        Answer::Nobody,
        "not a top-level id"
    );
    assert_eq!(
        id(r#"{"jsonrpc":"2.0","id":7,"result":"aaaa"#),
        Answer::Nobody,
        "a response"
    );
}

#[test]
fn decode_reasons_do_not_repeat_the_input() {
    #[derive(Deserialize, Debug)]
    struct Params {
        #[expect(dead_code, reason = "decoded only")]
        line: u32,
    }
    let reason = |json: &str| {
        crate::error::decode_reason(&serde_json::from_str::<Params>(json).unwrap_err())
    };
    assert_eq!(reason("{}"), "missing field `line`");
    assert_eq!(reason(r#"{"line":"secret"}"#), "expected u32 at column 16");
    assert_eq!(
        reason(r#"{"line":"a, expected b"}"#),
        "expected u32 at column 23"
    );
    assert_eq!(reason(r#"{"line":-5}"#), "expected u32 at column 10");
}
