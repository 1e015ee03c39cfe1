//! Agents that are known by name: what starts them, and how to get them.
//!
//! Taken from the registry of the Agent Client Protocol, which also has many more.

/// An agent that is known by name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// What it is called on the command line.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) about: &'static str,
    /// The program, and what makes it speak the protocol.
    pub(super) command: &'static [&'static str],
    /// How to get the program.
    pub(super) install: &'static str,
}

const fn known(
    name: &'static str,
    about: &'static str,
    command: &'static [&'static str],
    install: &'static str,
) -> Known {
    Known {
        name,
        about,
        command,
        install,
    }
}

impl Known {
    /// Says how to get it: from the registry, where it has the agent, or by other means.
    pub(super) fn how_to_get(&self) -> String {
        match UNREGISTERED.contains(&self.name) {
            true => self.install.to_owned(),
            false => format!("ply agents add {} (or {})", self.name, self.install),
        }
    }
}

/// Names that differ from the id in the registry.
const REGISTERED: &[(&str, &str)] = &[
    ("amp", "amp-acp"),
    ("claude", "claude-acp"),
    ("codex", "codex-acp"),
    ("copilot", "github-copilot-cli"),
    ("droid", "factory-droid"),
    ("qwen", "qwen-code"),
    ("vibe", "mistral-vibe"),
];

/// Names of agents that the registry does not have.
const UNREGISTERED: &[&str] = &["hermes", "openhands"];

/// Returns the id in the registry of the agent with a name; the name itself, for most.
pub(crate) fn registry_id(name: &str) -> &str {
    let found = REGISTERED.iter().find(|(known, _)| *known == name);
    found.map_or(name, |(_, id)| id)
}

/// Returns the name that an agent of the registry goes by here; its id, for most.
pub(crate) fn known_name(id: &str) -> &str {
    let found = REGISTERED.iter().find(|(_, known)| *known == id);
    found.map_or(id, |(name, _)| name)
}

/// All of them, by name.
pub(super) const KNOWN: &[Known] = &[
    known(
        "amp",
        "Amp, by an adapter",
        &["amp-acp"],
        "see https://github.com/tao12345666333/amp-acp",
    ),
    known(
        "auggie",
        "Augment Code's agent",
        &["auggie", "--acp"],
        "npm install -g @augmentcode/auggie",
    ),
    known(
        "claude",
        "Anthropic's Claude Code, by an adapter",
        &["claude-agent-acp"],
        "npm install -g @agentclientprotocol/claude-agent-acp",
    ),
    known(
        "cline",
        "the open source agent Cline",
        &["cline", "--acp"],
        "npm install -g cline",
    ),
    known(
        "codex",
        "OpenAI's Codex, by an adapter",
        &["codex-acp"],
        "npm install -g @agentclientprotocol/codex-acp",
    ),
    known(
        "copilot",
        "GitHub Copilot",
        &["copilot", "--acp"],
        "npm install -g @github/copilot",
    ),
    known(
        "cursor",
        "Cursor's agent",
        &["cursor-agent", "acp"],
        "see https://cursor.com/docs/cli/acp",
    ),
    known(
        "droid",
        "Factory Droid",
        &["droid", "exec", "--output-format", "acp-daemon"],
        "npm install -g droid",
    ),
    known(
        "fast-agent",
        "agents of many providers",
        &["fast-agent-acp"],
        "uv tool install fast-agent-acp",
    ),
    known(
        "gemini",
        "Google's Gemini CLI",
        &["gemini", "--acp"],
        "npm install -g @google/gemini-cli",
    ),
    known(
        "goose",
        "the open source agent goose",
        &["goose", "acp"],
        "see https://block.github.io/goose/",
    ),
    known(
        "hermes",
        "Nous Research's Hermes Agent",
        &["hermes", "acp"],
        "see https://github.com/NousResearch/hermes-agent",
    ),
    known(
        "junie",
        "JetBrains' Junie",
        &["junie", "--acp=true"],
        "see https://junie.jetbrains.com",
    ),
    known(
        "kimi",
        "Moonshot AI's Kimi CLI",
        &["kimi", "acp"],
        "see https://github.com/MoonshotAI/kimi-cli",
    ),
    known(
        "opencode",
        "the open source agent OpenCode",
        &["opencode", "acp"],
        "npm install -g opencode-ai",
    ),
    known(
        "openhands",
        "the open source agent OpenHands",
        &["openhands", "acp"],
        "uv tool install openhands --python 3.12",
    ),
    known(
        "qoder",
        "Qoder CLI",
        &["qodercli", "--acp"],
        "npm install -g @qoder-ai/qodercli",
    ),
    known(
        "qwen",
        "Alibaba's Qwen Code",
        &["qwen", "--acp"],
        "npm install -g @qwen-code/qwen-code",
    ),
    known(
        "vibe",
        "Mistral Vibe",
        &["vibe-acp"],
        "see https://github.com/mistralai/mistral-vibe",
    ),
];
