//! A user with a hub, and the processes around it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use ply_client::{Agent, Client, Command, Event, Session, Supported};
use ply_hub::ask::{Ask, Live, Told};
use ply_hub::connect;
use ply_hub::hello::{Hello, PROTOCOL};
use ply_hub::{Place, hold};
use rustix::process::{Pid, Signal};
use tempfile::TempDir;

/// How long anything may take before it counts as hanging.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A user with a hub.
#[derive(Debug)]
pub struct World {
    dir: TempDir,
    /// The program that everything but the client is.
    peer: PathBuf,
    /// The version that the agent speaks.
    version: u16,
}

/// A line of the agent's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// The process that wrote it.
    pub pid: u32,
    /// What it is about.
    pub what: String,
    /// The rest.
    pub rest: String,
}

impl World {
    /// Returns a user with nothing but a program and an agent of this version.
    ///
    /// # Errors
    ///
    /// A directory cannot be made.
    pub fn new(peer: impl Into<PathBuf>, version: u16) -> io::Result<Self> {
        let dir = tempfile::tempdir()?;
        std::fs::create_dir(dir.path().join("project"))?;
        Ok(Self {
            dir,
            peer: peer.into(),
            version,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns the directory of sessions.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// Starts what an editor starts, and speaks to it.
    ///
    /// # Errors
    ///
    /// It does not start, or is no agent.
    pub async fn attach(&self, versions: Supported) -> Result<Agent, String> {
        let command = Command::new(&self.peer)
            .arg("attach")
            .args(self.words())
            .cwd(self.project());
        let spawned = Client::new().versions(versions).spawn(command).await;
        spawned.map_err(|error| error.to_string())
    }

    /// Starts what an editor starts, for a client that reads when it likes.
    ///
    /// # Errors
    ///
    /// It does not start.
    pub fn attach_raw(&self) -> io::Result<std::process::Child> {
        let mut command = std::process::Command::new(&self.peer);
        command.arg("attach").args(self.words());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.current_dir(self.project()).spawn()
    }

    /// Returns what a program has to know of this user: where the hub is, its store, what the agent speaks and its log.
    fn words(&self) -> [String; 4] {
        let path = |name: &str| self.path(name).display().to_string();
        [
            path("run"),
            path("sessions.db"),
            self.version.to_string(),
            path("agent.log"),
        ]
    }

    /// Starts an editor as a process of its own, which loads a session, says so and prompts.
    ///
    /// # Errors
    ///
    /// It does not start.
    pub fn editor(
        &self,
        versions: Supported,
        session: &str,
        prompt: &str,
    ) -> io::Result<tokio::process::Child> {
        let version = match versions {
            Supported::V1 => "1",
            _ => "2",
        };
        tokio::process::Command::new(&self.peer)
            .arg("editor")
            .args(self.words())
            .args([version, session, prompt])
            .current_dir(self.project())
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .spawn()
    }

    /// Makes a named pipe that the agent can wait at, and returns the word for it.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn gate(&self, name: &str) -> io::Result<Gate> {
        let path = self.path(name);
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)?;
        Ok(Gate(path))
    }

    /// Returns everything that the agent wrote down.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    pub fn log(&self) -> io::Result<Vec<Logged>> {
        let text = match std::fs::read_to_string(self.path("agent.log")) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let lines = text.lines().filter_map(|line| {
            let mut words = line.splitn(3, ' ');
            Some(Logged {
                pid: words.next()?.parse().ok()?,
                what: words.next()?.to_owned(),
                rest: words.next().unwrap_or_default().to_owned(),
            })
        });
        Ok(lines.collect())
    }

    /// Returns the processes that got a message with this text in it, one for each time.
    ///
    /// # Errors
    ///
    /// The log cannot be read.
    pub fn got(&self, text: &str) -> io::Result<Vec<u32>> {
        let log = self.log()?.into_iter();
        let got = log.filter(|line| line.what == "got" && line.rest.contains(text));
        Ok(got.map(|line| line.pid).collect())
    }

    async fn ask(&self, ask: Ask) -> Option<Told> {
        let place = Place::at(self.path("run")).ok()?;
        let hello = Hello {
            protocol: PROTOCOL,
            version: "0".to_owned(),
            store: self.path("sessions.db"),
            agent: None,
            ask: Some(ask),
            principal: None,
        };
        connect::ask(&place, &hello).await.ok()
    }

    /// Returns the process of the hub, if one runs.
    pub async fn hub(&self) -> Option<u32> {
        match self.ask(Ask::Status).await? {
            Told::Status(status) => Some(status.pid),
            _ => None,
        }
    }

    /// Returns the sessions that are open in the hub.
    pub async fn sessions(&self) -> Vec<Live> {
        match self.ask(Ask::Sessions).await {
            Some(Told::Sessions(sessions)) => sessions,
            _ => Vec::new(),
        }
    }

    /// Picks an option of the first question of the first session.
    ///
    /// # Errors
    ///
    /// There is none, or it does not offer the option.
    pub async fn answer_first(&self, option: &str) -> Result<(), String> {
        let open = self.sessions().await;
        let live = open.first().ok_or("no session is open")?;
        let question = live.questions.first().ok_or("nothing is asked")?;
        let answer = Ask::Answer {
            session: live.id.clone(),
            question: question.id,
            option: option.to_owned(),
            by: "a shell".to_owned(),
        };
        let answered = self.ask(answer).await;
        answered.map(drop).ok_or_else(|| "refused".to_owned())
    }

    /// Starts a hub that nobody wants anything of.
    ///
    /// # Errors
    ///
    /// It does not start.
    pub fn serve(&self) -> io::Result<()> {
        let [place, store, ..] = self.words();
        let mut command = std::process::Command::new(&self.peer);
        // Not by pipes: the hub may keep what it inherits for as long as it runs.
        let streams = command.stdin(Stdio::null()).stdout(Stdio::null());
        let started = streams.args(["launch", &place, &store]).status()?;
        match started.success() {
            true => Ok(()),
            false => Err(io::Error::other("the hub does not start")),
        }
    }

    /// Ends the hub, and everything behind it.
    pub async fn stop(&self) {
        // There may be none.
        drop(self.ask(Ask::Stop { drain: false }).await);
    }

    /// Returns the holders that run.
    #[must_use]
    pub fn holders(&self) -> Vec<u32> {
        let holders = Place::at(self.path("run")).map(|place| place.holders());
        let found = holders.ok().and_then(|holders| hold::find(&holders).ok());
        found.map_or_else(Vec::new, |found| {
            found.iter().map(|about| about.pid).collect()
        })
    }

    /// Returns the processes of this user: those that were started with a path of theirs, and the holders.
    ///
    /// # Errors
    ///
    /// The process table cannot be read.
    pub fn processes(&self) -> io::Result<Vec<u32>> {
        let own = self.dir.path().as_os_str().as_encoded_bytes().to_vec();
        let mut found = self.holders();
        for entry in std::fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            // One that ended meanwhile has none.
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            if words.windows(own.len()).any(|part| part == own) {
                found.push(pid);
            }
        }
        Ok(found)
    }

    /// Returns the words that processes of this user were started with, for whoever wants to know why they are there.
    #[must_use]
    pub fn left(&self) -> Vec<String> {
        let left = self.processes().unwrap_or_default().into_iter();
        let words = left.map(|pid| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            let parent = std::fs::read_to_string(format!("/proc/{pid}/status"));
            let parent = parent.unwrap_or_default();
            let parent = parent.lines().find(|line| line.starts_with("PPid"));
            format!("{pid} {words}({})", parent.unwrap_or_default())
        });
        words.collect()
    }

    /// Waits until something is so.
    ///
    /// # Errors
    ///
    /// It takes too long.
    pub async fn until(
        &self,
        what: &str,
        mut is_so: impl AsyncFnMut() -> bool,
    ) -> Result<(), String> {
        let waiting = async {
            while !is_so().await {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        waited.map_err(|_| format!("{what} does not come to pass"))
    }

    /// Waits until a check passes.
    ///
    /// # Errors
    ///
    /// It takes too long: what the last check said.
    pub async fn until_ok(
        &self,
        mut check: impl AsyncFnMut() -> Result<(), String>,
    ) -> Result<(), String> {
        let mut last = Ok(());
        let is_ok = async || {
            last = check().await;
            last.is_ok()
        };
        match self.until("", is_ok).await {
            Ok(()) => Ok(()),
            Err(_) => last,
        }
    }
}

/// A named pipe that the agent waits at.
#[derive(Debug)]
pub struct Gate(PathBuf);

impl Gate {
    /// Returns the word that has the agent wait here.
    #[must_use]
    pub fn word(&self) -> String {
        format!("at:{}", self.0.display())
    }

    /// Waits until the agent is here, and lets it go on when the value is dropped.
    ///
    /// # Errors
    ///
    /// The pipe cannot be opened, or nobody comes.
    pub async fn reached(&self) -> Result<std::fs::File, String> {
        let path = self.0.clone();
        let opening = tokio::task::spawn_blocking(move || open(&path));
        let opened = tokio::time::timeout(PATIENCE, opening).await;
        let opened = opened.map_err(|_| "nobody comes to the gate".to_owned())?;
        let opened = opened.map_err(|error| error.to_string())?;
        opened.map_err(|error| error.to_string())
    }
}

/// Opens the end that somebody waits at. It completes when the other one is open.
fn open(path: &Path) -> io::Result<std::fs::File> {
    std::fs::File::options().write(true).open(path)
}

/// Kills a process. Returns whether there was one.
pub fn kill(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::kill_process(pid, Signal::KILL).is_ok())
}

/// Returns whether a process runs: one that ended and was not waited for does not.
#[must_use]
pub fn is_alive(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(')').next().unwrap_or_default().trim_start();
    !(state.is_empty() || state.starts_with('Z'))
}

/// Asks a process to end. Returns whether there was one.
pub fn terminate(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::kill_process(pid, Signal::TERM).is_ok())
}

/// Answers everything that a session is asked with yes, until it is closed.
pub async fn say_yes(session: Session) {
    let mut events = session.events();
    while let Some(event) = events.next().await {
        if let Event::Permission(permission) = event.event
            && let Err(error) = permission.allow_once().await
        {
            // Somebody else was faster, or the agent is gone.
            drop(error);
        }
    }
}

/// Returns what the agent said in a session.
#[must_use]
pub fn said(session: &Session) -> Vec<String> {
    use ply_client::transcript::{Entry, MessageKind};
    session.with_transcript(|transcript| {
        let said = transcript.entries().filter_map(|entry| match entry {
            Entry::Message(message) if message.kind == MessageKind::Agent => {
                let texts = message.content.iter().filter_map(|block| match block {
                    ply_client::v2::ContentBlock::Text(text) => Some(text.text.as_str()),
                    _ => None,
                });
                Some(texts.collect::<String>())
            }
            _ => None,
        });
        said.collect()
    })
}
