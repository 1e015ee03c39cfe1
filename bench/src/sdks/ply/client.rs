//! The client.

use std::sync::Arc;

use ply_client::v2::{ContentBlock, StopReason};
use ply_client::{Agent, Event, SessionFilter};

use super::super::client::{self, End};
use super::super::tally::Tally;
use super::agent::OPTION;
use crate::Result;

#[derive(Clone)]
pub(super) struct Client {
    agent: Agent,
    tally: Arc<Tally>,
}

pub(super) struct Session {
    session: ply_client::Session,
    tally: Arc<Tally>,
}

impl Client {
    pub(super) fn new(agent: Agent, tally: Arc<Tally>) -> Self {
        Client { agent, tally }
    }
}

impl client::Client for Client {
    type Session = Session;

    async fn open(&self) -> Result<Session> {
        Ok(Session {
            session: self.agent.new_session("/").await?,
            tally: Arc::clone(&self.tally),
        })
    }

    async fn ping(&self) -> Result<()> {
        let page = self.agent.list_page(&SessionFilter::all(), None).await?;
        match page.sessions.is_empty() {
            true => Err("the list of sessions is empty".into()),
            false => Ok(()),
        }
    }
}

impl client::Session for Session {
    type Stopper = Cancel;

    fn stopper(&self) -> Cancel {
        Cancel(self.session.clone())
    }

    async fn turn(&mut self, prompt: String) -> Result<End> {
        let mut turn = self.session.prompt(prompt).await?;
        while let Some(event) = turn.next().await {
            if let Event::Message(message) = event? {
                for block in message.content() {
                    if let ContentBlock::Text(text) = block {
                        self.tally.record(&text.text);
                    }
                }
            }
        }
        Ok(match turn.stop_reason() {
            Some(StopReason::EndTurn) => End::Regular,
            Some(StopReason::Cancelled) => End::Cancelled,
            _ => End::Other,
        })
    }

    async fn set_option(&self, value: &'static str) -> Result<()> {
        Ok(self.session.set_config_option(OPTION, value).await?)
    }

    async fn set_mode(&self, mode: &'static str) -> Result<()> {
        Ok(self.session.set_mode(mode).await?)
    }
}

/// Cancels the work of a session.
pub(super) struct Cancel(ply_client::Session);

impl client::Stopper for Cancel {
    async fn cancel(&self) -> Result<()> {
        Ok(self.0.cancel().await?)
    }
}
