//! The pictures in the documents show the program as it is.

use std::path::Path;

use terminal_tests::pictures::words_in;
use terminal_tests::scenes::{Sample, record, scenes, words};

const PLY: &str = env!("CARGO_BIN_EXE_ply");

/// A scene that takes minutes; its pictures are only looked at for their words.
const LONG: &str = "check";

#[test]
fn every_picture_shows_what_the_program_shows_now() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let sample = Sample::new().unwrap();
    let mut faults = Vec::new();
    for scene in scenes(Path::new(PLY), &sample) {
        if scene.name == LONG {
            continue;
        }
        for (name, shot) in record(&scene).unwrap().pictures {
            let file = std::fs::read(docs.join(format!("{name}.png"))).unwrap();
            let (shown, now) = (words_in(&file).unwrap_or_default(), words(&shot));
            if steady(&shown) != steady(&now) {
                faults.push(format!(
                    "docs/{name}.png shows\n{shown}\nand the program\n{now}"
                ));
            }
        }
    }
    let hint = "`cargo xtask demo` draws the pictures anew";
    assert!(faults.is_empty(), "{}\n\n{hint}", faults.join("\n\n"));
}

/// Sorts calls that stand together: those that only read run side by side, and end in any order.
fn steady(words: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = words.lines().collect();
    let is_done = |line: &&str| line.starts_with("✓ ");
    for calls in lines.chunk_by_mut(|one, next| is_done(one) && is_done(next)) {
        calls.sort_unstable();
    }
    lines
}

#[test]
fn every_picture_that_a_document_shows_is_drawn_by_a_scene() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let shown = readme.split("](docs/").skip(1);
    let shown = shown.filter_map(|rest| rest.split_once(')').map(|(name, _)| name));
    for name in shown.filter(|name| name.ends_with(".png")) {
        let file = std::fs::read(root.join("docs").join(name)).unwrap();
        assert!(words_in(&file).is_some(), "{name}");
    }
}
