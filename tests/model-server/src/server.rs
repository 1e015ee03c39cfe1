//! The server: it takes requests, keeps them, and sends what the script says.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::render::{self, Piece};
use crate::{Api, Reply, Seen};

type Body = StreamBody<BoxStream<'static, io::Result<Frame<Bytes>>>>;

/// A scripted model service. It ends when it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Shared {
    script: Mutex<VecDeque<Reply>>,
    models: Mutex<Vec<String>>,
    log: watch::Sender<Vec<Entry>>,
}

#[derive(Debug, Clone)]
struct Entry {
    seen: Seen,
    outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Running,
    Finished,
    Disconnected,
}

impl ModelServer {
    /// Starts a server on a free port of the loopback interface, inside the current runtime.
    ///
    /// # Panics
    ///
    /// No port can be had.
    ///
    /// # Cancel safety
    ///
    /// Safe to drop; no server is left behind.
    pub async fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into_iter().collect()),
            ..Shared::default()
        });
        let task = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Self {
            address,
            shared,
            task,
        }
    }

    /// Returns the base URL of an API, as a user would configure it.
    pub fn url(&self, api: Api) -> String {
        let path = match api {
            Api::Chat | Api::Responses | Api::Anthropic => "/v1",
            Api::Gemini => "/v1beta",
            Api::Ollama => "",
        };
        format!("http://{}{path}", self.address)
    }

    /// Adds a reply to the end of the script.
    pub fn push(&self, reply: Reply) {
        self.shared.script.lock().unwrap().push_back(reply);
    }

    /// Returns how many replies were not asked for yet.
    pub fn left(&self) -> usize {
        self.shared.script.lock().unwrap().len()
    }

    /// Sets the models that `/api/tags` and `/v1/models` list.
    pub fn set_models(&self, names: &[&str]) {
        *self.shared.models.lock().unwrap() = names.iter().map(ToString::to_string).collect();
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Seen> {
        let log = self.shared.log.borrow();
        log.iter().map(|entry| entry.seen.clone()).collect()
    }

    /// Waits for a request, counted from 0, and returns it.
    ///
    /// # Cancel safety
    ///
    /// Safe to drop; nothing is lost.
    pub async fn request(&self, index: usize) -> Seen {
        let mut log = self.shared.log.subscribe();
        let log = log.wait_for(|log| log.len() > index).await.unwrap();
        log[index].seen.clone()
    }

    /// Waits until the client of a request, counted from 0, went away before its answer was complete.
    ///
    /// # Panics
    ///
    /// The answer was complete.
    ///
    /// # Cancel safety
    ///
    /// Safe to drop; nothing is lost.
    pub async fn disconnected(&self, index: usize) {
        assert_eq!(
            self.outcome(index).await,
            Outcome::Disconnected,
            "the client of request {index} read its answer to the end"
        );
    }

    /// Waits until the answer to a request, counted from 0, was given to the socket as a whole.
    ///
    /// # Panics
    ///
    /// The client went away before.
    ///
    /// # Cancel safety
    ///
    /// Safe to drop; nothing is lost.
    pub async fn finished(&self, index: usize) {
        assert_eq!(
            self.outcome(index).await,
            Outcome::Finished,
            "the client of request {index} went away"
        );
    }

    async fn outcome(&self, index: usize) -> Outcome {
        let mut log = self.shared.log.subscribe();
        let ended = |log: &Vec<Entry>| {
            log.get(index)
                .is_some_and(|entry| entry.outcome != Outcome::Running)
        };
        let log = log.wait_for(ended).await.unwrap();
        log[index].outcome
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Takes connections until it is aborted, and its connections with it.
async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(move |request| answer(request, Arc::clone(&shared)));
            // A connection fails when a reply cuts it or the client goes away; both are meant.
            drop(
                http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await,
            );
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Infallible> {
    let (parts, body) = request.into_parts();
    if parts.method == Method::GET {
        return Ok(listing(&shared.models.lock().unwrap()));
    }
    let Some(api) = Api::of_path(parts.uri.path()) else {
        return Ok(refuse(StatusCode::NOT_FOUND, "no such path"));
    };
    let Ok(body) = body.collect().await else {
        return Ok(refuse(StatusCode::BAD_REQUEST, "the body broke off"));
    };
    let seen = Seen {
        api,
        path: parts.uri.to_string(),
        headers: parts
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect(),
        body: serde_json::from_slice(&body.to_bytes()).unwrap_or(Value::Null),
    };
    let ticket = Ticket::new(&shared, seen.clone());
    let reply = shared.script.lock().unwrap().pop_front();
    let Some(mut reply) = reply else {
        ticket.finish();
        return Ok(refuse(
            StatusCode::BAD_REQUEST,
            "the script has no more replies",
        ));
    };
    while let Some(computed) = reply.computed.take() {
        reply = computed.0(&seen);
    }
    if let Some(gate) = reply.before.take() {
        gate.pass().await;
    }
    let mut response = Response::builder().status(reply.status).header(
        "content-type",
        match (reply.trouble, api) {
            (None, Api::Ollama) => "application/x-ndjson",
            (None, _) => "text/event-stream",
            (Some(_), _) => "application/json",
        },
    );
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    let pieces = render::pieces(&reply, &seen, ticket.index);
    Ok(response.body(body_of(pieces, ticket)).unwrap())
}

/// Returns the body. When it is dropped before its end, the client went away.
fn body_of(pieces: Vec<Piece>, ticket: Ticket) -> Body {
    let state = (VecDeque::from(pieces), Some(ticket));
    let stream = stream::unfold(state, async |(mut pieces, mut ticket)| {
        loop {
            match pieces.pop_front() {
                Some(Piece::Bytes(bytes)) => {
                    return Some((Ok(Frame::data(bytes)), (pieces, ticket)));
                }
                Some(Piece::Wait(gate)) => gate.pass().await,
                Some(Piece::Cut) => {
                    if let Some(ticket) = ticket.take() {
                        ticket.finish();
                    }
                    // Gives what was sent before a chance to leave before the connection is torn.
                    tokio::task::yield_now().await;
                    return Some((Err(io::Error::other("cut")), (VecDeque::new(), None)));
                }
                None => {
                    if let Some(ticket) = ticket.take() {
                        ticket.finish();
                    }
                    return None;
                }
            }
        }
    });
    StreamBody::new(stream.boxed())
}

fn listing(models: &[String]) -> Response<Body> {
    let tags: Vec<Value> = models.iter().map(|name| json!({"name": name})).collect();
    let data: Vec<Value> = models.iter().map(|name| json!({"id": name})).collect();
    whole(StatusCode::OK, &json!({"models": tags, "data": data}))
}

fn refuse(status: StatusCode, message: &str) -> Response<Body> {
    whole(status, &json!({"error": {"message": message}}))
}

fn whole(status: StatusCode, body: &Value) -> Response<Body> {
    let frame = Frame::data(Bytes::from(body.to_string()));
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(StreamBody::new(stream::iter([Ok(frame)]).boxed()))
        .unwrap()
}

/// The entry of a request that is being answered. Dropped before it is finished, it says that the
/// client went away.
struct Ticket {
    shared: Arc<Shared>,
    index: usize,
    outcome: Outcome,
}

impl Ticket {
    fn new(shared: &Arc<Shared>, seen: Seen) -> Self {
        let mut index = 0;
        shared.log.send_modify(|log| {
            index = log.len();
            log.push(Entry {
                seen,
                outcome: Outcome::Running,
            });
        });
        Self {
            shared: Arc::clone(shared),
            index,
            outcome: Outcome::Disconnected,
        }
    }

    fn finish(mut self) {
        self.outcome = Outcome::Finished;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.shared.log.send_modify(|log| {
            if let Some(entry) = log.get_mut(self.index) {
                entry.outcome = self.outcome;
            }
        });
    }
}
