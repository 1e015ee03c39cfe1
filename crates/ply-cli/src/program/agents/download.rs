//! Downloads, bounded in size and time.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use ring::digest::{Context, SHA256};

use crate::program::error::Error;

/// Bytes of an index.
const SMALL_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of an archive.
const ARCHIVE_BYTES_MAX: u64 = 1024 * 1024 * 1024;
const CONNECT_TIME_MAX: Duration = Duration::from_secs(15);
/// How long a server may say nothing.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// Releases are redirected once or twice.
const REDIRECTS_MAX: usize = 5;

/// Returns what is at an address, if it is not too large.
pub(super) async fn small(url: &str) -> Result<Vec<u8>, Error> {
    let mut response = get(url).await?;
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| lost(url, &error))? {
        bytes.extend_from_slice(&part);
        bounded(
            u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            SMALL_BYTES_MAX,
            url,
        )?;
    }
    Ok(bytes)
}

/// Downloads a file and returns its SHA-256 checksum in hexadecimal.
pub(super) async fn file(url: &str, to: &Path) -> Result<String, Error> {
    let failed = |source| Error::File {
        path: to.to_owned(),
        source,
    };
    let mut response = get(url).await?;
    let mut file = File::create(to).map_err(failed)?;
    let mut digest = Context::new(&SHA256);
    let mut size = 0_u64;
    while let Some(part) = response.chunk().await.map_err(|error| lost(url, &error))? {
        size = size.saturating_add(u64::try_from(part.len()).unwrap_or(u64::MAX));
        bounded(size, ARCHIVE_BYTES_MAX, url)?;
        digest.update(&part);
        file.write_all(&part).map_err(failed)?;
    }
    let digest = digest.finish();
    let hex = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
    Ok(hex.collect())
}

async fn get(url: &str) -> Result<Response, Error> {
    let hint = "the address must begin with https://, or with http:// on this machine";
    let parsed = Url::parse(url).ok().filter(is_safe);
    let parsed = parsed.ok_or_else(|| Error::agents(format!("`{url}` cannot be used"), hint))?;
    let response = client()?.get(parsed).send().await;
    let response = response.map_err(|error| lost(url, &error))?;
    match response.status().is_success() {
        true => Ok(response),
        false => Err(Error::agents(
            format!("{url} answered {}", response.status()),
            "check the address, or try again later",
        )),
    }
}

fn client() -> Result<Client, Error> {
    // Fails only where another provider was chosen already, which will do.
    drop(rustls::crypto::ring::default_provider().install_default());
    let policy = Policy::custom(|attempt| {
        match attempt.previous().len() <= REDIRECTS_MAX && is_safe(attempt.url()) {
            true => attempt.follow(),
            false => attempt.error("redirected too often, or to an address without TLS"),
        }
    });
    let client = Client::builder()
        .redirect(policy)
        .connect_timeout(CONNECT_TIME_MAX)
        .read_timeout(SILENCE_MAX)
        .user_agent(concat!("ply/", env!("CARGO_PKG_VERSION")))
        .build();
    client.map_err(|error| Error::Start(std::io::Error::other(error)))
}

/// Returns whether what is downloaded from an address comes from the host that it names.
fn is_safe(url: &Url) -> bool {
    let is_local = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
    url.scheme() == "https" || (url.scheme() == "http" && is_local)
}

fn bounded(size: u64, max: u64, url: &str) -> Result<(), Error> {
    match size <= max {
        true => Ok(()),
        false => Err(Error::agents(
            format!("{url} is larger than {} MiB", max / (1024 * 1024)),
            "check the address",
        )),
    }
}

fn lost(url: &str, error: &reqwest::Error) -> Error {
    // The last cause says most: `connection refused`, `certificate has expired`.
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    Error::agents(
        format!("{url} cannot be downloaded: {cause}"),
        "check your connection; HTTPS_PROXY names a proxy",
    )
}
