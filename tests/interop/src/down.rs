//! Agents of this package as a hub serves them.

use ply_agent::Result;
use ply_hub::down::{Caller, Downstream, Services, child};

/// Serves another program of this package on stdio, through the hub's runner.
///
/// # Errors
///
/// The program is not there or is no agent, or the standard streams cannot be used.
///
/// # Cancel safety
///
/// Dropped before it is done, the connection ends.
pub async fn serve_behind(program: &str, args: &[&str]) -> Result<()> {
    let program = std::env::current_exe()?.with_file_name(program);
    let launch = child(program).args(args);
    let agent = Downstream::start(launch, Caller::new(), Services::default()).await?;
    ply_agent::serve_stdio(agent).await
}
