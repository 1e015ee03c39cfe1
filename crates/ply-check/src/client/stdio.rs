//! The pipes between client and agent.

use std::io::Write as _;
use std::time::Duration;

use serde_json::json;

use super::scene::{Scene, Start, Topic, rule};
use super::serve::End;
use super::stage::Stage;
use crate::peer::Stopped;

/// Bytes that an agent may write to standard error without anybody waiting.
const STDERR_BYTES: usize = 10 * 1024 * 1024;
/// How long a client may take to read them.
const STDERR_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of a long line.
const LONG_LINE_BYTES: usize = 16 * 1024 * 1024 - 64 * 1024;

pub(super) const TOPIC: Topic = Topic {
    rules: &[
        rule(
            "V1-STDIO-01",
            "The client starts the agent and talks over its input and output.",
            "Nothing works.",
            "Start the command with pipes for input and output.",
        ),
        rule(
            "V1-STDIO-05",
            "What the agent writes to standard error is read or thrown away.",
            "An agent that logs a lot stops in the middle of its work.",
            "Read the pipe all the time, or point it at a file.",
        )
        .may(),
        rule(
            "V1-STDIO-06",
            "Lines of many megabytes, such as of a file or a picture, are taken in.",
            "A large answer of the agent ends the session.",
            "Read lines without a limit, or with one well over 16 MiB.",
        )
        .should(),
        rule(
            "V1-STDIO-07",
            "The client closes the agent's input before it ends its process.",
            "The agent cannot save what it has.",
            "Close the pipe, wait a moment, then use signals.",
        )
        .should(),
        rule(
            "V1-TERM-15",
            "What terminals run ends with the connection.",
            "Processes are left behind that nobody knows of.",
            "End the process groups of all terminals when the connection ends.",
        )
        .unspecified(),
    ],
    scenes: &[
        Scene {
            name: "pieces",
            start: Start::AtPrompt,
            rules: &["V1-STDIO-01", "V1-STDIO-07", "V2-RPC-01"],
            leaves: false,
            run: |stage| Box::pin(pieces(stage)),
        },
        Scene {
            name: "long-line",
            start: Start::AtPrompt,
            // The protocol says nothing of length, so no rule that binds can be about it.
            rules: &["V1-STDIO-06"],
            leaves: false,
            run: |stage| Box::pin(long_line(stage)),
        },
        Scene {
            name: "much-stderr",
            start: Start::AtPrompt,
            rules: &["V1-STDIO-05", "V2-RPC-01"],
            leaves: false,
            run: |stage| Box::pin(much_stderr(stage)),
        },
    ],
};

/// Messages that come in pieces, together, and with other line ends.
async fn pieces(stage: &mut Stage) -> Result<(), Stopped> {
    stage.judge(&["V1-STDIO-01"], true, &[], "");
    stage.bear(
        &["V1-STDIO-01", "V2-RPC-01"],
        "messages in pieces, together, or with CRLF",
    );
    let session = stage.session.clone();
    let chunk = |text: &str, id: &str| {
        let content = json!({"type": "text", "text": text});
        let update =
            json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": content});
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}).to_string()
    };
    let (one, two, three) = (
        chunk("in pieces ", "p-1"),
        chunk("together ", "p-2"),
        chunk("with CRLF", "p-3"),
    );
    let (head, tail) = one.split_at(one.len() / 2);
    let first = stage.send_piece(head.as_bytes()).await?;
    tokio::time::sleep(Duration::from_millis(20)).await;
    stage
        .send_piece(format!("{tail}\n{two}\n{three}\r\n").as_bytes())
        .await?;
    let what = "messages in pieces, together, or with CRLF";
    stage
        .survives(&["V1-STDIO-01", "V2-RPC-01"], &[first], what)
        .await
}

async fn long_line(stage: &mut Stage) -> Result<(), Stopped> {
    stage.bear(&["V1-STDIO-06"], "a line of 16 MiB");
    let text = "long ".repeat(LONG_LINE_BYTES / 5);
    let frame = stage.say(&text).await?;
    stage
        .survives(&["V1-STDIO-06"], &[frame], "a line of 16 MiB")
        .await
}

async fn much_stderr(stage: &mut Stage) -> Result<(), Stopped> {
    let line = [b'.'; 1023];
    let writing = tokio::task::spawn_blocking(move || {
        let mut stderr = std::io::stderr().lock();
        for _ in 0..STDERR_BYTES / 1024 {
            // A client that closed the pipe has thrown it away, which is as well.
            if stderr
                .write_all(&line)
                .and_then(|()| stderr.write_all(b"\n"))
                .is_err()
            {
                break;
            }
        }
    });
    let is_read = tokio::time::timeout(STDERR_TIME_MAX, writing).await.is_ok();
    let saw = "the agent's standard error is not read, so it waits";
    stage.judge(&["V1-STDIO-05", "V2-RPC-01"], is_read, &[], saw);
    if !is_read {
        return Err(Stopped::Other(saw.to_owned()));
    }
    stage
        .survives(
            &["V1-STDIO-05", "V2-RPC-01"],
            &[],
            "10 MB on standard error",
        )
        .await
}

/// Judges how the client ended the connection.
pub(super) fn judge_end(stage: &mut Stage, end: End) {
    // One that was interrupted, and ended by that, could not close anything.
    if stage.is_interrupted {
        return;
    }
    match end {
        End::Open => {}
        End::Closed => stage.judge(&["V1-STDIO-07"], true, &[], ""),
        End::Signalled => {
            let saw = "the agent got a signal while its input was still open";
            stage.judge(&["V1-STDIO-07"], false, &[], saw);
        }
    }
}
