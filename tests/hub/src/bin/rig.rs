//! `hub-rig --loops N --seed S`: plays users around whom everything is killed, and prints what came of it.

use std::io::Write as _;

use hub_tests::loops;

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Result {
    let (mut count, mut first) = (25, 1);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = words.next().ok_or("a number is missing")?.parse()?;
        match word.as_str() {
            "--loops" => count = number,
            "--seed" => first = number,
            _ => return Err(format!("unknown word `{word}`").into()),
        }
    }
    // Built beside this program.
    let peer = std::env::current_exe()?.with_file_name("hub-peer");
    let played = loops::run(&peer, first..first.saturating_add(count), None).await;
    let total = played.map_err(|broken| {
        format!("{broken}\nsee it again with `cargo xtask crash hub --loops 1 --seed SEED`")
    })?;
    let (users, tally) = (total.users, total.tally);
    let line = format!(
        "{users} users, {} kills: {} prompts worked on to their end, {} cut off and told so; lost 0, twice 0, left behind 0\n",
        tally.kills, tally.finished, tally.broken
    );
    Ok(std::io::stdout().write_all(line.as_bytes())?)
}
