//! The frames of a stream of lines.

use std::mem;
use std::time::Duration;

use reqwest::{RequestBuilder, Response};
use tokio::time::timeout;

use super::super::request::ollama;
use super::super::{Service, failure, target};
use crate::model::{Failure, Request};

/// How long a line may be.
const LINE_BYTES_MAX: usize = 16 << 20;
/// How much of an error is read.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// The frames of a stream of lines.
pub(in crate::model::service) struct Lines {
    service: Service,
    state: State,
    /// What came after the last line.
    rest: Vec<u8>,
    /// How much of it was searched for the end of a line.
    searched: usize,
    begun: bool,
}

enum State {
    Asking(RequestBuilder),
    Reading(Response),
    Over,
}

impl Lines {
    /// Makes the request, and sends nothing.
    pub(super) fn open(service: &Service, request: &Request) -> Result<Self, Failure> {
        let url = target::url(service).ok_or_else(|| failure::bad_address(service))?;
        let mut asking = target::client(service)?.post(url);
        for (name, value) in target::headers(service) {
            asking = asking.header(name, value);
        }
        Ok(Self {
            state: State::Asking(asking.json(&ollama::body(service, request))),
            service: service.clone(),
            rest: Vec::new(),
            searched: 0,
            begun: false,
        })
    }

    /// Waits for the next line.
    pub(super) async fn next(&mut self) -> Option<Result<String, Failure>> {
        loop {
            if let Some(line) = self.line() {
                return Some(line);
            }
            if matches!(self.state, State::Over) {
                return None;
            }
            let limit = match self.begun {
                false => self.service.first_byte_timeout,
                true => self.service.silence_timeout,
            };
            if let Err(failure) = self.read(limit).await {
                self.state = State::Over;
                self.rest.clear();
                return Some(Err(failure));
            }
        }
    }

    /// Takes a line out of what came. The last one may have no end.
    fn line(&mut self) -> Option<Result<String, Failure>> {
        loop {
            let found = self
                .rest
                .iter()
                .skip(self.searched)
                .position(|b| *b == b'\n');
            let line: Vec<u8> = match found {
                Some(place) => self.rest.drain(..=self.searched + place).collect(),
                None if matches!(self.state, State::Over) && !self.rest.is_empty() => {
                    mem::take(&mut self.rest)
                }
                None => {
                    self.searched = self.rest.len();
                    return None;
                }
            };
            self.searched = 0;
            if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
                self.begun = true;
                return Some(
                    String::from_utf8(line)
                        .map_err(|_| failure::malformed(&self.service, "it is no UTF-8 text")),
                );
            }
        }
    }

    async fn read(&mut self, limit: Duration) -> Result<(), Failure> {
        let silent = |_| failure::silent(&self.service, limit, self.begun);
        let network = |error| failure::of_network(&self.service, Some(&error));
        match &mut self.state {
            State::Asking(_) => {
                // Taken out, so that nothing is asked twice.
                let State::Asking(asking) = mem::replace(&mut self.state, State::Over) else {
                    return Ok(());
                };
                let answer = timeout(limit, asking.send()).await;
                let answer = answer.map_err(silent)?.map_err(network)?;
                if !answer.status().is_success() {
                    return Err(refused(&self.service, answer, limit).await);
                }
                self.state = State::Reading(answer);
            }
            State::Reading(answer) => {
                let chunk = timeout(limit, answer.chunk()).await;
                match chunk.map_err(silent)?.map_err(network)? {
                    Some(chunk) => self.rest.extend_from_slice(&chunk),
                    None => self.state = State::Over,
                }
                if self.rest.len() > LINE_BYTES_MAX {
                    let what = "a line is longer than 16 MiB";
                    return Err(failure::malformed(&self.service, what));
                }
            }
            State::Over => {}
        }
        Ok(())
    }
}

/// Reads an answer that is an error.
async fn refused(service: &Service, mut answer: Response, limit: Duration) -> Failure {
    let mut body = Vec::new();
    while body.len() < ERROR_BYTES_MAX
        && let Ok(Ok(Some(chunk))) = timeout(limit, answer.chunk()).await
    {
        body.extend_from_slice(&chunk);
    }
    let text = String::from_utf8_lossy(&body);
    let status = answer.status().as_u16();
    failure::of_response(service, status, answer.headers(), &text)
}
