//! What the agent keeps is its user's alone.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use coder_tests::Tell as _;
use ply_client::v2::PermissionOptionKind;
use ply_client::{Client, Event, transcript::ToolCall, v2};

use crate::place::Place;

fn mode(path: &Path) -> u32 {
    let found = std::fs::metadata(path);
    let found = found.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    found.permissions().mode() & 0o777
}

/// Returns all files below a directory.
fn below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap();
    let entries = entries.map(|entry| entry.unwrap().path());
    let nested = entries.flat_map(|path| match path.is_dir() {
        true => below(&path),
        false => vec![path],
    });
    nested.collect()
}

#[tokio::test]
async fn the_store_and_the_logs_are_for_their_user_only() {
    let place = Place::new();
    let session = place.session().await;
    // Longer than what the model is told, so the rest goes to a log.
    let story = session.tell("run seq 100000").await;
    assert!(story.told()[0].contains("99999"), "{story:#?}");
    let data = place.store();
    assert_eq!(mode(data.parent().unwrap()), 0o700);
    for file in below(data.parent().unwrap()) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    let logs = place.path("home/.local/state/ply/logs");
    assert_eq!(mode(&logs), 0o700);
    let files = below(&logs);
    assert!(!files.is_empty());
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
        assert_eq!(mode(file.parent().unwrap()), 0o700);
    }
    session.agent().close().await;
    assert_eq!(
        below(&logs),
        Vec::<PathBuf>::new(),
        "logs end with their session"
    );
}

#[tokio::test]
async fn rules_that_are_allowed_for_good_are_for_their_user_only() {
    let place = Place::new();
    std::fs::remove_dir_all(place.path("home/.config")).unwrap();
    let select = |request: &v2::RequestPermissionRequest, _: Option<&ToolCall>| {
        let longest = request.options.iter().rev();
        let mut always = longest.filter(|it| it.kind == PermissionOptionKind::AllowAlways);
        ply_client::Decision::Select(always.next().unwrap().option_id.clone())
    };
    let client = Client::new();
    let agent = place.agent().client_with(client, select).await;
    let session = agent.new_session(place.project()).await.unwrap();
    let mut turn = session.prompt("run mkdir made").await.unwrap();
    while let Some(event) = turn.next().await {
        assert!(!matches!(event.unwrap(), Event::Permission(_)));
    }
    assert!(place.project().join("made").exists());
    let rules = place.path("home/.config/ply/rules.toml");
    assert_eq!(mode(&rules), 0o600);
    assert_eq!(mode(rules.parent().unwrap()), 0o700);
}
