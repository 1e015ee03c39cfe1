//! The frames of an answer, as they came over the wire.

mod events;
mod lines;

use self::events::Events;
use self::lines::Lines;
use super::{Api, Service};
use crate::model::{Failure, Request};

/// The frames of an answer, as they came over the wire.
pub(super) enum Frames {
    /// Events, by way of `genai`.
    Events(Box<Events>),
    /// Lines of JSON, which only Ollama sends. `genai` asks Ollama without `num_ctx`, and has no way to
    /// add it: the server would cut every longer conversation to its default of a few thousand tokens,
    /// and not say so. Nor does it send back thoughts, and the names of the tools that results are of.
    Lines(Box<Lines>),
}

impl Frames {
    /// Makes the request. Nothing is sent before the first frame is asked for.
    ///
    /// # Cancel safety
    ///
    /// Dropping it, or what it returns, drops the request.
    pub(super) async fn open(service: &Service, request: &Request) -> Result<Self, Failure> {
        match service.api {
            Api::Ollama => Ok(Self::Lines(Box::new(Lines::open(service, request)?))),
            _ => {
                let events = Events::open(service, request).await?;
                Ok(Self::Events(Box::new(events)))
            }
        }
    }

    /// Waits for the next frame. There are none after a failure.
    ///
    /// # Cancel safety
    ///
    /// A frame that came is kept. Dropped before the first frame came, the request is lost.
    pub(super) async fn next(&mut self) -> Option<Result<String, Failure>> {
        match self {
            Self::Events(events) => events.next().await,
            Self::Lines(lines) => lines.next().await,
        }
    }
}
