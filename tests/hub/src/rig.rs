//! One user after the other, around whom everything is killed at random: the hub, the agent's holder, the agent, what the editor
//! started and the editor itself.
//!
//! Whatever happens, no prompt and no answer reaches the agent twice, what the editor was told is there afterwards, everybody ends
//! with the same transcript, and no process is left.

mod client;

use std::path::Path;
use std::time::Duration;

use ply_client::{Agent, Session, Supported};
use tokio::task::JoinHandle;

use crate::world::{World, kill, said, say_yes};

/// Prompts of one user after the first.
const PROMPTS: u64 = 4;
/// When something is killed, at the latest, in milliseconds after a prompt.
const KILL_MS_MAX: u64 = 120;

/// Something that is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The hub.
    Hub,
    /// The hub, twice.
    HubTwice,
    /// The holder of the session's agent.
    Holder,
    /// The agent.
    Agent,
    /// What the editor started.
    Shim,
    /// An editor, as a process of its own.
    Client,
}

/// What came of the prompts of one user.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Prompts that were worked on to their end.
    pub finished: u64,
    /// Those that were not, and whose sender was told so or is gone.
    pub broken: u64,
    /// Kills.
    pub kills: u64,
}

/// Numbers that look random, and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // Xorshift; a seed of 0 would stay there.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn target(&mut self) -> Target {
        match self.roll(10) {
            0..=4 => Target::Hub,
            5 => Target::HubTwice,
            6 => Target::Holder,
            7 => Target::Agent,
            8 => Target::Client,
            _ => Target::Shim,
        }
    }
}

/// The editor, which may be killed and opened again.
struct Editor {
    agent: Agent,
    session: Session,
    yes: JoinHandle<()>,
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.yes.abort();
    }
}

/// Plays one user.
///
/// # Errors
///
/// A promise was broken, in words with the seed.
pub async fn play(peer: &Path, seed: u64) -> Result<Tally, String> {
    let version = u16::try_from(1 + seed % 2).unwrap_or(1);
    let client = match (seed / 2) % 2 {
        0 => Supported::V1,
        _ => Supported::Both,
    };
    let world = World::new(peer, version).map_err(|error| error.to_string())?;
    let mut user = User::new(&world, client, seed);
    let mut editor = None;
    let played = user.play(&mut editor).await;
    // What the hub has to say for itself, while it and the editor are there.
    let sessions = match &played {
        Ok(()) => Vec::new(),
        Err(_) => world.sessions().await,
    };
    let tally = user.tally;
    drop(editor);
    world.stop().await;
    let is_none = async || world.processes().is_ok_and(|left| left.is_empty());
    let ended = world.until("the end of all processes", is_none).await;
    let ended = ended.map_err(|error| format!("{error}: {:?}", world.left()));
    let told = |error: String| {
        let log = world.log().unwrap_or_default();
        let log: Vec<String> = log.iter().map(|line| format!("{line:?}")).collect();
        let log = log.join("\n");
        format!("seed {seed}: {error}\n{sessions:?}\n{log}")
    };
    played.map_err(told)?;
    ended.map_err(told)?;
    Ok(tally)
}

struct User<'w> {
    world: &'w World,
    client: Supported,
    seed: u64,
    dice: Dice,
    tally: Tally,
    /// Whether an agent was killed after its turn had ended. The hub may not know yet when the next prompt comes; whether the
    /// agent read that prompt nobody knows, so its turn may fail, and is never sent again.
    is_agent_lost: bool,
}

impl<'w> User<'w> {
    fn new(world: &'w World, client: Supported, seed: u64) -> Self {
        let dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        Self {
            world,
            client,
            seed,
            dice,
            tally: Tally::default(),
            is_agent_lost: false,
        }
    }

    /// Plays the user, and leaves the editor open if a promise is broken.
    async fn play(&mut self, open: &mut Option<Editor>) -> Result<(), String> {
        let agent = self.world.attach(self.client).await?;
        let session = agent.new_session(self.world.project()).await;
        let session = session.map_err(|error| error.to_string())?;
        let id = session.id().clone();
        let yes = tokio::spawn(say_yes(session.clone()));
        let editor = open.insert(Editor {
            agent,
            session,
            yes,
        });
        // From here on the session is more than a panel that is shown.
        let turn = editor.session.prompt("say:hello").await;
        let turn = turn.map_err(|error| error.to_string())?;
        turn.finish().await.map_err(|error| error.to_string())?;
        for number in 0..PROMPTS {
            let target = self.dice.target();
            let words = self.words(number);
            let is_finished = match target {
                Target::Client => self.prompt_by_process(&id, number, &words).await?,
                _ => self.prompt(editor, &words, target).await?,
            };
            if is_finished {
                self.tally.finished += 1;
            } else {
                self.tally.broken += 1;
            }
            if target == Target::Shim {
                *editor = self.open_again(&id).await?;
            }
            self.is_idle(&id).await?;
            // The hub knows of the end before the editor has read all of it.
            let checked = async || self.check(&editor.session, number, is_finished);
            self.world.until_ok(checked).await?;
        }
        let fresh = self.open_again(&id).await?;
        let is_same = async || {
            let (kept, seen) = (said(&fresh.session), said(&editor.session));
            match kept == seen {
                true => Ok(()),
                false => Err(format!(
                    "the editor has seen {seen:?}, and {kept:?} is kept"
                )),
            }
        };
        self.world.until_ok(is_same).await?;
        fresh.agent.close().await;
        editor.agent.close().await;
        Ok(())
    }

    /// Returns the words of a prompt; each is like no other.
    fn words(&mut self, number: u64) -> String {
        let mut words = Vec::new();
        for at in 0..6 {
            let name = format!("s{}p{number}w{at}", self.seed);
            match self.dice.roll(4) {
                0 => words.push(format!("ask:{name}")),
                1 => words.push(format!("say:{name} nap:{}", self.dice.roll(20))),
                _ => words.push(format!("say:{name}")),
            }
        }
        words.join(" ")
    }

    /// Prompts, and kills something meanwhile. Returns whether the prompt was worked on to its end.
    async fn prompt(
        &mut self,
        editor: &Editor,
        words: &str,
        target: Target,
    ) -> Result<bool, String> {
        let session = editor.session.clone();
        let prompted = words.to_owned();
        let turn = tokio::spawn(async move {
            match session.prompt(prompted.as_str()).await {
                Ok(turn) => turn.finish().await.map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            }
        });
        let after = Duration::from_millis(self.dice.roll(KILL_MS_MAX));
        tokio::time::sleep(after).await;
        self.kill(editor, target).await;
        let ended = tokio::time::timeout(crate::world::PATIENCE, turn).await;
        let ended = ended.map_err(|_| format!("`{words}` does not end after {target:?}"))?;
        let ended = ended.map_err(|error| error.to_string())?;
        let may_fail = std::mem::take(&mut self.is_agent_lost);
        match (ended, target) {
            (Ok(_), target) => {
                self.is_agent_lost = matches!(target, Target::Holder | Target::Agent);
                Ok(true)
            }
            // The agent may be gone, or nobody is left who could hear of the end.
            (Err(_), Target::Holder | Target::Agent | Target::Shim) => Ok(false),
            (Err(_), _) if may_fail => Ok(false),
            (Err(error), target) => Err(format!("`{words}` broke off after {target:?}: {error}")),
        }
    }

    async fn kill(&mut self, editor: &Editor, target: Target) {
        let hub = self.world.hub().await;
        let pids: Vec<u32> = match target {
            Target::Hub => hub.into_iter().collect(),
            Target::HubTwice => {
                let was_killed = hub.is_some_and(kill);
                self.tally.kills += u64::from(was_killed);
                let after = Duration::from_millis(self.dice.roll(KILL_MS_MAX));
                tokio::time::sleep(after).await;
                self.world.hub().await.into_iter().collect()
            }
            Target::Holder => self.world.holders(),
            Target::Agent => {
                let log = self.world.log().unwrap_or_default();
                let mut prompted = log
                    .iter()
                    .filter(|line| line.rest.contains("session/prompt"));
                prompted
                    .next_back()
                    .map(|line| line.pid)
                    .into_iter()
                    .collect()
            }
            Target::Shim => editor.agent.process_id().into_iter().collect(),
            // It prompts by itself.
            Target::Client => Vec::new(),
        };
        for pid in pids {
            self.tally.kills += u64::from(kill(pid));
        }
    }

    async fn open_again(&self, id: &ply_client::v2::SessionId) -> Result<Editor, String> {
        let agent = self.world.attach(self.client).await?;
        let session = agent.load_session(id.clone(), self.world.project()).await;
        let session = session.map_err(|error| error.to_string())?;
        let yes = tokio::spawn(say_yes(session.clone()));
        Ok(Editor {
            agent,
            session,
            yes,
        })
    }

    /// Waits until nothing goes on in the session.
    async fn is_idle(&self, id: &ply_client::v2::SessionId) -> Result<(), String> {
        let is_idle = async || {
            let sessions = self.world.sessions().await;
            let mut own = sessions.iter().filter(|live| live.id == *id.0);
            own.any(|live| live.state == "idle" && live.queue.is_empty())
        };
        self.world.until("the end of the turn", is_idle).await
    }

    /// Compares what the agent got and what the session shows with what was said.
    fn check(&self, session: &Session, number: u64, is_finished: bool) -> Result<(), String> {
        let own = format!("s{}p{number}w", self.seed);
        let log = self.world.log().map_err(|error| error.to_string())?;
        let got = log.iter().filter(|line| line.what == "got");
        let prompts = got
            .clone()
            .filter(|line| line.rest.contains("session/prompt") && line.rest.contains(&own));
        let prompts = prompts.count();
        if prompts > 1 || (is_finished && prompts != 1) {
            return Err(format!("prompt {number} reached the agent {prompts} times"));
        }
        let shown = said(session).concat();
        for at in 0..6 {
            let name = format!("{own}{at}");
            let answer = format!("-{name}\"");
            let answers = got
                .clone()
                .filter(|line| line.rest.contains(&answer) && line.rest.contains("outcome"));
            if answers.count() > 1 {
                return Err(format!("{name} was answered more than once"));
            }
            let said = shown.matches(&name).count();
            if said > 1 || (is_finished && said != 1) {
                return Err(format!("{name} is shown {said} times in {shown:?}"));
            }
        }
        Ok(())
    }
}
