//! A client that decides by itself: `policy PROMPT COMMAND [ARGS…]` allows edits inside the current directory and rejects
//! everything else that the agent asks permission for.

#![expect(clippy::print_stdout, reason = "the answer goes to stdout")]

use std::path::{Path, PathBuf};

use ply::client::transcript::ToolCall;
use ply::client::v2::{PermissionOptionKind, RequestPermissionRequest, ToolKind};
use ply::client::{Client, Command, Decision, Permissions};

struct EditsInside(PathBuf);

impl Permissions for EditsInside {
    /// The call comes with all that the agent has told about it so far, its diff included.
    fn decide(&self, request: &RequestPermissionRequest, call: Option<&ToolCall>) -> Decision {
        let allowed = call.is_some_and(|call| call.kind == ToolKind::Edit && self.holds(call));
        let kind = match allowed {
            true => PermissionOptionKind::AllowOnce,
            false => PermissionOptionKind::RejectOnce,
        };
        let mut options = request.options.iter();
        match options.find(|option| option.kind == kind) {
            Some(option) => Decision::Select(option.option_id.clone()),
            None => Decision::Cancel,
        }
    }
}

impl EditsInside {
    /// A path with `..` in it might lead out again.
    fn holds(&self, call: &ToolCall) -> bool {
        let inside =
            |path: &Path| path.starts_with(&self.0) && !path.iter().any(|name| name == "..");
        !call.locations.is_empty() && call.locations.iter().all(|place| inside(&place.path.0))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let prompt = args.next().ok_or("usage: policy PROMPT COMMAND [ARGS…]")?;
    let cwd = std::env::current_dir()?;
    let client = Client::new().permissions(EditsInside(cwd.clone()));
    let agent = client.spawn(args.collect::<Command>()).await?;
    let session = agent.new_session(cwd).await?;
    session.prompt(prompt).await?.finish().await?;
    println!("{}", session.transcript().last_agent_text());
    agent.close().await;
    Ok(())
}
