//! A client of `ActiveSession`s: each session has a stream of its updates.

use std::sync::Arc;

use agent_client_protocol::Agent;
use agent_client_protocol::util::MatchDispatch;
use agent_client_protocol::v1::schema::SessionNotification;
use agent_client_protocol::v1::{ActiveSession, ConnectionTo, SessionMessage};

use super::super::client;
use super::super::tally::Tally;
use super::{Cancel, end_of, handled, list, set_mode, set_option};
use crate::Result;

#[derive(Clone)]
pub(super) struct Client {
    agent: ConnectionTo<Agent>,
    tally: Arc<Tally>,
}

pub(super) struct Session {
    active: ActiveSession<'static, Agent>,
    tally: Arc<Tally>,
}

impl Client {
    pub(super) fn new(agent: ConnectionTo<Agent>, tally: Arc<Tally>) -> Self {
        Client { agent, tally }
    }
}

impl client::Client for Client {
    type Session = Session;

    async fn open(&self) -> Result<Session> {
        let setup = self.agent.build_session("/").block_task();
        Ok(Session {
            active: setup.start_session().await?.session,
            tally: Arc::clone(&self.tally),
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
            agent: self.active.connection().clone(),
            session: self.active.session_id().clone(),
        }
    }

    async fn turn(&mut self, prompt: String) -> Result<client::End> {
        self.active.send_prompt(prompt)?;
        loop {
            match self.active.read_update().await? {
                SessionMessage::Message(dispatch) => MatchDispatch::new(dispatch.into_raw())
                    .if_notification(async |update: SessionNotification| {
                        handled::record(&self.tally, &update);
                        Ok(())
                    })
                    .await
                    .otherwise_ignore()?,
                SessionMessage::PromptResponse(answer) => return Ok(end_of(answer?.stop_reason)),
                _ => return Err("the session has a message of an unknown kind".into()),
            }
        }
    }

    async fn set_option(&self, value: &'static str) -> Result<()> {
        set_option(self.active.connection(), self.active.session_id(), value).await
    }

    async fn set_mode(&self, mode: &'static str) -> Result<()> {
        set_mode(self.active.connection(), self.active.session_id(), mode).await
    }
}
