//! Providers: which there are, where their keys are, and the models that come of it.

use super::ConfigError;
use super::file::{File, ModelLines, Provider};
use super::proxy::proxy;
use super::table::meant;
use crate::model::catalogue;
use crate::model::offline;
use crate::model::service::{Api, Secret, Service};

type Env<'e> = &'e dyn Fn(&str) -> Option<String>;

/// Where Ollama is when nobody says otherwise.
pub(super) const OLLAMA_URL: &str = "http://localhost:11434";

const OLLAMA: &str = "ollama";

/// A provider that needs no lines in the file.
struct Known {
    name: &'static str,
    /// Its name for people.
    title: &'static str,
    api: Api,
    base_url: Option<&'static str>,
    /// The variable that says where it is.
    url_variable: Option<&'static str>,
    /// The variables that hold a key, the usual one first.
    key_variables: &'static [&'static str],
    /// Models that are offered when there is a key.
    offered: &'static [&'static str],
}

/// The providers that need no lines in the file, in the order of preference.
const KNOWN: &[Known] = &[
    Known {
        name: "anthropic",
        title: "Anthropic",
        api: Api::Anthropic,
        base_url: None,
        url_variable: Some("ANTHROPIC_BASE_URL"),
        key_variables: &["ANTHROPIC_API_KEY"],
        offered: &["claude-sonnet-5", "claude-opus-5", "claude-haiku-5-5"],
    },
    Known {
        name: "openai",
        title: "OpenAI",
        api: Api::OpenAiResponses,
        base_url: None,
        url_variable: Some("OPENAI_BASE_URL"),
        key_variables: &["OPENAI_API_KEY"],
        offered: &["gpt-6-luna", "gpt-5.6"],
    },
    Known {
        name: "gemini",
        title: "Gemini",
        api: Api::Gemini,
        base_url: None,
        url_variable: None,
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        offered: &["gemini-3.8-flash", "gemini-3.1-pro-preview"],
    },
    Known {
        name: "openrouter",
        title: "OpenRouter",
        api: Api::OpenAi,
        base_url: Some("https://openrouter.ai/api/v1"),
        url_variable: None,
        key_variables: &["OPENROUTER_API_KEY"],
        offered: &["openrouter/auto"],
    },
    Known {
        name: "groq",
        title: "Groq",
        api: Api::OpenAi,
        base_url: Some("https://api.groq.com/openai/v1"),
        url_variable: None,
        key_variables: &["GROQ_API_KEY"],
        offered: &["openai/gpt-oss-120b"],
    },
    Known {
        name: "mistral",
        title: "Mistral",
        api: Api::OpenAi,
        base_url: Some("https://api.mistral.ai/v1"),
        url_variable: None,
        key_variables: &["MISTRAL_API_KEY"],
        offered: &["devstral-medium-latest"],
    },
    Known {
        name: "deepseek",
        title: "DeepSeek",
        api: Api::OpenAi,
        base_url: Some("https://api.deepseek.com/v1"),
        url_variable: None,
        key_variables: &["DEEPSEEK_API_KEY"],
        offered: &["deepseek-chat"],
    },
    Known {
        name: "xai",
        title: "xAI",
        api: Api::OpenAi,
        base_url: Some("https://api.x.ai/v1"),
        url_variable: None,
        key_variables: &["XAI_API_KEY"],
        offered: &["grok-4"],
    },
    Known {
        name: OLLAMA,
        title: "Ollama",
        api: Api::Ollama,
        base_url: Some(OLLAMA_URL),
        url_variable: Some("OLLAMA_HOST"),
        key_variables: &["OLLAMA_API_KEY"],
        // What it has is asked for when models are shown.
        offered: &[],
    },
];

/// Where the name of a model came from, to tell what is wrong with it.
#[derive(Debug, Clone, Copy)]
enum Source {
    Line(usize),
    Variable(&'static str),
}

impl Source {
    fn error(self, what: String) -> ConfigError {
        match self {
            Self::Line(line) => ConfigError::Line { line, what },
            Self::Variable(name) => ConfigError::Variable { name, what },
        }
    }
}

/// Returns all models, the default first.
pub(super) fn services(file: &File, env: Env<'_>) -> Result<Vec<Service>, ConfigError> {
    for provider in &file.providers {
        let known = KNOWN.iter().any(|known| known.name == provider.name);
        if !known && (provider.api.is_none() || provider.base_url.is_none()) {
            let what = format!(
                "`[providers.{}]` needs `api` and `base_url`: it is none of the providers that are known",
                provider.name
            );
            return Err(Source::Line(provider.line).error(what));
        }
    }
    let mut services = Vec::new();
    // The offline model is no service's.
    if let Some((id, source)) = named(file, env).filter(|(id, _)| id != offline::ID) {
        services.push(service(&id, source, file, env)?);
    }
    for model in file.models.iter().filter(|model| model.id != offline::ID) {
        services.push(service(&model.id, Source::Line(model.line), file, env)?);
    }
    for known in KNOWN {
        let lines = provider_of(file, known.name);
        // An address of the user's own has models of its own.
        let elsewhere = base_url(known.name, lines, Some(known), env).as_deref() != known.base_url;
        if !elsewhere && key(lines, Some(known), env).is_some() {
            for name in known.offered {
                let id = format!("{}/{name}", known.name);
                services.push(service(&id, Source::Line(0), file, env)?);
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    services.retain(|service| seen.insert(service.facts.id.clone()));
    Ok(services)
}

/// Says whether the user asked for the offline model, so that nothing may go to a service by itself.
pub(super) fn is_offline(file: &File, env: Env<'_>) -> bool {
    named(file, env).is_some_and(|(id, _)| id == offline::ID)
}

/// Returns the default model that the user named.
fn named(file: &File, env: Env<'_>) -> Option<(String, Source)> {
    let variable = set(env, "PLY_MODEL").map(|id| (id, Source::Variable("PLY_MODEL")));
    let id = |(id, line): &(String, usize)| (id.clone(), Source::Line(*line));
    let (id, source) = variable.or_else(|| file.model.as_ref().map(id))?;
    Some((id.trim().to_owned(), source))
}

/// Returns the names of the variables that hold keys: the usual ones, and those that the file names.
pub(super) fn key_variables(providers: &[Provider]) -> Vec<String> {
    let usual = KNOWN.iter().flat_map(|known| known.key_variables);
    let usual = usual.map(|name| (*name).to_owned());
    let named = providers.iter();
    let named = named.filter_map(|provider| provider.key_env.clone());
    usual.chain(named).collect()
}

/// Returns where Ollama is.
pub(super) fn ollama_url(providers: &[Provider], env: Env<'_>) -> String {
    let lines = providers.iter().find(|provider| provider.name == OLLAMA);
    let known = KNOWN.iter().find(|known| known.name == OLLAMA);
    base_url(OLLAMA, lines, known, env).unwrap_or_else(|| OLLAMA_URL.to_owned())
}

fn provider_of<'f>(file: &'f File, name: &str) -> Option<&'f Provider> {
    file.providers.iter().find(|provider| provider.name == name)
}

fn service(id: &str, source: Source, file: &File, env: Env<'_>) -> Result<Service, ConfigError> {
    let id = with_provider(id, source)?;
    // `with_provider` returns nothing without a slash.
    let (provider, model) = id.split_once('/').unwrap_or((&id, ""));
    let lines = provider_of(file, provider);
    let known = KNOWN.iter().find(|known| known.name == provider);
    if lines.is_none() && known.is_none() {
        let names = KNOWN.iter().map(|known| known.name);
        let names: Vec<&str> = names
            .chain(file.providers.iter().map(|lines| lines.name.as_str()))
            .collect();
        let what = format!(
            "there is no provider `{provider}`{}",
            meant(provider, &names)
        );
        return Err(source.error(what));
    }
    let base_url = base_url(provider, lines, known, env);
    let said = lines.and_then(|lines| lines.api);
    let api = match (said, known) {
        (Some(api), _) => api,
        // What stands in for OpenAI elsewhere speaks as it did first.
        (None, Some(known)) if known.name == "openai" && base_url.is_some() => Api::OpenAi,
        (None, Some(known)) => known.api,
        (None, None) => Api::OpenAi,
    };
    let facts = match api {
        Api::Ollama => catalogue::local(&id),
        _ => catalogue::facts(&id),
    };
    let mut service = Service::new(api, model, facts);
    service.service = known.map_or(provider, |known| known.title).to_owned();
    service.cache_keys = known.is_some_and(|known| known.name == "openai") && base_url.is_none();
    service.resend_thoughts = provider == "deepseek";
    // By any way that leads to them.
    service.speaks_after_results = provider == "mistral" || model.starts_with("mistralai/");
    service.proxy = proxy(env, base_url.as_deref());
    service.own_address = base_url.as_deref() != known.and_then(|known| known.base_url);
    service.base_url = base_url;
    service.key = key(lines, known, env);
    service.key_hint = key_hint(provider, lines, known);
    if let Some(lines) = lines {
        service.headers.clone_from(&lines.headers);
    }
    // The file may leave out the provider of a well-known name.
    let is_meant = |model: &&ModelLines| {
        let full = with_provider(&model.id, Source::Line(model.line));
        full.is_ok_and(|full| full == id)
    };
    if let Some(model) = file.models.iter().find(is_meant) {
        amend(&mut service, model);
    }
    Ok(service)
}

/// Returns an id with its provider, which well-known names do without.
fn with_provider(id: &str, source: Source) -> Result<String, ConfigError> {
    if let Some((provider, model)) = id.split_once('/')
        && !provider.is_empty()
        && !model.is_empty()
    {
        return Ok(id.to_owned());
    }
    let makers = [
        ("claude-", "anthropic"),
        ("gpt-", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("gemini-", "gemini"),
    ];
    let maker = makers.iter().find(|(prefix, _)| id.starts_with(prefix));
    maker
        .map(|(_, provider)| format!("{provider}/{id}"))
        .ok_or_else(|| {
            source.error("write a model as `provider/name`, such as `ollama/qwen3`".to_owned())
        })
}

fn base_url(
    provider: &str,
    lines: Option<&Provider>,
    known: Option<&Known>,
    env: Env<'_>,
) -> Option<String> {
    if let Some(url) = lines.and_then(|lines| lines.base_url.clone()) {
        return Some(url);
    }
    let variable = known.and_then(|known| known.url_variable);
    match variable.and_then(|name| set(env, name)) {
        Some(host) if provider == OLLAMA => Some(ollama_host(&host)),
        Some(url) => Some(url),
        None => known.and_then(|known| known.base_url).map(str::to_owned),
    }
}

/// Returns the address that `OLLAMA_HOST` means. It is the server's own variable: the scheme and the
/// port may be missing, and an address that listens everywhere is reached here.
fn ollama_host(host: &str) -> String {
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.trim_end_matches('/');
    let (name, port) = match rest.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => (name, port),
        _ if scheme == "https" => (rest, "443"),
        _ => (rest, "11434"),
    };
    let name = match name {
        "" | "0.0.0.0" => "127.0.0.1",
        name => name,
    };
    format!("{scheme}://{name}:{port}")
}

fn key(lines: Option<&Provider>, known: Option<&Known>, env: Env<'_>) -> Option<Secret> {
    let said = lines.and_then(|lines| lines.key.clone());
    if said.is_some() {
        return said;
    }
    if let Some(name) = lines.and_then(|lines| lines.key_env.as_ref()) {
        return set(env, name).map(Secret::new);
    }
    let names = known.map_or(&[] as &[&str], |known| known.key_variables);
    names
        .iter()
        .find_map(|name| set(env, name))
        .map(Secret::new)
}

fn key_hint(provider: &str, lines: Option<&Provider>, known: Option<&Known>) -> String {
    let named = lines.and_then(|lines| lines.key_env.as_deref());
    let usual = known.and_then(|known| known.key_variables.first().copied());
    let in_file = format!("`key` in `[providers.{provider}]` of `config.toml`");
    match named.or(usual) {
        _ if lines.is_some_and(|lines| lines.key.is_some()) => format!("check {in_file}"),
        Some(variable) => format!("set `{variable}`, or {in_file}"),
        None => format!("set {in_file}"),
    }
}

fn amend(service: &mut Service, lines: &ModelLines) {
    let facts = &mut service.facts;
    if let Some(name) = &lines.name {
        facts.name.clone_from(name);
    }
    facts.window_tokens = lines.window_tokens.unwrap_or(facts.window_tokens);
    facts.output_tokens_max = lines.output_tokens_max.unwrap_or(facts.output_tokens_max);
    facts.images = lines.images.unwrap_or(facts.images);
    facts.audio = lines.audio.unwrap_or(facts.audio);
    facts.efforts = lines.efforts.unwrap_or(facts.efforts);
}

/// Returns a variable that is not empty.
fn set(env: Env<'_>, name: &str) -> Option<String> {
    env(name).filter(|value| !value.trim().is_empty())
}
