//! Files of the client, which version 1 agents may use.

mod corner;

use std::path::Path;

use serde_json::{Value, json};

use self::corner::{Corner, Nothing};
use super::scene::{Scene, Start, Topic, rule};
use super::stage::Stage;
use crate::peer::{Answer, Stopped};

pub(super) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V1-RPC-14",
            "Line numbers count from 1.",
            "Agents read and change the wrong lines.",
            "Take line 1 for the first.",
        )
        .gate("fs.readTextFile"),
        rule(
            "V1-INIT-17",
            "What the client offers works.",
            "Agents rely on what is offered, and fail.",
            "Offer only what is implemented.",
        )
        .should(),
        rule(
            "V1-FS-04",
            "`line` and `limit` choose the lines that are read.",
            "Agents read the wrong lines.",
            "Begin at `line`, and return at most `limit` lines.",
        )
        .gate("fs.readTextFile"),
        rule(
            "V1-FS-06",
            "A file is answered as a text, an empty one too.",
            "The agent takes the answer for a failure.",
            "Answer `content` as a string.",
        )
        .gate("fs.readTextFile"),
        rule(
            "V1-FS-07",
            "Writing makes a file that is not there.",
            "Agents cannot make files.",
            "Create the file, and its content as given.",
        )
        .gate("fs.writeTextFile"),
        rule(
            "V1-FS-08",
            "Writing is answered with an empty result.",
            "The agent takes the answer for a failure.",
            "Answer `{}`.",
        )
        .gate("fs.writeTextFile"),
        rule(
            "V1-FS-09",
            "A file that is not there is told with -32002.",
            "The agent cannot tell a missing file from a failure.",
            "Answer -32002 for missing files.",
        )
        .gate("fs.readTextFile")
        .should(),
        rule(
            "V1-FS-10",
            "Methods that were not offered are refused with -32601, and do nothing.",
            "Agents read or change files that the user did not give.",
            "Answer -32601 before anything is touched.",
        )
        .unspecified(),
        rule(
            "V1-FS-11",
            "Paths outside of the session's directories are refused.",
            "An agent reads or changes files that the user did not give.",
            "Compare the real path with the roots.",
        )
        .gate("fs")
        .should(),
        rule(
            "V2-INIT-14",
            "There are no files and terminals of the client in version 2.",
            "Agents read or change files that the user did not give.",
            "Answer -32601.",
        ),
        rule(
            "V1-FS-12",
            "A `line` or `limit` of the wrong type is refused with -32602.",
            "Agents read other lines than they asked for.",
            "Check the types.",
        )
        .gate("fs.readTextFile")
        .should(),
    ],
    scenes: &[
        Scene {
            name: "read-files",
            start: Start::AtPrompt,
            rules: &[
                "V1-RPC-14",
                "V1-INIT-17",
                "V1-FS-04",
                "V1-FS-06",
                "V1-FS-09",
                "V1-FS-10",
                "V1-FS-11",
                "V1-FS-12",
            ],
            leaves: false,
            run: |stage| Box::pin(read_files(stage)),
        },
        Scene {
            name: "write-files",
            start: Start::AtPrompt,
            rules: &["V1-INIT-17", "V1-FS-07", "V1-FS-08", "V1-FS-10", "V1-FS-11"],
            leaves: false,
            run: |stage| Box::pin(write_files(stage)),
        },
        Scene {
            name: "old-services",
            start: Start::AtPrompt,
            rules: &["V2-INIT-14"],
            leaves: false,
            run: |stage| Box::pin(old_services(stage)),
        },
    ],
};

fn said(answer: &Answer) -> String {
    match answer.error_code() {
        Some(code) => format!(
            "the answer was the error {code}: {}",
            answer.error_message()
        ),
        None => "the answer was a result".to_owned(),
    }
}

async fn read(stage: &mut Stage, path: &Path, more: Value) -> Result<Answer, Stopped> {
    let mut params = json!({"sessionId": stage.session, "path": path});
    super::stage::merge(&mut params, &more);
    stage.ask("fs/read_text_file", params).await
}

/// Asks for a method that was not offered, and judges the refusal.
async fn refused(
    stage: &mut Stage,
    method: &str,
    params: Value,
    rules: &[&str],
) -> Result<(), Stopped> {
    let answer = stage.ask(method, params).await?;
    let saw = format!("`{method}`, which is not offered: {}", said(&answer));
    stage.judge(
        rules,
        answer.error_code() == Some(-32601),
        &answer.frames(),
        saw,
    );
    Ok(())
}

async fn read_files(stage: &mut Stage) -> Result<(), Stopped> {
    let gated = ["V1-RPC-14", "V1-FS-04", "V1-FS-06", "V1-FS-09", "V1-FS-12"];
    if !stage.offers("/fs/readTextFile") {
        stage.not_offered(&gated, "reading files");
        let nothing = Nothing::in_session(stage)?;
        let params = json!({"sessionId": stage.session, "path": nothing.path()});
        return refused(stage, "fs/read_text_file", params, &["V1-FS-10"]).await;
    }
    let corner = Corner::new(stage)?;
    let content: String = (1..=10).map(|line| format!("line {line}\n")).collect();
    let ten = corner.write("ten lines.txt", &content)?;
    let text = |answer: &Answer| {
        answer
            .result()
            .and_then(|result| result.get("content"))
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let whole = read(stage, &ten, json!({})).await?;
    stage.judge(
        &["V1-INIT-17"],
        whole.error_code() != Some(-32601),
        &whole.frames(),
        said(&whole),
    );
    stage.judge(
        &["V1-FS-06"],
        text(&whole).is_some(),
        &whole.frames(),
        said(&whole),
    );
    if text(&whole).is_none() {
        return Ok(());
    }
    // Whether the last line end belongs to the lines is left open.
    let windows = [
        (json!({"line": 3, "limit": 2}), "line 3\nline 4"),
        (json!({"line": 10, "limit": 5}), "line 10"),
        (json!({"limit": 1}), "line 1"),
    ];
    for (window, wanted) in windows {
        let answer = read(stage, &ten, window.clone()).await?;
        let found = text(&answer);
        let is_kept = found
            .as_deref()
            .is_some_and(|found| found.trim_end_matches('\n') == wanted);
        let saw = format!("{window} gave {:?}", found.unwrap_or_else(|| said(&answer)));
        stage.judge(&["V1-FS-04"], is_kept, &answer.frames(), saw);
    }
    let first = read(stage, &ten, json!({"line": 1, "limit": 1})).await?;
    let found = text(&first).unwrap_or_default();
    let is_only = found.trim_end() == "line 1";
    stage.judge(
        &["V1-FS-04"],
        is_only,
        &first.frames(),
        format!("line 1 alone gave {found:?}"),
    );
    // A client that hands out more than was asked for still counts from 1.
    let is_first = found.lines().next() == Some("line 1");
    stage.judge(
        &["V1-RPC-14"],
        is_first,
        &first.frames(),
        "line 1 is not the first line",
    );

    let empty = corner.write("empty.txt", "")?;
    let answer = read(stage, &empty, json!({})).await?;
    stage.judge(
        &["V1-FS-06"],
        text(&answer).as_deref() == Some(""),
        &answer.frames(),
        said(&answer),
    );
    let missing = corner.file("not there.txt");
    let answer = read(stage, &missing, json!({})).await?;
    stage.judge(
        &["V1-FS-09"],
        answer.error_code() == Some(-32002),
        &answer.frames(),
        said(&answer),
    );
    for wrong in [json!({"line": "x"}), json!({"limit": -1})] {
        let answer = read(stage, &ten, wrong.clone()).await?;
        let saw = format!("{wrong}: {}", said(&answer));
        stage.judge(
            &["V1-FS-12"],
            answer.error_code() == Some(-32602),
            &answer.frames(),
            saw,
        );
    }
    let answer = read(stage, Path::new("/etc/hostname"), json!({})).await?;
    stage.judge(
        &["V1-FS-11"],
        answer.error_code().is_some(),
        &answer.frames(),
        "a file outside of the session's directories was read",
    );
    let link = corner.file("way out");
    if std::os::unix::fs::symlink("/etc", &link).is_ok() {
        let answer = read(stage, &link.join("hostname"), json!({})).await?;
        stage.judge(
            &["V1-FS-11"],
            answer.error_code().is_some(),
            &answer.frames(),
            "a link led out of the session's directories",
        );
    }
    Ok(())
}

async fn write_files(stage: &mut Stage) -> Result<(), Stopped> {
    if !stage.offers("/fs/writeTextFile") {
        let nothing = Nothing::in_session(stage)?;
        let path = nothing.path();
        let params = json!({"sessionId": stage.session, "path": path, "content": "written\n"});
        stage.not_offered(&["V1-FS-07", "V1-FS-08"], "writing files");
        refused(stage, "fs/write_text_file", params, &["V1-FS-10"]).await?;
        let saw = "a file was written though writing is not offered";
        stage.judge(&["V1-FS-10"], !path.exists(), &[], saw);
        return Ok(());
    }
    let corner = Corner::new(stage)?;
    let path = corner.file("new file.txt");
    let params = json!({"sessionId": stage.session, "path": path, "content": "written\n"});
    let answer = stage.ask("fs/write_text_file", params).await?;
    stage.judge(
        &["V1-INIT-17"],
        answer.error_code() != Some(-32601),
        &answer.frames(),
        said(&answer),
    );
    // A client may ask its user, who may say no.
    if answer.error_code().is_some() {
        stage.unclear(&["V1-FS-07", "V1-FS-08"], &said(&answer));
        return Ok(());
    }
    let is_empty = answer
        .result()
        .is_some_and(|result| result.is_null() || result.is_object());
    stage.judge(&["V1-FS-08"], is_empty, &answer.frames(), said(&answer));
    // An editor may keep it in a buffer; then it reads what was written.
    let on_disk = std::fs::read_to_string(&path).unwrap_or_default();
    let mut is_made = on_disk == "written\n";
    if !is_made && stage.offers("/fs/readTextFile") {
        let again = read(stage, &path, json!({})).await?;
        is_made =
            again.result().and_then(|result| result.get("content")) == Some(&json!("written\n"));
    }
    stage.judge(
        &["V1-FS-07"],
        is_made,
        &answer.frames(),
        "the file is not there after it was written",
    );
    let outside = Nothing::outside();
    let params = json!({"sessionId": stage.session, "path": outside.path(), "content": "out\n"});
    let answer = stage.ask("fs/write_text_file", params).await?;
    let is_kept = answer.error_code().is_some() && !outside.path().exists();
    stage.judge(
        &["V1-FS-11"],
        is_kept,
        &answer.frames(),
        "a file outside of the session's directories was written",
    );
    Ok(())
}

/// Version 2 has neither files nor terminals of the client.
async fn old_services(stage: &mut Stage) -> Result<(), Stopped> {
    let nothing = Nothing::in_session(stage)?;
    let params = json!({"sessionId": stage.session, "path": nothing.path()});
    refused(stage, "fs/read_text_file", params, &["V2-INIT-14"]).await?;
    let params = json!({"sessionId": stage.session, "command": "true"});
    refused(stage, "terminal/create", params, &["V2-INIT-14"]).await
}
