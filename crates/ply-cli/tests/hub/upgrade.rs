//! The program is replaced by another one while an agent works.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ply_client::Event;
use ply_client::transcript::{Entry, MessageKind};
use ply_client::v2::ContentBlock;

use crate::place::{PLY, Place};

/// An agent of version 1 that waits at a named pipe in the middle of its turn, and notes each prompt.
const AGENT: &str = r#"
say() { printf '{"jsonrpc":"2.0",%s}\n' "$1"; }
chunk() {
  say '"method":"session/update","params":{"sessionId":"down","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'"$1"' "}}}'
}
while read -r line; do
  id=$(printf '%s' "$line" | grep -o '"id":[0-9]*' | head -n 1)
  case $line in
    *'"method":"initialize"'*) say "$id"',"result":{"protocolVersion":1,"agentCapabilities":{}}' ;;
    *'"method":"session/new"'*) say "$id"',"result":{"sessionId":"down"}' ;;
    *'"method":"session/prompt"'*)
      echo prompt >> "$1/prompts"
      chunk one
      cat "$1/gate" > /dev/null
      chunk two
      say "$id"',"result":{"stopReason":"end_turn"}' ;;
    *) [ -z "$id" ] || say "$id"',"result":{}' ;;
  esac
done
"#;

/// Puts the program where an upgrade replaces it. A link takes no time, and no room on the disk.
fn installed() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = dir.path().join("ply");
    fs::hard_link(PLY, &program).unwrap();
    (dir, program)
}

fn upgrade(program: &Path) {
    let fresh = program.with_extension("new");
    // A link of its own: renamed over another one of the same file, nothing would happen.
    fs::copy(PLY, &fresh).unwrap();
    fs::rename(&fresh, program).unwrap();
}

#[tokio::test]
async fn a_turn_goes_on_when_the_program_is_upgraded() {
    let place = Place::new();
    let (_dir, program) = installed();
    let (project, gate) = (place.project(), place.project().join("gate"));
    assert!(
        Command::new("mkfifo")
            .arg(&gate)
            .status()
            .unwrap()
            .success()
    );
    let words = ["--", "sh", "-c", AGENT, "agent", project.to_str().unwrap()];
    let editor = place.attach_from(&program, &words).await;
    let session = editor.new_session(&project).await.unwrap();
    let mut turn = session.prompt("go").await.unwrap();
    while !matches!(turn.next().await.unwrap().unwrap(), Event::Message(_)) {}
    let hub = place.hub();
    upgrade(&program);
    place.says(&["serve", "--drain"]);
    place
        .until(|place| place.hub().is_some_and(|next| Some(next) != hub))
        .await;
    let runs = fs::read_link(format!("/proc/{}/exe", place.hub().unwrap())).unwrap();
    assert_eq!(runs, program, "the new one");
    // Nobody else waits at the gate.
    tokio::task::spawn_blocking(move || fs::write(gate, "go").unwrap())
        .await
        .unwrap();
    turn.finish().await.unwrap();
    let said = session.with_transcript(|transcript| {
        let said = transcript.entries().filter_map(|entry| match entry {
            Entry::Message(message) if message.kind == MessageKind::Agent => {
                message.content.first()
            }
            _ => None,
        });
        let texts = said.filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.clone()),
            _ => None,
        });
        texts.collect::<String>()
    });
    assert_eq!(said, "one two ");
    let prompts = fs::read_to_string(project.join("prompts")).unwrap();
    assert_eq!(prompts, "prompt\n", "it was prompted once");
    editor.close().await;
}
