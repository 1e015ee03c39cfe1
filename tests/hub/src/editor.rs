//! An editor as a process of its own, which may be killed: loads a session, says so, prompts and says when that is done.

use std::io::Write as _;

use ply_client::{Client, Command, Supported};

use crate::world::say_yes;

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What it says when the session is loaded.
pub const OPEN: &str = "open";

/// Plays the editor: `words` are what `attach` is given, and `client` is the version it speaks.
///
/// # Errors
///
/// The session cannot be loaded, or its turn breaks off.
#[tokio::main(flavor = "current_thread")]
pub async fn run(words: &[&str], client: &str, session: &str, prompt: &str) -> Result {
    let cwd = std::env::current_dir()?;
    let versions = match client {
        "1" => Supported::V1,
        _ => Supported::Both,
    };
    let command = Command::new(std::env::current_exe()?)
        .arg("attach")
        .args(words)
        .cwd(&cwd);
    let agent = Client::new().versions(versions).spawn(command).await?;
    let session = agent.load_session(session.to_owned(), cwd).await?;
    let yes = tokio::spawn(say_yes(session.clone()));
    tell(OPEN)?;
    session.prompt(prompt).await?.finish().await?;
    yes.abort();
    agent.close().await;
    tell("done")
}

fn tell(word: &str) -> Result {
    let mut out = std::io::stdout();
    out.write_all(format!("{word}\n").as_bytes())?;
    Ok(out.flush()?)
}
