//! Files of the client, which version 1 lets agents use.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::turn::{self, Choice, Place, permit, word};
use crate::peer::{Reply, Stopped};
use crate::rule::id;
use crate::topic::Probe;

pub(super) const PROBES: &[Probe<Bench>] = &[
    Probe {
        name: "files that are not offered",
        rules: &[id::V1_FS_01, id::V1_FS_02],
        run: |bench| Box::pin(not_offered(bench)),
    },
    Probe {
        name: "files that are offered",
        rules: &[id::V1_FS_03, id::V1_FS_08],
        run: |bench| Box::pin(offered(bench)),
    },
];

/// Makes the agent read and write while the client offers nothing, then only one of the two.
async fn not_offered(bench: &mut Bench) -> Result<(), Stopped> {
    let prompts = bench.subject.prompts.clone();
    let none = json!({});
    let only_read = json!({"fs": {"readTextFile": true, "writeTextFile": false}});
    for (capabilities, prompt) in [(none, &prompts.read), (only_read, &prompts.write)] {
        let mut agent = bench.greeted_with(capabilities).await?;
        let session = agent.new_session().await?;
        serve(&mut agent, json!({}));
        let place = Place::look(&bench.subject.cwd).await;
        let course = turn::run(bench, &mut agent, &session, prompt).await?;
        let made = place.made_since().await;
        place.clear(&made).await;
        // Without a tool there was no reason to use files.
        if !course.calls(&agent).is_empty() || !made.is_empty() {
            bench.judge_all(
                &[id::V1_FS_01, id::V1_FS_02],
                true,
                &agent,
                &course.ends(),
                "",
            );
        }
    }
    Ok(())
}

/// Offers both, and answers writes in both ways.
async fn offered(bench: &mut Bench) -> Result<(), Stopped> {
    let prompts = bench.subject.prompts.clone();
    for written in [json!({}), Value::Null] {
        let both = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
        let mut agent = bench.greeted_with(both).await?;
        let session = agent.new_session().await?;
        serve(&mut agent, written.clone());
        let place = Place::look(&bench.subject.cwd).await;
        turn::run(bench, &mut agent, &session, &prompts.read).await?;
        let course = turn::run(bench, &mut agent, &session, &prompts.write).await?;
        place.clear(&place.made_since().await).await;
        let Some(write) = course.requests("fs/write_text_file").next() else {
            continue;
        };
        let failed = course
            .calls(&agent)
            .iter()
            .any(|life| life.status() == "failed");
        let is_kept = !failed && course.answer.error_code().is_none();
        let saw = format!("a write with the result `{written}` was treated as failed");
        bench.judge(
            id::V1_FS_08,
            is_kept,
            &agent,
            &[write.number, course.end],
            saw,
        );
    }
    Ok(())
}

/// Serves the files of the session's directory: agents look whether a write has happened.
fn serve(agent: &mut Agent, written: Value) {
    permit(agent, Choice::Allow);
    let cwd = agent.cwd.clone();
    agent.service.on("fs/read_text_file", move |params| {
        let content = inside(&cwd, params).and_then(|path| std::fs::read_to_string(path).ok());
        match content {
            Some(content) => Reply::Result(json!({"content": window(&content, params)})),
            None => Reply::Error(-32002, "Resource not found"),
        }
    });
    let cwd = agent.cwd.clone();
    agent.service.on("fs/write_text_file", move |params| {
        let content = word(params, "content").unwrap_or_default();
        let done = inside(&cwd, params).map(|path| std::fs::write(path, content));
        match done {
            Some(Ok(())) => Reply::Result(written.clone()),
            _ => Reply::Error(-32603, "The file cannot be written"),
        }
    });
}

/// Returns the path that a call names, if it is in the session's directory.
fn inside(cwd: &Path, params: &Value) -> Option<PathBuf> {
    let path = PathBuf::from(word(params, "path")?);
    let is_plain = |part: Component<'_>| !matches!(part, Component::ParentDir);
    (path.starts_with(cwd) && path.components().all(is_plain)).then_some(path)
}

/// Returns the lines that a call asks for.
fn window(content: &str, params: &Value) -> String {
    let number = |key: &str| params.get(key).and_then(Value::as_u64);
    let number = |key: &str| number(key).and_then(|number| usize::try_from(number).ok());
    let skipped = number("line").unwrap_or(1).saturating_sub(1);
    let lines = content.split_inclusive('\n').skip(skipped);
    lines.take(number("limit").unwrap_or(usize::MAX)).collect()
}
