//! The servers that a project names in `.mcp.json`. Whoever wrote the project wrote that file, so nothing of it is started before
//! the user allowed it, entry by entry.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ring::digest::{Context, SHA256};
use serde_json::{Map, Value};

use super::configured::{Configured, Way};
use super::words;
use crate::model::service::Secret;
use crate::permission::VERSION_BYTES;

/// The name of the file.
pub(crate) const FILE: &str = ".mcp.json";
/// How long the file may be.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// How many servers of one file are taken.
const SERVERS_MAX: usize = 64;
/// How long a name that is told may be, in characters.
const NAME_CHARS_MAX: usize = 64;

/// A server that a project names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectServer {
    pub(crate) configured: Configured,
    /// Stands for the whole entry: another one has another version.
    pub(crate) version: String,
    /// The directory of the file that names it.
    pub(crate) directory: PathBuf,
}

/// What the files of a project say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) servers: Vec<ProjectServer>,
    /// What cannot be used, in whole sentences for people.
    pub(crate) problems: Vec<String>,
}

/// The servers of a project that wait for the user.
#[derive(Debug, Default)]
pub(crate) struct Undecided {
    servers: Mutex<Vec<ProjectServer>>,
    problems: Mutex<Vec<String>>,
}

impl Undecided {
    pub(crate) fn new(servers: Vec<ProjectServer>, problems: Vec<String>) -> Self {
        Self {
            servers: Mutex::new(servers),
            problems: Mutex::new(problems),
        }
    }

    /// Returns the servers that nobody has decided about.
    pub(crate) fn servers(&self) -> Vec<ProjectServer> {
        lock(&self.servers).clone()
    }

    /// Notes that somebody has decided about a server.
    pub(crate) fn settle(&self, server: &ProjectServer) {
        lock(&self.servers).retain(|one| one != server);
    }

    /// Returns what the user should know, once.
    pub(crate) fn take_problems(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.problems))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the files of a project: the one in the working directory, and the one at the root of its repository. Of two servers with
/// one name the nearer one counts.
pub(crate) fn read(cwd: &Path, repository: Option<&Path>) -> Found {
    let mut found = Found::default();
    let outer = repository.filter(|root| *root != cwd);
    for directory in std::iter::once(cwd).chain(outer) {
        let Some(text) = read_file(&directory.join(FILE), &mut found.problems) else {
            continue;
        };
        let own = parse(&text, directory);
        for server in own.servers {
            let name = server.configured.shown_name();
            let mut known = found.servers.iter();
            if !known.any(|known| known.configured.shown_name() == name) {
                found.servers.push(server);
            }
        }
        found.problems.extend(own.problems);
    }
    found
}

fn read_file(path: &Path, problems: &mut Vec<String>) -> Option<String> {
    // A link could lead anywhere, and a pipe would never end.
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text));
    match read {
        Ok(_) if text.len() as u64 <= FILE_BYTES_MAX => Some(text),
        Ok(_) => {
            problems.push(format!(
                "`{FILE}` is longer than {FILE_BYTES_MAX} bytes, so no server of it is used; shorten it."
            ));
            None
        }
        Err(_) => {
            problems.push(format!(
                "`{FILE}` cannot be read, so no server of it is used; check that it is a text file of yours."
            ));
            None
        }
    }
}

/// Reads the text of a file that lies in a directory.
fn parse(text: &str, directory: &Path) -> Found {
    let mut found = Found::default();
    let document: Value = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            found.problems.push(format!(
                "`{FILE}` is no JSON at line {line}, column {column}, so no server of it is used; correct it."
            ));
            return found;
        }
    };
    let entries = match document.get("mcpServers") {
        Some(Value::Object(entries)) => entries,
        None if document.is_object() => return found,
        _ => {
            found.problems.push(format!(
                "`{FILE}` must be `{{\"mcpServers\": {{\"NAME\": {{\"command\": \"…\"}}}}}}`, so no server of it is used; correct it."
            ));
            return found;
        }
    };
    let in_order: BTreeMap<_, _> = entries.iter().take(SERVERS_MAX).collect();
    for (name, entry) in in_order {
        match server(name, entry, directory) {
            Ok(Some(server)) => found.servers.push(server),
            Ok(None) => {}
            Err(problem) => {
                let name = words::line(name, NAME_CHARS_MAX);
                found
                    .problems
                    .push(format!("The MCP server `{name}` in `{FILE}`: {problem}."));
            }
        }
    }
    if entries.len() > SERVERS_MAX {
        found.problems.push(format!(
            "`{FILE}` names more than {SERVERS_MAX} servers; those after the first {SERVERS_MAX} are not used."
        ));
    }
    found
}

/// Reads an entry. One that says that it is off is none.
fn server(name: &str, entry: &Value, directory: &Path) -> Result<Option<ProjectServer>, String> {
    let Value::Object(fields) = entry else {
        return Err("it must be an object".to_owned());
    };
    let is_off = fields.get("disabled") == Some(&Value::Bool(true))
        || fields.get("enabled") == Some(&Value::Bool(false));
    if name.trim().is_empty() {
        return Err("it has no name; give it one".to_owned());
    }
    if is_off {
        return Ok(None);
    }
    let kind = text(fields, "type")?.or(text(fields, "transport")?);
    let way = match (kind, text(fields, "command")?, text(fields, "url")?) {
        (None | Some("stdio"), Some(command), None) => Way::Command {
            command: command.to_owned(),
            args: args(fields)?,
            env: pairs(fields, "env")?,
        },
        (None | Some("http" | "streamable-http" | "streamableHttp"), None, Some(url)) => Way::Url {
            url: url.to_owned(),
            headers: pairs(fields, "headers")?,
        },
        (Some("sse"), ..) => {
            return Err(
                "the transport SSE was replaced by streamable HTTP; give it as type `http`"
                    .to_owned(),
            );
        }
        (Some(kind), ..) if !matches!(kind, "stdio" | "http" | "streamable-http") => {
            let kind = words::line(kind, NAME_CHARS_MAX);
            return Err(format!(
                "the transport `{kind}` is not supported; use `stdio` or `http`"
            ));
        }
        (_, Some(_), Some(_)) => {
            return Err("it has a `command` and a `url`; keep one of them".to_owned());
        }
        _ => return Err("it needs a `command`, or a `url` and the type `http`".to_owned()),
    };
    Ok(Some(ProjectServer {
        configured: Configured::new(name, way),
        version: version(name, entry, directory),
        directory: directory.to_owned(),
    }))
}

/// Returns what stands for an entry, in hexadecimal. Nobody finds two entries with the same one.
fn version(name: &str, entry: &Value, directory: &Path) -> String {
    let mut digest = Context::new(&SHA256);
    let entry = in_order(entry).to_string();
    // A relative command means another program in another directory.
    let directory = directory.as_os_str().as_encoded_bytes();
    for part in [name.as_bytes(), entry.as_bytes(), directory] {
        digest.update(&part.len().to_le_bytes());
        digest.update(part);
    }
    let digest = digest.finish();
    let bytes = digest.as_ref().iter().take(VERSION_BYTES);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a value with its keys in the order of the alphabet: whoever only sorts an entry has not changed it.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> = fields.iter().collect();
            let fields = fields.into_iter();
            Value::Object(
                fields
                    .map(|(key, value)| (key.clone(), in_order(value)))
                    .collect(),
            )
        }
        Value::Array(values) => values.iter().map(in_order).collect(),
        value => value.clone(),
    }
}

fn text<'f>(fields: &'f Map<String, Value>, key: &str) -> Result<Option<&'f str>, String> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{key}` must be a text")),
    }
}

fn args(fields: &Map<String, Value>) -> Result<Vec<String>, String> {
    let wrong = || "`args` must be a list of texts".to_owned();
    match fields.get("args") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(args)) => {
            let args = args.iter().map(|arg| arg.as_str().map(str::to_owned));
            args.collect::<Option<_>>().ok_or_else(wrong)
        }
        Some(_) => Err(wrong()),
    }
}

fn pairs(fields: &Map<String, Value>, key: &str) -> Result<Vec<(String, Secret)>, String> {
    let wrong = || format!("`{key}` must be an object of texts");
    match fields.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(pairs)) => {
            let pairs = pairs
                .iter()
                .map(|(name, value)| Some((name.clone(), Secret::new(value.as_str()?))));
            pairs.collect::<Option<_>>().ok_or_else(wrong)
        }
        Some(_) => Err(wrong()),
    }
}

#[cfg(test)]
mod tests;
