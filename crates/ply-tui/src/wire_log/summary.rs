//! What a line of the wire says, in a few words.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Characters of a text that are told.
const TEXT_CHARS_MAX: usize = 200;

/// What is looked at of a message. Members of other types than these are no reason to say nothing of the rest.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    update: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    session_update: String,
    status: Option<String>,
    state: Option<String>,
    title: Option<String>,
}

#[derive(Deserialize)]
struct Chunk {
    content: Text,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stopped {
    stop_reason: String,
}

#[derive(Deserialize)]
struct Failed {
    code: i64,
    message: String,
}

/// A line, as far as it is understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A request: its id and its method.
    Asked(String, String),
    /// An answer: the id of the request and how it went.
    Answered(String, String),
    /// A notification, in words.
    Told(String),
    /// No message.
    Noise,
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Said {
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(line) else {
        return Said::Noise;
    };
    let id = envelope.id.map(|id| id.get().to_owned());
    match (id, envelope.method) {
        (Some(id), Some(method)) => Said::Asked(id, method.into_owned()),
        (None, Some(method)) => Said::Told(told(&method, envelope.params)),
        // A result may be null, which reads like none.
        (Some(id), None) => Said::Answered(
            id,
            match envelope.error {
                Some(error) => failed(error),
                None => succeeded(envelope.result),
            },
        ),
        (None, None) => Said::Noise,
    }
}

/// Returns the beginning of a text.
pub(super) fn beginning(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn told(method: &str, params: Option<&RawValue>) -> String {
    let params = params.and_then(|params| serde_json::from_str::<Params<'_>>(params.get()).ok());
    let Some(raw) = params.and_then(|params| params.update) else {
        return method.to_owned();
    };
    let Ok(update) = serde_json::from_str::<Update>(raw.get()) else {
        return method.to_owned();
    };
    let mut words = update.session_update;
    let more = [update.status, update.state, update.title];
    for word in more.iter().flatten() {
        words.push(' ');
        words.push_str(&beginning(word));
    }
    if let Ok(chunk) = serde_json::from_str::<Chunk>(raw.get()) {
        // In quotes, since many are blank.
        words.push_str(&format!(" \"{}\"", beginning(&chunk.content.text)));
    }
    words
}

fn failed(error: &RawValue) -> String {
    match serde_json::from_str::<Failed>(error.get()) {
        Ok(Failed { code, message }) => format!("error: {} ({code})", beginning(&message)),
        Err(_) => "error".to_owned(),
    }
}

fn succeeded(result: Option<&RawValue>) -> String {
    let stopped = result.and_then(|it| serde_json::from_str::<Stopped>(it.get()).ok());
    match stopped {
        Some(stopped) => format!("ok, {}", beginning(&stopped.stop_reason)),
        None => "ok".to_owned(),
    }
}
