//! Everything but the client, as one program: `hold`, `launch` and `serve` (the hub), `attach` (what an editor starts), `editor` `agent`, and `agent 1 -fast` for the benchmark.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use hub_tests::factory::Agents;
use hub_tests::{agent, editor, fast};
use ply_hub::connect::{self, READY};
use ply_hub::down::Holders;
use ply_hub::hello::{Hello, PROTOCOL};
use ply_hub::{Daemon, Ended, Hub, Place, Stop, Wanted, hold, shim};
use ply_rpc::transport::{child, stdio};
use tokio::signal::unix::{SignalKind, signal};

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        [hold::WORD] => Ok(hold::run()?),
        ["launch", place, store] => launch(place, store),
        ["serve", place, store] => serve(place.into(), store.into()),
        ["attach", place, store, version, log] => attach(place, store, version, log),
        ["editor", words @ .., client, session, prompt] => {
            editor::run(words, client, session, prompt)
        }
        ["agent", "1", "-fast"] => Ok(fast::run()?),
        ["agent", version, log] => Ok(agent::run(version.parse()?, log.as_ref())?),
        _ => Err("unknown word".into()),
    }
}

/// Starts the hub so that it descends from nobody here.
fn launch(place: &str, store: &str) -> Result {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["serve", place, store]);
    command.env_remove(child::TREE_VARIABLE).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut said = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut said)?;
    }
    std::io::stdout().write_all(said.as_bytes())?;
    Ok(())
}

#[tokio::main]
async fn serve(place: PathBuf, store: PathBuf) -> Result {
    rustix::process::setsid()?;
    let place = Place::at(place)?;
    let daemon = Daemon::bind_after_another(place.clone()).await?;
    let holders = Holders {
        program: std::env::current_exe()?,
        directory: place.holders(),
        epoch: daemon.epoch(),
        store: store.clone(),
    };
    let hub = Arc::new(Hub::new(Agents::new(holders), store.clone(), store));
    std::io::stdout().write_all(format!("{READY}\n").as_bytes())?;
    std::io::stdout().flush()?;
    rustix::stdio::dup2_stdout(std::fs::File::options().write(true).open("/dev/null")?)?;
    let mut terminated = signal(SignalKind::terminate())?;
    let stops = Arc::clone(&hub);
    tokio::spawn(async move {
        while let Some(()) = terminated.recv().await {
            stops.stop(Stop::Terminate);
        }
    });
    if daemon.run(hub).await == Ended::HandedOver {
        std::process::exit(0);
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn attach(place: &str, store: &str, version: &str, log: &str) -> Result {
    let own = std::env::current_exe()?.display().to_string();
    let env = std::env::vars().filter(|(name, _)| name != child::TREE_VARIABLE);
    let hello = Hello {
        protocol: PROTOCOL,
        version: "0".to_owned(),
        store: store.into(),
        agent: Some(Wanted {
            name: "scripted".to_owned(),
            key: format!("scripted-{version}"),
            command: [&own, "agent", version, log].map(str::to_owned).to_vec(),
            env: env.collect(),
            cwd: "/".into(),
        }),
        ask: None,
        principal: None,
    };
    let (input, output) = stdio::take()?;
    let found = Place::at(place)?;
    let connect = async || {
        let serve = || {
            let mut command = Command::new(&own);
            command.args(["launch", place, store]);
            command
        };
        let connected = connect::connect_or_start(&found, &hello, serve).await;
        let connected = connected.map_err(std::io::Error::other)?;
        Ok((connected.reader, connected.writer))
    };
    Ok(shim::run(input, output, connect).await?)
}
