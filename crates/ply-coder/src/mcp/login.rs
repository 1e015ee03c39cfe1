//! Logging in at a server behind HTTP, as MCP has it: OAuth 2.1 with a code that a browser brings back to a port of this machine.
//!
//! The server's answer 401 leads to its metadata (RFC 9728), that to the authorization server's (RFC 8414), where the agent registers
//! itself (RFC 7591). The user opens an address; what comes back is changed for tokens, bound by PKCE and to the server's address.

mod discovery;
mod redirect;
pub(super) mod tokens;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::{RequestBuilder, StatusCode, Url};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};
use tokio::time::timeout;

use self::discovery::Authority;
use self::redirect::Redirect;
use self::tokens::Grant;
use super::configured::KnownClient;
use super::words;
use crate::web;

/// How long a user has to log in.
pub(super) const LOGIN_TIME_MAX: Duration = Duration::from_secs(600);
/// How long one request to an authorization server may take.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(15);
/// How long one of its answers may be.
const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// How many random bytes a secret of ours has.
const RANDOM_BYTES: usize = 32;
/// How long an error that is told may be, in characters.
const ERROR_CHARS_MAX: usize = 200;

/// A login that waits for the user.
pub(super) struct Login {
    /// The address that the user opens.
    pub(super) url: String,
    redirect: Redirect,
    authority: Authority,
    resource: String,
    client_id: String,
    client_secret: Option<String>,
    state: String,
    verifier: String,
}

impl Login {
    /// Finds out where to log in at a server that answered with this challenge, and registers there, unless the user has done that.
    ///
    /// Its error says what is wrong, as a sentence about the server.
    pub(super) async fn begin(
        server: &Url,
        challenge: &str,
        client: Option<&KnownClient>,
    ) -> Result<Self, String> {
        let authority = discovery::find(server, challenge).await?;
        let redirect = Redirect::listen()
            .await
            .map_err(|error| format!("no port is free for the login to come back to ({error})"))?;
        let (client_id, client_secret) = match client {
            Some(client) => {
                let secret = client.secret.as_ref();
                let secret = secret.map(|secret| secret.reveal().to_owned());
                (client.id.clone(), secret)
            }
            None => register(&authority, &redirect.uri()).await?,
        };
        let (state, verifier) = (random()?, random()?);
        let hash = digest(&SHA256, verifier.as_bytes());
        let challenge = URL_SAFE_NO_PAD.encode(hash.as_ref());
        let resource = resource(server);
        let mut url = authority.authorize.clone();
        {
            let mut query = url.query_pairs_mut();
            query
                .append_pair("response_type", "code")
                .append_pair("client_id", &client_id)
                .append_pair("redirect_uri", &redirect.uri())
                .append_pair("state", &state)
                .append_pair("code_challenge", &challenge)
                .append_pair("code_challenge_method", "S256")
                .append_pair("resource", &resource);
            if let Some(scope) = &authority.scope {
                query.append_pair("scope", scope);
            }
        }
        Ok(Self {
            url: url.into(),
            redirect,
            authority,
            resource,
            client_id,
            client_secret,
            state,
            verifier,
        })
    }

    /// Waits until the user has logged in, and returns the tokens.
    ///
    /// # Cancel safety
    ///
    /// Dropped half-way, nobody waits for the user any more.
    pub(super) async fn finish(self) -> Result<Grant, String> {
        let code = self.redirect.code(&self.state, &self.authority);
        let code = timeout(LOGIN_TIME_MAX, code).await.map_err(|_| {
            let minutes = LOGIN_TIME_MAX.as_secs() / 60;
            format!("nobody logged in within {minutes} minutes")
        })??;
        let redirect = self.redirect.uri();
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", &redirect),
            ("client_id", &self.client_id),
            ("code_verifier", &self.verifier),
            ("resource", &self.resource),
        ];
        if let Some(secret) = &self.client_secret {
            form.push(("client_secret", secret));
        }
        let answer = post_form(&self.authority.token, &form).await?;
        Grant::read(&answer).map(|grant| Grant {
            resource: self.resource,
            token_endpoint: self.authority.token.into(),
            client_id: self.client_id,
            client_secret: self.client_secret,
            ..grant
        })
    }
}

/// Returns what tokens for a server are bound to.
fn resource(server: &Url) -> String {
    let mut resource = server.clone();
    resource.set_fragment(None);
    resource.into()
}

/// Registers this agent, and returns its id there, and a secret if it got one.
async fn register(
    authority: &Authority,
    redirect: &str,
) -> Result<(String, Option<String>), String> {
    let Some(endpoint) = &authority.register else {
        return Err(
            "it wants a login, but its authorization server lets no client register itself; register one there and set \
             `client_id`, or give the server an `Authorization` header"
                .to_owned(),
        );
    };
    let about = json!({
        "client_name": "Ply",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": authority.scope,
    });
    let request = web_client()?
        .post(endpoint.clone())
        .header("content-type", "application/json")
        .body(about.to_string());
    let (status, answer) = ask(request).await?;
    let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
    match text("client_id") {
        Some(id) if status.is_success() => Ok((id, text("client_secret"))),
        _ => Err(refused("the registration", status, &answer)),
    }
}

/// Sends a form to the place that gives out tokens.
async fn post_form(endpoint: &Url, form: &[(&str, &str)]) -> Result<Value, String> {
    // A query is written like a form.
    let mut body = endpoint.clone();
    body.query_pairs_mut().clear().extend_pairs(form);
    let request = web_client()?
        .post(endpoint.clone())
        .header("content-type", "application/x-www-form-urlencoded")
        .header("accept", "application/json")
        .body(body.query().unwrap_or_default().to_owned());
    let (status, answer) = ask(request).await?;
    match status.is_success() {
        true => Ok(answer),
        false => Err(refused("the login", status, &answer)),
    }
}

fn refused(what: &str, status: StatusCode, answer: &Value) -> String {
    let text = |key: &str| answer.get(key).and_then(Value::as_str);
    let why = text("error_description").or(text("error"));
    let why = why.map(|why| format!(": {}", words::line(why, ERROR_CHARS_MAX)));
    let (status, why) = (status.as_u16(), why.unwrap_or_default());
    format!("its authorization server refused {what} with HTTP status {status}{why}")
}

fn web_client() -> Result<reqwest::Client, String> {
    web::client()
        .map_err(|_| "the certificates of this machine cannot be read; check them".to_owned())
}

/// Sends a request and reads the answer, which is JSON or nothing.
async fn ask(request: RequestBuilder) -> Result<(StatusCode, Value), String> {
    let failed = |error: reqwest::Error| {
        let what = words::request_failed(&error);
        format!("its authorization server does not answer: {what}")
    };
    let work = async {
        let mut response = request.send().await.map_err(failed)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            body.extend_from_slice(&chunk);
            if body.len() > ANSWER_BYTES_MAX {
                return Err("its authorization server answers at too great length".to_owned());
            }
        }
        let answer = serde_json::from_slice(&body).unwrap_or_default();
        Ok((response.status(), answer))
    };
    let done = timeout(REQUEST_TIME_MAX, work).await;
    done.unwrap_or_else(|_| Err("its authorization server does not answer".to_owned()))
}

fn random() -> Result<String, String> {
    let mut bytes = [0; RANDOM_BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| "this machine has no random numbers for a login".to_owned())?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
