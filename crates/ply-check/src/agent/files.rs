//! Files of the client, which version 1 lets agents use.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::bench::{Agent, Bench};
use super::notices::asked;
use super::tool::is_absolute;
use super::turn::{self, Choice, Course, Place, permit, word};
use crate::peer::{Reply, Stopped};
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

/// What every file holds.
const CONTENT: &str = "# A scratch project\n\nNothing is in it.\n";

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent(
            "V1-FS-01",
            "Files of the client are used only after looking at its capabilities.",
        )
        .matters("Every tool that needs a file fails in clients without files.")
        .fix(
            "Read `clientCapabilities.fs` of `initialize`, and use own access if it is not there.",
        ),
        Rule::agent(
            "V1-FS-02",
            "A method whose flag is not set is never called.",
        )
        .matters("Tools fail in clients that only show files.")
        .fix("Check `readTextFile` and `writeTextFile` one by one."),
        Rule::agent(
            "V1-FS-03",
            "Calls for files have a session and an absolute path, and lines count from 1.",
        )
        .matters("Clients refuse the call, or read another file.")
        .fix("Join paths with the session's directory, and send `sessionId`."),
        Rule::agent(
            "V1-FS-08",
            "An empty object and null both mean that a write worked.",
        )
        .matters("The tool is reported as failed although the file was written.")
        .fix("Take any result as success, and only an error as failure."),
    ],
    probes: &[
        Probe {
            name: "files that are not offered",
            rules: &["V1-FS-01", "V1-FS-02"],
            run: |bench| Box::pin(not_offered(bench)),
        },
        Probe {
            name: "files that are offered",
            rules: &["V1-FS-03", "V1-FS-08"],
            run: |bench| Box::pin(offered(bench)),
        },
    ],
};

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
            turn::judge(
                bench,
                &["V1-FS-01", "V1-FS-02"],
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
        let saw = format!("a write that was answered with `{written}` was taken as failed");
        bench.judge(
            "V1-FS-08",
            is_kept,
            &agent,
            &[write.number, course.end],
            saw,
        );
    }
    Ok(())
}

/// Serves files that all hold the same, and takes every write.
fn serve(agent: &mut Agent, written: Value) {
    permit(agent, Choice::Allow);
    let read = |_: &Value| Reply::Result(json!({"content": CONTENT}));
    agent.service.on("fs/read_text_file", read);
    agent.service.on("fs/write_text_file", move |_| {
        Reply::Result(written.clone())
    });
}

/// Looks at the calls for files in a turn.
pub(super) fn look(bench: &mut Bench, agent: &Agent, course: &Course) {
    if course.version == Version::V2 {
        return;
    }
    let methods = [
        ("fs/read_text_file", "/fs/readTextFile"),
        ("fs/write_text_file", "/fs/writeTextFile"),
    ];
    for (method, capability) in methods {
        let is_offered = asked(agent, capability);
        for frame in course.requests(method) {
            let saw = format!("`{method}` was called, which the client does not offer");
            turn::judge(
                bench,
                &["V1-FS-01", "V1-FS-02"],
                is_offered,
                agent,
                &[frame.number],
                &saw,
            );
            let params = frame.params().unwrap_or(&Value::Null);
            let path = word(params, "path").unwrap_or_default();
            let line = params.get("line").filter(|line| !line.is_null());
            let line_fits = line.is_none_or(|line| line.as_u64().is_some_and(|line| line >= 1));
            let is_kept =
                is_absolute(&path) && line_fits && frame.session() == Some(course.session.as_str());
            let saw = "a call for a file has no session, no absolute path, or a line below 1";
            bench.judge("V1-FS-03", is_kept, agent, &[frame.number], saw);
        }
    }
}
