//! The agent under test: it plays the script that each prompt is, and keeps its sessions in a file.
//!
//! `journal-agent STORE EFFECTS`: the file of the sessions, and the one to which its tools write what they did.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::time::Duration;

use crash_tests::script::{Atom, Beat, Choice, Script, Token};
use ply_agent::{About, Agent, Error, Result, Stop, ToolCall, Turn, v2};

#[derive(Debug)]
struct Player {
    effects: File,
}

impl Agent for Player {
    fn about(&self) -> About {
        About::new("journal-agent", "1")
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let script: Script = turn.prompt().text().parse().map_err(Error::msg)?;
        let mut call = None;
        for beat in script.beats() {
            match beat {
                Beat::Rest(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                Beat::Effect(token) => self.act(token)?,
                Beat::Atom(atom) => play(turn, &mut call, atom).await?,
            }
        }
        Ok(Stop::EndTurn)
    }
}

impl Player {
    /// Does what cannot be undone: a line in a file, which is there from this moment on.
    fn act(&self, token: Token) -> Result<()> {
        let mut effects = &self.effects;
        effects.write_all(format!("{token}\n").as_bytes())?;
        Ok(())
    }
}

async fn play(turn: &Turn, open: &mut Option<ToolCall>, atom: Atom) -> Result<()> {
    let missing = || Error::msg("the script has no tool call open");
    match atom {
        Atom::Say(text) => turn.say(text).await,
        Atom::Think(text) => turn.think(text).await,
        Atom::Plan(entries) => {
            use v2::{PlanEntry, PlanEntryPriority::Medium, PlanEntryStatus::Pending};
            let entry = |text| PlanEntry::new(text, Medium, Pending);
            turn.plan(entries.into_iter().map(entry).collect()).await
        }
        Atom::Open(title) => {
            *open = Some(turn.tool_call(title).await?);
            Ok(())
        }
        Atom::Start => open.as_ref().ok_or_else(missing)?.start().await,
        Atom::Output(text) => open.as_ref().ok_or_else(missing)?.add(text).await,
        Atom::Edit { path, old, new } => {
            let call = open.as_ref().ok_or_else(missing)?;
            call.add_diff(path, Some(&old), Some(&new)).await
        }
        Atom::Ask { title, choice } => {
            let call = open.as_ref().ok_or_else(missing)?;
            let decision = call.ask_with(title).await?;
            match decision.is_allowed() == (choice == Choice::Allow) {
                true => Ok(()),
                false => Err(Error::msg("the user did not answer as the script says")),
            }
        }
        Atom::Finish => open.take().ok_or_else(missing)?.finish().await,
        Atom::Fail(text) => open.take().ok_or_else(missing)?.fail(text).await,
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(store), Some(effects)) = (arguments.next(), arguments.next()) else {
        return Err(Error::msg("usage: journal-agent STORE EFFECTS"));
    };
    let effects = OpenOptions::new().create(true).append(true).open(effects)?;
    let journal = ply_journal::Sqlite::new(store);
    ply_agent::serve(Player { effects })
        .journal(journal)
        .stdio()
        .await
}
