//! The one HTTP client of the agent.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};

/// How long a connection may take to come about.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// How many redirects are followed.
const REDIRECTS_MAX: usize = 5;

/// Returns the client, made on first use.
///
/// # Errors
///
/// The machine's certificates cannot be read.
pub(crate) fn client() -> Result<Client, reqwest::Error> {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client.clone());
    }
    // Somebody else may have chosen a provider before; any will do.
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = Client::builder()
        .user_agent(concat!("ply/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIME_MAX)
        // An idle connection belongs to the runtime that opened it, and this client may outlive that.
        .pool_max_idle_per_host(0)
        .redirect(within_origin())
        .build()?;
    Ok(CLIENT.get_or_init(|| client).clone())
}

/// Follows a redirect only where it can neither drop the body nor carry the user's headers elsewhere.
fn within_origin() -> Policy {
    Policy::custom(|attempt| {
        let keeps_body = matches!(
            attempt.status(),
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
        );
        let from = attempt.previous().first();
        let same_origin = from.is_some_and(|from| from.origin() == attempt.url().origin());
        let few = attempt.previous().len() <= REDIRECTS_MAX;
        if keeps_body && same_origin && few {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}
