//! Keys, mouse and pastes, as the terminal or a test gives them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use crossterm::event::EventStream;
use futures::Stream as _;

use crate::app::Event;

/// Where keys come from.
pub(super) enum Input {
    /// None while somebody else has the terminal.
    Terminal(Option<EventStream>),
    #[cfg(test)]
    Test(tokio::sync::mpsc::Receiver<Event>),
}

impl Input {
    pub(super) fn terminal() -> Self {
        Self::Terminal(Some(EventStream::new()))
    }

    /// Waits for the next event; none when there will be no more.
    pub(super) async fn next(&mut self) -> Option<io::Result<Event>> {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    /// Returns an event that is there already, without waiting.
    ///
    /// It asks in the name of the task: the terminal's stream wakes whoever asked first since the last event, and with
    /// somebody else in that place the task would never hear of the next key.
    pub(super) async fn ready(&mut self) -> Option<io::Result<Event>> {
        std::future::poll_fn(|cx| match self.poll(cx) {
            Poll::Ready(event) => Poll::Ready(event),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    pub(super) fn pause(&mut self) {
        match self {
            // Its thread stops reading then.
            Self::Terminal(stream) => *stream = None,
            #[cfg(test)]
            Self::Test(_) => {}
        }
    }

    pub(super) fn resume(&mut self) {
        match self {
            Self::Terminal(stream) => *stream = Some(EventStream::new()),
            #[cfg(test)]
            Self::Test(_) => {}
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Event>>> {
        match self {
            Self::Terminal(None) => Poll::Pending,
            Self::Terminal(Some(stream)) => Pin::new(stream)
                .poll_next(cx)
                .map(|event| event.map(|event| event.map(translate))),
            #[cfg(test)]
            Self::Test(events) => events.poll_recv(cx).map(|event| event.map(Ok)),
        }
    }
}

fn translate(event: crossterm::event::Event) -> Event {
    use crossterm::event::Event as Terminal;
    match event {
        Terminal::Key(key) => Event::Key(key),
        Terminal::Mouse(mouse) => Event::Mouse(mouse),
        Terminal::Paste(text) => Event::Paste(text),
        Terminal::FocusGained => Event::Focus(true),
        Terminal::FocusLost => Event::Focus(false),
        Terminal::Resize(..) => Event::Resize,
    }
}
