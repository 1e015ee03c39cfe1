//! A client that lets the agent see what an editor has not saved yet: `unsaved_buffers PATH TEXT PROMPT COMMAND [ARGS…]`
//! opens a buffer for PATH that holds TEXT and shows the buffer after the turn.
//!
//! Everything else comes from the disk, confined to the session's directory. Only version 1 of the protocol has requests for
//! files, so that is what this client speaks.

#![expect(clippy::print_stdout, reason = "shows the buffer")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ply::client::{AllowAll, Buffers, Client, Command, Files, Supported};

#[derive(Clone, Default)]
struct Editor(Arc<Mutex<HashMap<PathBuf, String>>>);

impl Editor {
    fn open(&self) -> MutexGuard<'_, HashMap<PathBuf, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffers for Editor {
    fn read(&self, path: &Path) -> Option<String> {
        self.open().get(path).cloned()
    }

    fn written(&self, path: &Path, content: &str) {
        if let Some(buffer) = self.open().get_mut(path) {
            content.clone_into(buffer);
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: unsaved_buffers PATH TEXT PROMPT COMMAND [ARGS…]";
    let mut next = || args.next().ok_or(usage);
    let (path, text, prompt) = (PathBuf::from(next()?), next()?, next()?);
    let command: Command = args.collect();

    let editor = Editor::default();
    editor.open().insert(path.clone(), text);
    let agent = Client::new()
        .versions(Supported::V1)
        .files(Files::new().with_buffers(editor.clone()))
        .permissions(AllowAll)
        .spawn(command)
        .await?;
    let directory = path.parent().ok_or(usage)?;
    let session = agent.new_session(directory).await?;
    session.prompt(prompt).await?.finish().await?;
    agent.close().await;
    print!("{}", editor.open().get(&path).ok_or("the buffer is gone")?);
    Ok(())
}
