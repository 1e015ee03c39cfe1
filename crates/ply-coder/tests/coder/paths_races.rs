//! A directory and a file that turn into links to the outside and back while tools work on them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "tests fail by panicking"
)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use ply_coder::tool::Tool;
use ply_coder::tool::delete::Delete;
use ply_coder::tool::edit_file::EditFile;
use ply_coder::tool::glob::Glob;
use ply_coder::tool::grep::Grep;
use ply_coder::tool::list_dir::ListDir;
use ply_coder::tool::move_file::MoveFile;
use ply_coder::tool::read_file::ReadFile;
use ply_coder::tool::write_file::WriteFile;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use crate::support::{Scratch, Session};

const CANARY: &str = "canary-7f3a91";
/// Rounds in which each tool is called once.
const ROUNDS: usize = 400;

/// Ends the thread also when the test fails.
struct StopOnDrop<'s>(&'s AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn calls(round: usize) -> Vec<(&'static dyn Tool, Value)> {
    vec![
        (&ReadFile, json!({"path": "d/f"})),
        (
            &EditFile,
            json!({"path": "d/f", "old": "inside", "new": "inside"}),
        ),
        (&EditFile, json!({"path": "d/f", "old": "0", "new": "00"})),
        (&ReadFile, json!({"path": "leaf"})),
        (&EditFile, json!({"path": "leaf", "old": "0", "new": "00"})),
        (&Grep, json!({"path": "leaf", "pattern": "."})),
        (&ListDir, json!({"path": "d", "depth": 3})),
        (&ListDir, json!({"depth": 3})),
        (&Glob, json!({"pattern": "**/*"})),
        (&Glob, json!({"path": "d", "pattern": "*"})),
        (&Grep, json!({"pattern": "."})),
        (&Grep, json!({"path": "d/f", "pattern": "."})),
        (
            &WriteFile,
            json!({"path": format!("d/new-{round}"), "content": "x"}),
        ),
        (
            &WriteFile,
            json!({"path": format!("d/n{round}/deep"), "content": "x"}),
        ),
        (
            &MoveFile,
            json!({"from": format!("d/new-{round}"), "to": "d/moved"}),
        ),
        (&MoveFile, json!({"from": "d/g", "to": "d/h"})),
        (&MoveFile, json!({"from": "d/h", "to": "d/g"})),
        (&Delete, json!({"path": "d/moved"})),
        (
            &Delete,
            json!({"path": format!("d/n{round}"), "recursive": true}),
        ),
    ]
}

#[test]
fn h3_what_is_swapped_for_a_link_never_lets_a_tool_out() {
    let scratch = Scratch::new();
    for name in ["f", "g", "moved", "n0/deep", "canary-7f3a91-name"] {
        scratch.put(&format!("outside/{name}"), format!("{CANARY} 0\n"));
    }
    scratch.put("root/d/f", "inside 0\n");
    scratch.put("root/d/g", "inside\n");
    scratch.link("root/swap", "../outside");
    scratch.put("root/leaf", "inside 0\n");
    scratch.link("root/leaf-swap", "../outside/f");
    let before = scratch.everything("outside");
    let session = Session::new(&scratch);
    let pairs = [("d", "swap"), ("leaf", "leaf-swap")]
        .map(|(one, other)| [one, other].map(|name| scratch.at(&format!("root/{name}"))));
    let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for [one, other] in &pairs {
                    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
                }
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let _stop = StopOnDrop(&stop);
        runtime.block_on(async {
            for round in 0..ROUNDS {
                for (tool, arguments) in calls(round) {
                    let told = format!("{}: {arguments}", tool.spec().name);
                    let outcome = session.call(tool, arguments).await;
                    assert!(
                        !format!("{outcome:?}").contains(CANARY),
                        "{told}: {outcome:?}"
                    );
                }
            }
        });
    });
    assert!(swaps.into_inner() > 0);
    assert_eq!(before, scratch.everything("outside"));
}
