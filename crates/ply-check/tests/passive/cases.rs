//! The cases: for each rule a recording that keeps it and one that breaks it.

/// A rule and two recordings.
pub(crate) struct Case {
    pub(crate) rule: String,
    pub(crate) good: Vec<String>,
    /// None for what a side may do, which is only ever seen to be done.
    pub(crate) bad: Option<Vec<String>>,
}

impl Case {
    /// Returns whether the client of the good recording does something on purpose that it may not.
    pub(crate) fn good_is_foul(&self) -> bool {
        ["V1-RPC-05", "V1-INIT-19", "V2-INIT-17", "V2-SESS-09"].contains(&self.rule.as_str())
    }
}

const HELLO_1: &str = r#"> 1 initialize {"protocolVersion":1,"clientInfo":{"name":"c","version":"1"},"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"auth":{"terminal":true},"elicitation":{"form":{}},"session":{"notices":{},"compaction":{},"configOptions":{"boolean":{}}},"plan":{}}}
<= 1 {"protocolVersion":1,"agentInfo":{"name":"a","version":"1"},"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},"mcpCapabilities":{"http":true},"sessionCapabilities":{"resume":{},"close":{},"list":{},"delete":{},"additionalDirectories":{}},"auth":{"logout":{}}},"authMethods":[{"id":"key","name":"Key"},{"id":"tty","name":"Terminal","type":"terminal"}]}
"#;
const BARE_1: &str = r#"> 1 initialize {"protocolVersion":1,"clientInfo":{"name":"c","version":"1"},"clientCapabilities":{}}
<= 1 {"protocolVersion":1,"agentInfo":{"name":"a","version":"1"},"agentCapabilities":{}}
"#;
const HELLO_2: &str = r#"> 1 initialize {"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{"auth":{"terminal":{}},"elicitation":{"form":{}}}}
<= 1 {"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{"prompt":{"image":{}},"mcp":{"stdio":{},"http":{}},"delete":{},"additionalDirectories":{}}},"authMethods":[{"methodId":"key","name":"Key","type":"agent"},{"methodId":"tty","name":"Terminal","type":"terminal"}]}
"#;
const BARE_2: &str = r#"> 1 initialize {"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}
<= 1 {"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{}}
"#;
/// The same with sessions, and with nothing more.
const PLAIN_2: &str = r#"> 1 initialize {"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}
<= 1 {"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}
"#;
const SESSION: &str = r#"> 2 session/new {"cwd":"/w","mcpServers":[]}
<= 2 {"sessionId":"s"}
"#;
const PROMPT_1: &str = r#"> 3 session/prompt {"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}
"#;
const PROMPT_2: &str = r#"> 3 session/prompt {"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}
<= 3 {"messageId":"m1"}
U user_message {"messageId":"m1","content":[{"type":"text","text":"hi"}]}
U state_update {"state":"running"}
"#;

/// Returns what a recording begins with, by name.
fn beginning(name: &str) -> String {
    match name {
        "none" => String::new(),
        "hello1" => HELLO_1.to_owned(),
        "bare1" => BARE_1.to_owned(),
        "barep1" => [BARE_1, SESSION, PROMPT_1].concat(),
        "bares1" => [BARE_1, SESSION].concat(),
        "s1" => [HELLO_1, SESSION].concat(),
        "page1" => [
            &HELLO_1.replace(r#""form":{}"#, r#""form":{},"url":{}"#),
            SESSION,
        ]
        .concat(),
        "p1" => [HELLO_1, SESSION, PROMPT_1].concat(),
        "hello2" => HELLO_2.to_owned(),
        "bare2" => BARE_2.to_owned(),
        "plain2" => PLAIN_2.to_owned(),
        "plains2" => [PLAIN_2, SESSION].concat(),
        "s2" => [HELLO_2, SESSION].concat(),
        "p2" => [HELLO_2, SESSION, PROMPT_2].concat(),
        _ => panic!("no beginning is called {name}"),
    }
}

/// Returns all cases.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for block in include_str!("cases.txt").split("\n= ").skip(1) {
        let (head, lines) = block.split_once('\n').unwrap();
        let words: Vec<&str> = head.split_whitespace().collect();
        let [rule, good, bad] = match words[..] {
            [rule, both] => [rule, both, both],
            [rule, good, bad] => [rule, good, bad],
            _ => panic!("{head}"),
        };
        let whole = |name: &str, mark: char| {
            let first = beginning(name);
            let first = first.lines().map(str::to_owned);
            let rest = lines
                .lines()
                .filter_map(|line| match line.split_at_checked(1)? {
                    ("*", rest) => Some(rest.trim_start().to_owned()),
                    (is, rest) if is.starts_with(mark) => Some(rest.trim_start().to_owned()),
                    _ => None,
                });
            first.chain(rest).map(|line| expanded(&line)).collect()
        };
        let has_bad = lines.lines().any(|line| !line.starts_with('+'));
        cases.push(Case {
            rule: rule.to_owned(),
            good: whole(good, '+'),
            bad: has_bad.then(|| whole(bad, '-')),
        });
    }
    cases
}

/// Writes `U KIND MEMBERS` as an update of the session.
fn expanded(line: &str) -> String {
    let Some(update) = line.strip_prefix("U ") else {
        return line.to_owned();
    };
    let (kind, members) = update.split_once(' ').unwrap_or((update, "{}"));
    let mut update: serde_json::Value = serde_json::from_str(members).expect(line);
    update["sessionUpdate"] = kind.into();
    let params = serde_json::json!({ "sessionId": "s", "update": update });
    format!("< session/update {params}")
}
