//! Authentication: methods, login and logout.

use std::collections::HashMap;
use std::sync::Arc;

use crate::{v1, v2};

/// What becomes of `terminal` auth methods, and of a client's ability to run them.
///
/// Such a method makes the client start the program it is configured with once more. Behind a
/// proxy that program is the proxy and not the agent, so passing the method on would log in to
/// the wrong thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalAuth {
    /// The client starts the agent itself.
    Keep,
    /// Something stands between client and agent.
    Drop,
}

/// Turns version 2 auth methods into version 1 auth methods.
///
/// Lost: methods of an unknown type are left out, since version 1 would take them for `agent`
/// methods. The `_meta` of environment variables has no place in a name-to-value object. Where a
/// name appears twice the last value wins.
#[must_use]
pub fn methods_down(methods: &[v2::AuthMethod], terminal: TerminalAuth) -> Vec<v1::AuthMethod> {
    methods
        .iter()
        .filter_map(|method| method_down(method, terminal))
        .collect()
}

/// Turns version 1 auth methods into version 2 auth methods, making the `agent` type explicit.
///
/// Nothing is lost beyond what [`TerminalAuth::Drop`] asks for. Variables are ordered by name.
#[must_use]
pub fn methods_up(methods: &[v1::AuthMethod], terminal: TerminalAuth) -> Vec<v2::AuthMethod> {
    methods
        .iter()
        .filter_map(|method| method_up(method, terminal))
        .collect()
}

/// Turns `auth/login` params into `authenticate` params. Nothing is lost.
#[must_use]
pub fn login_down(request: &v2::LoginAuthRequest) -> v1::AuthenticateRequest {
    v1::AuthenticateRequest::new(Arc::clone(&request.method_id.0)).meta(request.meta.clone())
}

/// Turns `authenticate` params into `auth/login` params. Nothing is lost.
#[must_use]
pub fn login_up(request: &v1::AuthenticateRequest) -> v2::LoginAuthRequest {
    v2::LoginAuthRequest::new(Arc::clone(&request.method_id.0)).meta(request.meta.clone())
}

/// Turns an `auth/login` result into an `authenticate` result. Nothing is lost.
#[must_use]
pub fn login_response_down(response: &v2::LoginAuthResponse) -> v1::AuthenticateResponse {
    v1::AuthenticateResponse::new().meta(response.meta.clone())
}

/// Turns an `authenticate` result into an `auth/login` result. Nothing is lost.
#[must_use]
pub fn login_response_up(response: &v1::AuthenticateResponse) -> v2::LoginAuthResponse {
    v2::LoginAuthResponse::new().meta(response.meta.clone())
}

/// Turns `auth/logout` params into `logout` params.
///
/// Nothing is lost, but a version 1 agent may not offer `logout`; the caller then answers with an
/// error that says so.
#[must_use]
pub fn logout_down(request: &v2::LogoutAuthRequest) -> v1::LogoutRequest {
    v1::LogoutRequest::new().meta(request.meta.clone())
}

/// Turns `logout` params into `auth/logout` params. Nothing is lost.
#[must_use]
pub fn logout_up(request: &v1::LogoutRequest) -> v2::LogoutAuthRequest {
    v2::LogoutAuthRequest::new().meta(request.meta.clone())
}

/// Turns an `auth/logout` result into a `logout` result. Nothing is lost.
#[must_use]
pub fn logout_response_down(response: &v2::LogoutAuthResponse) -> v1::LogoutResponse {
    v1::LogoutResponse::new().meta(response.meta.clone())
}

/// Turns a `logout` result into an `auth/logout` result. Nothing is lost.
#[must_use]
pub fn logout_response_up(response: &v1::LogoutResponse) -> v2::LogoutAuthResponse {
    v2::LogoutAuthResponse::new().meta(response.meta.clone())
}

fn method_down(method: &v2::AuthMethod, terminal: TerminalAuth) -> Option<v1::AuthMethod> {
    match (method, terminal) {
        (v2::AuthMethod::Agent(agent), _) => {
            let out = v1::AuthMethodAgent::new(Arc::clone(&agent.method_id.0), agent.name.clone())
                .description(agent.description.clone())
                .meta(agent.meta.clone());
            Some(v1::AuthMethod::Agent(out))
        }
        (v2::AuthMethod::Terminal(login), TerminalAuth::Keep) => {
            let env: HashMap<_, _> = login
                .env
                .iter()
                .map(|var| (var.name.clone(), var.value.clone()))
                .collect();
            let out =
                v1::AuthMethodTerminal::new(Arc::clone(&login.method_id.0), login.name.clone())
                    .description(login.description.clone())
                    .args(login.args.clone())
                    .env(env)
                    .meta(login.meta.clone());
            Some(v1::AuthMethod::Terminal(out))
        }
        _ => None,
    }
}

fn method_up(method: &v1::AuthMethod, terminal: TerminalAuth) -> Option<v2::AuthMethod> {
    match (method, terminal) {
        (v1::AuthMethod::Agent(agent), _) => {
            let out = v2::AuthMethodAgent::new(Arc::clone(&agent.id.0), agent.name.clone())
                .description(agent.description.clone())
                .meta(agent.meta.clone());
            Some(v2::AuthMethod::Agent(out))
        }
        (v1::AuthMethod::Terminal(login), TerminalAuth::Keep) => {
            let mut env: Vec<_> = login
                .env
                .iter()
                .map(|(name, value)| v2::EnvVariable::new(name.clone(), value.clone()))
                .collect();
            env.sort_by(|a, b| a.name.cmp(&b.name));
            let out = v2::AuthMethodTerminal::new(Arc::clone(&login.id.0), login.name.clone())
                .description(login.description.clone())
                .args(login.args.clone())
                .env(env)
                .meta(login.meta.clone());
            Some(v2::AuthMethod::Terminal(out))
        }
        _ => None,
    }
}
