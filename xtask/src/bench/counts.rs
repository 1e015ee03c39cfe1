//! Instructions and system calls for each message, by process.
//!
//! Every count is taken twice, with a small and a larger number of messages, and the difference divided by the
//! difference in messages: whatever start-up and shutdown cost cancels out.

mod tools;

use std::ffi::OsString;
use std::time::Duration;

use serde::Serialize;
use tools::{Scratch, Tool};

use super::binary::Binary;
use super::suite::Suite;
use super::table::{Table, number};
use crate::Result;

/// Messages in the small and in the larger run: as many for each of 64 that are in flight.
const FEW_AND_MANY: (u32, u32) = (512, 3_072);
/// The same of messages of 16 MiB. The first ones fill buffers that are used again.
const FEW_AND_MANY_LARGE: (u32, u32) = (2, 5);
/// Under such tools a peer is up to a hundred times slower.
const LIMIT: Duration = Duration::from_secs(300);

/// One count for each message of a peer's two processes, or why there is none.
#[derive(Serialize)]
pub(super) struct Count {
    work: String,
    peer: String,
    what: &'static str,
    /// The tool that counted.
    by: Option<&'static str>,
    client: Option<f64>,
    agent: Option<f64>,
    missing: Option<String>,
}

pub(super) fn measure(
    binary: &Binary,
    suite: &Suite,
    works: &[&str],
    peers: &[&str],
) -> Result<Vec<Count>> {
    let scratch = Scratch::new()?;
    let tools = [
        ("instructions", Tool::for_instructions(&scratch)),
        ("system calls", Tool::for_system_calls(&scratch)),
    ];
    let mut counts = Vec::new();
    let counted = suite.counted.iter();
    for &work in counted.filter(|work| works.contains(&table_work(work))) {
        for &peer in peers.iter().filter(|peer| suite.does(peer, work)) {
            for (what, tool) in &tools {
                super::progress(&format!("counting {what}: {work} {peer}"));
                let mut count = Count {
                    work: work.to_owned(),
                    peer: peer.to_owned(),
                    what,
                    by: None,
                    client: None,
                    agent: None,
                    missing: None,
                };
                match tool {
                    Err(reason) => count.missing = Some(format!("not measured ({reason})")),
                    Ok(tool) => {
                        count.by = Some(tool.name());
                        let run = Run {
                            binary,
                            command: suite.command,
                            scratch: &scratch,
                            tool: *tool,
                        };
                        let (client, agent) = per_message(&run, work, peer)?;
                        count.client = Some(client);
                        count.agent = Some(agent);
                    }
                }
                counts.push(count);
            }
        }
    }
    Ok(counts)
}

/// Returns the work of the table that a counted work is a part of: a large prompt and a large update are counted apart.
fn table_work(counted: &str) -> &str {
    match counted {
        "large_prompt" | "large_update" => "large",
        work => work,
    }
}

/// Counts the instructions of the client and of the agent for each message, in a way that gives the same each time.
pub(super) fn instructions(
    binary: &Binary,
    suite: &Suite,
    work: &str,
    peer: &str,
) -> Result<(f64, f64)> {
    let scratch = Scratch::new()?;
    let run = Run {
        binary,
        command: suite.command,
        scratch: &scratch,
        tool: Tool::Callgrind,
    };
    per_message(&run, work, peer)
}

/// A program under a tool.
struct Run<'a> {
    binary: &'a Binary,
    command: &'a str,
    scratch: &'a Scratch,
    tool: Tool,
}

/// The costs of one message in the client and in the agent.
fn per_message(run: &Run<'_>, work: &str, peer: &str) -> Result<(f64, f64)> {
    let (few, many) = match work.starts_with("large") {
        true => FEW_AND_MANY_LARGE,
        false => FEW_AND_MANY,
    };
    let messages = f64::from(many - few);
    let few = totals(run, work, peer, few)?;
    let many = totals(run, work, peer, many)?;
    Ok(((many.0 - few.0) / messages, (many.1 - few.1) / messages))
}

fn totals(run: &Run<'_>, work: &str, peer: &str, messages: u32) -> Result<(f64, f64)> {
    let (scratch, tool) = (run.scratch, run.tool);
    scratch.clear()?;
    let mut arguments: Vec<OsString> = [peer, work].map(OsString::from).to_vec();
    arguments.push(format!("--count={messages}").into());
    for word in tool.command(&scratch.agent_file(), tools::Side::Agent) {
        arguments.push("--wrap".into());
        arguments.push(word);
    }
    let around = tool.command(&scratch.client_file(), tools::Side::Client);
    run.binary.run(&around, run.command, &arguments, LIMIT)?;
    let client = tool.total(&scratch.client_file())?;
    let agent = tool.total(&scratch.agent_file())?;
    Ok((tool.client_alone(client, agent), agent))
}

pub(super) fn table(counts: &[Count]) -> Table {
    let mut table = Table::new(
        4,
        ["work", "peer", "for each message", "by", "client", "agent"],
    );
    for count in counts {
        let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
        let mut row = vec![
            count.work.clone(),
            count.peer.clone(),
            count.what.to_owned(),
            count.by.unwrap_or("-").to_owned(),
            cell(count.client),
            cell(count.agent),
        ];
        if let Some(missing) = &count.missing {
            row.truncate(3);
            row.push(missing.clone());
        }
        table.push(row);
    }
    table
}
