//! A client without sessions of the SDK's own: one handler gets the updates of all, a prompt is a request like any other.

use agent_client_protocol::Agent;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, NewSessionRequest, PromptRequest, SessionId, SessionNotification, SessionUpdate,
};

use super::super::client;
use super::super::tally::Tally;
use super::{Cancel, end_of, list, set_mode, set_option};
use crate::Result;

#[derive(Clone)]
pub(super) struct Client {
    agent: ConnectionTo<Agent>,
}

pub(super) struct Session {
    agent: ConnectionTo<Agent>,
    id: SessionId,
}

/// Counts the text of an update.
pub(super) fn record(tally: &Tally, notification: &SessionNotification) {
    if let SessionUpdate::AgentMessageChunk(chunk) = &notification.update
        && let ContentBlock::Text(text) = &chunk.content
    {
        tally.record(&text.text);
    }
}

impl Client {
    pub(super) fn new(agent: ConnectionTo<Agent>) -> Self {
        Client { agent }
    }
}

impl client::Client for Client {
    type Session = Session;

    async fn open(&self) -> Result<Session> {
        let request = self.agent.send_request(NewSessionRequest::new("/"));
        Ok(Session {
            id: request.block_task().await?.session_id,
            agent: self.agent.clone(),
        })
    }

    async fn ping(&self) -> Result<()> {
        list(&self.agent).await
    }
}

impl client::Session for Session {
    type Stopper = Cancel;

    fn stopper(&self) -> Cancel {
        Cancel {
            agent: self.agent.clone(),
            session: self.id.clone(),
        }
    }

    async fn turn(&mut self, prompt: String) -> Result<client::End> {
        let request = PromptRequest::new(self.id.clone(), vec![prompt.into()]);
        let answer = self.agent.send_request(request).block_task().await?;
        Ok(end_of(answer.stop_reason))
    }

    async fn set_option(&self, value: &'static str) -> Result<()> {
        set_option(&self.agent, &self.id, value).await
    }

    async fn set_mode(&self, mode: &'static str) -> Result<()> {
        set_mode(&self.agent, &self.id, mode).await
    }
}
