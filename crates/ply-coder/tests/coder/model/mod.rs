//! What the tests of models share: models of the scripted server, and answers read to their end.

use std::sync::Arc;

use futures::StreamExt;
use ply_coder::model::service::{self, Api as ModelApi, Secret, Service};
use ply_coder::model::{
    Call, Content, Delta, Facts, Failure, FailureClass, Message, Model, Part, Request, Stopped,
    ToolSpec, Usage,
};
use ply_model_server::{Api, ModelServer};
use serde_json::json;

/// Returns the model of a service of the server's.
pub(crate) fn service(server: &ModelServer, api: Api) -> Service {
    let kind = match api {
        Api::Chat => ModelApi::OpenAi,
        Api::Responses => ModelApi::OpenAiResponses,
        Api::Anthropic => ModelApi::Anthropic,
        Api::Gemini => ModelApi::Gemini,
        Api::Ollama => ModelApi::Ollama,
    };
    let mut facts = Facts::new("test/scripted-max");
    facts.images = true;
    facts.audio = true;
    facts.efforts = true;
    facts.output_tokens_max = 64_000;
    let mut service = Service::new(kind, "scripted-max", facts);
    service.base_url = Some(server.url(api));
    service.key = Some(Secret::new("sk-secret"));
    service.key_hint = "set `TEST_KEY`".to_owned();
    service
}

/// Returns a model of the server's.
pub(crate) fn model(server: &ModelServer, api: Api) -> Arc<dyn Model> {
    service::open(service(server, api))
}

/// Returns a request with one thing that the user said, and two tools.
pub(crate) fn ask(text: &str) -> Request {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: format!("Does what `{name}` does."),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    };
    Request {
        system: "Be brief.".to_owned(),
        messages: vec![Message::User(vec![Content::Text(text.to_owned())])],
        tools: vec![tool("read_file"), tool("list_dir")],
        ..Request::default()
    }
}

/// An answer that was read to its end.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// All deltas.
    pub(crate) deltas: Vec<Delta>,
    /// The message, as the turn loop makes it from the deltas.
    pub(crate) parts: Vec<Part>,
    /// Why it ended.
    pub(crate) stopped: Option<Stopped>,
    /// Why it failed.
    pub(crate) failure: Option<Failure>,
    /// The last count of tokens.
    pub(crate) usage: Option<Usage>,
}

impl Answer {
    /// Returns all text.
    pub(crate) fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the calls.
    pub(crate) fn calls(&self) -> Vec<&Call> {
        let calls = self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        });
        calls.collect()
    }

    /// Returns the class of the failure.
    pub(crate) fn class(&self) -> Option<FailureClass> {
        self.failure.as_ref().map(|failure| failure.class)
    }

    fn add(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(more) => match self.parts.last_mut() {
                Some(Part::Text(text)) => text.push_str(more),
                _ => self.parts.push(Part::Text(more.clone())),
            },
            Delta::Thought(more) => match self.parts.last_mut() {
                Some(Part::Thought {
                    text,
                    signature: None,
                }) => text.push_str(more),
                _ => self.parts.push(Part::Thought {
                    text: more.clone(),
                    signature: None,
                }),
            },
            Delta::Signature(signed) => match self.parts.last_mut() {
                Some(Part::Thought {
                    signature: signature @ None,
                    ..
                }) => *signature = Some(signed.clone()),
                _ => self.parts.push(Part::Thought {
                    text: String::new(),
                    signature: Some(signed.clone()),
                }),
            },
            Delta::CallEnded { call, .. } => self.parts.push(Part::Call(call.clone())),
            Delta::Usage(usage) => self.usage = Some(*usage),
            Delta::Stopped(stopped) => self.stopped = Some(*stopped),
            Delta::CallStarted { .. } | Delta::CallArguments { .. } => {}
        }
    }
}

/// Makes a request and reads the answer to its end.
pub(crate) async fn answer(model: &Arc<dyn Model>, request: &Request) -> Answer {
    let mut answer = Answer::default();
    let mut deltas = match model.stream(request).await {
        Ok(deltas) => deltas,
        Err(failure) => {
            answer.failure = Some(failure);
            return answer;
        }
    };
    while let Some(delta) = deltas.next().await {
        match delta {
            Ok(delta) => {
                answer.add(&delta);
                answer.deltas.push(delta);
            }
            Err(failure) => answer.failure = Some(failure),
        }
    }
    answer
}
