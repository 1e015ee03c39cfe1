//! Sends one prompt to any agent and prints what it says: `one_shot PROMPT COMMAND [ARGS…]`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the answer goes to stdout, the rest to stderr"
)]

use std::io::Write as _;

use ply_client::{Client, Command, Event, Files};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let Some(prompt) = args.next() else {
        return Err("usage: one_shot PROMPT COMMAND [ARGS…]".into());
    };
    let command: Command = args.collect();
    let agent = Client::new()
        .info("one-shot", "0.1.0")
        .files(Files::read_only())
        .spawn(command)
        .await?;
    eprintln!("[{} speaks {:?}]", agent.info().name, agent.version());

    let session = agent.new_session(std::env::current_dir()?).await?;
    let mut turn = session.prompt(prompt).await?;
    while let Some(event) = turn.next().await {
        match event? {
            Event::Message(text) => {
                print!("{text}");
                std::io::stdout().flush()?;
            }
            Event::ToolCall(call) => {
                if let Some(call) = call.snapshot() {
                    eprintln!("[{}: {:?}]", call.shown_title(), call.status);
                }
            }
            // Nobody is here to decide, so nothing is allowed.
            Event::Permission(ask) => ask.cancel().await,
            Event::Quiet { for_s } => eprintln!("[nothing heard for {for_s} s]"),
            _ => {}
        }
    }
    println!();
    eprintln!("[{:?}]", turn.stop_reason());
    for report in agent.reports() {
        eprintln!("[{:?}: {} times]", report.kind, report.count);
    }
    agent.close().await;
    Ok(())
}
