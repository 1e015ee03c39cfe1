//! An agent that misbehaves outside the protocol: it prints, panics and floods standard error when
//! it is told to. Its client must notice none of it.

use std::process::Stdio;

use ply_agent::{Agent, Error, Result, Stop, Turn};

struct Noisy;

impl Agent for Noisy {
    #[expect(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "this is what a careless dependency does"
    )]
    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        println!("a stray line of the agent's own code");
        print!("{{\"jsonrpc\":\"2.0\",\"id\":1,");
        match turn.prompt().text().as_str() {
            "panic" => panic!("as told"),
            "flood" => {
                let line = "e".repeat(1023);
                for _ in 0..10 * 1024 {
                    eprintln!("{line}");
                }
                turn.say("flooded").await?;
            }
            "shout" => {
                // A child inherits the streams of this process.
                let mut shout = std::process::Command::new("sh");
                let status = shout.args(["-c", "echo shouted; cat"]).status();
                turn.say(format!("{}", status?.success())).await?;
            }
            "pwd" => {
                let mut pwd = std::process::Command::new("pwd");
                let out = pwd
                    .current_dir(turn.session().cwd())
                    .stdin(Stdio::null())
                    .output()?;
                let out = String::from_utf8(out.stdout).map_err(Error::from)?;
                turn.say(out.trim_end()).await?;
            }
            "wait" => turn.cancelled().await,
            text => turn.say(text).await?,
        }
        Ok(Stop::EndTurn)
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    ply_agent::serve_stdio(Noisy).await
}
