//! The user's editor, in a thread that waits for it. A thread that nobody waits for: a signal that ends the client must not
//! have to wait until the user leaves the editor.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tokio::sync::mpsc;

use super::sessions::Note;
use crate::app::TabId;

/// Runs the editor on a file and tells what came of it.
pub(super) fn start(
    tab: TabId,
    editor: Vec<String>,
    file: PathBuf,
    notes: mpsc::Sender<Note>,
) -> io::Result<()> {
    let waiting = std::thread::Builder::new().name("editor".to_owned());
    waiting.spawn(move || {
        let result = edit(&editor, &file);
        if result.is_ok() {
            // Whether it is still there or not, it is not needed any more.
            drop(std::fs::remove_file(&file));
        }
        drop(notes.blocking_send(Note::EditorEnded(tab, result)));
    })?;
    Ok(())
}

fn edit(editor: &[String], file: &Path) -> Result<String, String> {
    let [program, arguments @ ..] = editor else {
        drop(std::fs::remove_file(file));
        return Err("no editor is set; set EDITOR or VISUAL".to_owned());
    };
    let status = Command::new(program).args(arguments).arg(file).status();
    let status = status.map_err(|error| {
        drop(std::fs::remove_file(file));
        format!("the editor {program} cannot start: {error}; set EDITOR or VISUAL to one that can")
    })?;
    if !status.success() {
        return Err(format!(
            "the editor ended with {status}; the text here is as it was, and what was saved is in {}",
            ply_client::text::path(file)
        ));
    }
    let bytes = std::fs::read(file).map_err(|error| format!("the text cannot be read: {error}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str) -> (Result<String, String>, PathBuf, tempfile::TempDir) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("edit.md");
        std::fs::write(&file, "draft").unwrap();
        let editor = ["sh", "-c", script, "sh"].map(str::to_owned);
        let (notes, mut inbox) = mpsc::channel(1);
        start(TabId(1), editor.into(), file.clone(), notes).unwrap();
        let Some(Note::EditorEnded(TabId(1), result)) = inbox.blocking_recv() else {
            panic!("it did not end");
        };
        (result, file, directory)
    }

    #[test]
    fn what_the_editor_wrote_is_taken_and_its_file_goes() {
        let (result, file, _directory) = run("printf ' more' >> \"$1\"");
        assert_eq!(result, Ok("draft more".to_owned()));
        assert!(!file.exists());
    }

    #[test]
    fn what_an_editor_that_failed_wrote_is_kept_and_named() {
        let (result, file, _directory) = run("printf ' more' >> \"$1\"; exit 3");
        assert!(result.unwrap_err().contains(file.to_str().unwrap()));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "draft more");
    }
}
