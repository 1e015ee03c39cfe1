//! The other side of the process tests: one program, one behaviour per word.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "stray output is what some of the tests are about"
)]

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use ply_rpc::transport::stdio;
use ply_rpc::{Handler, Notification, Options, Peer, Request, Responder, RpcError};
use serde_json::{Value, json};

mod held;

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["agent"] => agent(),
        ["noise"] => noise(),
        ["garbage-echo"] => garbage_echo(),
        ["long-line", bytes] => long_line(bytes.parse()?),
        ["endless-line"] => endless_line(),
        ["stderr-flood", bytes] => stderr_flood(bytes.parse()?),
        ["wrapper"] => wrapper(),
        ["daemon"] => daemon(),
        ["client"] => client(),
        ["sleep"] => sleep(),
        ["spawn-here"] => spawn_here(),
        ["close-after", bytes] => close_after(bytes.parse()?),
        [ply_hub::hold::WORD] => Ok(ply_hub::hold::run()?),
        ["talk", log] => held::talk(log.as_ref()),
        ["hub", place, epoch, journal, count] => held::hub(
            place.as_ref(),
            epoch.parse()?,
            journal.as_ref(),
            count.parse()?,
        ),
        ["start-holder", place] => held::start_holder(place.as_ref()),
        ["intrude", place] => held::intrude(place.as_ref()),
        _ => Err("unknown behaviour".into()),
    }
}

/// Serves on standard input and output until they end.
#[tokio::main(flavor = "current_thread")]
async fn agent() -> Result {
    let (input, output) = stdio::take()?;
    let (_, link) = ply_rpc::connect(input, output, Agent, Options::agent());
    let closed = link.await;
    eprintln!("agent: {closed}");
    Ok(())
}

struct Agent;

impl Handler for Agent {
    fn request(&mut self, peer: &Peer, request: Request<'_>, responder: Responder) {
        match request.method {
            "echo" => responder.respond(request.params::<Value>()),
            "print" => {
                println!("a stray print");
                // Whatever writes to descriptor 1 without asking Rust, a C library or a program, does what this shell does.
                let shell = Command::new("sh")
                    .args(["-c", "echo a stray puts; cat"])
                    .status();
                responder.respond(
                    shell
                        .map(|status| status.success())
                        .map_err(|e| RpcError::internal(e.to_string())),
                );
            }
            "pid" => responder.respond(Ok(std::process::id())),
            "descriptors" => {
                responder.respond(descriptors().map_err(|e| RpcError::internal(e.to_string())))
            }
            "flood" => {
                let peer = peer.clone();
                let count = request.params::<(u64, usize)>();
                responder.run(async move {
                    let (count, bytes) = count?;
                    let text = "x".repeat(bytes);
                    for index in 0..count {
                        let sent = peer.notify("update", &json!([index, text])).await;
                        sent.map_err(|e| RpcError::internal(e.to_string()))?;
                    }
                    Ok(count)
                });
            }
            "never" => responder.run(std::future::pending::<std::result::Result<(), RpcError>>()),
            "exit" => std::process::exit(request.params::<(i32,)>().map_or(1, |(code,)| code)),
            _ => responder.respond::<()>(Err(RpcError::method_not_found())),
        }
    }

    fn notification(&mut self, _: &Peer, _: Notification<'_>) {}
}

fn descriptors() -> std::io::Result<Vec<String>> {
    let mut open = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let entry = entry?;
        let target = std::fs::read_link(entry.path()).unwrap_or_default();
        open.push(format!(
            "{} {}",
            entry.file_name().to_string_lossy(),
            target.display()
        ));
    }
    Ok(open)
}

/// Puts a different kind of noise before each of its messages.
fn noise() -> Result {
    let noise: [&[u8]; 12] = [
        b"Welcome to the agent\n",
        b"npm WARN deprecated something@1.0.0\n",
        b"\x1b[1mbold\x1b[0m \x1b[2K\n",
        b"\xef\xbb\xbf\n",
        b"\xff\xfe\xfd not utf-8\n",
        b"{not json}\n",
        b"[\"json\", \"but no message\"]\n",
        b"42\n",
        b"\0\0\0\0\n",
        b"\r\n\r\n   \n",
        b"{\"level\":\"info\",\"msg\":\"a structured log line\"}\n",
        b"\x1b]0;window title\x07",
    ];
    let mut out = std::io::stdout().lock();
    for index in 0..1200 {
        if let Some(kind) = noise.get(index % noise.len()) {
            out.write_all(kind)?;
        }
        writeln!(
            out,
            "{}",
            json!({"jsonrpc": "2.0", "method": "update", "params": [index]})
        )?;
    }
    out.flush()?;
    wait_for_end()
}

/// Sends garbage, then writes back every line it reads, and tells at the end how many there were.
fn garbage_echo() -> Result {
    let mut out = std::io::stdout().lock();
    out.write_all("{garbage\n".repeat(1000).as_bytes())?;
    out.flush()?;
    let mut lines = 0;
    for line in std::io::stdin().lines() {
        let written = writeln!(out, "{}", line?).and_then(|()| out.flush());
        lines += 1;
        if written.is_err() {
            break;
        }
    }
    eprintln!("{lines} lines");
    Ok(())
}

/// Sends one line over the limit, then a message.
fn long_line(bytes: usize) -> Result {
    let mut out = std::io::stdout().lock();
    out.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":\"long\",\"method\":\"echo\",\"params\":\"")?;
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..bytes >> 20 {
        out.write_all(&piece)?;
    }
    out.write_all(b"\"}\n{\"jsonrpc\":\"2.0\",\"method\":\"after\"}\n")?;
    out.flush()?;
    drop(out);
    // Pass the refusal on, so that the test sees what came back.
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    println!(
        "{}",
        json!({"jsonrpc": "2.0", "method": "got", "params": [answer]})
    );
    wait_for_end()
}

fn endless_line() -> Result {
    let mut out = std::io::stdout().lock();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..1024 {
        out.write_all(&piece)?;
    }
    Ok(())
}

/// Floods standard error, then answers one request.
fn stderr_flood(bytes: usize) -> Result {
    let line = format!("{}\n", "e".repeat(1023));
    let mut err = std::io::stderr().lock();
    for _ in 0..bytes / line.len() {
        err.write_all(line.as_bytes())?;
    }
    err.write_all(b"the last words\n")?;
    drop(err);
    agent()
}

/// Starts the real agent as its child, as `npx` does, and stays between.
fn wrapper() -> Result {
    let status = Command::new(std::env::current_exe()?)
        .arg("agent")
        .status()?;
    std::process::exit(status.code().unwrap_or(1))
}

/// Starts processes that leave the group and the session, tells their ids, and goes on.
fn daemon() -> Result {
    let own = std::env::current_exe()?;
    let start = |command: &mut Command| {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    };
    let mut ids = vec![start(Command::new(&own).arg("sleep"))?.id()];
    // A new session through `setsid`, and a grandchild whose parent ends at once.
    ids.push(start(Command::new("setsid").args([own.as_os_str(), "sleep".as_ref()]))?.id());
    let script = format!(
        "trap '' TERM; (setsid {0} sleep 2>/dev/null & echo $! >&2); exit 0",
        own.display()
    );
    let orphan = Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()?;
    ids.push(String::from_utf8(orphan.stderr)?.trim().parse()?);
    println!(
        "{}",
        json!({"jsonrpc": "2.0", "method": "started", "params": ids})
    );
    wait_for_end()?;
    sleep()
}

/// Starts an agent and a child with daemons, tells which ids end by themselves and which do not, and waits to be killed.
#[tokio::main(flavor = "current_thread")]
async fn client() -> Result {
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    let own = std::env::current_exe()?;
    let start = async |behaviour| {
        let command = ply_rpc::transport::child::Command::new(&own);
        command.arg(behaviour).spawn().await
    };
    let agent = start("agent").await?;
    let (daemon, output, _input) = start("daemon").await?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).await?;
    let message: Value = serde_json::from_str(&line)?;
    println!(
        "{}",
        json!({"direct": [agent.0.id(), daemon.id()], "stubborn": message.get("params")})
    );
    std::future::pending().await
}

/// Ignores requests to end and stays.
fn sleep() -> Result {
    let mut block = Command::new("sh");
    block
        .args(["-c", "trap '' TERM HUP INT; while :; do sleep 1000; done"])
        .stdin(Stdio::null());
    std::process::exit(block.status()?.code().unwrap_or(1))
}

/// Reads so many bytes, closes its input and goes on.
fn close_after(bytes: usize) -> Result {
    let mut buf = vec![0; bytes];
    std::io::stdin().read_exact(&mut buf)?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    println!("{}", json!({"jsonrpc": "2.0", "method": "closed"}));
    Ok(())
}

/// Opens files until none are left, then tells how starting a child fails.
#[tokio::main(flavor = "current_thread")]
async fn spawn_here() -> Result {
    let mut files = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        files.push(file);
    }
    match ply_rpc::transport::child::Command::new("true")
        .spawn()
        .await
    {
        Ok(_) => return Err("the child was started".into()),
        Err(error) => println!("{error}"),
    }
    Ok(())
}

fn wait_for_end() -> Result {
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}
