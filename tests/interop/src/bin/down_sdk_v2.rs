//! Serves `sdk_agent v2` on stdio, as a hub does.

#[tokio::main]
async fn main() -> ply_agent::Result<()> {
    interop_tests::serve_behind("sdk_agent", &["v2"]).await
}
