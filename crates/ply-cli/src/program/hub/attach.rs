//! `ply attach`: what an editor starts.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ply_client::Command;
use ply_hub::Wanted;
use ply_hub::connect::{self, Connected};
use ply_hub::hello::Hello;
use ply_hub::{Place, shim};
use ply_rpc::transport::stdio;

use super::arguments::Attach;
use super::{place, serve};
use crate::program::roster::{BUILT_IN, Choice, Roster};
use crate::program::{Error, output};

/// Passes on what the editor and the hub say to each other.
pub(crate) async fn run(arguments: Attach) -> Result<ExitCode, Error> {
    let roster = Roster::read(None)?;
    let choice = roster.choose(arguments.agent.as_deref(), &arguments.command)?;
    if arguments.no_hub {
        return alone(&choice.command);
    }
    let cwd = std::env::current_dir().map_err(Error::Start)?;
    let wanted = wanted(&choice, cwd);
    let connected = async {
        let way = Way::find(&arguments, wanted)?;
        Ok((way.connect().await?, way))
    };
    let connected: Result<_, Error> = connected.await;
    match connected {
        Ok((first, way)) => pass_on(first, &way).await,
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

/// The way to the hub.
struct Way {
    place: Place,
    /// The program that is the hub, by the name it had when this began: after an upgrade the system knows only the removed file.
    program: PathBuf,
    hello: Hello,
}

impl Way {
    fn find(arguments: &Attach, wanted: Wanted) -> Result<Self, Error> {
        Ok(Self {
            place: place::find()?,
            program: std::env::current_exe().map_err(Error::Start)?,
            hello: place::hello(arguments.store.clone(), Some(wanted))?,
        })
    }

    async fn connect(&self) -> Result<Connected, Error> {
        let command = serve::command(&self.program, &self.hello.store);
        let connected = connect::connect_or_start(&self.place, &self.hello, || command).await;
        connected.map_err(|error| Error::Hub(error.to_string()))
    }
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

/// Passes on what the editor and the hub say to each other. A hub that ends is started again, and the editor notices a pause.
async fn pass_on(first: Connected, way: &Way) -> Result<ExitCode, Error> {
    let (input, output) = stdio::take().map_err(Error::Start)?;
    let mut first = Some(first);
    let connect = async || {
        let connected = match first.take() {
            Some(first) => first,
            None => way.connect().await.map_err(std::io::Error::other)?,
        };
        Ok((connected.reader, connected.writer))
    };
    let passed = shim::run(input, output, connect).await;
    passed
        .map(|()| ExitCode::SUCCESS)
        .map_err(|error| Error::Hub(error.to_string()))
}
