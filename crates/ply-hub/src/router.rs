//! Which agent works in which session.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply_agent::{
    About, Agent, Asker, Caller, Error, Extension, Result, Session, SessionSetup, Stop, Turn,
    Value, v2,
};

use crate::Wanted;
use crate::down::Kept;
use crate::hub::choose;

/// What makes agents.
pub trait Factory: Send + Sync + 'static {
    /// The agents.
    type Agent: Agent;

    /// Returns the agent that a client wants, with the client's environment. Those that want the same may get the same.
    ///
    /// An error is for the client's user.
    fn agent(
        &self,
        wanted: &Wanted,
    ) -> impl Future<Output = std::result::Result<Arc<Self::Agent>, String>> + Send;

    /// Returns how to start the agent that is remembered by this key, for a session that a client of another agent opens.
    fn known(&self, key: &str) -> Option<Wanted>;

    /// Returns an agent that another hub started and wrote this down of, so that sessions can go on which nobody has come for. It
    /// starts nothing.
    fn kept(&self, wanted: &Wanted, kept: &Kept) -> Option<Arc<Self::Agent>> {
        let _ = (wanted, kept);
        None
    }
}

/// An agent, and what was said of it by whoever wants it.
#[derive(Debug)]
pub(crate) struct Chosen<A> {
    pub(crate) wanted: Wanted,
    pub(crate) agent: Arc<A>,
}

/// The agent that the server of a hub sees: it leaves everything to the agent of the session.
pub(crate) struct Router<F: Factory> {
    factory: Arc<F>,
    sessions: Mutex<HashMap<v2::SessionId, Arc<F::Agent>>>,
}

impl<F: Factory> Router<F> {
    pub(crate) fn new(factory: Arc<F>) -> Self {
        Self {
            factory,
            sessions: Mutex::default(),
        }
    }

    /// Returns the agent for a session that is made or opened.
    async fn choose(&self, setup: &SessionSetup) -> Result<Arc<F::Agent>> {
        let asked = setup.caller.get::<Chosen<F::Agent>>();
        let kept = setup.host.as_deref().and_then(|host| host.lines().next());
        match (asked, kept) {
            (Some(asked), None) => Ok(Arc::clone(&asked.agent)),
            (Some(asked), Some(key)) if asked.wanted.key == key => Ok(Arc::clone(&asked.agent)),
            (_, Some(key)) => {
                let wanted = self.factory.known(key);
                let wanted = wanted.ok_or_else(|| unknown(key))?;
                let chosen = choose(&*self.factory, wanted).await;
                chosen.map(|chosen| chosen.agent).map_err(Error::msg)
            }
            (None, None) => Err(Error::msg(
                "The hub does not know which agent this session is for. Start it with `ply attach AGENT`.",
            )),
        }
    }

    fn agent(&self, session: &Session) -> Result<Arc<F::Agent>> {
        let agent = self.lock().get(session.id()).cloned();
        agent.ok_or_else(|| Error::msg("The session is being closed."))
    }

    fn asked(caller: &Caller) -> Result<Arc<F::Agent>> {
        let asked = caller.get::<Chosen<F::Agent>>();
        asked
            .map(|asked| Arc::clone(&asked.agent))
            .ok_or_else(Error::method_not_found)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<v2::SessionId, Arc<F::Agent>>> {
        // Nothing can panic under the lock.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unknown(key: &str) -> Error {
    Error::msg(format!(
        "This session is of the agent `{key}`, which the hub cannot start. Attach with that agent: `ply attach {key}`."
    ))
}

impl<F: Factory> Agent for Router<F> {
    fn about(&self) -> About {
        About::new("ply-hub", env!("CARGO_PKG_VERSION")).title("Ply hub")
    }

    async fn prompt(&self, turn: &mut Turn) -> Result<Stop> {
        let agent = self.agent(turn.session())?;
        agent.prompt(turn).await
    }

    async fn open(&self, session: &Session, setup: &SessionSetup) -> Result<()> {
        let agent = self.choose(setup).await?;
        self.lock().insert(session.id().clone(), Arc::clone(&agent));
        agent.open(session, setup).await
    }

    async fn adopts(&self, session: &v2::SessionId, setup: &SessionSetup) -> Result<bool> {
        let agent = self.choose(setup).await?;
        let adopts = agent.adopts(session, setup).await?;
        if adopts {
            // It is kept until it is opened, so that it is not started twice.
            self.lock().insert(session.clone(), agent);
        }
        Ok(adopts)
    }

    async fn close(&self, session: &Session) {
        let agent = self.lock().remove(session.id());
        if let Some(agent) = agent {
            agent.close(session).await;
        }
    }

    async fn set_option(
        &self,
        session: &Session,
        option: &v2::SessionConfigId,
        value: &v2::SessionConfigOptionValue,
    ) -> Result<()> {
        let agent = self.agent(session)?;
        agent.set_option(session, option, value).await
    }

    async fn login_asking(&self, method: &v2::AuthMethodId, user: &Asker) -> Result<()> {
        let agent = Self::asked(user.caller())?;
        agent.login_asking(method, user).await
    }

    async fn extension(&self, request: &Extension) -> Result<Value> {
        match request.session() {
            Ok(session) => self.agent(&session)?.extension(request).await,
            Err(_) => Self::asked(request.caller())?.extension(request).await,
        }
    }

    async fn extension_notification(&self, notification: &Extension) {
        let agent = match notification.session() {
            Ok(session) => self.agent(&session),
            Err(_) => Self::asked(notification.caller()),
        };
        if let Ok(agent) = agent {
            agent.extension_notification(notification).await;
        }
    }
}
