//! The methods of both protocol versions: who may call what, with which params and which result.
//!
//! [`v1`] and [`v2`] each hold one table. From it come the [`Request`] and [`Notification`]
//! implementations of the official params types, the `METHODS` list as plain data, and the closed
//! enums of what a side may receive.
//!
//! ```
//! use ply_wire::method::v2::AgentInbound;
//!
//! let params = serde_json::value::to_raw_value(&serde_json::json!({ "sessionId": "s-1" }))?;
//! match AgentInbound::decode("session/close", Some(&params))? {
//!     AgentInbound::CloseSession(close) => assert_eq!(&*close.session_id.0, "s-1"),
//!     other => panic!("decoded {}", other.method()),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

mod decode;
mod lenient;
mod missing;
mod table;
pub mod v1;
pub mod v2;

pub use decode::{DecodeError, decode_params, decode_result};

/// An end of an ACP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The program the user works with.
    Client,
    /// The program that does the work.
    Agent,
    /// Either end; only protocol-level notifications are sent by both.
    Either,
}

/// Whether a message wants an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It is answered with a result or an error.
    Request,
    /// It is never answered.
    Notification,
}

/// The params of a request, tied to its method and its result.
pub trait Request: Serialize + DeserializeOwned + Send + 'static {
    /// The method name on the wire.
    const METHOD: &'static str;
    /// The side that sends the request.
    const CALLER: Side;
    /// What a successful answer holds.
    type Response: Serialize + DeserializeOwned + Send + 'static;
}

/// The params of a notification, tied to its method.
pub trait Notification: Serialize + DeserializeOwned + Send + 'static {
    /// The method name on the wire.
    const METHOD: &'static str;
    /// The side that sends the notification.
    const SENDER: Side;
}

/// One row of a method table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodInfo {
    /// The method name on the wire.
    pub name: &'static str,
    /// The side that sends it.
    pub sender: Side,
    /// Whether it is answered.
    pub kind: Kind,
    /// Where the receiving side states in its part of `initialize` that it takes this method.
    ///
    /// `None` if the method is part of the baseline, or depends on something said later.
    pub gate: Option<&'static str>,
}

/// A message whose method begins with `_`: kept as it came, for whoever knows the extension.
#[derive(Debug, Clone)]
pub struct Extension {
    /// The method name, with its leading underscore.
    pub method: Box<str>,
    /// The params as raw JSON text.
    pub params: Option<Box<RawValue>>,
}

/// Whether a method name belongs to an extension rather than to the protocol.
#[must_use]
pub fn is_extension(method: &str) -> bool {
    method.starts_with('_')
}
