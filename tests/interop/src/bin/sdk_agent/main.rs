//! An agent made with the official SDK, on stdio: `sdk_agent v1` or `sdk_agent v2`.
//!
//! The first text block of a prompt says what to do; see `script`.

mod script;
mod sessions;
mod v1;
mod v2;

use agent_client_protocol::{Error, Result};

#[tokio::main]
async fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("v1") => v1::serve().await,
        Some("v2") => v2::serve().await,
        _ => Err(Error::invalid_params().data("say which version to speak: v1 or v2")),
    }
}
