//! The tokens for a server: kept in a file that only the user reads, renewed when the server does not take them any more.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::{fmt, process};

use reqwest::Url;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Mutex;

use super::{post_form, resource};

/// How long a file with tokens may be.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// How many bytes of a hash name a file.
const NAME_BYTES: usize = 16;

/// What a login brought.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(in crate::mcp) struct Grant {
    /// The server's address. Tokens go nowhere else.
    #[serde(default)]
    pub(super) resource: String,
    #[serde(default)]
    pub(super) token_endpoint: String,
    #[serde(default)]
    pub(super) client_id: String,
    pub(super) client_secret: Option<String>,
    pub(super) access_token: String,
    pub(super) refresh_token: Option<String>,
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant").finish_non_exhaustive()
    }
}

impl Grant {
    /// Reads what a token endpoint answered.
    pub(super) fn read(answer: &Value) -> Result<Self, String> {
        let text = |key: &str| answer.get(key).and_then(Value::as_str);
        let is_bearer = text("token_type").is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
        match text("access_token") {
            Some(token) if is_bearer && !token.is_empty() => Ok(Self {
                access_token: token.to_owned(),
                refresh_token: text("refresh_token").map(str::to_owned),
                ..Self::default()
            }),
            _ => Err("its authorization server gave no token that can be used".to_owned()),
        }
    }
}

/// The tokens for one server.
#[derive(Debug)]
pub(in crate::mcp) struct Tokens {
    file: PathBuf,
    server: Url,
    resource: String,
    /// Held while tokens are renewed, so that this is done once.
    grant: Mutex<Option<Grant>>,
}

impl Tokens {
    /// Returns the tokens for a server, as they are kept in a directory.
    pub(in crate::mcp) fn of(directory: &Path, server: &Url) -> Self {
        let resource = resource(server);
        let hash = digest(&SHA256, resource.as_bytes());
        let name = hash.as_ref().iter().take(NAME_BYTES);
        let name: String = name.map(|byte| format!("{byte:02x}")).collect();
        Self {
            file: directory.join(format!("{name}.json")),
            server: server.clone(),
            resource,
            grant: Mutex::default(),
        }
    }

    /// Returns the server's address.
    pub(in crate::mcp) fn server(&self) -> &Url {
        &self.server
    }

    /// Returns the token to show to the server, if there is one.
    pub(in crate::mcp) async fn access(&self) -> Option<String> {
        let mut grant = self.grant.lock().await;
        if grant.is_none() {
            *grant = self.load();
        }
        grant.as_ref().map(|grant| grant.access_token.clone())
    }

    /// Returns another token in place of one that the server did not take, if there is a way to get one.
    pub(in crate::mcp) async fn renew(&self, refused: &str) -> Option<String> {
        let mut grant = self.grant.lock().await;
        // Another call, or another process, may have renewed it.
        let now = self.load().or_else(|| grant.clone())?;
        if now.access_token != refused {
            let access = now.access_token.clone();
            *grant = Some(now);
            return Some(access);
        }
        match refresh(&now).await {
            Ok(fresh) => {
                let access = fresh.access_token.clone();
                if let Err(error) = self.save(&fresh) {
                    tracing::warn!(%error, "tokens of an MCP server cannot be kept");
                }
                *grant = Some(fresh);
                Some(access)
            }
            Err(problem) => {
                tracing::debug!(problem, "tokens of an MCP server cannot be renewed");
                // Refresh tokens are good for one use: another process may have been faster.
                let now = self.load().filter(|now| now.access_token != refused)?;
                let access = now.access_token.clone();
                *grant = Some(now);
                Some(access)
            }
        }
    }

    /// Keeps what a login brought.
    pub(in crate::mcp) async fn keep(&self, fresh: Grant) -> Result<(), String> {
        let mut grant = self.grant.lock().await;
        let kept = self.save(&fresh);
        *grant = Some(fresh);
        kept.map_err(|error| format!("you are logged in, but that cannot be kept: {error}"))
    }

    /// Forgets the login, and says whether there was one.
    pub(in crate::mcp) fn forget(&self) -> io::Result<bool> {
        match fs::remove_file(&self.file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Says whether a login is kept.
    pub(in crate::mcp) fn is_kept(&self) -> bool {
        self.load().is_some()
    }

    fn load(&self) -> Option<Grant> {
        if !self.file.symlink_metadata().ok()?.is_file() {
            return None;
        }
        let mut text = String::new();
        let file = fs::File::open(&self.file).ok()?;
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
        let grant: Grant = serde_json::from_str(&text).ok()?;
        (grant.resource == self.resource).then_some(grant)
    }

    /// Puts a new file in the place of the old one, whole or not at all.
    fn save(&self, grant: &Grant) -> io::Result<()> {
        if let Some(directory) = self.file.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory)?;
        }
        let new = self.file.with_extension(format!("{}.new", process::id()));
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(&serde_json::to_vec(grant)?)?;
        file.sync_all()?;
        fs::rename(&new, &self.file)
    }
}

/// Changes a refresh token for new ones.
async fn refresh(grant: &Grant) -> Result<Grant, String> {
    let token = grant.refresh_token.as_deref();
    let token = token.ok_or_else(|| "there is no refresh token".to_owned())?;
    let endpoint = Url::parse(&grant.token_endpoint);
    let endpoint = endpoint.map_err(|_| "the token endpoint is no URL".to_owned())?;
    let mut form = vec![
        ("grant_type", "refresh_token"),
        ("refresh_token", token),
        ("client_id", &grant.client_id),
        ("resource", &grant.resource),
    ];
    if let Some(secret) = &grant.client_secret {
        form.push(("client_secret", secret));
    }
    let fresh = Grant::read(&post_form(&endpoint, &form).await?)?;
    Ok(Grant {
        // Without a new one the old one stays good.
        refresh_token: fresh.refresh_token.or_else(|| grant.refresh_token.clone()),
        access_token: fresh.access_token,
        ..grant.clone()
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn tokens_are_kept_for_the_user_alone_and_for_one_server() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("tokens");
        let server = Url::parse("https://a/mcp").unwrap();
        let tokens = Tokens::of(&directory, &server);
        assert_eq!(tokens.access().await, None);
        let grant = Grant {
            resource: resource(&server),
            access_token: "secret".to_owned(),
            ..Grant::default()
        };
        assert!(!format!("{grant:?}").contains("secret"));
        tokens.keep(grant).await.unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&tokens.file), mode(&directory)), (0o600, 0o700));
        let again = Tokens::of(&directory, &server);
        assert_eq!(again.access().await.as_deref(), Some("secret"));
        // Nothing to renew it with.
        assert_eq!(again.renew("secret").await, None);
        assert_eq!(again.renew("older").await.as_deref(), Some("secret"));
        let other = Tokens::of(&directory, &Url::parse("https://a/other").unwrap());
        assert_eq!(other.access().await, None);
        assert!(again.forget().unwrap() && !again.forget().unwrap());
        assert!(!again.is_kept());
    }
}
