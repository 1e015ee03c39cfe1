//! The agent of several clients: one server, a socket, and one call for each client.

use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

use crate::Result;
use crate::sdks::Worker;

/// What the agent prints once clients can connect.
pub(super) const READY: &str = "ready";

/// Serves clients on a socket until standard input closes.
#[tokio::main]
pub(crate) async fn serve(store: PathBuf, socket: &Path) -> Result<()> {
    let server = ply_agent::serve(Worker).journal(store);
    let listener = UnixListener::bind(socket)?;
    println!("{READY}");
    let clients = server.clone();
    let accepting = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let server = clients.clone();
            tokio::spawn(async move {
                let (reader, writer) = stream.into_split();
                server.over(reader, writer).await;
            });
        }
    });
    tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()))
        .await??;
    accepting.abort();
    server.shutdown().await;
    Ok(())
}
