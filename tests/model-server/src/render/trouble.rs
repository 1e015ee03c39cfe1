//! Errors, in the words of each service.
//!
//! Every message has the word `verbatim` in it, so that a test can see whether a service's raw words
//! reach people.

use serde_json::{Value, json};

use super::Writer;
use crate::Api;
use crate::reply::Trouble;

/// Returns the body of an error.
pub(super) fn body(api: Api, trouble: Trouble, status: u16) -> Value {
    match api {
        Api::Chat | Api::Responses => json!({"error": openai(trouble, status)}),
        Api::Anthropic => json!({"type": "error", "error": anthropic(trouble, status)}),
        Api::Gemini => json!({"error": gemini(trouble, status)}),
        Api::Ollama => json!({"error": ollama(trouble, status)}),
    }
}

/// Adds an error to a stream.
pub(super) fn frame(out: &mut Writer, api: Api, status: u16) {
    let body = body(api, Trouble::Status, status);
    match api {
        Api::Chat | Api::Gemini => out.data(&body),
        Api::Anthropic => out.typed(&body),
        Api::Responses => {
            let error = &body["error"];
            out.typed(&json!({
                "type": "response.failed",
                "response": {"id": "resp_1", "status": "failed", "error": error, "output": []},
            }));
        }
        Api::Ollama => out.line(&body),
    }
}

fn openai(trouble: Trouble, status: u16) -> Value {
    let (kind, code) = match trouble {
        Trouble::Overflow => ("invalid_request_error", "context_length_exceeded"),
        Trouble::Quota => ("insufficient_quota", "insufficient_quota"),
        Trouble::Status => match status {
            401 => ("invalid_request_error", "invalid_api_key"),
            404 => ("invalid_request_error", "model_not_found"),
            429 => ("requests", "rate_limit_exceeded"),
            500.. => ("server_error", "server_error"),
            _ => ("invalid_request_error", "invalid_value"),
        },
    };
    json!({"message": format!("verbatim {code} sk-secret"), "type": kind, "param": null, "code": code})
}

fn anthropic(trouble: Trouble, status: u16) -> Value {
    let (kind, message) = match trouble {
        Trouble::Overflow => (
            "invalid_request_error",
            "verbatim: prompt is too long: 210000 tokens > 200000 maximum",
        ),
        Trouble::Quota => (
            "invalid_request_error",
            "verbatim: Your credit balance is too low to access the Anthropic API.",
        ),
        Trouble::Status => (
            match status {
                401 => "authentication_error",
                402 => "billing_error",
                403 => "permission_error",
                404 => "not_found_error",
                413 => "request_too_large",
                429 => "rate_limit_error",
                529 => "overloaded_error",
                500.. => "api_error",
                _ => "invalid_request_error",
            },
            "verbatim words of the service",
        ),
    };
    json!({"type": kind, "message": message})
}

fn gemini(trouble: Trouble, status: u16) -> Value {
    let (kind, message) = match trouble {
        Trouble::Overflow => (
            "INVALID_ARGUMENT",
            "verbatim: The input token count (1200000) exceeds the maximum number of tokens allowed \
             (1048576).",
        ),
        Trouble::Quota => (
            "RESOURCE_EXHAUSTED",
            "verbatim: You exceeded your current quota, please check your plan and billing details.",
        ),
        Trouble::Status => (
            match status {
                401 => "UNAUTHENTICATED",
                403 => "PERMISSION_DENIED",
                404 => "NOT_FOUND",
                429 => "RESOURCE_EXHAUSTED",
                503 => "UNAVAILABLE",
                500.. => "INTERNAL",
                _ => "INVALID_ARGUMENT",
            },
            "verbatim words of the service",
        ),
    };
    json!({"code": status, "status": kind, "message": message})
}

fn ollama(trouble: Trouble, status: u16) -> Value {
    match trouble {
        Trouble::Overflow => "verbatim: input length exceeds the context length".into(),
        Trouble::Quota => "verbatim: you have reached your usage limit".into(),
        Trouble::Status if status == 404 => "verbatim: model 'scripted' not found".into(),
        Trouble::Status => "verbatim words of the service".into(),
    }
}
