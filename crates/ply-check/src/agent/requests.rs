//! Requests that have one right answer: rows of what is sent, and what has to come back. They share one process and one session.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::judging::{is_not_found, is_refused, tell};
use crate::peer::{Answer, Stopped};
use crate::rule::id;
use crate::topic::Probe;

/// A session that no agent has.
const NOBODY: &str = "ply-check-no-such-session";
/// Codes that say something else than that a session is not there. An inner error is only unkind.
const OTHER_CODES: &[i64] = &[-32700, -32600, -32601, -32000, -32800];

pub(super) const PROBES: &[Probe<Bench>] = &[Probe {
    name: "requests that have one right answer",
    rules: &[
        id::V1_RPC_08,
        id::V1_RPC_11,
        id::V1_EXT_03,
        id::V1_ERR_01,
        id::V1_SESS_02,
        id::V1_SESS_13,
        id::V1_SESS_15,
        id::V1_LOAD_14,
        id::V1_CLOSE_04,
        id::V1_MCP_06,
        id::V2_RPC_01,
        id::V2_RPC_06,
        id::V2_EXT_04,
        id::V2_ERR_01,
        id::V2_ERR_02,
        id::V2_SESS_02,
        id::V2_SESS_04,
        id::V2_SESS_09,
    ],
    run: |bench| Box::pin(ask_all(bench)),
}];

/// What has to come back.
#[derive(Debug, Clone, Copy)]
enum Wants {
    /// An answer, whatever it is.
    Answer,
    /// An error.
    Error,
    /// An error, or a turn that is refused.
    Refusal,
    /// An error with this code.
    Code(i64),
    /// A result, or an error with this code: nobody can know that an agent does not serve every custom method.
    ResultOr(i64),
    /// No error with one of these codes.
    Not(&'static [i64]),
    /// That the session is not known, in the words of version 2.
    NotFound,
}

/// What a row needs to make its parameters.
struct Place<'a> {
    cwd: &'a std::path::Path,
    session: &'a str,
}

/// One request.
struct Row {
    /// The versions in which it is sent.
    versions: &'static [Version],
    /// The method; `session/new` gets what every session needs besides.
    method: &'static str,
    params: fn(&Place<'_>) -> Value,
    /// What it is about, as in "`session/new` was answered with a result, …".
    what: &'static str,
    /// When it is sent, by what the agent offers.
    sent: Sent,
    wants: &'static [(Wants, &'static [&'static str])],
}

/// When a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Always,
    /// If this is offered.
    With(&'static str),
    /// If this is not offered.
    Without(&'static str),
}

const V1: &[Version] = &[Version::V1];
const V2: &[Version] = &[Version::V2];
const BOTH: &[Version] = &[Version::V1, Version::V2];

const UNFIT: &[(Wants, &[&str])] = &[(
    Wants::Code(-32602),
    &[id::V1_RPC_11, id::V1_ERR_01, id::V2_RPC_01, id::V2_ERR_01],
)];
const UNKNOWN: &[(Wants, &[&str])] = &[
    (Wants::Error, &[id::V1_SESS_13]),
    (Wants::Not(OTHER_CODES), &[id::V1_ERR_01]),
    (Wants::NotFound, &[id::V2_SESS_09, id::V2_ERR_01]),
];
const UNKNOWN_PROMPT: &[(Wants, &[&str])] = &[
    (Wants::Refusal, &[id::V1_PROMPT_14]),
    (Wants::Not(OTHER_CODES), &[id::V1_ERR_01]),
    (Wants::NotFound, &[id::V2_SESS_09, id::V2_ERR_01]),
];
const UNKNOWN_LOAD: &[(Wants, &[&str])] = &[
    (Wants::Error, &[id::V1_SESS_13, id::V1_LOAD_14]),
    (Wants::Not(OTHER_CODES), &[id::V1_ERR_01]),
];
const RELATIVE: &[(Wants, &[&str])] = &[
    (Wants::Error, &[id::V1_SESS_02]),
    (Wants::Code(-32602), &[id::V2_SESS_02]),
];
const KIND: &[(Wants, &[&str])] = &[(Wants::Code(-32602), &[id::V2_SESS_04, id::V2_ERR_02])];
const BROKEN: &[(Wants, &[&str])] = &[
    (Wants::Error, &[id::V1_MCP_06]),
    (Wants::Code(-32602), &[id::V2_RPC_06]),
];

const NOT_THERE: &str = "for a session that does not exist";

/// Returns the parameters of a prompt with one block.
fn prompt(session: &str, block: Value) -> Value {
    json!({"sessionId": session, "prompt": [block]})
}

/// Returns a text block.
fn hi() -> Value {
    json!({"type": "text", "text": "hi"})
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Methods that do not exist.
    Row { versions: BOTH, method: "session/nope", params: |_| json!({}), what: "which does not exist", sent: Sent::Always,
        wants: &[(Wants::Code(-32601), &[id::V1_RPC_08, id::V2_RPC_01])] },
    Row { versions: BOTH, method: "_vendor/nope", params: |_| json!({}), what: "which no agent has", sent: Sent::Always,
        wants: &[(Wants::ResultOr(-32601), &[id::V1_RPC_08, id::V1_EXT_03, id::V2_RPC_01, id::V2_EXT_04])] },
    // Parameters that do not fit.
    Row { versions: BOTH, method: "session/prompt", params: |_| json!({"prompt": [hi()]}), what: "without a session", sent: Sent::Always, wants: UNFIT },
    Row { versions: BOTH, method: "session/prompt", params: |at| json!({"sessionId": at.session, "prompt": "hi"}), what: "with a string as prompt", sent: Sent::Always, wants: UNFIT },
    Row { versions: BOTH, method: "session/new", params: |_| json!({"cwd": 7}), what: "with a number as directory", sent: Sent::Always, wants: UNFIT },
    Row { versions: BOTH, method: "session/new", params: |_| json!({"cwd": null}), what: "without a directory", sent: Sent::Always, wants: UNFIT },
    Row { versions: V2, method: "session/prompt", params: |at| prompt(at.session, json!({"type": "text"})), what: "with a text block without a text", sent: Sent::Always,
        wants: &[(Wants::Code(-32602), &[id::V2_RPC_06])] },
    Row { versions: V2, method: "session/prompt", params: |at| prompt(at.session, json!({"type": "_ply_check"})), what: "with a block of an unknown kind", sent: Sent::Always,
        wants: &[(Wants::Code(-32602), &[id::V2_ERR_02])] },
    // Sessions that do not exist.
    Row { versions: BOTH, method: "session/prompt", params: |_| prompt(NOBODY, hi()), what: NOT_THERE, sent: Sent::Always, wants: UNKNOWN_PROMPT },
    Row { versions: V1, method: "session/set_mode", params: |_| json!({"sessionId": NOBODY, "modeId": "x"}), what: NOT_THERE, sent: Sent::Always, wants: UNKNOWN },
    Row { versions: V1, method: "session/set_config_option", params: |_| json!({"sessionId": NOBODY, "configId": "x", "value": "x"}), what: NOT_THERE, sent: Sent::Always, wants: UNKNOWN },
    Row { versions: V2, method: "session/set_config_option", params: |_| json!({"sessionId": NOBODY, "configId": "x", "type": "id", "value": "x"}), what: NOT_THERE, sent: Sent::Always, wants: UNKNOWN },
    Row { versions: V1, method: "session/load", params: |at| json!({"sessionId": NOBODY, "cwd": at.cwd, "mcpServers": []}), what: NOT_THERE, sent: Sent::With("/loadSession"), wants: UNKNOWN_LOAD },
    Row { versions: V1, method: "session/resume", params: |at| json!({"sessionId": NOBODY, "cwd": at.cwd, "mcpServers": []}), what: NOT_THERE, sent: Sent::With("/sessionCapabilities/resume"), wants: UNKNOWN },
    Row { versions: V2, method: "session/resume", params: |at| json!({"sessionId": NOBODY, "cwd": at.cwd}), what: NOT_THERE, sent: Sent::With("/session"), wants: UNKNOWN },
    Row { versions: V1, method: "session/close", params: |_| json!({"sessionId": NOBODY}), what: NOT_THERE, sent: Sent::With("/sessionCapabilities/close"),
        wants: &[(Wants::Answer, &[id::V1_CLOSE_04])] },
    // Directories that are not absolute.
    Row { versions: BOTH, method: "session/new", params: |_| json!({"cwd": "src"}), what: "in the directory `src`", sent: Sent::Always, wants: RELATIVE },
    Row { versions: BOTH, method: "session/new", params: |_| json!({"cwd": "./src"}), what: "in the directory `./src`", sent: Sent::Always, wants: RELATIVE },
    Row { versions: BOTH, method: "session/new", params: |_| json!({"cwd": ".."}), what: "in the directory `..`", sent: Sent::Always, wants: RELATIVE },
    Row { versions: V1, method: "session/new", params: |_| json!({"additionalDirectories": ["src"]}), what: "with an additional directory `src`", sent: Sent::With("/sessionCapabilities/additionalDirectories"),
        wants: &[(Wants::Error, &[id::V1_SESS_15])] },
    Row { versions: V1, method: "session/load", params: |at| json!({"sessionId": at.session, "cwd": "src", "mcpServers": []}), what: "in the directory `src`", sent: Sent::With("/loadSession"), wants: RELATIVE },
    // MCP servers that cannot be read.
    Row { versions: V1, method: "session/new", params: |_| json!({"mcpServers": [{"name": "x", "args": [], "env": []}]}), what: "with a server without `command`", sent: Sent::Always, wants: BROKEN },
    Row { versions: V1, method: "session/new", params: |_| json!({"mcpServers": ["x"]}), what: "with a string as server", sent: Sent::Always, wants: BROKEN },
    Row { versions: V2, method: "session/new", params: |_| json!({"mcpServers": [{"type": "stdio", "name": "x"}]}), what: "with a server without `command`", sent: Sent::Always, wants: BROKEN },
    Row { versions: V2, method: "session/new", params: |_| json!({"mcpServers": [{"type": "_ply_check", "name": "x"}]}), what: "with a server of an unknown type", sent: Sent::Always, wants: KIND },
    Row { versions: V2, method: "session/new", params: |_| json!({"mcpServers": [{"type": "http", "name": "x", "url": "https://127.0.0.1:9/"}]}), what: "with an HTTP server, which is not advertised", sent: Sent::Without("/session/mcp/http"), wants: KIND },
];

/// Sends every row.
async fn ask_all(bench: &mut Bench) -> Result<(), Stopped> {
    // Without a session, an agent may refuse everything for another reason, such as a login.
    let (mut agent, session) = bench.session().await?;
    let cwd = agent.cwd.clone();
    let place = Place {
        cwd: &cwd,
        session: &session,
    };
    for row in ROWS {
        let is_due = match row.sent {
            Sent::With(offer) => agent.offers(offer),
            Sent::Without(offer) => !agent.offers(offer),
            Sent::Always => true,
        };
        if is_due && row.versions.contains(&bench.version) {
            ask(bench, &mut agent, row, &place).await?;
        }
    }
    bench.give_back(agent);
    Ok(())
}

async fn ask(
    bench: &mut Bench,
    agent: &mut Agent,
    row: &Row,
    place: &Place<'_>,
) -> Result<(), Stopped> {
    let params = (row.params)(place);
    let answer = match row.method {
        "session/new" => agent.new_session_with(&params).await?,
        method => agent.ask(method, params).await?,
    };
    let code = answer.error_code();
    // That a method is missing is told where the offers are checked, and says nothing about its parameters.
    let is_no_method =
        |(wants, _): &(Wants, _)| matches!(wants, Wants::Code(-32601) | Wants::ResultOr(_));
    if code == Some(-32601) && !row.wants.iter().any(is_no_method) {
        return Ok(());
    }
    for (wants, rules) in row.wants {
        let saw = format!("{}, {}", tell(row.method, &answer), row.what);
        let saw = match (wants, code) {
            (Wants::NotFound, Some(-32002)) => {
                format!("{saw}, but without its id in `data.sessionId`")
            }
            _ => saw,
        };
        bench.judge_all(rules, wants.fits(&answer), agent, &answer.frames(), saw);
    }
    Ok(())
}

impl Wants {
    fn fits(self, answer: &Answer) -> bool {
        let code = answer.error_code();
        match self {
            Self::Answer => answer.is_error() || answer.result().is_some(),
            Self::Error => answer.is_error(),
            Self::Refusal => is_refused(answer),
            Self::Code(wanted) => code == Some(wanted),
            Self::ResultOr(wanted) => code == Some(wanted) || answer.result().is_some(),
            Self::Not(codes) => code.is_none_or(|code| !codes.contains(&code)),
            Self::NotFound => is_not_found(answer, NOBODY),
        }
    }
}
