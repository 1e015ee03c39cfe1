//! The agent's answers to our requests.

use ply_rpc::envelope::Outcome;
use ply_rpc::{RequestId, RpcError};

use super::{Call, Done, Failure, Link, Output, session::read};

impl Link {
    pub(super) fn response(
        &mut self,
        id: &RequestId,
        outcome: &Outcome<'_>,
        out: &mut Vec<Output>,
    ) {
        let number = id.as_i64();
        let Some((number, call)) = number.and_then(|id| self.calls.remove_entry(&id)) else {
            let words = "an answer belongs to no request that is open";
            return out.push(Output::Odd(words.to_owned()));
        };
        let method = call.method(self.version());
        let result = match outcome {
            Outcome::Result(result) => Ok(*result),
            Outcome::Error(error) => Err(error_of(error.get())),
            Outcome::Neither => Err(RpcError::internal(
                "the answer has neither result nor error",
            )),
        };
        if call == Call::Prompt {
            return self.prompt_answered(number, result, out);
        }
        let result = result.map_err(|error| Failure::Refused { method, error });
        let outcome = match call {
            Call::Greet { only_v1 } => result.and_then(|result| self.greeted(only_v1, result)),
            Call::Open { how } => self.opened(how, result, out),
            Call::SetOption => result.and_then(|result| self.option_set(result, out)),
            Call::SetMode { mode } => result.map(|_| {
                self.mode_set(&mode, out);
                Done::Other
            }),
            Call::Extend => result.and_then(|result| read(method, result).map(Done::Extended)),
            Call::Close | Call::CancelEntity | Call::Login | Call::Logout => {
                result.and_then(|result| {
                    let _: serde::de::IgnoredAny = read(method, result)?;
                    Ok(Done::Other)
                })
            }
            Call::Prompt => Ok(Done::Other),
        };
        out.push(Output::Answered {
            call: number,
            outcome,
        });
    }

    /// Fails a request whose answer cannot be read at all.
    pub(super) fn unreadable(&mut self, id: &RequestId, out: &mut Vec<Output>) {
        let error = r#"{"code":-32603,"message":"the answer cannot be read"}"#;
        if let Ok(error) = serde_json::from_str::<&serde_json::value::RawValue>(error) {
            self.response(id, &Outcome::Error(error), out);
        }
    }

    /// Fails the greeting of a program that sends it back.
    pub(super) fn echoes(&mut self, out: &mut Vec<Output>) {
        let is_greeting = |call: &Call| matches!(call, Call::Greet { .. });
        let greeting = self.calls.iter().find(|(_, call)| is_greeting(call));
        let Some(call) = greeting.map(|(id, _)| *id) else {
            return;
        };
        self.calls.remove(&call);
        out.push(Output::Answered {
            call,
            outcome: Err(Failure::Echoes),
        });
    }
}

fn error_of(text: &str) -> RpcError {
    let error = serde_json::from_str(text);
    error.unwrap_or_else(|_| RpcError::internal("the agent's error cannot be read"))
}
