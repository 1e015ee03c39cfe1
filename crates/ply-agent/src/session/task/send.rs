//! What clients are sent, as fast as each of them reads.

use std::future::Future as _;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use ply_rpc::Peer;
use ply_session::{Form, Message, Pull, Response, ViewId};
use ply_wire::v2;
use serde::Serialize;

use super::Task;
use crate::client::Client;
use crate::session::ask;

/// How long a client that is behind may take to read the rest of a session that is closed.
const LAST_WORDS_TIME_MAX: Duration = Duration::from_secs(60);
/// Messages that a client is sent before the session looks at what came for it: one that reads as fast as it is written to
/// would hold up cancels for as long as it has something to read.
const PASS_MESSAGES_MAX: usize = 256;

/// From which length on an update is written from where the journal has it, instead of being copied.
const SHARED_BYTES_MIN: usize = 64 * 1024;

/// What is left after every client was sent what it could take.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    /// The links that are full.
    full: Vec<Peer>,
    /// Whether a client that could take more has had its share.
    has_more: bool,
}

impl Unsent {
    pub(super) fn is_empty(&self) -> bool {
        self.full.is_empty() && !self.has_more
    }

    /// Waits until somebody can be sent more. Others run first, also if that is now.
    pub(super) async fn can_be_sent(self) {
        if self.has_more {
            tokio::task::yield_now().await;
        } else {
            room(self.full).await;
        }
    }
}

/// The name under which a client that may come back is told how far it is.
const CURSOR: &str = "acp/cursor";
/// The name of a question, which it keeps when the client is asked again.
const QUESTION: &str = "ply/question";

/// `session/update` with everything borrowed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a, U> {
    session_id: &'a v2::SessionId,
    update: &'a U,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Cursor<'a>>,
}

#[derive(Serialize)]
struct Cursor<'a> {
    #[serde(rename = "acp/cursor")]
    cursor: &'a str,
}

impl Task {
    /// Sends every client its share of what it can take.
    pub(super) fn pump(&mut self) -> Unsent {
        let mut unsent = Unsent::default();
        // Sending neither adds a view nor takes one away.
        for at in 0.. {
            let Some(view) = self.core.view_at(at) else {
                break;
            };
            let Some(client) = self.clients.get(&view).map(Arc::clone) else {
                continue;
            };
            let mut sent = 0;
            while self.core.has_news(view) {
                if client.peer.is_full() {
                    unsent.full.push(client.peer.clone());
                    break;
                }
                if sent == PASS_MESSAGES_MAX {
                    unsent.has_more = true;
                    break;
                }
                sent += 1;
                let now = self.began.elapsed();
                match self.core.pull(now, view, &mut self.effects) {
                    Pull::Message(message) => self.send(view, &client, message),
                    Pull::Read { from } => self.store.read(view, from),
                    _ => break,
                }
            }
        }
        unsent
    }

    pub(super) fn send(&mut self, view: ViewId, client: &Arc<Client>, message: Message) {
        self.has_sent = true;
        let cursor = match client.cursors {
            true => self.core.cursor(view),
            false => None,
        };
        match message {
            Message::Update(json) => {
                let peer = &client.peer;
                let is_long = json.as_str().len() >= SHARED_BYTES_MIN;
                told_or_gone(match &cursor {
                    None if is_long => {
                        let params = (&*self.update_head, json.shared(), "}");
                        peer.notify_shared_now("session/update", params)
                    }
                    None => {
                        let params = [&*self.update_head, json.as_str(), "}"];
                        peer.notify_json_now("session/update", &params)
                    }
                    Some(cursor) => {
                        let head = ",\"_meta\":{\"acp/cursor\":\"";
                        let params = [&*self.update_head, json.as_str(), head, cursor, "\"}}"];
                        peer.notify_json_now("session/update", &params)
                    }
                });
            }
            Message::UpdateV1(update) => {
                let params = Update {
                    session_id: self.session.id(),
                    update: &*update,
                    meta: cursor.as_deref().map(|cursor| Cursor { cursor }),
                };
                told_or_gone(client.peer.notify_now("session/update", &params));
            }
            Message::Respond { request, response } => {
                let mut response = response;
                if let (Some(cursor), Ok(response)) = (cursor, &mut response)
                    && let Some(meta) = setup_meta(response)
                {
                    meta.get_or_insert_default()
                        .insert(CURSOR.into(), cursor.into());
                }
                self.respond(request, response);
            }
            Message::Ask { ask, mut form } => {
                if let (Some(cursor), Some(meta)) = (cursor, question_meta(&mut form)) {
                    let meta = meta.get_or_insert_default();
                    if let Some(name) = self.core.question_name(ask) {
                        meta.insert(QUESTION.into(), name.into());
                    }
                    meta.insert(CURSOR.into(), cursor.into());
                }
                let call = ask::put(&self.session, client, view, ask, form);
                self.calls.insert((ask, view), call);
            }
            Message::Passed { barrier } => self.passed(barrier, true),
            _ => {}
        }
    }

    pub(super) fn passed(&mut self, barrier: u64, is_safe: bool) {
        if let Some(then) = self.barriers.waiting.remove(&barrier) {
            then(is_safe);
        }
    }

    /// Lets clients that are behind read the rest of a session that is over, each at its own pace.
    pub(super) async fn say_last_words(&mut self) {
        let all = async {
            loop {
                let unsent = self.pump();
                if unsent.is_empty() && !self.store.is_reading() {
                    return;
                }
                tokio::select! {
                    biased;
                    page = std::future::poll_fn(|cx| self.store.poll(cx)) => self.step(page),
                    () = unsent.can_be_sent() => {}
                }
            }
        };
        if tokio::time::timeout(LAST_WORDS_TIME_MAX, all)
            .await
            .is_err()
        {
            tracing::debug!("a client did not read the end of a session");
        }
    }
}

/// Returns the metadata of the answer with which a client begins to see a session.
fn setup_meta(response: &mut Response) -> Option<&mut Option<v2::Meta>> {
    Some(match response {
        Response::New(answer) => &mut answer.meta,
        Response::NewV1(answer) => &mut answer.meta,
        Response::LoadV1(answer) => &mut answer.meta,
        Response::Resume(answer) => &mut answer.meta,
        Response::ResumeV1(answer) => &mut answer.meta,
        _ => return None,
    })
}

fn question_meta(form: &mut Form) -> Option<&mut Option<v2::Meta>> {
    Some(match form {
        Form::Permission(request) => &mut request.meta,
        Form::PermissionV1(request) => &mut request.meta,
        Form::Elicitation(request) => &mut request.meta,
        Form::ElicitationV1(request) => &mut request.meta,
        _ => return None,
    })
}

fn told_or_gone(told: Result<(), ply_rpc::CallError>) {
    // Whether a link is gone is for the connection to notice; it detaches the view then.
    if let Err(error) = told {
        tracing::debug!(%error, "an update was not sent");
    }
}

/// Waits until one of the clients reads again.
async fn room(full: Vec<Peer>) {
    if full.is_empty() {
        std::future::pending::<()>().await;
    }
    let mut rooms: Vec<_> = full.iter().map(|peer| Box::pin(peer.room())).collect();
    std::future::poll_fn(|cx| {
        if rooms
            .iter_mut()
            .any(|room| room.as_mut().poll(cx).is_ready())
        {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}
