//! Serves `ply_agent`, which speaks the newest version on stdio, as a hub does.

#[tokio::main]
async fn main() -> ply_agent::Result<()> {
    interop_tests::serve_behind("ply_agent", &[]).await
}
