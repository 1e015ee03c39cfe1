//! The command that tells whether a repository is as the user wants it.

use std::time::Duration;

use ply_rpc::transport::child::{Child, Command, Grace, Merged};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

use super::Tree;

/// How long a check may take, on a machine that does much else.
const CHECK_TIME_MAX: Duration = Duration::from_secs(120);
/// Bytes of a check's output that are shown.
const OUTPUT_BYTES_MAX: usize = 4 * 1024;

/// What a check says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checked {
    /// All is well.
    Good,
    /// Something is not; the end of what it put out.
    Bad(String),
    /// It says nothing about the repository: it could not be run, or did not end.
    Useless(String),
}

/// Runs a command line in a copy of a tree, so that what it leaves there is not found later.
pub(super) async fn check(tree: &Tree, line: &str) -> Checked {
    let directory = TempDir::new().unwrap();
    tree.write(directory.path()).unwrap();
    let command = Command::new("/bin/sh")
        .args(["-c", line])
        .cwd(directory.path());
    let (mut child, output) = match command.spawn_merged().await {
        Ok(spawned) => spawned,
        Err(error) => return Checked::Useless(error.to_string()),
    };
    let ended = tokio::time::timeout(CHECK_TIME_MAX, to_its_end(&mut child, output)).await;
    // Also ends whatever the check left running.
    let end = child.end(Grace::default()).await;
    match ended {
        Err(_) => Checked::Useless("its time is up".to_owned()),
        Ok(output) => match end.map(|status| status.code()) {
            Ok(Some(0)) => Checked::Good,
            // What the shell says when there is no such program, or it is none.
            Ok(Some(126 | 127)) => Checked::Useless(output),
            Ok(_) => Checked::Bad(output),
            Err(error) => Checked::Useless(error.to_string()),
        },
    }
}

async fn to_its_end(child: &mut Child, mut output: Merged) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is shown all the same.
    drop(output.read_to_end(&mut bytes).await);
    drop(child.wait().await);
    let start = bytes.len().saturating_sub(OUTPUT_BYTES_MAX);
    String::from_utf8_lossy(&bytes[start..]).into_owned()
}
