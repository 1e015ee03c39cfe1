//! The frames of an event stream, which `genai` asks for and cuts.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use futures::StreamExt;
use genai::chat::{ChatStream, ChatStreamEvent};
use tokio::time::timeout;

use super::super::{Service, failure, request, target};
use crate::model::{Failure, Request};

/// The frames of an event stream.
pub(in crate::model::service) struct Events {
    service: Service,
    stream: ChatStream,
    inbox: Arc<Mutex<Inbox>>,
    begun: bool,
    over: bool,
    /// Why there are no more frames, if not because the answer is over.
    lost: Option<Failure>,
}

/// Frames that were not read yet. `genai` reads no further than it is asked to, so there are never more
/// of them than one packet of the network brings.
#[derive(Debug, Default)]
struct Inbox {
    frames: VecDeque<String>,
    /// How many frames came in all, those without data included.
    count: u64,
}

impl Events {
    /// Makes the request. Nothing is sent before the first frame is asked for.
    ///
    /// # Cancel safety
    ///
    /// Dropping it, or what it returns, drops the request.
    pub(super) async fn open(service: &Service, request: &Request) -> Result<Self, Failure> {
        let client = genai::Client::builder()
            .with_reqwest(target::client(service)?)
            .build()
            .map_err(|_| failure::no_client(service))?;
        let inbox = Arc::new(Mutex::new(Inbox::default()));
        let sink = Arc::clone(&inbox);
        let options = request::options(service, request).with_raw_frame_fn(move |_, frame| {
            let mut inbox = lock(&sink);
            inbox.count += 1;
            if !frame.data.is_empty() {
                inbox.frames.push_back(frame.data.to_owned());
            }
        });
        let response = client
            .exec_chat_stream(
                target::target(service)?,
                request::chat(service, request),
                Some(&options),
            )
            .await
            .map_err(|error| failure::of_genai(service, &error))?;
        Ok(Self {
            service: service.clone(),
            stream: response.stream,
            inbox,
            begun: false,
            over: false,
            lost: None,
        })
    }

    /// Waits for the next frame.
    ///
    /// # Cancel safety
    ///
    /// Safe to drop: a frame that came is kept.
    pub(super) async fn next(&mut self) -> Option<Result<String, Failure>> {
        loop {
            let frame = self.inbox().frames.pop_front();
            if let Some(frame) = frame {
                self.begun = true;
                return Some(Ok(frame));
            }
            if self.over {
                return self.lost.take().map(Err);
            }
            self.read().await;
        }
    }

    /// Has `genai` read on. What its own readers make of the frames is not looked at, nor do their
    /// complaints count: they are of frames that are read here, and some are of frames that are fine.
    async fn read(&mut self) {
        let limit = match self.begun {
            false => self.service.first_byte_timeout,
            true => self.service.silence_timeout,
        };
        let before = self.inbox().count;
        let Self { stream, inbox, .. } = self;
        // `genai` goes on waiting after a frame that means nothing to it, but it may mean something here,
        // and one that only keeps the connection alive ends a silence.
        let event = poll_fn(|cx| match stream.poll_next_unpin(cx) {
            Poll::Ready(event) => Poll::Ready(Some(event)),
            Poll::Pending if lock(inbox).count > before => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        });
        match timeout(limit, event).await {
            Err(_) => self.lose(failure::silent(&self.service, limit, self.begun)),
            Ok(Some(Some(Ok(ChatStreamEvent::End(_))) | None)) => self.over = true,
            Ok(None | Some(Some(Ok(_)))) => {}
            Ok(Some(Some(Err(error)))) => {
                // An error that no frame is behind could come for ever.
                let came = self.inbox().count > before;
                if matches!(error, genai::Error::WebStream { .. }) || !came {
                    self.lose(failure::of_genai(&self.service, &error));
                }
            }
        }
    }

    fn lose(&mut self, failure: Failure) {
        self.over = true;
        self.lost = Some(failure);
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        lock(&self.inbox)
    }
}

fn lock(inbox: &Mutex<Inbox>) -> MutexGuard<'_, Inbox> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner)
}
