//! The agents of the matrix.

use std::ffi::OsString;
use std::path::Path;

/// Where an agent comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registry {
    /// A package of npm.
    Npm,
    /// A package of PyPI.
    Pypi,
    /// A program of this repository, built on an official SDK.
    Here,
}

/// An agent of the matrix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Agent {
    /// Its name on the page.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) about: &'static str,
    pub(super) registry: Registry,
    pub(super) package: &'static str,
    /// The way to log in with the key of the scripted model, if the agent wants a login.
    pub(super) login: Option<&'static str>,
    /// The program below the directory where the package is, and its arguments.
    command: &'static [&'static str],
    /// Where to read more.
    pub(super) link: &'static str,
}

impl Agent {
    /// Returns the command that starts it, installed below a directory.
    pub(super) fn command(&self, root: &Path) -> Vec<OsString> {
        let mut words = self.command.iter();
        let program = words.next().copied().unwrap_or_default();
        let first = match self.registry {
            Registry::Npm if program.contains('/') => root.join("node_modules").join(program),
            Registry::Npm => root.join("node_modules/.bin").join(program),
            Registry::Pypi => root.join("venv/bin").join(program),
            Registry::Here => std::path::absolute(Path::new("target/debug").join(program))
                .unwrap_or_else(|_| program.into()),
        };
        let place = root.to_string_lossy();
        let rest = words.map(|word| word.replace("{root}", &place).into());
        let is_script = program.ends_with(".js");
        let node = is_script.then(|| OsString::from("node"));
        node.into_iter()
            .chain([first.into_os_string()])
            .chain(rest)
            .collect()
    }
}

const fn npm(
    name: &'static str,
    about: &'static str,
    package: &'static str,
    command: &'static [&'static str],
    link: &'static str,
) -> Agent {
    Agent {
        name,
        about,
        registry: Registry::Npm,
        package,
        login: None,
        command,
        link,
    }
}

const fn pypi(
    name: &'static str,
    about: &'static str,
    package: &'static str,
    command: &'static [&'static str],
    link: &'static str,
) -> Agent {
    Agent {
        registry: Registry::Pypi,
        ..npm(name, about, package, command, link)
    }
}

/// All of them, the examples of the official SDKs first.
#[rustfmt::skip]
pub(super) const AGENTS: &[Agent] = &[
    Agent { registry: Registry::Here, ..npm("rust-sdk", "an agent on the official Rust SDK", "interop-tests", &["sdk_agent", "v1"], "https://github.com/agentclientprotocol/rust-sdk") },
    npm("typescript-sdk", "the example agent of the official TypeScript SDK, in its last version that has examples", "@agentclientprotocol/sdk@1.9.0", &["@agentclientprotocol/sdk/dist/examples/agent.js"], "https://github.com/agentclientprotocol/typescript-sdk"),
    npm("typescript-sdk-dual", "its example of an agent for both versions", "@agentclientprotocol/sdk@1.9.0", &["@agentclientprotocol/sdk/dist/examples/dual-version-agent.js"], "https://github.com/agentclientprotocol/typescript-sdk"),
    pypi("python-sdk", "the example agent of the official Python SDK", "agent-client-protocol", &["python", "{root}/example.py"], "https://github.com/agentclientprotocol/python-sdk"),
    pypi("agentao", "Agentao", "agentao", &["agentao", "--acp"], "https://pypi.org/project/agentao"),
    pypi("deepagents", "LangChain's Deep Agents, by their adapter", "deepagents-acp", &["python", "-m", "deepagents_acp"], "https://pypi.org/project/deepagents-acp"),
    pypi("minion-code", "minion-code", "minion-code", &["mcode", "acp"], "https://pypi.org/project/minion-code"),
    npm("auggie", "Augment Code's agent", "@augmentcode/auggie", &["auggie", "--acp"], "https://www.augmentcode.com"),
    npm("claude", "Claude Code, by an adapter", "@agentclientprotocol/claude-agent-acp node@22", &["claude-agent-acp"], "https://github.com/agentclientprotocol/claude-agent-acp"),
    npm("claude-zed", "Claude Code, by the older adapter", "@zed-industries/claude-code-acp", &["claude-code-acp"], "https://github.com/zed-industries/claude-code-acp"),
    npm("cline", "Cline", "cline", &["cline", "--acp"], "https://github.com/cline/cline"),
    Agent { login: Some("api-key"), ..npm("codex", "Codex, by an adapter", "@agentclientprotocol/codex-acp", &["codex-acp"], "https://github.com/agentclientprotocol/codex-acp") },
    Agent { login: Some("openai-api-key"), ..npm("codex-zed", "Codex, by the older adapter", "@zed-industries/codex-acp", &["codex-acp"], "https://github.com/zed-industries/codex-acp") },
    npm("copilot", "GitHub Copilot CLI", "@github/copilot", &["copilot", "--acp"], "https://github.com/github/copilot-cli"),
    npm("droid", "Factory Droid", "droid", &["droid", "exec", "--output-format", "acp"], "https://factory.ai"),
    npm("gemini", "Gemini CLI", "@google/gemini-cli", &["gemini", "--acp"], "https://github.com/google-gemini/gemini-cli"),
    npm("kilo", "Kilo Code", "@kilocode/cli", &["kilo", "acp"], "https://github.com/Kilo-Org/kilocode"),
    npm("kimi", "Kimi Code", "@moonshot-ai/kimi-code node@22", &["kimi", "acp"], "https://github.com/MoonshotAI/kimi-cli"),
    npm("opencode", "OpenCode", "opencode-ai", &["opencode", "acp"], "https://github.com/anomalyco/opencode"),
    npm("pi", "pi, by an adapter", "pi-acp @earendil-works/pi-coding-agent", &["pi-acp"], "https://github.com/svkozak/pi-acp"),
    npm("qoder", "Qoder CLI", "@qoder-ai/qodercli", &["qodercli", "--acp"], "https://qoder.com"),
    npm("qwen", "Qwen Code", "@qwen-code/qwen-code node@22", &["qwen", "--acp"], "https://github.com/QwenLM/qwen-code"),
];
