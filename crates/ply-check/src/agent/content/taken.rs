//! The content of prompts: what every agent takes, and what only those take that say so.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use crate::agent::bench::{Agent, Bench};
use crate::agent::hearing::Wish;
use crate::agent::turn::{self, Choice, QUIET, new_user_message, permit, said};
use crate::peer::Stopped;
use crate::rule::id;

/// A picture of one dot, as small as they come.
const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
/// A sound of no length.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// Sends a link, and text with annotations, which every agent has to take.
pub(super) async fn by_all(bench: &mut Bench) -> Result<(), Stopped> {
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    let short = bench.subject.prompts.short.clone();
    let uri = format!("file://{}", agent.cwd.join("README.md").display());
    let link = json!({"type": "resource_link", "uri": uri, "name": "README.md"});
    let mut annotated = said(&short);
    if let Some(block) = annotated.as_object_mut() {
        let notes = json!({"audience": ["user"], "priority": 0.5, "_future": 1});
        block.insert("annotations".to_owned(), notes);
    }
    let cases = match bench.version {
        Version::V1 => vec![
            (id::V1_CONTENT_03, json!([said(&short), link])),
            (id::V1_CONTENT_09, json!([annotated])),
        ],
        Version::V2 => vec![(id::V2_INIT_12, json!([said(&short), link]))],
    };
    for (rule, blocks) in cases {
        let turn = turn::begin_with(&mut agent, &session, blocks).await?;
        let course = turn.complete(bench, &mut agent).await?;
        let saw = course.how();
        let is_taken = course.answer.error_code().is_none();
        bench.judge(rule, is_taken, &agent, &course.ends(), saw);
    }
    bench.give_back(agent);
    Ok(())
}

/// Sends each kind of block that needs a capability: it is taken if it was announced, and refused if not.
pub(super) async fn by_some(bench: &mut Bench) -> Result<(), Stopped> {
    let root = match bench.version {
        Version::V1 => "/promptCapabilities",
        Version::V2 => "/session/prompt",
    };
    let embedded =
        json!({"uri": "file:///ply-check.txt", "mimeType": "text/plain", "text": "checked"});
    let cases = [
        (
            "image",
            json!({"type": "image", "data": DOT, "mimeType": "image/png"}),
        ),
        (
            "audio",
            json!({"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}),
        ),
        (
            "embeddedContext",
            json!({"type": "resource", "resource": embedded}),
        ),
    ];
    let (mut agent, session) = bench.session().await?;
    permit(&mut agent, Choice::Allow);
    for (capability, block) in &cases {
        if !agent.offers(&format!("{root}/{capability}")) {
            agent.recording().play_foul();
            refused(bench, &mut agent, &session, capability, block).await?;
        }
    }
    // Version 1 says nothing of kinds that do not exist.
    if bench.version == Version::V2 {
        agent.recording().play_foul();
        let unknown = json!({"type": "_ply-check/unknown"});
        refused(bench, &mut agent, &session, "an unknown kind", &unknown).await?;
    }
    bench.give_back(agent);
    Ok(())
}

async fn refused(
    bench: &mut Bench,
    agent: &mut Agent,
    session: &str,
    what: &str,
    block: &Value,
) -> Result<(), Stopped> {
    let short = bench.subject.prompts.short.clone();
    let blocks = json!([said(&short), block]);
    let turn = turn::begin_with(agent, session, blocks).await?;
    let patience = bench.subject.turn_patience;
    let Some(course) = turn.finish(agent, patience).await? else {
        agent.hearing.miss(Wish::Turn);
        return Err(Stopped::Silent {
            method: turn.call.method,
            waited: patience,
        });
    };
    let code = course.answer.error_code();
    let saw = match code {
        Some(code) => format!("content that was not announced ({what}) was refused with {code}"),
        None => format!("content that was not announced ({what}) was taken"),
    };
    let rules = [id::V1_CONTENT_11, id::V2_PROMPT_03];
    bench.judge_all(&rules, code == Some(-32602), agent, &course.ends(), &saw);
    if code.is_some() && bench.version == Version::V2 {
        agent.listen(QUIET).await?;
        let told = new_user_message(agent, turn.call.frame);
        let saw = "a prompt was refused and reported as a user message";
        bench.judge(id::V2_PROMPT_12, told.is_none(), agent, &course.ends(), saw);
    }
    Ok(())
}
