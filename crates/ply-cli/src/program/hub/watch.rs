//! `ply watch`: what happens in a session of the hub, as it happens.

mod plain;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ply_agent::v2;
use ply_client::{Client, Supported, Transport};
use ply_hub::ask::{Ask, Asked, Live, Told};
use ply_hub::connect;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use self::plain::Plain;
use super::arguments::Watch;
use super::{place, send};
use crate::program::error::FAILED;
use crate::program::json::Harmless;
use crate::program::run::out::Out;
use crate::program::run::signals::Signals;
use crate::program::run::wire::Wire;
use crate::program::{Error, output};

/// How long the hub may take to say what a session asks.
const ASK_TIME_MAX: Duration = Duration::from_secs(2);

/// Shows a session until a signal comes or the hub ends.
pub(crate) async fn run(arguments: Watch) -> Result<ExitCode, Error> {
    let mut signals = Signals::listen().map_err(Error::Start)?;
    let sessions = sessions(arguments.store.clone()).await?;
    let live = find(&sessions, arguments.session.as_deref())?;
    let mut hello = place::hello(arguments.store.clone(), None)?;
    hello.ask = Some(Ask::Watch);
    let connected = connect::connect(&place::find()?, &hello).await;
    let connected = connected.map_err(|error| Error::Hub(error.to_string()))?;
    let (wire, seen) = Wire::new();
    let agent = Client::new()
        .info("ply watch", env!("CARGO_PKG_VERSION"))
        .versions(Supported::V2)
        .on_line(seen)
        .connect(Transport::new(connected.reader, connected.writer))
        .await;
    let agent = agent.map_err(|error| Error::Hub(error.to_string()))?;
    let mut view = View::new(&arguments, live);
    let mut out = Out::start();
    let mut loading = std::pin::pin!(agent.load_session(live.id.clone(), live.cwd.clone()));
    let mut session = None;
    loop {
        if !out.is_full() {
            let (lines, is_cut) = wire.take();
            view.show(&lines);
            if std::mem::take(&mut view.asks) {
                view.show_questions().await;
            }
            out.push(view.take().as_bytes());
            if is_cut {
                let problem = "the output is read too slowly to keep up with the session";
                return Err(Error::Hub(problem.to_owned()));
            }
        }
        tokio::select! {
            biased;
            signal = signals.next() => return Ok(ExitCode::from(signal.exit_code())),
            pumped = out.pump() => if pumped.is_err() {
                return out.failure().map_or(Ok(ExitCode::SUCCESS), |error| Err(Error::Output(error)));
            },
            loaded = &mut loading, if session.is_none() => {
                let loaded = loaded.map_err(|error| Error::Hub(error.to_string()))?;
                session = Some(loaded);
            }
            () = wire.more(), if !out.is_full() => {}
            _ = agent.closed() => break,
        }
    }
    view.show(&wire.take().0);
    out.push(view.take().as_bytes());
    // Whoever reads has what there is, or has gone.
    out.written().await.ok();
    output::tell("the hub has ended; `ply attach` starts another");
    Ok(FAILED.into())
}

async fn sessions(store: Option<PathBuf>) -> Result<Vec<Live>, Error> {
    match place::ask(store, Ask::Sessions).await? {
        Some(Told::Sessions(sessions)) => Ok(sessions),
        _ => Err(Error::Hub(
            "no hub runs; `ply attach` starts one".to_owned(),
        )),
    }
}

/// Returns the session that is meant: the one with this id, or the only one.
fn find<'a>(sessions: &'a [Live], wanted: Option<&str>) -> Result<&'a Live, Error> {
    match (wanted, sessions) {
        (Some(id), _) => send::find(sessions, id),
        (None, [only]) => Ok(only),
        (None, []) => Err(Error::Argument(
            "no session is open in the hub; `ply attach` and `ply run --detach` open one"
                .to_owned(),
        )),
        (None, several) => Err(Error::Argument(format!(
            "{} sessions are open; say which one, by its id in `ply hub sessions`",
            several.len()
        ))),
    }
}

/// A message of the hub, as far as it matters here.
#[derive(Deserialize)]
struct Line<'a> {
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params {
    update: v2::SessionUpdate,
}

/// A question, as JSON. The names are promised to scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Question<'a> {
    session_id: &'a str,
    question: QuestionOf<'a>,
}

#[derive(Serialize)]
struct QuestionOf<'a> {
    id: String,
    title: &'a str,
    options: Vec<&'a str>,
}

/// What is shown.
struct View {
    store: Option<PathBuf>,
    session: String,
    /// None for JSON.
    plain: Option<Plain>,
    json: Vec<u8>,
    /// Whether the session waits for an answer, and what was not shown.
    asks: bool,
    /// The questions that were shown and wait.
    shown: Vec<u64>,
}

impl View {
    fn new(arguments: &Watch, live: &Live) -> Self {
        Self {
            store: arguments.store.clone(),
            session: live.id.clone(),
            plain: (!arguments.json).then(Plain::default),
            json: Vec::new(),
            asks: false,
            shown: Vec::new(),
        }
    }

    /// Shows the updates among lines of the protocol.
    fn show(&mut self, lines: &[u8]) {
        for line in lines.split(|byte| *byte == b'\n') {
            let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else {
                continue;
            };
            let is_update = line.method.as_deref() == Some("session/update");
            if let Some(params) = line.params.filter(|_| is_update) {
                self.update(params);
            }
        }
    }

    fn update(&mut self, params: &RawValue) {
        let update = serde_json::from_str::<Params>(params.get());
        let update = update.ok().map(|params| params.update);
        if let Some(v2::SessionUpdate::StateUpdate(state)) = &update {
            self.asks = matches!(state, v2::StateUpdate::RequiresAction(_));
        }
        match (&mut self.plain, update) {
            (Some(plain), Some(update)) => plain.update(&update),
            // One that this version does not know has no words.
            (Some(_), None) => {}
            (None, _) => self.object(params),
        }
    }

    /// Shows the questions that wait and were not shown.
    async fn show_questions(&mut self) {
        let asked = tokio::time::timeout(ASK_TIME_MAX, sessions(self.store.clone())).await;
        // A hub that does not answer has shown all that it can.
        let Ok(Ok(sessions)) = asked else {
            return;
        };
        let Some(live) = sessions.iter().find(|live| live.id == self.session) else {
            return;
        };
        let shown = std::mem::replace(
            &mut self.shown,
            live.questions.iter().map(|asked| asked.id).collect(),
        );
        for asked in live
            .questions
            .iter()
            .filter(|asked| !shown.contains(&asked.id))
        {
            self.question(asked);
        }
    }

    fn question(&mut self, asked: &Asked) {
        let id = format!("{}:{}", self.session, asked.id);
        if let Some(plain) = &mut self.plain {
            return plain.question(&asked.title, (!asked.options.is_empty()).then_some(&*id));
        }
        let session = self.session.clone();
        let options = asked.options.iter().map(|option| option.name.as_str());
        self.object(&Question {
            session_id: &session,
            question: QuestionOf {
                id,
                title: &asked.title,
                options: options.collect(),
            },
        });
    }

    fn object(&mut self, object: &(impl Serialize + ?Sized)) {
        let before = self.json.len();
        match serde_json::to_writer(Harmless(&mut self.json), object) {
            Ok(()) => self.json.push(b'\n'),
            // Only a path that is not UTF-8 has no JSON form, and such a path cannot have come in.
            Err(_) => self.json.truncate(before),
        }
    }

    fn take(&mut self) -> String {
        match &mut self.plain {
            Some(plain) => plain.take(),
            None => String::from_utf8_lossy(&std::mem::take(&mut self.json)).into_owned(),
        }
    }
}
