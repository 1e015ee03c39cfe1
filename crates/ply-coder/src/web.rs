//! The HTTP clients of the agent: one for services, and one for each page of the web.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, StatusCode, Url};

use crate::permission::is_private;

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
    let client = builder().redirect(within_origin()).build()?;
    Ok(CLIENT.get_or_init(|| client).clone())
}

fn builder() -> ClientBuilder {
    // Somebody else may have chosen a provider before; any will do.
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder()
        .user_agent(concat!("ply/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIME_MAX)
        // An idle connection belongs to the runtime that opened it, and this client may outlive that.
        .pool_max_idle_per_host(0)
}

/// Returns a client for one page. It follows no redirect, and unless `private` is set it connects to no host
/// whose name leads to this machine or into a private network.
///
/// # Errors
///
/// The machine's certificates cannot be read.
pub(crate) fn client_for_page(url: &Url, private: bool) -> Result<Client, reqwest::Error> {
    let builder = builder().redirect(Policy::none());
    match url.host_str() {
        Some(host) if !private => {
            let host = host.to_owned();
            builder.dns_resolver(Arc::new(PublicOnly { host })).build()
        }
        _ => builder.build(),
    }
}

/// A host that is not public.
#[derive(Debug, thiserror::Error)]
#[error(
    "The name `{host}` leads to this machine or into a private network, and pages are fetched from there \
     only if a rule of the user's names the host."
)]
pub(crate) struct PrivateHost {
    host: String,
}

/// Finds the addresses of a host and refuses those that are not public. What was looked up is what is
/// connected to, so a name cannot change its mind in between.
#[derive(Debug)]
struct PublicOnly {
    /// Any other name is the user's proxy.
    host: String,
}

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let checked = name.as_str() == self.host;
        let host = name.as_str().to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            let found: Vec<SocketAddr> = found.collect();
            if checked && found.iter().any(|address| is_private(address.ip())) {
                return Err(PrivateHost { host }.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn h8_a_name_that_leads_to_this_machine_is_refused_where_it_is_looked_up() {
        let name = || "localhost".parse::<Name>().unwrap();
        let page = PublicOnly {
            host: "localhost".to_owned(),
        };
        let Err(refused) = page.resolve(name()).await else {
            panic!("it leads to this machine");
        };
        assert!(refused.is::<PrivateHost>(), "{refused}");
        // Another name is the user's proxy, which may well be here.
        let proxied = PublicOnly {
            host: "docs.rs".to_owned(),
        };
        assert!(proxied.resolve(name()).await.is_ok());
    }
}
