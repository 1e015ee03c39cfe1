//! Sends one prompt to any agent and prints the answer: `one_shot PROMPT COMMAND [ARGS…]`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the answer goes to stdout, the rest to stderr"
)]

use std::io::Write as _;

use ply::client::{Command, Event};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let prompt = args
        .next()
        .ok_or("usage: one_shot PROMPT COMMAND [ARGS…]")?;
    let agent = ply::client::spawn(args.collect::<Command>()).await?;
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
            Event::Permission(ask) => ask.reject_once().await?,
            _ => {}
        }
    }
    println!();
    eprintln!("[{:?}]", turn.stop_reason());
    agent.close().await;
    Ok(())
}
