//! How our end answers requests of the other side.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::recording::Frame;

/// What a request of the other side gets.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// This result.
    Result(Value),
    /// This error.
    Error(i64, &'static str),
    /// Nothing for now; it is kept in [`Service::held`].
    Hold,
}

/// A request that waits for its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// The frame of the request.
    pub frame: usize,
    /// Its id.
    pub id: Value,
    /// What is asked.
    pub method: String,
    /// With what.
    pub params: Value,
}

type Answerer = Box<dyn FnMut(&Value) -> Reply + Send>;

/// How requests of the other side are answered: by method, and `-32601` for all others.
#[derive(Default)]
pub struct Service {
    methods: HashMap<String, Answerer>,
    /// Requests that wait, oldest first.
    pub held: Vec<Held>,
}

impl Service {
    /// Answers a method with what `answer` makes of its parameters.
    pub fn on(&mut self, method: &str, answer: impl FnMut(&Value) -> Reply + Send + 'static) {
        self.methods.insert(method.to_owned(), Box::new(answer));
    }

    /// Takes the oldest request for a method that waits.
    pub fn take_held(&mut self, method: &str) -> Option<Held> {
        let place = self.held.iter().position(|held| held.method == method)?;
        Some(self.held.remove(place))
    }

    /// Returns the answer to a request, if it is to have one now.
    pub(super) fn serve(&mut self, frame: &Frame) -> Option<Value> {
        let (id, method) = (frame.id()?, frame.method()?);
        let params = frame.params().cloned().unwrap_or_default();
        let reply = match self.methods.get_mut(method) {
            Some(answer) => answer(&params),
            None => Reply::Error(-32601, "Method not found"),
        };
        match reply {
            Reply::Result(result) => Some(json!({"jsonrpc": "2.0", "id": id, "result": result})),
            Reply::Error(code, message) => {
                let error = json!({"code": code, "message": message});
                Some(json!({"jsonrpc": "2.0", "id": id, "error": error}))
            }
            Reply::Hold => {
                self.held.push(Held {
                    frame: frame.number,
                    id: id.clone(),
                    method: method.to_owned(),
                    params,
                });
                None
            }
        }
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let methods: Vec<_> = self.methods.keys().collect();
        f.debug_struct("Service")
            .field("methods", &methods)
            .field("held", &self.held)
            .finish()
    }
}
