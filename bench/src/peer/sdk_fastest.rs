//! The official SDK in the fastest arrangement found: its `ByteStreams` on non-blocking pipes, one thread per process.

mod compat;

use std::os::fd::OwnedFd;

use agent_client_protocol::ByteStreams;
use async_io::Async;
use compat::Compat;
use tokio::net::unix::pipe;

use super::{PipeIo, sdk};
use crate::Result;
use crate::measure::{Outcome, Plan};
use crate::process::{Launch, agent_pipes};

pub(crate) fn run(plan: &Plan, launch: &Launch) -> Result<Outcome> {
    let (agent, stdin, stdout) = launch.spawn()?;
    let outcome = match launch.io {
        PipeIo::Tokio => on_tokio(async {
            let streams = tokio_streams(stdin.into(), stdout.into())?;
            sdk::client(streams, plan).await
        }),
        PipeIo::AsyncIo => async_io::block_on(async {
            let streams = ByteStreams::new(Async::new(stdin)?, Async::new(stdout)?);
            sdk::client(streams, plan).await
        }),
    }?;
    agent.finish()?;
    Ok(outcome.noted(match launch.io {
        PipeIo::Tokio => "ByteStreams on tokio pipes, current-thread runtime",
        PipeIo::AsyncIo => "ByteStreams on async-io pipes, async_io::block_on",
    }))
}

pub(crate) fn agent(io: PipeIo) -> Result<()> {
    let (input, output) = agent_pipes()?;
    match io {
        PipeIo::Tokio => on_tokio(async {
            let streams = tokio_streams(output.into(), input.into())?;
            sdk::agent(streams).await
        }),
        PipeIo::AsyncIo => async_io::block_on(async {
            let streams = ByteStreams::new(Async::new(output)?, Async::new(input)?);
            sdk::agent(streams).await
        }),
    }
}

pub(crate) fn on_tokio<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_io().build()?.block_on(work)
}

pub(crate) fn tokio_streams(
    outgoing: OwnedFd,
    incoming: OwnedFd,
) -> Result<ByteStreams<Compat<pipe::Sender>, Compat<pipe::Receiver>>> {
    // The standard streams come without O_NONBLOCK; `from_owned_fd` sets it.
    let outgoing = pipe::Sender::from_owned_fd(outgoing)?;
    let incoming = pipe::Receiver::from_owned_fd(incoming)?;
    Ok(ByteStreams::new(Compat(outgoing), Compat(incoming)))
}
