//! `hub-bench hub PEER WORK` measures once and prints one line of JSON; `cargo xtask bench hub` runs it and makes the table.
#![expect(clippy::print_stdout, reason = "the result is printed")]

use hub_tests::bench::{self, Peer, WORKS};

fn main() -> bench::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (peer, work) = match words.as_slice() {
        ["hub", peer, work, ..] => (*peer, *work),
        _ => {
            return Err(
                format!("usage: hub-bench hub direct|hub|whole {}", WORKS.join("|")).into(),
            );
        }
    };
    let peer = Peer::named(peer).ok_or("the peer is direct, hub or whole")?;
    let program = std::env::current_exe()?.with_file_name("hub-peer");
    let outcome = bench::run(peer, work, &program)?;
    println!("{}", serde_json::to_string(&outcome)?);
    Ok(())
}
