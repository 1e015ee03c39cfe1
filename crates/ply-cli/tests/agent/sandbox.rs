//! Commands are confined by the program itself, as its own helper.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use coder_tests::{Api, ModelServer, Reply, Story, Tell as _};
use ply_client::transcript::ToolCall;
use ply_client::v2::{PermissionOptionKind, RequestPermissionRequest, ToolCallStatus};
use ply_client::{Client, Decision};
use serde_json::json;
use tempfile::TempDir;

use crate::place::{Place, soon};

/// Where every command may write.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Returns a directory that the test may write to and a confined command may not.
fn outside() -> TempDir {
    let home = std::env::home_dir().unwrap_or_default();
    let places = [env!("CARGO_TARGET_TMPDIR"), env!("CARGO_MANIFEST_DIR")].map(PathBuf::from);
    let places = places
        .into_iter()
        .chain([home])
        .filter(|path| path.is_absolute() && !TEMPORARY.iter().any(|it| path.starts_with(it)));
    let mut made = places.filter_map(|path| {
        tempfile::Builder::new()
            .prefix(".ply-")
            .tempdir_in(path)
            .ok()
    });
    made.next()
        .expect("this test needs a place to write that is not for temporary files")
}

/// Has a command write a file, in the mode that asks nobody.
async fn write(place: &Place, file: &Path) -> Story {
    let launch = place.agent().with(["--mode", "full"]);
    let agent = launch.client(Client::new()).await;
    let session = agent.new_session(place.project()).await.unwrap();
    let story = session
        .tell(&format!("run echo x > {}", file.display()))
        .await;
    for notice in &story.notices {
        assert!(
            !notice.contains("without a sandbox"),
            "this test needs Landlock: {notice}"
        );
    }
    story
}

#[tokio::test]
async fn a_command_writes_in_the_project_and_nowhere_else() {
    let (place, outside) = (Place::new(), outside());
    let inside = place.project().join("inside");
    let story = write(&place, &inside).await;
    let call = story.call("shell");
    assert_eq!(call.status, ToolCallStatus::Completed, "{story:#?}");
    assert!(inside.exists());

    let file = outside.path().join("file");
    let story = write(&place, &file).await;
    assert!(!file.exists());
    let call = story.call("shell");
    assert_eq!(call.status, ToolCallStatus::Failed, "{story:#?}");
    let told = story.told()[0];
    assert!(told.contains("the sandbox denied this"), "{told}");
}

#[tokio::test]
async fn what_the_configuration_opens_is_open() {
    let (place, outside) = (Place::new(), outside());
    let path = outside.path().display();
    place.configure(&format!("[sandbox]\nwritable = [\"{path}\"]\n"));
    let file = outside.path().join("file");
    let story = write(&place, &file).await;
    assert!(file.exists(), "{story:#?}");
}

#[tokio::test]
async fn without_the_sandbox_the_same_command_works() {
    let (place, outside) = (Place::new(), outside());
    place.configure("[sandbox]\nenabled = false\n");
    let file = outside.path().join("file");
    let story = write(&place, &file).await;
    assert!(file.exists(), "{story:#?}");
}

#[tokio::test]
async fn a_command_that_has_to_leave_is_asked_for_and_runs_on_every_api() {
    for api in Api::ALL {
        let (place, outside) = (Place::new(), outside());
        let file = outside.path().join("file");
        let command = format!("echo x > {}", file.display());
        let reason = "The file belongs beside the project.";
        let again = json!({ "command": command, "outside_sandbox": reason });
        let model = ModelServer::start([
            Reply::call("shell", json!({ "command": command })),
            Reply::call("shell", again),
            Reply::say("Done."),
        ])
        .await;
        place.configure_model_of(api, &model, "mode = \"full\"");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        let user = move |request: &RequestPermissionRequest, _: Option<&ToolCall>| {
            heard.lock().unwrap().push(format!("{request:?}"));
            let options = request.options.iter();
            let mut once = options.filter(|one| one.kind == PermissionOptionKind::AllowOnce);
            Decision::Select(once.next().unwrap().option_id.clone())
        };
        let agent = place.agent().client_with(Client::new(), user).await;
        let session = soon(agent.new_session(place.project())).await.unwrap();
        let story = soon(session.tell("Write it")).await;
        let told = story.told();
        assert!(
            told[0].contains("the sandbox denied this"),
            "{api:?}: {told:?}"
        );
        let asked = asked.lock().unwrap();
        assert_eq!(asked.len(), 1, "{api:?}: {asked:?}");
        assert!(asked[0].contains(reason), "{api:?}: {asked:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "x\n", "{api:?}");
    }
}

#[test]
fn the_helper_says_what_is_wrong_with_its_arguments() {
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(crate::place::PLY);
        command.arg("__sandboxed").args(arguments).output().unwrap()
    };
    let wrong = run(&["--no-such-word"]);
    assert!(!wrong.status.success() && !wrong.stderr.is_empty());
    assert!(wrong.stdout.is_empty());
    let none = run(&["--", "/no/such/program"]);
    assert!(!none.status.success() && !none.stderr.is_empty());
    let fine = run(&["--", "/bin/sh", "-c", "echo fine"]);
    assert_eq!(fine.stdout, b"fine\n", "{fine:?}");
}
