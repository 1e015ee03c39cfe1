//! A server that wants a login, and the authorization server that gives it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE,
};
use hyper::{Request, Response, StatusCode};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::http::Answer;

/// How many requests one token is good for.
const REQUESTS_OF_A_TOKEN: usize = 4;

/// The authorization server.
#[derive(Debug, Default)]
pub(crate) struct Authority {
    state: Mutex<State>,
    /// The secret of the one client that it knows; anybody may register if there is none.
    secret: Option<String>,
}

#[derive(Debug, Default)]
struct State {
    /// Logins that were begun: the code, and what it must be changed with.
    codes: HashMap<String, Begun>,
    /// The token that is taken, and how often it still is.
    token: Option<(String, usize)>,
    refresh: Option<String>,
    number: usize,
}

#[derive(Debug)]
struct Begun {
    challenge: String,
    redirect: String,
}

impl Authority {
    /// Returns one at which nobody registers, if it knows the secret of a client.
    pub(crate) fn new(secret: Option<String>) -> Self {
        Self {
            state: Mutex::default(),
            secret,
        }
    }

    /// Answers what is not for the MCP server, or refuses what comes without a token.
    pub(crate) async fn answer(
        &self,
        base: &str,
        request: Request<Incoming>,
    ) -> Result<Request<Incoming>, Answer> {
        let path = request.uri().path().to_owned();
        match path.as_str() {
            "/.well-known/oauth-protected-resource/mcp" => Err(document(&json!({
                "resource": format!("{base}/mcp"),
                "authorization_servers": [base],
                "scopes_supported": ["tools"],
            }))),
            "/.well-known/oauth-authorization-server" => {
                let open = self.secret.is_none();
                let about = json!({
                    "issuer": base,
                    "authorization_endpoint": format!("{base}/authorize"),
                    "token_endpoint": format!("{base}/token"),
                    "registration_endpoint": open.then(|| format!("{base}/register")),
                    "code_challenge_methods_supported": ["S256"],
                });
                Err(document(&about))
            }
            "/register" if self.secret.is_none() => {
                Err(document(&json!({ "client_id": "registered" })))
            }
            "/authorize" => Err(self.authorize(&pairs(request.uri().query().unwrap_or_default()))),
            "/token" => {
                let body = request.into_body().collect().await;
                let body = body.map(|body| body.to_bytes()).unwrap_or_default();
                Err(self.token(base, &pairs(&String::from_utf8_lossy(&body))))
            }
            _ => match self.takes(&request) {
                true => Ok(request),
                false => Err(challenge(base)),
            },
        }
    }

    fn takes(&self, request: &Request<Incoming>) -> bool {
        let given = request.headers().get(AUTHORIZATION);
        let given = given.and_then(|given| given.to_str().ok()?.strip_prefix("Bearer "));
        let mut state = self.state();
        match &mut state.token {
            Some((token, left)) if *left > 0 && given == Some(token) => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }

    /// A user who agrees at once.
    fn authorize(&self, asked: &HashMap<String, String>) -> Answer {
        let text = |key: &str| asked.get(key).cloned().unwrap_or_default();
        let mut state = self.state();
        state.number += 1;
        let code = format!("code {}", state.number);
        let redirect = text("redirect_uri");
        let back = format!(
            "{redirect}?code={}&state={}",
            code.replace(' ', "%20"),
            text("state")
        );
        let begun = Begun {
            challenge: text("code_challenge"),
            redirect,
        };
        state.codes.insert(code, begun);
        answer(StatusCode::FOUND, "", LOCATION, &back)
    }

    fn token(&self, base: &str, asked: &HashMap<String, String>) -> Answer {
        let text = |key: &str| asked.get(key).map(String::as_str).unwrap_or_default();
        let mut state = self.state();
        let right = match text("grant_type") {
            "authorization_code" => state.codes.remove(text("code")).is_some_and(|begun| {
                let hash = digest(&SHA256, text("code_verifier").as_bytes());
                let proven = URL_SAFE_NO_PAD.encode(hash.as_ref()) == begun.challenge;
                proven && begun.redirect == text("redirect_uri")
            }),
            "refresh_token" => state
                .refresh
                .take()
                .is_some_and(|known| known == text("refresh_token")),
            _ => false,
        };
        let client = match &self.secret {
            None => text("client_id") == "registered",
            Some(secret) => text("client_id") == "known" && text("client_secret") == secret,
        };
        let bound = text("resource") == format!("{base}/mcp") && client;
        if !right || !bound {
            let wrong = json!({ "error": "invalid_grant" }).to_string();
            return answer(
                StatusCode::BAD_REQUEST,
                &wrong,
                CONTENT_TYPE,
                "application/json",
            );
        }
        state.number += 1;
        let (token, refresh) = (
            format!("token-{}", state.number),
            format!("refresh-{}", state.number),
        );
        state.token = Some((token.clone(), REQUESTS_OF_A_TOKEN));
        state.refresh = Some(refresh.clone());
        document(
            &json!({ "access_token": token, "token_type": "Bearer", "refresh_token": refresh }),
        )
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn challenge(base: &str) -> Answer {
    let place = format!("{base}/.well-known/oauth-protected-resource/mcp");
    let words = format!("Bearer error=\"invalid_token\", resource_metadata=\"{place}\"");
    answer(StatusCode::UNAUTHORIZED, "", WWW_AUTHENTICATE, &words)
}

fn document(document: &Value) -> Answer {
    answer(
        StatusCode::OK,
        &document.to_string(),
        CONTENT_TYPE,
        "application/json",
    )
}

fn answer(status: StatusCode, body: &str, name: HeaderName, value: &str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body.to_owned())).boxed());
    *answer.status_mut() = status;
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
    answer
}

/// Reads a form.
fn pairs(form: &str) -> HashMap<String, String> {
    let decode = |text: &str| {
        let text = text.replace('+', " ");
        let decoded = percent_encoding::percent_decode_str(&text).decode_utf8_lossy();
        decoded.into_owned()
    };
    let pairs = form.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (decode(name), decode(value)))
        .collect()
}
