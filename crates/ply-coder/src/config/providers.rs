//! Providers: which there are, where their keys are, and the models that come of it.

mod known;

use self::known::{KNOWN, Known, OLLAMA, OLLAMA_URL};
use super::ConfigError;
use super::ModelList;
use super::file::{File, ModelLines, Provider};
use super::proxy::proxy;
use super::table::meant;
use crate::model::catalogue;
use crate::model::offline;
use crate::model::service::{Api, Secret, Service};

type Env<'e> = &'e dyn Fn(&str) -> Option<String>;

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

/// What the file and the environment set up.
#[derive(Debug, Default)]
pub(super) struct Providers {
    /// All models, the default first.
    pub(super) services: Vec<Service>,
    /// The servers that are to be asked which models they have.
    pub(super) lists: Vec<ModelList>,
    /// What was found and cannot be used, and what to do about it.
    pub(super) problems: Vec<String>,
}

/// Finds out which models there are. Nobody is asked.
pub(super) fn read(file: &File, env: Env<'_>) -> Result<Providers, ConfigError> {
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
    let mut found = Providers::default();
    // The offline model is no service's.
    if let Some((id, source)) = named(file, env).filter(|(id, _)| id != offline::ID) {
        found.services.push(service(&id, source, file, env)?);
    }
    for model in file.models.iter().filter(|model| model.id != offline::ID) {
        let source = Source::Line(model.line);
        found.services.push(service(&model.id, source, file, env)?);
    }
    for known in KNOWN.iter().filter(|known| known.name != OLLAMA) {
        found.add_known(known, file, env)?;
    }
    let is_known = |name: &str| KNOWN.iter().any(|known| known.name == name);
    for lines in file.providers.iter().filter(|lines| !is_known(&lines.name)) {
        found.ask(&lines.name, Vec::new(), file, env)?;
    }
    // A server on this machine is used only if somebody says so: whoever may open a port could be behind it.
    let is_ollama = |service: &Service| service.facts.id.starts_with("ollama/");
    let is_set = set(env, "OLLAMA_HOST").is_some() || provider_of(file, OLLAMA).is_some();
    if is_set || found.services.iter().any(is_ollama) {
        found.ask(OLLAMA, Vec::new(), file, env)?;
    }
    let mut seen = std::collections::HashSet::new();
    found
        .services
        .retain(|service| seen.insert(service.facts.id.clone()));
    Ok(found)
}

impl Providers {
    /// Adds the usual models of a provider that has a key, or an address of the user's own.
    fn add_known(&mut self, known: &Known, file: &File, env: Env<'_>) -> Result<(), ConfigError> {
        let lines = provider_of(file, known.name);
        let base_url = base_url(known.name, lines, Some(known), env);
        let is_elsewhere = base_url.as_deref() != known.base_url;
        let has_key = key(lines, Some(known), env).is_some();
        if !has_key && !is_elsewhere {
            let variable = lines.and_then(|lines| lines.key_env.as_deref());
            if let Some(variable) = variable.filter(|_| !self.has(known.name)) {
                self.problems.push(format!(
                    "`[providers.{}]` takes its key from `{variable}`, which is not set.",
                    known.name
                ));
            }
            return Ok(());
        }
        let chosen = known
            .model_variable
            .and_then(|name| Some((name, set(env, name)?)));
        if let Some((variable, model)) = &chosen {
            let id = format!("{}/{}", known.name, model.trim());
            self.services
                .push(service(&id, Source::Variable(variable), file, env)?);
        }
        // Whoever says which model to take wants that one. Else these are most likely there.
        let is_said = chosen.is_some() || self.has(known.name);
        if is_elsewhere && is_said {
            return self.ask(known.name, Vec::new(), file, env);
        }
        let mut assumed = Vec::new();
        for name in known.offered {
            let id = format!("{}/{name}", known.name);
            self.services
                .push(service(&id, Source::Line(0), file, env)?);
            assumed.push(id);
        }
        match is_elsewhere {
            true => self.ask(known.name, assumed, file, env),
            false => Ok(()),
        }
    }

    /// Says whether there is a model of a provider.
    fn has(&self, provider: &str) -> bool {
        let prefix = format!("{provider}/");
        let mut services = self.services.iter();
        services.any(|service| service.facts.id.starts_with(&prefix))
    }

    /// Notes that a server is to be asked for its models, some of which are assumed to be there.
    fn ask(
        &mut self,
        provider: &str,
        assumed: Vec<String>,
        file: &File,
        env: Env<'_>,
    ) -> Result<(), ConfigError> {
        // Any model will do: what counts is how it is reached.
        let service = service(&format!("{provider}/-"), Source::Line(0), file, env)?;
        self.lists.push(ModelList { service, assumed });
        Ok(())
    }
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
    let usual = KNOWN
        .iter()
        .flat_map(|known| known.key_variables.iter().chain(known.token_variables));
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
    service.bearer = service.key.is_some() && is_token(lines, known, env);
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

/// Returns the id of a model with its provider, as far as that is known.
pub(super) fn full_id(id: &str) -> String {
    with_provider(id, Source::Line(0)).unwrap_or_else(|_| id.to_owned())
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
    let variables = known.map_or(&[] as &[&str], |known| known.url_variables);
    match variables.iter().find_map(|name| set(env, name)) {
        Some(host) if provider == OLLAMA => Some(ollama_host(&host)),
        Some(url) if provider == "gemini" => Some(with_version(&url, "v1beta")),
        Some(url) => Some(url.trim().to_owned()),
        None => known.and_then(|known| known.base_url).map(str::to_owned),
    }
}

/// Returns an address with a version at its end: Google's own programs add it themselves.
fn with_version(url: &str, version: &str) -> String {
    let url = url.trim().trim_end_matches('/');
    let last = url.rsplit('/').next().unwrap_or_default();
    match last.starts_with("v1") {
        true => url.to_owned(),
        false => format!("{url}/{version}"),
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
    let known = known.iter();
    let mut names = known.flat_map(|known| known.key_variables.iter().chain(known.token_variables));
    let key = names.find_map(|name| set(env, name));
    key.map(|key| Secret::new(key.trim()))
}

/// Says whether the key is one that is sent as a bearer token.
fn is_token(lines: Option<&Provider>, known: Option<&Known>, env: Env<'_>) -> bool {
    let is_said = lines.is_some_and(|lines| lines.key.is_some() || lines.key_env.is_some());
    let has_key = |known: &Known| {
        known
            .key_variables
            .iter()
            .any(|name| set(env, name).is_some())
    };
    !is_said && known.is_some_and(|known| !known.token_variables.is_empty() && !has_key(known))
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
