//! Logins of a session's servers, and those that a program makes by itself.

use std::path::Path;
use std::sync::Arc;

use ply_agent::v2;

use super::configured::{Configured, KnownClient, Variables};
use super::link::{self, Closing};
use super::login::Login;
use super::login::tokens::Tokens;
use super::server::Server;
use super::{Failed, Servers, Settings, http};

impl Servers {
    /// Begins a login at each server that wants one and has not been told of before. Returns the servers and the addresses that
    /// the user has to open; the servers are connected to once that is done.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, some logins may have begun that nobody was told of.
    pub(crate) async fn begin_logins(&self) -> Vec<(String, String)> {
        let servers = self.servers();
        let logins = servers.iter().map(|server| async move {
            let (tokens, challenge) = server.take_challenge()?;
            match Login::begin(tokens.server(), &challenge, server.client()).await {
                Ok(login) => {
                    let url = login.url.clone();
                    tokio::spawn(accompany(Arc::clone(server), tokens, login));
                    server.has_problem(None);
                    Some((server.name.clone(), url))
                }
                Err(problem) => {
                    server.has_problem(Some(problem));
                    None
                }
            }
        });
        let logins = futures::future::join_all(logins).await;
        logins.into_iter().flatten().collect()
    }
}

/// Waits for the user, and connects to the server then.
async fn accompany(server: Arc<Server>, tokens: Arc<Tokens>, login: Login) {
    let closing = server.closing();
    let granted = tokio::select! {
        granted = login.finish() => granted,
        () = link::wanted(closing, Closing::Politely) => return,
    };
    let kept = match granted {
        Ok(grant) => tokens.keep(grant).await,
        Err(problem) => return server.has_problem(Some(problem)),
    };
    if let Err(problem) = kept {
        tracing::warn!(server = server.name, problem, "a login is not kept");
    }
    server.start().await;
}

/// A login at a server that a configuration names.
pub struct NewLogin {
    login: Login,
    tokens: Tokens,
}

impl std::fmt::Debug for NewLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewLogin").finish_non_exhaustive()
    }
}

impl NewLogin {
    /// Finds out where to log in at a server. Its tokens are kept in [`Settings::tokens`].
    ///
    /// # Errors
    ///
    /// The server cannot be reached, wants no login, or does not say where that is.
    pub async fn begin(
        server: &Configured,
        settings: &Settings,
        variables: &Variables,
    ) -> Result<Self, Failed> {
        let name = server.shown_name();
        let failed = |message: String| Failed {
            server: name.clone(),
            message,
        };
        let (way, tokens, client) = kept(server, settings, variables).map_err(failed)?;
        let challenge = http::challenge(&way, settings).await.map_err(failed)?;
        let login = Login::begin(tokens.server(), &challenge, client.as_ref()).await;
        let login = login.map_err(failed)?;
        Ok(Self { login, tokens })
    }

    /// Returns the address that the user has to open.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.login.url
    }

    /// Waits until the user has logged in, and keeps the tokens.
    ///
    /// # Errors
    ///
    /// The login was refused, nobody logged in in time, or the tokens cannot be kept. The words are about the server.
    pub async fn finish(self) -> Result<(), String> {
        let grant = self.login.finish().await?;
        self.tokens.keep(grant).await
    }
}

/// Says whether a login at a server is kept. A server that is no HTTP server has none.
#[must_use]
pub fn is_logged_in(server: &Configured, settings: &Settings, variables: &Variables) -> bool {
    kept(server, settings, variables).is_ok_and(|(_, tokens, _)| tokens.is_kept())
}

/// Forgets the login at a server, and says whether there was one.
///
/// # Errors
///
/// The server is no HTTP server, or the file cannot be removed. The words are about the server.
pub fn log_out(
    server: &Configured,
    settings: &Settings,
    variables: &Variables,
) -> Result<bool, String> {
    let (_, tokens, _) = kept(server, settings, variables)?;
    let forgotten = tokens.forget();
    forgotten.map_err(|error| format!("its tokens cannot be removed: {error}"))
}

fn kept(
    server: &Configured,
    settings: &Settings,
    variables: &Variables,
) -> Result<(v2::McpServerHttp, Tokens, Option<KnownClient>), String> {
    let start = server.resolve(variables, None)?;
    let v2::McpServer::Http(way) = start.server else {
        return Err("it is a program and has no login; give it what it needs in `env`".to_owned());
    };
    let directory = settings.tokens.as_deref();
    let directory: &Path =
        directory.ok_or_else(|| "there is no place to keep a login; set HOME".to_owned())?;
    let tokens = Tokens::of(directory, &http::address(&way.url)?);
    Ok((way, tokens, start.client))
}
