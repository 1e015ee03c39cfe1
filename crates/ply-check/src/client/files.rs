//! Files of the client, which version 1 agents may use.

mod corner;

use std::path::Path;

use serde_json::{Value, json};

use self::corner::{Corner, Nothing};
use super::scene::{Scene, Start};
use super::stage::Stage;
use crate::peer::{Answer, Stopped};
use crate::rule::id;

pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "read-files",
        start: Start::AtPrompt,
        rules: &[
            id::V1_RPC_14,
            id::V1_INIT_17,
            id::V1_FS_04,
            id::V1_FS_06,
            id::V1_FS_09,
            id::V1_FS_10,
            id::V1_FS_11,
            id::V1_FS_12,
        ],
        leaves: false,
        run: |stage| Box::pin(read_files(stage)),
    },
    Scene {
        name: "write-files",
        start: Start::AtPrompt,
        rules: &[
            id::V1_INIT_17,
            id::V1_FS_07,
            id::V1_FS_08,
            id::V1_FS_10,
            id::V1_FS_11,
        ],
        leaves: false,
        run: |stage| Box::pin(write_files(stage)),
    },
    Scene {
        name: "old-services",
        start: Start::AtPrompt,
        rules: &[id::V2_INIT_14],
        leaves: false,
        run: |stage| Box::pin(old_services(stage)),
    },
];

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
    let saw = format!("`{method}`, which is not advertised: {}", answer.said());
    stage.judge(
        rules,
        answer.error_code() == Some(-32601),
        &answer.frames(),
        saw,
    );
    Ok(())
}

async fn read_files(stage: &mut Stage) -> Result<(), Stopped> {
    let gated = [
        id::V1_RPC_14,
        id::V1_FS_04,
        id::V1_FS_06,
        id::V1_FS_09,
        id::V1_FS_12,
    ];
    if !stage.offers("/fs/readTextFile") {
        stage.not_offered(&gated, "reading files");
        let nothing = Nothing::in_session(stage)?;
        let params = json!({"sessionId": stage.session, "path": nothing.path()});
        return refused(stage, "fs/read_text_file", params, &[id::V1_FS_10]).await;
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
    stage.expect(
        &[id::V1_INIT_17],
        whole.error_code() != Some(-32601),
        &whole,
    );
    stage.expect(&[id::V1_FS_06], text(&whole).is_some(), &whole);
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
        let saw = format!("{window} gave {:?}", found.unwrap_or_else(|| answer.said()));
        stage.judge(&[id::V1_FS_04], is_kept, &answer.frames(), saw);
    }
    let first = read(stage, &ten, json!({"line": 1, "limit": 1})).await?;
    let found = text(&first).unwrap_or_default();
    let is_only = found.trim_end() == "line 1";
    stage.judge(
        &[id::V1_FS_04],
        is_only,
        &first.frames(),
        format!("line 1 alone gave {found:?}"),
    );
    // A client that hands out more than was asked for still counts from 1.
    let is_first = found.lines().next() == Some("line 1");
    stage.judge(
        &[id::V1_RPC_14],
        is_first,
        &first.frames(),
        "line 1 is not the first line",
    );

    let empty = corner.write("empty.txt", "")?;
    let answer = read(stage, &empty, json!({})).await?;
    stage.expect(
        &[id::V1_FS_06],
        text(&answer).as_deref() == Some(""),
        &answer,
    );
    let missing = corner.file("not there.txt");
    let answer = read(stage, &missing, json!({})).await?;
    stage.expect(
        &[id::V1_FS_09],
        answer.error_code() == Some(-32002),
        &answer,
    );
    for wrong in [json!({"line": "x"}), json!({"limit": -1})] {
        let answer = read(stage, &ten, wrong.clone()).await?;
        let saw = format!("{wrong}: {}", answer.said());
        stage.judge(
            &[id::V1_FS_12],
            answer.error_code() == Some(-32602),
            &answer.frames(),
            saw,
        );
    }
    let answer = read(stage, Path::new("/etc/hostname"), json!({})).await?;
    stage.judge(
        &[id::V1_FS_11],
        answer.error_code().is_some(),
        &answer.frames(),
        "a file outside of the session's directories was read",
    );
    let link = corner.file("way out");
    if std::os::unix::fs::symlink("/etc", &link).is_ok() {
        let answer = read(stage, &link.join("hostname"), json!({})).await?;
        stage.judge(
            &[id::V1_FS_11],
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
        stage.not_offered(&[id::V1_FS_07, id::V1_FS_08], "writing files");
        refused(stage, "fs/write_text_file", params, &[id::V1_FS_10]).await?;
        let saw = "a file was written although writing is not advertised";
        stage.judge(&[id::V1_FS_10], !path.exists(), &[], saw);
        return Ok(());
    }
    let corner = Corner::new(stage)?;
    let path = corner.file("new file.txt");
    let params = json!({"sessionId": stage.session, "path": path, "content": "written\n"});
    let answer = stage.ask("fs/write_text_file", params).await?;
    stage.expect(
        &[id::V1_INIT_17],
        answer.error_code() != Some(-32601),
        &answer,
    );
    // A client may ask its user, who may say no. One that writes to files which are there could have made this one.
    if answer.error_code().is_some() {
        let there = corner.write("old file.txt", "old\n")?;
        let params = json!({"sessionId": stage.session, "path": there, "content": "written\n"});
        let control = stage.ask("fs/write_text_file", params).await?;
        if control.result().is_some() {
            let saw = format!("a missing file was not created: {}", answer.said());
            stage.judge(&[id::V1_FS_07], false, &answer.frames(), saw);
        }
        stage.unclear(&[id::V1_FS_07, id::V1_FS_08], &answer.said());
        return Ok(());
    }
    let is_empty = answer
        .result()
        .is_some_and(|result| result.is_null() || result.is_object());
    stage.expect(&[id::V1_FS_08], is_empty, &answer);
    // An editor may keep it in a buffer; then it reads what was written.
    let on_disk = std::fs::read_to_string(&path).unwrap_or_default();
    let mut is_made = on_disk == "written\n";
    if !is_made && stage.offers("/fs/readTextFile") {
        let again = read(stage, &path, json!({})).await?;
        is_made =
            again.result().and_then(|result| result.get("content")) == Some(&json!("written\n"));
    }
    stage.judge(
        &[id::V1_FS_07],
        is_made,
        &answer.frames(),
        "the file does not exist after it was written",
    );
    let outside = Nothing::outside();
    let params = json!({"sessionId": stage.session, "path": outside.path(), "content": "out\n"});
    let answer = stage.ask("fs/write_text_file", params).await?;
    let is_kept = answer.error_code().is_some() && !outside.path().exists();
    stage.judge(
        &[id::V1_FS_11],
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
    refused(stage, "fs/read_text_file", params, &[id::V2_INIT_14]).await?;
    let params = json!({"sessionId": stage.session, "command": "true"});
    refused(stage, "terminal/create", params, &[id::V2_INIT_14]).await
}
