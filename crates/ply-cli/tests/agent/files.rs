//! Files as the client has them: what is unsaved is seen, and changes go through it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use coder_tests::Tell as _;
use ply_client::v2::ToolCallStatus;
use ply_client::{Buffers, Client, Files, Supported};

use crate::place::Place;

/// An editor with unsaved files.
#[derive(Clone, Default)]
struct Editor(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    unsaved: HashMap<PathBuf, String>,
    written: Vec<(PathBuf, String)>,
}

impl Buffers for Editor {
    fn read(&self, path: &Path) -> Option<String> {
        self.0.lock().unwrap().unsaved.get(path).cloned()
    }

    fn written(&self, path: &Path, content: &str) {
        let mut inner = self.0.lock().unwrap();
        inner.unsaved.remove(path);
        inner.written.push((path.to_owned(), content.to_owned()));
    }
}

#[tokio::test]
async fn an_unsaved_buffer_is_read_and_changed_in_the_editor() {
    let place = Place::new();
    let path = place.write("a.txt", "saved\n");
    let editor = Editor::default();
    let unsaved = "unsaved one\n".to_owned();
    editor
        .0
        .lock()
        .unwrap()
        .unsaved
        .insert(path.clone(), unsaved);
    let files = Files::new().with_buffers(editor.clone());
    let client = Client::new().versions(Supported::V1).files(files);
    let agent = place.agent().client(client).await;
    let session = agent.new_session(place.project()).await.unwrap();
    let story = session.tell("read a.txt").await;
    assert!(story.told()[0].contains("unsaved one"), "{story:#?}");
    let story = session.tell("replace one with two in a.txt").await;
    let call = story.call("edit_file");
    assert_eq!(call.status, ToolCallStatus::Completed, "{story:#?}");
    let written = editor.0.lock().unwrap().written.clone();
    assert_eq!(written, [(path, "unsaved two\n".to_owned())]);
    assert_eq!(place.read("a.txt"), "unsaved two\n");
}

#[tokio::test]
async fn without_the_editors_files_the_disk_is_read() {
    let place = Place::new();
    place.write("a.txt", "saved\n");
    for agent in place.agent().each_version().await {
        let session = agent.new_session(place.project()).await.unwrap();
        let story = session.tell("read a.txt").await;
        assert!(story.told()[0].contains("saved"), "{story:#?}");
    }
}
