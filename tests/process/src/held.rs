//! Both sides of a holder: an agent that can be checked, and a hub that is there to be killed.

use std::fs::File;
use std::io::{BufRead as _, Read as _, Seek as _, Write as _};
use std::path::Path;

use bytes::Bytes;
use ply_hub::hold::{self, Connection, Order};
use ply_hub::pipe::{FromAgent, ToAgent};
use process_tests::{HELD, held_line};

use crate::Result;

/// Answers each line with two, and writes down what it was given.
pub(crate) fn talk(log: &Path) -> Result {
    let mut log = File::create(log)?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lines() {
        let line = line?;
        writeln!(log, "{line}")?;
        // In pieces, so that a line may be half written at any moment.
        for piece in line.as_bytes().chunks(1000) {
            out.write_all(piece)?;
            out.flush()?;
        }
        writeln!(out)?;
        writeln!(out, "done {}", line.len())?;
        out.flush()?;
    }
    Ok(())
}

/// What a hub must remember: which lines it has sent, and which it has got.
struct Journal {
    file: File,
    given: u64,
    got: u64,
}

impl Journal {
    /// Reads what the hub before has written, up to its last whole line.
    fn open(path: &Path) -> Result<Self> {
        let mut options = File::options();
        let mut file = options.read(true).append(true).create(true).open(path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n');
        text.truncate(whole.map_or(0, |at| at + 1));
        file.set_len(text.len() as u64)?;
        file.seek(std::io::SeekFrom::End(0))?;
        let count = |side: &str| {
            let lines = text.lines().map_while(std::result::Result::ok);
            lines.filter(|line| line.starts_with(side)).count() as u64
        };
        let (given, got) = (count("given "), count("got "));
        Ok(Self { file, given, got })
    }

    fn append(&mut self, side: &str, line: &str) -> Result {
        self.file.write_all(format!("{side} {line}\n").as_bytes())?;
        // What the one who kills counts.
        println!("{side}");
        std::io::stdout().flush()?;
        Ok(())
    }
}

/// Gives the agent so many lines and gets its answers, unless it is killed before. Begins where the hub before it ended.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn hub(place: &Path, epoch: u64, journal: &Path, count: u64) -> Result {
    let mut journal = Journal::open(journal)?;
    let Connection {
        mut pipe, control, ..
    } = match hold::connect(place, HELD, epoch).await {
        Err(hold::Error::Lost(_)) if journal.got == 2 * count => {
            // The hub before was killed after it had buried the agent.
            return Ok(());
        }
        connected => connected?,
    };
    let line = |number| ToAgent::Line {
        number,
        line: Bytes::from(held_line(number)),
    };
    if pipe.hello.last_in > journal.given {
        return Err("the agent was given what nobody wrote down".into());
    }
    let mut again = pipe.hello.last_in;
    while journal.got < 2 * count {
        let may_give = again < journal.given || journal.given < count;
        tokio::select! {
            room = pipe.to.reserve(), if may_give => {
                if again == journal.given {
                    journal.append("given", &(again + 1).to_string())?;
                    journal.given += 1;
                }
                again += 1;
                room?.send(line(again));
            }
            news = pipe.from.recv() => match news {
                Some(FromAgent::Line { number, line }) => {
                    if number > journal.got + 1 {
                        return Err("a line is missing".into());
                    }
                    if number == journal.got + 1 {
                        journal.append("got", std::str::from_utf8(&line)?)?;
                        journal.got = number;
                    }
                    pipe.to.send(ToAgent::Acknowledge { upto: number }).await?;
                }
                Some(FromAgent::Wrote { .. }) => {}
                Some(FromAgent::Exit(exit)) => return Err(format!("{exit:?}").into()),
                None => return Err("the connection is lost".into()),
            },
        }
    }
    control.bury().await;
    while pipe.from.recv().await.is_some() {}
    Ok(())
}

/// Starts a holder with an agent that echoes, tells the agent's id, and waits to be killed.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn start_holder(place: &Path) -> Result {
    let order = Order::new(HELD, "/bin/cat", "/");
    let agent = hold::start(&std::env::current_exe()?, place, order).await?;
    println!("{agent}");
    std::future::pending().await
}

/// Is an agent that wants to be its own hub.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn intrude(place: &Path) -> Result {
    match hold::connect(place, HELD, u64::MAX).await {
        Ok(_) => println!("inside"),
        Err(error) => println!("{error}"),
    }
    crate::wait_for_end()
}
