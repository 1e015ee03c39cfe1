//! One line in, one effect out: the part of a link that decides, without IO and without a clock.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::task::Waker;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::calls::{Failure, Resolved};
use crate::clean::strip;
use crate::codec::Frame;
use crate::envelope::{self, Answer, Head, Message, Outcome, Rejected};
use crate::frame::Encoded;
use crate::handler::{Handler, Notification, Request, Responder};
use crate::id::RequestId;
use crate::noise::GarbageAnswers;
use crate::options::Garbage;
use crate::peer::{CANCEL_REQUEST, Peer};
use crate::served::Refused;
use crate::{Closed, RpcError};

/// Takes the frames of one link.
#[derive(Debug)]
pub(crate) struct Dispatch<H> {
    peer: Peer,
    pub(crate) handler: H,
    garbage_answers: GarbageAnswers,
    /// Whether a message was ever seen.
    spoken: bool,
    /// Whether anything was handed over since the last rest.
    busy: bool,
    /// Tasks whose answer has come. They are woken together, since each may be on another thread.
    woken: Vec<Waker>,
}

impl<H: Handler> Dispatch<H> {
    pub(crate) fn new(peer: Peer, handler: H) -> Self {
        Self {
            peer,
            handler,
            garbage_answers: GarbageAnswers::default(),
            spoken: false,
            busy: false,
            woken: Vec::new(),
        }
    }

    /// Takes one frame; an error ends the link.
    pub(crate) fn frame(&mut self, frame: Frame<'_>) -> Result<(), Closed> {
        self.busy = true;
        match frame {
            Frame::Line(line) => self.line(line),
            Frame::TooLong { bytes, head } => self.too_long(bytes, head),
            Frame::Endless { bytes } => Err(Closed::EndlessLine { bytes }),
        }
    }

    /// Takes the line that the input ended in, and says how it ended.
    pub(crate) fn last_frame(&mut self, frame: Frame<'_>) -> Closed {
        if let Frame::Line(line) = frame {
            let line = strip(line);
            let torn = |rejected: &Rejected| rejected.error.code == RpcError::PARSE_ERROR;
            if !line.is_empty() && envelope::parse(line).is_err_and(|rejected| torn(&rejected)) {
                // The last words of a process that died are kept like any other noise.
                self.add_noise(line, line.len() as u64);
                return Closed::Torn { bytes: line.len() };
            }
        }
        self.frame(frame).err().unwrap_or(Closed::Eof)
    }

    /// Wakes whoever was not worth waking for each message.
    pub(crate) fn caught_up(&mut self) {
        if !std::mem::take(&mut self.busy) {
            return;
        }
        self.woken.drain(..).for_each(Waker::wake);
        let handler = &mut self.handler;
        if catch_unwind(AssertUnwindSafe(|| handler.caught_up())).is_err() {
            tracing::error!("the handler panicked");
        }
    }

    /// Tells the handler that the input is over.
    pub(crate) fn ended(&mut self, reason: &Closed) {
        self.caught_up();
        let Self { peer, handler, .. } = self;
        if catch_unwind(AssertUnwindSafe(|| handler.ended(peer, reason))).is_err() {
            tracing::error!("the handler panicked at the end of the input");
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), Closed> {
        let line = strip(line);
        if line.is_empty() || self.taken_whole(line) {
            return Ok(());
        }
        match envelope::parse(line) {
            Ok(Message::Request { id, method, params }) => {
                self.well_formed();
                self.request(id, &method, params)?;
            }
            Ok(Message::Notification { method, params }) => {
                self.spoken = true;
                self.notification(&method, params);
            }
            Ok(Message::Response { id, outcome }) => self.response(&id, outcome),
            Err(rejected) => return self.rejected(line, rejected),
        }
        Ok(())
    }

    /// Offers a line to the handler as it is; returns whether it was taken.
    fn taken_whole(&mut self, line: &[u8]) -> bool {
        let Self { peer, handler, .. } = self;
        match catch_unwind(AssertUnwindSafe(|| handler.line(peer, line))) {
            Ok(taken) => {
                self.spoken |= taken;
                taken
            }
            Err(_) => {
                tracing::error!("the handler panicked");
                self.spoken = true;
                // A notification may have had half of its effect. Whatever else it was, somebody waits for it.
                is_for_handler_alone(line)
            }
        }
    }

    fn well_formed(&mut self) {
        self.spoken = true;
        self.garbage_answers.earn();
    }

    fn request(
        &mut self,
        id: RequestId,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(), Closed> {
        let shared = &self.peer.shared;
        let limits = &shared.options.limits;
        let queued = shared.outbox.queued_bytes();
        if queued > limits.answer_bytes.saturating_mul(2) {
            // It goes on asking although it reads neither answers nor refusals.
            return Err(Closed::NotReading { bytes: queued });
        }
        let begun = if queued > limits.answer_bytes {
            Err(Refused::NotReading)
        } else {
            shared.served.begin(&id, limits.served_requests)
        };
        let cancel = match begun {
            Ok(cancel) => cancel,
            Err(refused) => {
                self.answer(Encoded::error(&id, &refused.into_error()));
                return Ok(());
            }
        };
        let responder = Responder::new(Arc::clone(shared), id, cancel);
        let Self { peer, handler, .. } = self;
        let request = Request::new(method, params);
        // The responder answers for the handler that panics: it is dropped on the way out.
        let handled = AssertUnwindSafe(|| handler.request(peer, request, responder));
        if catch_unwind(handled).is_err() {
            tracing::error!(method, "the handler panicked");
        }
        Ok(())
    }

    fn notification(&mut self, method: &str, params: Option<&RawValue>) {
        if method == CANCEL_REQUEST {
            return self.cancel_request(params);
        }
        if method.starts_with("$/") {
            return tracing::debug!(method, "ignored an unknown protocol notification");
        }
        let Self { peer, handler, .. } = self;
        let notification = Notification::new(method, params);
        if catch_unwind(AssertUnwindSafe(|| {
            handler.notification(peer, notification)
        }))
        .is_err()
        {
            tracing::error!(method, "the handler panicked");
        }
    }

    fn cancel_request(&self, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow, rename = "requestId")]
            request_id: &'a RawValue,
        }
        let id = params
            .and_then(|params| serde_json::from_str::<Params<'_>>(params.get()).ok())
            .and_then(|params| RequestId::from_json(params.request_id.get()).ok());
        let known = id.is_some_and(|id| self.peer.shared.served.cancel(&id));
        if !known {
            tracing::debug!("ignored a cancellation of a request that is not being served");
        }
    }

    fn response(&mut self, id: &RequestId, outcome: Outcome<'_>) {
        let outcome = || match outcome {
            Outcome::Result(result) => Ok(result.to_owned()),
            Outcome::Error(error) => Err(serde_json::from_str(error.get()).map_or(
                Failure::BadAnswer("its error object has no code or message"),
                Failure::Peer,
            )),
            Outcome::Neither => Err(Failure::BadAnswer("it has both a result and an error")),
        };
        match self.peer.shared.calls.resolve(id.as_i64()) {
            Resolved::Waited(waiter) => {
                self.well_formed();
                self.woken.extend(waiter.tell_quietly(outcome()));
            }
            Resolved::Late => tracing::debug!(%id, "an answer came after its call had given up"),
            Resolved::Unknown => {
                tracing::warn!("ignored an answer to a request that was never made")
            }
        }
    }

    fn rejected(&mut self, line: &[u8], rejected: Rejected) -> Result<(), Closed> {
        let Rejected {
            error,
            answer,
            claims_version,
        } = rejected;
        let counts = self.peer.shared.options.garbage == Garbage::Count;
        if counts && !claims_version {
            return self.garbage(line, line.len() as u64, &error);
        }
        match answer {
            Answer::To(id) => self.answer(Encoded::error(&id, &error)),
            Answer::ToText(id) => {
                let shared = &self.peer.shared;
                let id = match shared.odd_ids_get_null.load(Ordering::Relaxed) {
                    true => "null",
                    false => &*id,
                };
                self.answer(Encoded::error_to_text(id, &error));
            }
            Answer::ToNull => return self.garbage(line, line.len() as u64, &error),
            Answer::EndsCall(id) => self.bad_answer(&id, "it cannot be read"),
            Answer::Nobody if claims_version => {
                tracing::warn!(bytes = line.len(), "ignored a malformed message");
            }
            Answer::Nobody => {
                self.add_noise(line, line.len() as u64);
            }
        }
        Ok(())
    }

    fn too_long(&mut self, bytes: u64, head: &[u8]) -> Result<(), Closed> {
        let limit = self.peer.shared.options.limits.line_bytes;
        let found = Head::scan(head);
        let reason = format!("the message is over the limit of {limit} bytes");
        let error = RpcError::invalid_request(reason);
        if let Some(id) = found.ends_call() {
            self.bad_answer(&id, "it is too long");
            return Ok(());
        }
        if !found.has_method {
            return self.garbage(head, bytes, &error);
        }
        self.spoken = true;
        tracing::warn!(bytes, limit, "skipped a message that is too long");
        if let Answer::To(id) = found.answer() {
            self.answer(Encoded::error(&id, &error));
        }
        Ok(())
    }

    /// Ends the call that an unusable answer was meant for.
    fn bad_answer(&self, id: &RequestId, reason: &'static str) {
        tracing::warn!(%id, reason, "an answer cannot be used");
        if let Resolved::Waited(waiter) = self.peer.shared.calls.resolve(id.as_i64()) {
            waiter.tell(Err(Failure::BadAnswer(reason)));
        }
    }

    /// Deals with input that is no message.
    fn garbage(&mut self, line: &[u8], bytes: u64, error: &RpcError) -> Result<(), Closed> {
        let noise_bytes = self.add_noise(line, bytes);
        let options = &self.peer.shared.options;
        if !self.spoken && noise_bytes > options.limits.noise_bytes {
            return Err(Closed::OnlyNoise { bytes: noise_bytes });
        }
        if options.garbage == Garbage::Answer && self.garbage_answers.spend() {
            self.answer(Encoded::error(&RequestId::NULL, error));
        }
        Ok(())
    }

    /// Counts a line that is no message; returns the bytes of all of them.
    fn add_noise(&self, line: &[u8], bytes: u64) -> u64 {
        tracing::debug!(bytes, "skipped a line that is no message");
        let noise = self.peer.shared.noise.lock();
        let mut noise = noise.unwrap_or_else(PoisonError::into_inner);
        noise.add(line, bytes);
        noise.bytes
    }

    fn answer(&self, frame: Encoded) {
        if self.peer.shared.outbox.send_now(frame).is_err() {
            tracing::debug!("the link closed before an error could be answered");
        }
    }
}

/// Returns whether a line is a notification that is none of ours.
fn is_for_handler_alone(line: &[u8]) -> bool {
    match envelope::parse(line) {
        Ok(Message::Notification { method, .. }) => !method.starts_with("$/"),
        _ => false,
    }
}
