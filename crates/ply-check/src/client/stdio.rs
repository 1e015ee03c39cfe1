//! The pipes between client and agent.

use std::io::Write as _;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::scene::{Scene, Start};
use super::serve::End;
use super::stage::Stage;
use crate::peer::Stopped;
use crate::rule::id;

/// Bytes that an agent may write to standard error without anybody waiting.
const STDERR_BYTES: usize = 10 * 1024 * 1024;
/// How long a client may take to read them.
const STDERR_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of the first of the long lines.
const LONG_LINE_BYTES: usize = 1024 * 1024;
/// Bytes of the last of them.
const LONG_LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a line that its text leaves to the rest of the message.
const MESSAGE_BYTES: usize = 64 * 1024;
/// How many times longer each of them is than the one before it.
const LONGER: usize = 4;
/// How many times longer a client may take for a line than for the one before it.
const SLOWER_MAX: u32 = 16;

pub(super) const SCENES: &[Scene] = &[
    Scene {
        name: "pieces",
        start: Start::AtPrompt,
        rules: &[id::V1_STDIO_01, id::V1_STDIO_07, id::V2_RPC_01],
        leaves: false,
        run: |stage| Box::pin(pieces(stage)),
    },
    Scene {
        name: "long-line",
        start: Start::AtPrompt,
        // The protocol says nothing of length, so no rule that binds can be about it.
        rules: &[id::V1_STDIO_06],
        leaves: false,
        run: |stage| Box::pin(long_line(stage)),
    },
    Scene {
        name: "much-stderr",
        start: Start::AtPrompt,
        rules: &[id::V1_STDIO_05, id::V2_RPC_01],
        leaves: false,
        run: |stage| Box::pin(much_stderr(stage)),
    },
];

/// Messages that come in pieces, together, and with other line ends.
async fn pieces(stage: &mut Stage) -> Result<(), Stopped> {
    stage.judge(&[id::V1_STDIO_01], true, &[], "");
    stage.bear(
        &[id::V1_STDIO_01, id::V2_RPC_01],
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
        .survives(&[id::V1_STDIO_01, id::V2_RPC_01], &[first], what)
        .await
}

/// Lines that get longer. How long the client took for one says how long it may take for the next: on a busy machine it is slow, and
/// still gets on.
async fn long_line(stage: &mut Stage) -> Result<(), Stopped> {
    let usual = stage.patience;
    let mut bytes = LONG_LINE_BYTES;
    while bytes <= LONG_LINE_BYTES_MAX {
        let what = format!("a line of {} MiB", bytes >> 20);
        stage.bear(&[id::V1_STDIO_06], &what);
        let text = "long ".repeat((bytes - MESSAGE_BYTES) / 5);
        let sent = Instant::now();
        let frame = stage.say(&text).await?;
        let written = Instant::now();
        stage.survives(&[id::V1_STDIO_06], &[frame], &what).await?;
        if written.elapsed() >= stage.patience {
            break;
        }
        stage.patience = usual.max(sent.elapsed() * SLOWER_MAX);
        bytes *= LONGER;
    }
    stage.patience = usual;
    Ok(())
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
    let saw = "the agent's standard error is not read, so the agent blocks";
    stage.judge(&[id::V1_STDIO_05, id::V2_RPC_01], is_read, &[], saw);
    if !is_read {
        return Err(Stopped::Other(saw.to_owned()));
    }
    stage
        .survives(
            &[id::V1_STDIO_05, id::V2_RPC_01],
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
        End::Closed => stage.judge(&[id::V1_STDIO_07], true, &[], ""),
        End::Signalled => {
            let saw = "the agent was signalled while its input was still open";
            stage.judge(&[id::V1_STDIO_07], false, &[], saw);
        }
    }
}
