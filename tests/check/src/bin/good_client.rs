//! A client on Ply's SDK that offers everything: `good_client [--versions 1|2] [--permit allow|slow] PROMPT -- COMMAND…`.
//!
//! It sends one prompt, cancels it when it is interrupted, and ends with its turn.

use std::time::Duration;

use ply_client::{
    AllowAll, AskUser, Client, Command, ElicitationDecision, Elicitations, Event, Files, Supported,
    Terminals, v2,
};

/// How long a person takes to decide.
const THINKING: Duration = Duration::from_secs(1);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut client = Client::new()
        .info("good-client", "0.1.0")
        .files(Files::new())
        .terminals(Terminals::new())
        .permissions(AllowAll);
    let mut prompt = String::from("hello");
    let mut takes_forms = true;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--versions" => {
                client = client.versions(match words.next().as_deref() {
                    Some("1") => Supported::V1,
                    Some("2") => Supported::V2,
                    _ => Supported::Both,
                });
            }
            "--permit" => {
                if words.next().as_deref() == Some("slow") {
                    client = client.permissions(AskUser);
                }
            }
            "--no-forms" => takes_forms = false,
            "--" => break,
            word => word.clone_into(&mut prompt),
        }
    }
    if takes_forms {
        let decline = |_: &v2::CreateElicitationRequest| {
            ElicitationDecision::Answer(v2::ElicitationAction::Decline)
        };
        client = client.elicitation(Elicitations::new().forms().decide(decline));
    }
    let command: Command = words.collect();
    let agent = client.spawn(command).await?;
    let session = agent.new_session(std::env::current_dir()?).await?;
    let mut turn = session.prompt(prompt).await?;
    let mut open = tokio::task::JoinSet::new();
    let mut is_cancelled = false;
    loop {
        let event = tokio::select! {
            event = turn.next() => event,
            interrupted = tokio::signal::ctrl_c(), if !is_cancelled => {
                interrupted?;
                is_cancelled = true;
                turn.cancel().await?;
                continue;
            }
        };
        match event {
            // A person thinks for a while.
            Some(Ok(Event::Permission(ask))) => {
                open.spawn(async move {
                    tokio::time::sleep(THINKING).await;
                    // It may be closed by now.
                    drop(ask.allow_once().await);
                });
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                agent.close().await;
                return Err(error.into());
            }
            None => break,
        }
    }
    drop(open);
    agent.close().await;
    Ok(())
}
