//! A proxy that records: `recorder FILE COMMAND [ARGS…]` stands between a client and an agent, passes every byte on and
//! writes each line to FILE, `> ` before those of the client and `< ` before those of the agent.
//!
//! Lines that break the protocol pass as they are. `ply trace` does the same with times, redaction and a viewer.

use std::process::Stdio;
use std::sync::Arc;

use tokio::fs::File;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::Mutex;

type Log = Arc<Mutex<File>>;

/// Passes lines on until there are no more.
async fn pass(
    from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    sign: &str,
    log: Log,
) -> std::io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).await? > 0 {
        to.write_all(&line).await?;
        to.flush().await?;
        let entry = [sign.as_bytes(), &line].concat();
        log.lock().await.write_all(&entry).await?;
        line.clear();
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let usage = "usage: recorder FILE COMMAND [ARGS…]";
    let log = File::create(args.next().ok_or(usage)?).await?;
    let log = Arc::new(Mutex::new(log));
    let mut agent = Command::new(args.next().ok_or(usage)?)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let input = agent.stdin.take().ok_or("no standard input")?;
    let output = agent.stdout.take().ok_or("no standard output")?;

    // When the client closes its end, so does this proxy, and the agent ends.
    tokio::spawn(pass(tokio::io::stdin(), input, "> ", Arc::clone(&log)));
    pass(output, tokio::io::stdout(), "< ", Arc::clone(&log)).await?;
    let status = agent.wait().await?;
    log.lock().await.flush().await?;
    // A read from standard input may still wait, and would keep a return from `main` waiting, too.
    std::process::exit(status.code().unwrap_or(1))
}
