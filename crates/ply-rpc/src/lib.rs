//! A JSON-RPC 2.0 peer: both sides ask and answer on one ordered, bounded, cancellable link.
//!
//! [`connect`] joins any reader and writer into a [`Link`], a future that moves the bytes, and a [`Peer`], the handle to talk
//! through. The peer's own requests and notifications go to a [`Handler`], in the order they were written.
//!
//! ```
//! use ply_rpc::{Handler, Notification, Options, Peer, Request, Responder, RpcError};
//!
//! struct Adder;
//!
//! impl Handler for Adder {
//!     fn request(&mut self, _: &Peer, request: Request<'_>, responder: Responder) {
//!         match request.method {
//!             "add" => responder.respond(request.params().map(|(a, b): (i64, i64)| a + b)),
//!             _ => responder.respond::<()>(Err(RpcError::method_not_found())),
//!         }
//!     }
//!
//!     fn notification(&mut self, _: &Peer, _: Notification<'_>) {}
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), ply_rpc::CallError> {
//! let ((here, there), (from_here, from_there)) = (tokio::io::duplex(4096), tokio::io::duplex(4096));
//! let (_, server) = ply_rpc::connect(there, from_there, Adder, Options::agent());
//! let (peer, client) = ply_rpc::connect(from_here, here, Adder, Options::client());
//! tokio::spawn(server);
//! tokio::spawn(client);
//! let sum: i64 = peer.call("add", &[19, 23]).await?;
//! assert_eq!(sum, 42);
//! # Ok(())
//! # }
//! ```
//!
//! A link belongs to a tokio runtime with IO and time enabled.

mod answered;
mod call;
mod calls;
pub mod clean;
pub mod codec;
mod depth;
mod dispatch;
pub mod envelope;
mod error;
mod frame;
mod handler;
mod id;
pub mod limits;
pub mod line;
mod link;
mod noise;
mod options;
mod ordered;
mod outbox;
mod peer;
mod postbox;
mod served;
pub mod transport;
mod writing;

pub use answered::Answered;
pub use call::{CallOptions, InFlight};
pub use error::{CallError, Closed, RpcError, decode_reason};
pub use handler::{Cancellation, Handler, Notification, Request, Responder};
pub use id::RequestId;
pub use limits::Limits;
pub use link::{Link, connect};
pub use noise::Noise;
pub use options::{Garbage, Options};
pub use ordered::{OrderedCall, RawAnswer};
pub use peer::{CANCEL_REQUEST, Gather, Peer};
pub use postbox::{Postbox, Posted};
