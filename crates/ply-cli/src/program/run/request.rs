//! What is asked for, read and checked before any agent is started.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ply_client::{Prompt, Recent, SessionSetup, Supported, text, v2};

use super::arguments::{Format, Offer, Protocol, Run, Setting};
use super::attach::Attachment;
use super::failure::Failure;
use super::mcp;
use super::permit::Permit;
use super::stdin::{Kind, Patience, Stdin, stdin_text, with_stdin};
use super::streams::Streams;
use crate::program::agent::places::Places;
use crate::program::error::Error;
use crate::program::hub::through;
use crate::program::roster::{Choice, Roster};
use crate::program::{home, store};

/// What is asked for.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) choice: Choice,
    pub(super) versions: Supported,
    pub(super) cwd: PathBuf,
    /// Whether it was said, or is just where the run began.
    pub(super) is_cwd_given: bool,
    pub(super) setup: SessionSetup,
    pub(super) session: Which,
    pub(super) settings: Vec<Setting>,
    pub(super) permit: Permit,
    pub(super) offer: Vec<Offer>,
    pub(super) idle_timeout: Option<Duration>,
    /// Whether the hub runs the agent.
    pub(super) is_hubs: bool,
    /// Where sessions that are run are remembered.
    pub(super) recent: Option<Recent>,
    /// Whether what was said before is part of the output.
    pub(super) wants_history: bool,
    prompt: Words,
    attachments: Vec<Attachment>,
}

impl Default for Words {
    fn default() -> Self {
        Self::Said(String::new())
    }
}

/// The words of the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Words {
    Said(String),
    /// They are still to come from standard input.
    OnStdin(Patience),
    /// They are there, and something to be added may come from standard input.
    With(String, Patience),
}

/// The session to work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Which {
    New,
    Latest,
    Id(String),
}

impl Request {
    /// Reads everything that the arguments name.
    pub(super) fn read(arguments: &Run, streams: Streams) -> Result<Self, Failure> {
        // A command needs no roster, so what is wrong with the configuration does not matter.
        let choice = match Choice::of_command(&arguments.command) {
            Some(choice) => choice,
            None => Roster::read(None)?.choose(arguments.agent.as_deref(), &[])?,
        };
        let choice = choice.with_model(arguments.model.as_deref());
        let cwd = directory(arguments.cwd.as_deref().unwrap_or(Path::new(".")))?;
        let mut setup = SessionSetup::new(&cwd);
        let others = arguments.add_dir.iter().map(|other| directory(other));
        let others: Vec<PathBuf> = others.collect::<Result<_, _>>()?;
        setup = others.iter().fold(setup, |setup, other| setup.root(other));
        if let Some(file) = &arguments.mcp {
            let search = std::env::var_os("PATH");
            let servers = mcp::read(file, search.as_deref())?;
            setup = servers.into_iter().fold(setup, SessionSetup::mcp_server);
        }
        let permit = Permit::new(arguments.permit.as_ref(), streams.can_ask, cwd.clone())?;
        let places = Places::find(|name| std::env::var_os(name));
        let permit = permit.reading(others).reading(places.libraries);
        let texts = arguments.file.iter().map(|path| Attachment::text(path));
        let images = arguments.image.iter().map(|path| Attachment::image(path));
        let attachments = texts.chain(images).collect::<Result<_, _>>()?;
        let named = |option: &str, value: &Option<String>| {
            let value = value.clone()?;
            let option = option.to_owned();
            Some(Setting { option, value })
        };
        // The model first: other options may depend on it.
        let settings = named("model", &arguments.model)
            .into_iter()
            .chain(named("mode", &arguments.mode))
            .chain(arguments.set.iter().cloned());
        Ok(Self {
            versions: match arguments.protocol {
                Protocol::V1 => Supported::V1,
                Protocol::V2 => Supported::V2,
                Protocol::Auto => Supported::Both,
            },
            session: match (&arguments.session, arguments.continue_latest) {
                (Some(id), _) => Which::Id(id.clone()),
                (None, true) => Which::Latest,
                (None, false) => Which::New,
            },
            settings: settings.collect(),
            idle_timeout: arguments.idle_timeout,
            is_hubs: false,
            recent: store::recent(None, home::variable),
            wants_history: arguments.output == Format::Md,
            prompt: prompt(arguments)?,
            choice,
            offer: arguments.offer.clone(),
            is_cwd_given: arguments.cwd.is_some(),
            cwd,
            setup,
            permit,
            attachments,
        })
    }

    /// Waits for the prompt, if it is not there yet, and returns what there is to say about that.
    ///
    /// # Cancel safety
    ///
    /// What was read of it is lost.
    pub(super) async fn complete(&mut self) -> Result<Option<&'static str>, Failure> {
        let (prompt, told) = match std::mem::take(&mut self.prompt) {
            Words::Said(prompt) => (prompt, None),
            Words::OnStdin(patience) => match stdin_text(patience).await? {
                Stdin::Text(prompt) => (prompt, None),
                Stdin::Nothing => {
                    let detail = "the prompt on standard input is empty";
                    return Err(Failure::usage(detail).hint(EXAMPLE));
                }
                Stdin::Silent => return Err(no_prompt(Kind::Other)),
            },
            Words::With(prompt, patience) => match stdin_text(patience).await? {
                Stdin::Text(text) => (with_stdin(&prompt, &text), None),
                Stdin::Nothing => (prompt, None),
                Stdin::Silent => (prompt, Some(SILENT)),
            },
        };
        self.prompt = Words::Said(prompt);
        Ok(told)
    }

    /// Notes where the session works, which is elsewhere if it is an old one.
    pub(super) fn work_in(&mut self, cwd: &Path) {
        self.cwd = cwd.to_owned();
        self.permit.work_in(cwd);
    }

    /// Returns the prompt as this agent takes it.
    pub(super) fn prompt(&self, agent: &v2::AgentCapabilities) -> Prompt {
        let prompt = match &self.prompt {
            Words::Said(prompt) => Prompt::new(prompt.clone()),
            Words::OnStdin(_) | Words::With(..) => Prompt::new(String::new()),
        };
        let attachments = self.attachments.iter();
        attachments.fold(prompt, |prompt, it| it.add_to(prompt, agent))
    }

    /// Returns what is said in words.
    pub(super) fn words(&self) -> &str {
        match &self.prompt {
            Words::Said(prompt) => prompt,
            Words::OnStdin(_) | Words::With(..) => "",
        }
    }

    /// Leaves the agent to the hub if one runs, or in any case if the work is to go on without this program.
    pub(super) async fn find_hub(&mut self, arguments: &Run) -> Result<(), Failure> {
        let suits = !arguments.no_hub && self.choice.suits_hub(arguments.model.as_deref());
        if suits && (arguments.detach || through::runs().await) {
            self.choice = self.choice.clone().through_hub()?;
            self.is_hubs = true;
        }
        Ok(())
    }

    /// Returns whether the session ends with the run. In the hub it would stay open.
    pub(super) fn ends_session(&self) -> bool {
        self.is_hubs && self.session == Which::New
    }

    /// Returns whether the agent has to take pictures.
    pub(super) fn has_images(&self) -> bool {
        let is_image = |it: &Attachment| matches!(it, Attachment::Image { .. });
        self.attachments.iter().any(is_image)
    }
}

/// What is said when a pipe has nothing to add.
const SILENT: &str = "nothing came on standard input for 2 s; going on without it";

fn prompt(arguments: &Run) -> Result<Words, Failure> {
    let stdin = Kind::of_stdin();
    let patience = match arguments.stdin {
        true => Patience::Endless,
        false => Patience::Short,
    };
    match arguments.prompt.as_slice() {
        [dash] if dash == "-" => Ok(Words::OnStdin(Patience::Endless)),
        [] if arguments.stdin => Ok(Words::OnStdin(Patience::Endless)),
        [] if stdin == Kind::Data => Ok(Words::OnStdin(patience)),
        [] => Err(no_prompt(stdin)),
        words => {
            let prompt = words.join(" ");
            match (
                prompt.trim().is_empty(),
                arguments.stdin || stdin == Kind::Data,
            ) {
                (true, _) => Err(Failure::usage("the prompt is empty").hint(EXAMPLE)),
                (false, true) => Ok(Words::With(prompt, patience)),
                (false, false) => Ok(Words::Said(prompt)),
            }
        }
    }
}

/// How to give a prompt.
const EXAMPLE: &str = "give one like this: ply run \"explain this repository\"";

fn no_prompt(stdin: Kind) -> Failure {
    let hint = match stdin {
        Kind::Terminal => EXAMPLE,
        Kind::Data | Kind::Other => "give it as an argument, or on standard input with `ply run -`",
    };
    Failure::usage("there is no prompt").hint(hint)
}

/// Returns a directory as agents are to be told of it: absolute, and in UTF-8, since the protocol is.
fn directory(path: &Path) -> Result<PathBuf, Failure> {
    let found = path.canonicalize().map_err(|source| {
        let path = path.to_owned();
        Failure {
            exit: super::failure::exit::USAGE,
            code: "usage",
            ..Failure::from(Error::Directory { path, source })
        }
    })?;
    let shown = text::path(&found);
    if !found.is_dir() {
        let detail = format!("{shown} is not a directory");
        return Err(Failure::usage(detail).hint("give a directory that exists"));
    }
    match found.to_str() {
        Some(_) => Ok(found),
        None => {
            let detail = format!("the directory {shown} cannot be passed to an agent");
            let hint = "its name is not UTF-8, and the protocol is; use a link with another name";
            Err(Failure::usage(detail).hint(hint))
        }
    }
}
