//! What the tools that look at files do and say.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "tests fail by panicking"
)]

use ply_agent::v2::ToolKind;
use ply_coder::model::Content;
use ply_coder::tool::edit_file::EditFile;
use ply_coder::tool::glob::Glob;
use ply_coder::tool::grep::Grep;
use ply_coder::tool::list_dir::ListDir;
use ply_coder::tool::read_file::ReadFile;
use ply_coder::tool::{Access, Order};
use serde_json::json;

use crate::support::{Scratch, Session};

#[tokio::test]
async fn a_file_is_read_with_numbered_lines() {
    let scratch = Scratch::new();
    scratch.put("root/f", "\u{feff}one\r\n\ttwo\n\nfour");
    let session = Session::new(&scratch);
    let read = session.done(&ReadFile, json!({"path": "f"})).await;
    assert_eq!(
        read.text,
        "     1\tone\n     2\t\ttwo\n     3\t\n     4\tfour\n"
    );
    let part = json!({"path": "f", "offset": 2, "limit": 2});
    let prepared = session.prepare(&ReadFile, part).await.unwrap();
    assert_eq!(prepared.kind, ToolKind::Read);
    assert_eq!(prepared.order, Order::Shared);
    assert_eq!(prepared.locations, [(scratch.at("root/f"), Some(2))]);
    assert_eq!(prepared.access, [Access::Read(scratch.at("root/f"))]);
    let read = prepared.work.await;
    assert_eq!(
        read.text,
        "     2\t\ttwo\n     3\t\n[Lines 2 to 3 of 4. Go on with offset = 4.]"
    );
}

#[tokio::test]
async fn reading_says_what_is_special_about_a_file() {
    let scratch = Scratch::new();
    scratch.put("root/empty", "");
    scratch.put("root/short", "a\n");
    scratch.put("root/long-line", "x".repeat(5000));
    scratch.put("root/long", "line\n".repeat(3000));
    scratch.put("root/latin", b"caf\xe9\n");
    scratch.put("root/binary", b"a\0b");
    scratch.put("root/utf16", b"\xff\xfea\0");
    let session = Session::new(&scratch);
    for (arguments, words) in [
        (json!({"path": "empty"}), "[The file is empty.]"),
        (
            json!({"path": "short", "offset": 9}),
            "has 1 lines; there is nothing from line 9 on",
        ),
        (json!({"path": "long-line"}), "[line cut, 5000 bytes]"),
        (
            json!({"path": "long"}),
            "[Lines 1 to 2000 of 3000. Go on with offset = 2001.]",
        ),
        (json!({"path": "latin"}), "not valid UTF-8"),
    ] {
        let read = session.done(&ReadFile, arguments).await;
        assert!(read.text.contains(words), "{}", read.text);
    }
    for (path, words) in [
        ("binary", "is binary"),
        ("utf16", "is UTF-16"),
        (".", "is a directory"),
    ] {
        session
            .refused(&ReadFile, json!({"path": path}), words)
            .await;
    }
    // What was not shown as it is is not written back.
    session
        .refused(
            &EditFile,
            json!({"path": "latin", "old": "caf", "new": "x"}),
            "not valid UTF-8",
        )
        .await;
}

#[tokio::test]
async fn h4_a_file_over_the_limit_is_not_read() {
    let scratch = Scratch::new();
    let path = scratch.put("root/sparse", "");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_len(1 << 40).unwrap();
    let session = Session::new(&scratch);
    session
        .refused(&ReadFile, json!({"path": "sparse"}), "1099511627776 bytes")
        .await;
}

#[tokio::test]
async fn images_are_known_by_their_bytes() {
    let scratch = Scratch::new();
    scratch.put("root/image.txt", b"\x89PNG\r\n\x1a\n\0\0");
    let session = Session::new(&scratch);
    let read = session.done(&ReadFile, json!({"path": "image.txt"})).await;
    let Content::Image { mime_type, data } = &read.images[0] else {
        panic!("{read:?}");
    };
    assert_eq!(
        (mime_type.as_str(), data.as_str()),
        ("image/png", "iVBORw0KGgoAAA==")
    );
    let mut large = b"\xff\xd8\xff\xe0\0".to_vec();
    large.resize(6 * 1024 * 1024, 0);
    scratch.put("root/large.jpg", large);
    session
        .refused(&ReadFile, json!({"path": "large.jpg"}), "over the limit")
        .await;
}

#[tokio::test]
async fn a_directory_is_listed_without_what_git_ignores() {
    let scratch = Scratch::new();
    for name in [
        "root/.git/config",
        "root/.gitignore",
        "root/a/.gitignore",
        "root/a/keep.log",
        "root/a/drop.tmp",
        "root/b.log",
        "root/c",
        "root/.hidden",
        "root/target/x",
        "root/new\nline",
    ] {
        scratch.put(name, "");
    }
    scratch.put("root/.gitignore", "*.log\n/target/\n");
    scratch.put("root/a/.gitignore", "!keep.log\n*.tmp\n");
    scratch.link("root/link", "../outside");
    let session = Session::new(&scratch);
    let listed = session.done(&ListDir, json!({"depth": 3})).await;
    insta::assert_snapshot!(listed.text, @r"
    .gitignore
    .hidden
    a/
      .gitignore
      keep.log
    c
    link@
    new⏎line
    ");
    // Patterns from above hold further down.
    scratch.put("root/a/other.log", "");
    let listed = session.done(&ListDir, json!({"path": "a"})).await;
    assert_eq!(listed.text, ".gitignore\nkeep.log\n");
    session
        .refused(&ListDir, json!({"path": "c"}), "not a directory")
        .await;
    session
        .refused(&ListDir, json!({"path": "missing"}), "no such file")
        .await;
}

#[tokio::test]
async fn a_long_listing_is_cut_with_a_hint() {
    let scratch = Scratch::new();
    for number in 0..600 {
        scratch.put(&format!("root/{number}"), "");
    }
    let session = Session::new(&scratch);
    let listed = session.done(&ListDir, json!({})).await;
    assert_eq!(listed.text.lines().count(), 501);
    assert!(listed.text.contains("There is more."));
}

#[tokio::test]
async fn files_are_found_by_name_newest_first() {
    let scratch = Scratch::new();
    for (name, age) in [
        ("src/a.rs", 30),
        ("src/deep/b.rs", 10),
        ("c.ts", 20),
        ("d.txt", 5),
    ] {
        let path = scratch.put(&format!("root/{name}"), "");
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 - age);
        file.set_modified(time).unwrap();
    }
    let session = Session::new(&scratch);
    for (arguments, expected) in [
        (json!({"pattern": "*.rs"}), "src/deep/b.rs\nsrc/a.rs\n"),
        (json!({"pattern": "src/*.rs"}), "src/a.rs\n"),
        (
            json!({"pattern": "**/*.{rs,ts}"}),
            "src/deep/b.rs\nc.ts\nsrc/a.rs\n",
        ),
        (
            json!({"pattern": "*.rs", "path": "src/deep"}),
            "src/deep/b.rs\n",
        ),
        (
            json!({"pattern": "*.py"}),
            "[No file has such a name. What git ignores is left out.]",
        ),
    ] {
        assert_eq!(session.done(&Glob, arguments).await.text, expected);
    }
    session
        .refused(&Glob, json!({"pattern": "a{b"}), "is no glob")
        .await;
    session
        .refused(
            &Glob,
            json!({"pattern": "/etc/*"}),
            "must not begin with `/`",
        )
        .await;
}

#[tokio::test]
async fn text_is_found_in_files() {
    let scratch = Scratch::new();
    scratch.put("root/a.rs", "fn one() {}\nlet x = 1;\nfn two() {}\n");
    scratch.put("root/b.txt", "FN here\nfn(\n");
    scratch.put("root/binary", b"fn\0\nfn three\n");
    scratch.put("root/.git/c", "fn hidden\n");
    let session = Session::new(&scratch);
    for (arguments, expected) in [
        (
            json!({"pattern": r"fn \w+"}),
            "a.rs:1:fn one() {}\na.rs:3:fn two() {}\n",
        ),
        (
            json!({"pattern": "let", "context": 1}),
            "a.rs-1-fn one() {}\na.rs:2:let x = 1;\na.rs-3-fn two() {}\n",
        ),
        (json!({"pattern": "fn", "mode": "files"}), "a.rs\nb.txt\n"),
        (
            json!({"pattern": "fn", "mode": "count", "case_insensitive": true}),
            "a.rs:2\nb.txt:2\n",
        ),
        (json!({"pattern": "fn(", "literal": true}), "b.txt:2:fn(\n"),
        (json!({"pattern": "fn", "glob": "*.txt"}), "b.txt:2:fn(\n"),
        (
            json!({"pattern": "one", "path": "a.rs"}),
            "a.rs:1:fn one() {}\n",
        ),
        (json!({"pattern": "absent"}), "[Nothing matches.]"),
    ] {
        assert_eq!(session.done(&Grep, arguments).await.text, expected);
    }
    let cut = session
        .done(&Grep, json!({"pattern": "fn", "limit": 1}))
        .await;
    assert!(
        cut.text.starts_with("a.rs:1:fn one() {}\n[Stopped after 1"),
        "{}",
        cut.text
    );
    session
        .refused(&Grep, json!({"pattern": "fn("}), "Set literal = true")
        .await;
    session
        .refused(
            &Grep,
            json!({"pattern": "x", "mode": "all"}),
            "`mode` must be content",
        )
        .await;
}
