//! The two kinds of agents in a hub, as one.

use std::sync::Arc;

use ply_agent::{
    About, Agent, Asker, Extension, Result, Session, SessionSetup, Stop, Turn, Value, v2,
};

use crate::down::Downstream;

/// An agent in this process, or one whose sessions are run by processes of their own.
#[derive(Debug)]
pub enum Runner<A> {
    /// In this process.
    Here(A),
    /// Processes of another program.
    Down(Arc<Downstream>),
}

/// Leaves a call to the agent that it is for.
macro_rules! delegate {
    ($runner:expr, $method:ident($($argument:expr),*)) => {
        match $runner {
            Runner::Here(agent) => agent.$method($($argument),*).await,
            Runner::Down(agent) => agent.$method($($argument),*).await,
        }
    };
}

impl<A: Agent> Agent for Runner<A> {
    fn about(&self) -> About {
        match self {
            Self::Here(agent) => agent.about(),
            Self::Down(agent) => agent.about(),
        }
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        delegate!(self, prompt(turn))
    }

    async fn open(&self, session: &Session, setup: &SessionSetup) -> Result<()> {
        delegate!(self, open(session, setup))
    }

    async fn adopts(&self, session: &v2::SessionId, setup: &SessionSetup) -> Result<bool> {
        delegate!(self, adopts(session, setup))
    }

    async fn close(&self, session: &Session) {
        delegate!(self, close(session));
    }

    async fn set_option(
        &self,
        session: &Session,
        option: &v2::SessionConfigId,
        value: &v2::SessionConfigOptionValue,
    ) -> Result<()> {
        delegate!(self, set_option(session, option, value))
    }

    async fn login_asking(&self, method: &v2::AuthMethodId, user: &Asker) -> Result<()> {
        delegate!(self, login_asking(method, user))
    }

    async fn logout(&self) -> Result<()> {
        delegate!(self, logout())
    }

    async fn extension(&self, request: &Extension) -> Result<Value> {
        delegate!(self, extension(request))
    }

    async fn extension_notification(&self, notification: &Extension) {
        delegate!(self, extension_notification(notification));
    }
}
