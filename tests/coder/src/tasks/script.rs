//! What `task.json` says.

use ply_coder::hooks::{Event, Hook};
use ply_coder::permission::Mode;
use ply_model_server::{Api, Gate, Reply};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// What is wanted, and what the model answers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What the user says.
    pub prompt: String,
    /// What they say afterwards, prompt by prompt.
    #[serde(default)]
    pub then: Vec<String>,
    /// Whether they say that in a fork of the session.
    #[serde(default)]
    pub fork: bool,
    /// What they say while a turn runs.
    pub steer: Option<Steer>,
    /// The user's hooks.
    #[serde(default)]
    pub hooks: Vec<HookLines>,
    /// Whether the model is trained to change files by patches.
    #[serde(default)]
    pub patches: bool,
    /// A command line for `/bin/sh` that fails in the repository before and succeeds after.
    pub check: Option<String>,
    /// The API that the model speaks.
    #[serde(default = "anthropic", deserialize_with = "api")]
    pub api: Api,
    /// The mode of the session.
    #[serde(default = "full", deserialize_with = "mode")]
    pub mode: Mode,
    /// What the user answers, question by question. There have to be as many questions.
    #[serde(default)]
    pub user: Vec<Answer>,
    /// Paths that may be there afterwards and are not looked at, such as build outputs.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// The model's window, for tasks that fill it. Then no tokens are counted but the agent's own.
    pub window_tokens: Option<u64>,
    /// The plan that the user sees at the end: steps and their status.
    #[serde(default)]
    pub plan: Vec<(String, String)>,
    /// What the model answers, request by request. There have to be as many requests.
    pub replies: Vec<Said>,
}

/// What the user says while a turn runs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steer {
    /// Which reply of the model is being made then, counted from 1.
    pub reply: usize,
    /// What they say.
    pub say: String,
}

/// A hook of the user's.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookLines {
    /// When it runs, as in `config.toml`.
    pub event: String,
    /// Which tools it is about; all if none.
    pub tool: Option<String>,
    /// What it runs.
    pub command: String,
}

impl HookLines {
    /// Returns the hook.
    pub(super) fn hook(&self) -> Hook {
        let mut events = Event::ALL.into_iter();
        let event = events.find(|(name, _)| *name == self.event);
        let (_, event) = event.expect("the hook's event is known");
        let hook = Hook::new(event, &self.command);
        match &self.tool {
            Some(tool) => hook.for_tools(tool).expect("the pattern is understood"),
            None => hook,
        }
    }
}

/// What the user answers when asked for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Allows it this time.
    Allow,
    /// Allows it by the first option that is for longer.
    Always,
    /// Rejects it.
    Reject,
}

/// What the model answers to one request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Said {
    /// What the results of the calls of the reply before must hold, each in one of them at least.
    pub expects: Vec<String>,
    /// What the request as a whole must hold.
    pub sees: Vec<String>,
    /// What the model thinks.
    pub think: Option<String>,
    /// What it says.
    pub say: Option<String>,
    /// What it calls, all at once.
    pub calls: Vec<Call>,
}

/// A call of a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
}

impl Script {
    /// Returns what the model service is to answer. The reply during which the user says something waits at the gate.
    pub(super) fn replies(&self, gate: &Gate) -> Vec<Reply> {
        let steered = self.steer.as_ref().map(|steer| steer.reply);
        let replies = self.replies.iter().enumerate().map(|(place, said)| {
            let mut reply = Reply::empty();
            if steered == Some(place + 1) {
                reply = reply.and_wait(gate);
            }
            if let Some(thought) = &said.think {
                reply = reply.and_think(thought);
            }
            if let Some(text) = &said.say {
                reply = reply.and_say(text);
            }
            for call in &said.calls {
                reply = reply.and_call(&call.tool, call.arguments.clone());
            }
            match self.window_tokens {
                // The few tokens that the service claims would make the agent trust in more room.
                Some(_) => reply.no_usage(),
                None => reply,
            }
        });
        replies.collect()
    }

    /// Returns the name of the API.
    pub(super) fn api_name(&self) -> String {
        api_name(self.api)
    }
}

fn api_name(api: Api) -> String {
    format!("{api:?}").to_lowercase()
}

fn anthropic() -> Api {
    Api::Anthropic
}

fn full() -> Mode {
    Mode::Full
}

fn api<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Api, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = Api::ALL.into_iter().find(|api| api_name(*api) == name);
    found.ok_or_else(|| serde::de::Error::custom(format!("there is no API `{name}`")))
}

fn mode<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Mode, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = Mode::from_id(&name);
    found.ok_or_else(|| serde::de::Error::custom(format!("there is no mode `{name}`")))
}
