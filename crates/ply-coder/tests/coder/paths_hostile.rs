//! Paths that try to get out, against every tool that takes one.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "tests fail by panicking"
)]

use std::collections::{BTreeMap, HashSet};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use ply_coder::tool::delete::Delete;
use ply_coder::tool::edit_file::EditFile;
use ply_coder::tool::glob::Glob;
use ply_coder::tool::grep::Grep;
use ply_coder::tool::list_dir::ListDir;
use ply_coder::tool::move_file::MoveFile;
use ply_coder::tool::read_file::ReadFile;
use ply_coder::tool::write_file::WriteFile;
use ply_coder::tool::{Access, Tool};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use serde_json::{Value, json};

use crate::support::{Client, Scratch, Session};

/// What must never be seen: in files outside of the root, and in their names.
const CANARY: &str = "canary-7f3a91";
/// How many paths the corpus has at least.
const PATHS_MIN: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Deny,
    Any,
}

fn corpus() -> Vec<(Verdict, String)> {
    let lines = include_str!("data/hostile_paths.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (verdict, path) = line.split_once(' ').unwrap();
            let verdict = match verdict {
                "deny" => Verdict::Deny,
                "any" => Verdict::Any,
                other => panic!("{other}"),
            };
            (verdict, serde_json::from_str(path).unwrap())
        })
        .collect()
}

/// Makes a root full of traps, and things outside that nobody may see or change.
fn traps() -> Scratch {
    let scratch = Scratch::new();
    for name in [
        "secret",
        "inner/file",
        "link-back/file",
        "canary-7f3a91-name",
    ] {
        scratch.put(&format!("outside/{name}"), format!("{CANARY}\n"));
    }
    scratch.put("outside/shared", "known outside, too\n");
    scratch.put("root-evil/secret", format!("{CANARY}\n"));
    for name in ["file", "sub/inner", "sub/deep/x", ".git/config"] {
        scratch.put(&format!("root/{name}"), "inside\n");
    }
    std::fs::hard_link(scratch.at("outside/shared"), scratch.at("root/hard")).unwrap();
    let outside = scratch.at("outside").display().to_string();
    let root = scratch.at("root").display().to_string();
    for (name, target) in [
        ("out", "../outside"),
        ("out-absolute", &outside),
        ("out-slash", "../outside/"),
        ("out-dotted", "sub/../../outside/."),
        ("out-chain", "sub/../out"),
        ("out-file", "../outside/secret"),
        ("out-file-absolute", &format!("{outside}/secret")),
        ("out-file-chain", "out/secret"),
        ("out-dangling", "../outside/not-there"),
        ("out-dangling-deep", "../outside/not/there"),
        ("proc-root", "/proc/self/root"),
        ("proc-root-outside", &format!("/proc/self/root{outside}")),
        ("proc-cwd", "/proc/self/cwd"),
        ("proc-fd", "/proc/self/fd"),
        ("proc-exe", "/proc/self/exe"),
        ("proc-environ", "/proc/self/environ"),
        ("dev-fd", "/dev/fd"),
        ("dev-zero", "/dev/zero"),
        ("dev-stdin", "/dev/stdin"),
        ("etc-passwd", "/etc/passwd"),
        ("up", ".."),
        ("top", "/"),
        ("home", "/root"),
        ("loop", "loop"),
        ("ping", "pong"),
        ("pong", "ping"),
        ("link-in", "file"),
        ("link-in-absolute", &format!("{root}/file")),
        ("link-dir", "sub"),
        ("link-dir-absolute", &format!("{root}/sub")),
        ("self", "."),
        ("link-fifo", "fifo"),
        ("link-socket", "socket"),
        ("link-device", "device"),
        ("long-chain", "chain-0"),
    ] {
        scratch.link(&format!("root/{name}"), target);
    }
    for number in 0..50 {
        scratch.link(
            &format!("root/chain-{number}"),
            format!("chain-{}", number + 1),
        );
    }
    let mode = Mode::from_raw_mode(0o666);
    mknodat(CWD, scratch.at("root/fifo"), FileType::Fifo, mode, 0).unwrap();
    drop(UnixListener::bind(scratch.at("root/socket")).unwrap());
    // The device that gives zeros for ever; where that needs rights we lack, one more pipe.
    let device = scratch.at("root/device");
    if mknodat(CWD, &device, FileType::CharacterDevice, mode, makedev(1, 5)).is_err() {
        mknodat(CWD, &device, FileType::Fifo, mode, 0).unwrap();
    }
    scratch
}

/// Returns calls of every tool in which `path` stands wherever a path can stand.
fn calls(path: &str) -> Vec<(&'static dyn Tool, Value)> {
    vec![
        (&ReadFile, json!({"path": path})),
        (&ListDir, json!({"path": path, "depth": 4})),
        (&Glob, json!({"path": path, "pattern": "**/*"})),
        (&Grep, json!({"path": path, "pattern": "."})),
        (
            &Grep,
            json!({"path": path, "pattern": "canary", "mode": "files"}),
        ),
        (
            &EditFile,
            json!({"path": path, "old": "", "new": "changed"}),
        ),
        (
            &EditFile,
            json!({"path": path, "old": CANARY, "new": "changed"}),
        ),
        (
            &EditFile,
            json!({"path": path, "old": "inside", "new": "changed"}),
        ),
        (&WriteFile, json!({"path": path, "content": "changed"})),
        (&MoveFile, json!({"from": "sub/inner", "to": path})),
        (&MoveFile, json!({"from": path, "to": "moved"})),
        (&Delete, json!({"path": path})),
        (&Delete, json!({"path": path, "recursive": true})),
    ]
}

/// Returns calls in which it stands for a pattern; they may find what is inside.
fn patterns(path: &str) -> Vec<(&'static dyn Tool, Value)> {
    vec![
        (&Glob, json!({"pattern": path})),
        (&Grep, json!({"pattern": "canary|inside", "glob": path})),
        (&Grep, json!({"pattern": path, "literal": true})),
    ]
}

/// Makes a call and checks that everything it asks for and says stays inside.
async fn call(session: &Session, scratch: &Scratch, tool: &dyn Tool, arguments: Value) -> bool {
    let told = format!("{}: {arguments}", tool.spec().name);
    let told = told.get(..200).unwrap_or(&told).to_owned();
    let outcome = match session.prepare(tool, arguments).await {
        Err(refusal) => refusal,
        Ok(prepared) => {
            for access in &prepared.access {
                let (Access::Read(path) | Access::Write(path) | Access::Delete(path)) = access
                else {
                    panic!("{told}: {access:?}");
                };
                assert!(path.starts_with(scratch.at("root")), "{told}: {access:?}");
            }
            assert!(
                !format!("{:?}", prepared.changes).contains(CANARY),
                "{told}"
            );
            prepared.work.await
        }
    };
    assert!(!format!("{outcome:?}").contains(CANARY), "{told}");
    // Kernel files have no canary of ours, but everyone knows what is in them.
    assert!(!outcome.text.contains("root:x:0"), "{told}");
    outcome.failed
}

async fn check_all(client: fn() -> Client, corpus: Vec<(Verdict, String)>) {
    let mut scratch = traps();
    for (verdict, path) in corpus {
        let before = everything(&scratch, verdict);
        let session = Session::with_client(&scratch, client());
        let path = path
            .replace("{ROOT}", scratch.at("root").to_str().unwrap())
            .replace("{OUTSIDE}", scratch.at("outside").to_str().unwrap());
        for (tool, arguments) in calls(&path) {
            let failed = call(&session, &scratch, tool, arguments).await;
            let name = tool.spec().name;
            assert!(failed || verdict == Verdict::Any, "{name} took {path:?}");
        }
        for (tool, arguments) in patterns(&path) {
            call(&session, &scratch, tool, arguments).await;
        }
        let after = everything(&scratch, verdict);
        assert!(before == after, "{path:?} changed something");
        if verdict == Verdict::Any {
            scratch = traps();
        }
    }
}

/// Returns everything that a path with this verdict must leave as it is.
fn everything(scratch: &Scratch, verdict: Verdict) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut everything = scratch.everything("");
    if verdict == Verdict::Any {
        let root = scratch.at("root");
        everything.retain(|path, _| !path.starts_with(&root));
    }
    everything
}

// Also: H2, H4.
// Also: V1-SESS-05.
#[tokio::test]
async fn h1_no_hostile_path_leads_out_of_the_root() {
    let corpus = corpus();
    assert!(corpus.len() >= PATHS_MIN, "{}", corpus.len());
    check_all(Client::default, corpus).await;
}

// Also: H2, H4.
// Also: V1-SESS-05.
#[tokio::test]
async fn h1_no_hostile_path_leads_out_through_a_client_with_files() {
    let mut corpus = corpus();
    // A client may write into a file instead of replacing it, and then its other names see that.
    corpus.retain(|(_, path)| path != "hard");
    assert!(corpus.len() >= PATHS_MIN, "{}", corpus.len());
    check_all(Client::with_files, corpus).await;
}

#[test]
fn the_corpus_says_nothing_twice() {
    let corpus = corpus();
    let paths: HashSet<_> = corpus.iter().map(|(_, path)| path).collect();
    assert_eq!(paths.len(), corpus.len());
}
