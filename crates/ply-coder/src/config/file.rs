//! `config.toml`, checked key by key.

use reqwest::header::{HeaderName, HeaderValue};
use toml::Spanned;
use toml::de::DeTable;

use super::diagnostics;
use super::hooks;
use super::mcp_servers;
use super::prices;
use super::rules::RuleLines;
use super::sandbox::{self, SandboxLines};
use super::table::{Table, Text};
use super::{ConfigError, TURN_REQUESTS_MAX};
use crate::diagnostics::Diagnostics;
use crate::hooks::Hook;
use crate::mcp::Configured;
use crate::model::Effort;
use crate::model::prices::Price;
use crate::model::service::{Api, Secret};
use crate::permission::Mode;

/// The most that can be said of a number of requests.
const REQUESTS_MAX: u64 = 100_000;
/// The most that can be said of a number of tokens.
const TOKENS_MAX: u64 = 100_000_000;

const EFFORTS: &[(&str, Effort)] = &[
    ("low", Effort::Low),
    ("medium", Effort::Medium),
    ("high", Effort::High),
];
const MODES: &[(&str, Mode)] = &[
    ("plan", Mode::Plan),
    ("ask", Mode::Ask),
    ("auto-edit", Mode::AutoEdit),
    ("full", Mode::Full),
];
const APIS: &[(&str, Api)] = &[
    ("openai", Api::OpenAi),
    ("openai-responses", Api::OpenAiResponses),
    ("anthropic", Api::Anthropic),
    ("gemini", Api::Gemini),
    ("ollama", Api::Ollama),
];

/// What the file says.
#[derive(Debug)]
pub(super) struct File {
    /// The default model, and its line.
    pub(super) model: Option<(String, usize)>,
    pub(super) effort: Option<Effort>,
    pub(super) mode: Mode,
    pub(super) turn_requests_max: u32,
    pub(super) compact: bool,
    pub(super) web_fetch: bool,
    pub(super) instructions: Option<String>,
    pub(super) providers: Vec<Provider>,
    pub(super) models: Vec<ModelLines>,
    pub(super) rules: RuleLines,
    pub(super) sandbox: SandboxLines,
    pub(super) hooks: Vec<Hook>,
    pub(super) diagnostics: Option<Diagnostics>,
    pub(super) mcp_servers: Vec<Configured>,
}

/// `[providers.NAME]`.
#[derive(Debug, Default)]
pub(super) struct Provider {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) api: Option<Api>,
    pub(super) base_url: Option<String>,
    pub(super) key: Option<Secret>,
    pub(super) key_env: Option<String>,
    pub(super) headers: Vec<(String, Secret)>,
}

/// `[[models]]`.
#[derive(Debug)]
pub(super) struct ModelLines {
    pub(super) id: String,
    pub(super) line: usize,
    pub(super) name: Option<String>,
    pub(super) window_tokens: Option<u64>,
    pub(super) output_tokens_max: Option<u64>,
    pub(super) images: Option<bool>,
    pub(super) audio: Option<bool>,
    pub(super) efforts: Option<bool>,
    pub(super) price: Option<Price>,
}

/// Reads the file.
pub(super) fn parse(text: &str) -> Result<File, ConfigError> {
    let document = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
        line: Text(text).line(error.span().map_or(0, |span| span.start)),
        what: error.message().to_owned(),
    })?;
    let text = Text(text);
    let mut table = Table::new(text, "", document.into_inner());
    let model = table.string("model")?;
    let requests = table.number("max_turn_requests", REQUESTS_MAX)?;
    let file = File {
        model: model.map(|model| {
            let line = text.line(model.span().start);
            (model.into_inner(), line)
        }),
        effort: table.word("effort", EFFORTS)?,
        mode: table.word("mode", MODES)?.unwrap_or_default(),
        turn_requests_max: requests
            .and_then(|requests| u32::try_from(requests).ok())
            .unwrap_or(TURN_REQUESTS_MAX),
        compact: table.flag("compact")?.unwrap_or(true),
        web_fetch: table.flag("web_fetch")?.unwrap_or(false),
        instructions: table.string("instructions")?.map(Spanned::into_inner),
        providers: providers(&mut table)?,
        models: models(text, &mut table)?,
        rules: rules(&mut table)?,
        sandbox: sandbox::read(&mut table)?,
        hooks: hooks::read(text, &mut table)?,
        diagnostics: diagnostics::read(&mut table)?,
        mcp_servers: mcp_servers::read(&mut table)?,
    };
    // The clients' part of the file, which they check themselves.
    for key in ["agents", "client", "hub"] {
        table.table(key)?;
    }
    table.end()?;
    Ok(file)
}

fn providers(table: &mut Table<'_>) -> Result<Vec<Provider>, ConfigError> {
    let Some((text, providers)) = table.table("providers")? else {
        return Ok(Vec::new());
    };
    let mut read = Vec::new();
    for (name, provider) in providers {
        let title = format!("[providers.{}]", name.get_ref());
        let toml::de::DeValue::Table(lines) = provider.get_ref().clone() else {
            return Err(text.error(&name, format!("write `{title}` on a line of its own")));
        };
        let mut lines = Table::new(text, title.clone(), lines);
        let key = lines.string("key")?.map(Spanned::into_inner);
        read.push(Provider {
            name: name.get_ref().clone().into_owned(),
            line: text.line(name.span().start),
            api: lines.word("api", APIS)?,
            base_url: base_url(text, &mut lines)?,
            key: key.map(Secret::new),
            key_env: lines.string("key_env")?.map(Spanned::into_inner),
            headers: headers(&mut lines)?,
        });
        lines.end()?;
    }
    // In the order of the file.
    read.sort_by_key(|provider| provider.line);
    Ok(read)
}

fn base_url(text: Text<'_>, table: &mut Table<'_>) -> Result<Option<String>, ConfigError> {
    let Some(url) = table.string("base_url")? else {
        return Ok(None);
    };
    match web_address(url.get_ref()) {
        true => Ok(Some(url.into_inner())),
        false => {
            let what =
                "`base_url` must be an http or https URL, such as `http://localhost:8000/v1`";
            Err(text.error(&url, what))
        }
    }
}

/// Says whether a text is the address of something on the web.
pub(super) fn web_address(url: &str) -> bool {
    let is_web = |url: &reqwest::Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    reqwest::Url::parse(url).is_ok_and(|url| is_web(&url))
}

pub(super) fn headers(table: &mut Table<'_>) -> Result<Vec<(String, Secret)>, ConfigError> {
    let Some((text, headers)) = table.table("headers")? else {
        return Ok(Vec::new());
    };
    let mut read = Vec::new();
    for (name, value) in headers {
        let Some(value) = value.get_ref().as_str() else {
            let what = format!("the header `{}` must be a text in quotes", name.get_ref());
            return Err(text.error(&name, what));
        };
        let is_name = HeaderName::from_bytes(name.get_ref().as_bytes()).is_ok();
        if !is_name || HeaderValue::from_str(value).is_err() {
            // The value may be a secret.
            let what = format!(
                "`{}` is no header: a name has letters, digits and `-`, and a value is one line",
                name.get_ref()
            );
            return Err(text.error(&name, what));
        }
        read.push((name.get_ref().clone().into_owned(), Secret::new(value)));
    }
    Ok(read)
}

fn models(text: Text<'_>, table: &mut Table<'_>) -> Result<Vec<ModelLines>, ConfigError> {
    let mut read = Vec::new();
    for model in table.tables("models")? {
        let place = Spanned::new(model.span(), ());
        let mut lines = Table::new(text, "[[models]]", model.into_inner());
        let Some(id) = lines.string("id")? else {
            let what = "a model needs an id: `id = \"provider/name\"`";
            return Err(text.error(&place, what));
        };
        read.push(ModelLines {
            line: text.line(id.span().start),
            id: id.into_inner(),
            name: lines.string("name")?.map(Spanned::into_inner),
            window_tokens: lines.number("window_tokens", TOKENS_MAX)?,
            output_tokens_max: lines.number("output_tokens_max", TOKENS_MAX)?,
            images: lines.flag("images")?,
            audio: lines.flag("audio")?,
            efforts: lines.flag("efforts")?,
            price: price(&mut lines, &place)?,
        });
        lines.end()?;
    }
    Ok(read)
}

fn price(table: &mut Table<'_>, at: &Spanned<()>) -> Result<Option<Price>, ConfigError> {
    let Some((text, price)) = table.table("price")? else {
        return Ok(None);
    };
    prices::read(Table::new(text, "price", price), at).map(Some)
}

fn rules(table: &mut Table<'_>) -> Result<RuleLines, ConfigError> {
    let Some((text, rules)) = table.table("permissions")? else {
        return Ok(RuleLines::default());
    };
    let mut rules = Table::new(text, "[permissions]", rules);
    let read = RuleLines {
        allow: rules.strings("allow")?,
        ask: rules.strings("ask")?,
        deny: rules.strings("deny")?,
    };
    rules.end()?;
    Ok(read)
}
