//! `ply attach`: what an editor starts.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ply_client::Command;
use ply_hub::Wanted;
use ply_hub::connect::{self, Connected};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::arguments::Attach;
use super::{place, serve};
use crate::program::roster::{BUILT_IN, Choice, Roster};
use crate::program::{Error, output};

/// Bytes that are passed on at a time.
const COPY_BYTES: usize = 64 * 1024;

/// Passes on what the editor and the hub say to each other.
pub(crate) async fn run(arguments: Attach) -> Result<ExitCode, Error> {
    let roster = Roster::read(None)?;
    let choice = roster.choose(arguments.agent.as_deref(), &arguments.command)?;
    if arguments.no_hub {
        return alone(&choice.command);
    }
    let cwd = std::env::current_dir().map_err(Error::Start)?;
    let wanted = wanted(&choice, cwd);
    match connected(&arguments, wanted).await {
        Ok(connected) => pass_on(connected).await,
        Err(error) => {
            output::tell(&format!(
                "notice: {error}; the agent is served without the hub"
            ));
            alone(&choice.command)
        }
    }
}

/// Returns what the hub is asked for, with the environment of this process.
pub(super) fn wanted(choice: &Choice, cwd: PathBuf) -> Wanted {
    Wanted {
        name: choice.name.clone(),
        key: choice.key.clone(),
        command: if choice.key == BUILT_IN {
            Vec::new()
        } else {
            choice.command.words().map(lossy).collect()
        },
        env: environment(&choice.command),
        cwd,
    }
}

/// Returns the environment that an agent is to run with. What is not UTF-8 is left out: nothing could carry it.
fn environment(command: &Command) -> BTreeMap<String, String> {
    let own = std::env::vars_os();
    let own =
        own.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut env: BTreeMap<String, String> = own.collect();
    // By this a client finds the processes of its agent to end them, and those of the hub are not among them.
    env.remove(ply_rpc::transport::child::TREE_VARIABLE);
    for (name, value) in command.envs() {
        match value {
            Some(value) => env.insert(lossy(name), lossy(value)),
            None => env.remove(&lossy(name)),
        };
    }
    env
}

fn lossy(word: &std::ffi::OsStr) -> String {
    word.to_string_lossy().into_owned()
}

async fn connected(arguments: &Attach, wanted: Wanted) -> Result<Connected, Error> {
    let place = place::find()?;
    let hello = place::hello(arguments.store.clone(), Some(wanted))?;
    let command = serve::command(&hello.store)?;
    let connected = connect::connect_or_start(&place, &hello, || command).await;
    connected.map_err(|error| Error::Hub(error.to_string()))
}

/// Becomes the agent: an editor never fails because of the hub.
fn alone(command: &Command) -> Result<ExitCode, Error> {
    let mut words = command.words();
    let mut own = std::process::Command::new(words.next().unwrap_or_default());
    own.args(words);
    for (name, value) in command.envs() {
        match value {
            Some(value) => own.env(name, value),
            None => own.env_remove(name),
        };
    }
    Err(Error::Start(own.exec()))
}

async fn pass_on(connected: Connected) -> Result<ExitCode, Error> {
    let Connected {
        mut reader,
        mut writer,
        ..
    } = connected;
    let up = async {
        let mut input = tokio::io::stdin();
        let mut buffer = vec![0; COPY_BYTES];
        loop {
            let read = input.read(&mut buffer).await?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
                return writer.shutdown().await;
            };
            writer.write_all(bytes).await?;
        }
    };
    let down = async {
        let mut out = tokio::io::stdout();
        tokio::io::copy_buf(&mut reader, &mut out).await?;
        out.flush().await
    };
    let passed = tokio::select! {
        passed = down => passed,
        failed = async { up.await?; std::future::pending().await } => failed,
    };
    passed.map(|()| ExitCode::SUCCESS).map_err(Error::Start)
}
