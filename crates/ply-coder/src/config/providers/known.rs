//! The providers that need no lines in the file.

use crate::model::service::Api;

/// The name of the provider that runs on the user's own machine.
pub(super) const OLLAMA: &str = "ollama";

/// Where Ollama is when nobody says otherwise.
pub(super) const OLLAMA_URL: &str = "http://localhost:11434";

/// A provider that needs no lines in the file.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    pub(super) api: Api,
    pub(super) base_url: Option<&'static str>,
    /// The variables that say where it is, the usual one first.
    pub(super) url_variables: &'static [&'static str],
    /// The variables that hold a key, the usual one first.
    pub(super) key_variables: &'static [&'static str],
    /// Variables that hold a key which is sent as a bearer token, as gateways want it.
    pub(super) token_variables: &'static [&'static str],
    /// The variable that names its model.
    pub(super) model_variable: Option<&'static str>,
    /// Models that are offered when there is a key, the default first.
    pub(super) offered: &'static [&'static str],
}

/// The providers that need no lines in the file, in the order of preference.
pub(super) const KNOWN: &[Known] = &[
    Known {
        name: "anthropic",
        title: "Anthropic",
        api: Api::Anthropic,
        base_url: None,
        url_variables: &["ANTHROPIC_BASE_URL"],
        key_variables: &["ANTHROPIC_API_KEY"],
        token_variables: &["ANTHROPIC_AUTH_TOKEN"],
        model_variable: Some("ANTHROPIC_MODEL"),
        offered: &["claude-sonnet-5", "claude-opus-5", "claude-haiku-5-5"],
    },
    Known {
        name: "openai",
        title: "OpenAI",
        api: Api::OpenAiResponses,
        base_url: None,
        url_variables: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        key_variables: &["OPENAI_API_KEY"],
        token_variables: &[],
        model_variable: Some("OPENAI_MODEL"),
        offered: &["gpt-6-luna", "gpt-5.6"],
    },
    Known {
        name: "gemini",
        title: "Gemini",
        api: Api::Gemini,
        base_url: None,
        url_variables: &["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        token_variables: &[],
        model_variable: Some("GEMINI_MODEL"),
        offered: &["gemini-3.8-flash", "gemini-3.1-pro-preview"],
    },
    Known {
        name: "openrouter",
        title: "OpenRouter",
        api: Api::OpenAi,
        base_url: Some("https://openrouter.ai/api/v1"),
        url_variables: &["OPENROUTER_BASE_URL"],
        key_variables: &["OPENROUTER_API_KEY"],
        token_variables: &[],
        model_variable: None,
        offered: &["openrouter/auto"],
    },
    Known {
        name: "groq",
        title: "Groq",
        api: Api::OpenAi,
        base_url: Some("https://api.groq.com/openai/v1"),
        url_variables: &["GROQ_BASE_URL"],
        key_variables: &["GROQ_API_KEY"],
        token_variables: &[],
        model_variable: None,
        offered: &["openai/gpt-oss-120b"],
    },
    Known {
        name: "mistral",
        title: "Mistral",
        api: Api::OpenAi,
        base_url: Some("https://api.mistral.ai/v1"),
        url_variables: &["MISTRAL_BASE_URL"],
        key_variables: &["MISTRAL_API_KEY"],
        token_variables: &[],
        model_variable: None,
        offered: &["devstral-medium-latest"],
    },
    Known {
        name: "deepseek",
        title: "DeepSeek",
        api: Api::OpenAi,
        base_url: Some("https://api.deepseek.com/v1"),
        url_variables: &["DEEPSEEK_BASE_URL"],
        key_variables: &["DEEPSEEK_API_KEY"],
        token_variables: &[],
        model_variable: None,
        offered: &["deepseek-chat"],
    },
    Known {
        name: "xai",
        title: "xAI",
        api: Api::OpenAi,
        base_url: Some("https://api.x.ai/v1"),
        url_variables: &["XAI_BASE_URL"],
        key_variables: &["XAI_API_KEY"],
        token_variables: &[],
        model_variable: None,
        offered: &["grok-4"],
    },
    Known {
        name: OLLAMA,
        title: "Ollama",
        api: Api::Ollama,
        base_url: Some(OLLAMA_URL),
        url_variables: &["OLLAMA_HOST"],
        key_variables: &["OLLAMA_API_KEY"],
        token_variables: &[],
        model_variable: None,
        // What it has is asked for when models are shown.
        offered: &[],
    },
];
