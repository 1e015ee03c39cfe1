//! Finding places, with the kernel's guard and without it.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::Workspace;
use super::*;

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ply-roots-{}-{number}", std::process::id());
        let base = std::env::temp_dir().canonicalize().unwrap().join(name);
        for directory in ["root/a/b", "more", "outside"] {
            std::fs::create_dir_all(base.join(directory)).unwrap();
        }
        for file in ["root/f", "root/a/f", "more/f", "outside/f"] {
            std::fs::write(base.join(file), file).unwrap();
        }
        Self(base)
    }

    /// Returns the roots twice: guarded by the kernel, and by hand.
    fn roots(&self) -> [Roots; 2] {
        let roots = Roots::open([self.0.join("root"), self.0.join("more")]).unwrap();
        [roots.clone(), roots.by_hand()]
    }

    #[track_caller]
    fn finds(&self, path: &str, expected: &str) {
        for roots in self.roots() {
            let spot = Spot::find(&roots, path, Leaf::Follow);
            let spot = spot.unwrap_or_else(|error| panic!("{path:?}: {error:?}"));
            assert_eq!(spot.real, self.0.join(expected), "{roots:?}");
        }
    }

    #[track_caller]
    fn refuses(&self, path: &str, expected: &str) {
        for roots in self.roots() {
            let error = Spot::find(&roots, path, Leaf::Follow).unwrap_err();
            let name = format!("{error:?}");
            assert_eq!(name, expected, "{path:?}, {roots:?}");
        }
    }

    fn link(&self, name: &str, target: impl AsRef<Path>) {
        symlink(target, self.0.join(name)).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn h1_paths_inside_the_roots_are_found() {
    let scratch = Scratch::new();
    scratch.finds("f", "root/f");
    scratch.finds("./a//./f", "root/a/f");
    scratch.finds("a/b/../f", "root/a/f");
    scratch.finds(".", "root");
    scratch.finds("a/..", "root");
    scratch.finds("a/", "root/a");
    scratch.finds("new", "root/new");
    scratch.finds("new/deep/file", "root/new/deep/file");
    scratch.finds("~/x", "root/~/x");
    let absolute = |name: &str| scratch.0.join(name).display().to_string();
    scratch.finds(&absolute("root/f"), "root/f");
    scratch.finds(&absolute("more/f"), "more/f");
    scratch.finds("../more/f", "more/f");
    scratch.finds("../root/f", "root/f");
}

#[test]
fn h1_paths_out_of_the_roots_are_refused() {
    let scratch = Scratch::new();
    let absolute = |name: &str| scratch.0.join(name).display().to_string();
    for path in [
        "..",
        "../outside/f",
        "a/../../outside/f",
        "/",
        "/etc/passwd",
        &absolute("outside/f"),
        &absolute("root-evil"),
        &absolute("root/../outside/f"),
        "../missing/f",
    ] {
        scratch.refuses(path, "Outside");
    }
    scratch.refuses("", "Empty");
    scratch.refuses("a\0b", "Nul");
    scratch.refuses(&"a/".repeat(3000), "TooLong");
    scratch.refuses(&"a".repeat(300), "TooLong");
    scratch.refuses("missing/../f", "NotFound");
    scratch.refuses("f/g", "NotADirectory");
}

#[test]
fn h2_links_work_inside_the_roots_and_nowhere_else() {
    let scratch = Scratch::new();
    scratch.link("root/file", "a/f");
    scratch.link("root/directory", "a");
    scratch.link("root/chain", "directory/f");
    scratch.link("root/absolute", scratch.0.join("root/a"));
    scratch.link("root/other", scratch.0.join("more"));
    scratch.link("root/up", "../more");
    scratch.link("root/new", "a/not-yet");
    scratch.link("root/self", ".");
    scratch.finds("file", "root/a/f");
    scratch.finds("directory/f", "root/a/f");
    scratch.finds("chain", "root/a/f");
    scratch.finds("absolute/f", "root/a/f");
    scratch.finds("absolute", "root/a");
    scratch.finds("other/f", "more/f");
    scratch.finds("other", "more");
    scratch.finds("up/f", "more/f");
    scratch.finds("new", "root/a/not-yet");
    scratch.finds("self/self/self/f", "root/f");

    scratch.link("root/out", "../outside");
    scratch.link("root/out-file", "../outside/f");
    scratch.link("root/out-absolute", scratch.0.join("outside"));
    scratch.link("root/out-chain", "out/f");
    scratch.link("root/out-new", "../outside/new");
    scratch.link("root/proc", "/proc/self/root");
    scratch.link("root/cwd", "/proc/self/cwd");
    for path in [
        "out/f",
        "out/new",
        "out-file",
        "out-absolute/f",
        "out-chain",
        "out-new",
        "proc/etc/passwd",
        "cwd/Cargo.toml",
    ] {
        scratch.refuses(path, "Outside");
    }
    scratch.link("root/loop", "loop");
    scratch.link("root/ping", "pong");
    scratch.link("root/pong", "ping");
    scratch.link("root/nowhere", "not-there");
    scratch.refuses("loop", "Links");
    scratch.refuses("ping/f", "Links");
    scratch.refuses("nowhere/f", "Dangling");
}

#[test]
fn a_link_itself_is_kept_where_that_is_wanted() {
    let scratch = Scratch::new();
    scratch.link("root/out", "../outside/f");
    for roots in scratch.roots() {
        let spot = Spot::find(&roots, "out", Leaf::Keep).unwrap();
        assert_eq!(
            (spot.real, spot.kind),
            (scratch.0.join("root/out"), Kind::Link)
        );
    }
}

#[test]
fn a_root_behind_a_link_is_shown_as_it_was_named() {
    let scratch = Scratch::new();
    scratch.link("name", "root");
    let roots = Roots::open([scratch.0.join("name")]).unwrap();
    for path in [
        "a/f".to_owned(),
        scratch.0.join("name/a/f").display().to_string(),
    ] {
        let spot = Spot::find(&roots, &path, Leaf::Follow).unwrap();
        assert_eq!(spot.real, scratch.0.join("root/a/f"));
        assert_eq!(spot.shown, scratch.0.join("name/a/f"));
    }
}

#[test]
fn e12_a_root_that_is_moved_away_is_not_replaced_by_another() {
    let scratch = Scratch::new();
    for roots in scratch.roots() {
        std::fs::rename(scratch.0.join("root"), scratch.0.join("elsewhere")).unwrap();
        std::fs::create_dir(scratch.0.join("root")).unwrap();
        std::fs::write(scratch.0.join("root/f"), "another").unwrap();
        let error = Spot::find(&roots, "f", Leaf::Follow).unwrap_err();
        assert!(matches!(error, Error::RootGone), "{error:?}");
        std::fs::remove_dir_all(scratch.0.join("root")).unwrap();
        std::fs::rename(scratch.0.join("elsewhere"), scratch.0.join("root")).unwrap();
    }
}

#[test]
fn roots_must_be_absolute_directories() {
    let relative = Workspace::new(PathBuf::from("src"), Vec::new()).unwrap_err();
    assert!(matches!(relative, Error::RelativeRoot));
    let scratch = Scratch::new();
    let file = Workspace::new(scratch.0.join("root/f"), Vec::new()).unwrap_err();
    assert!(matches!(file, Error::NotADirectory));
}

#[test]
fn h3_a_directory_swapped_for_a_link_is_never_left_through_it() {
    const TRIES: usize = 20_000;
    let scratch = Scratch::new();
    std::fs::write(scratch.0.join("root/a/b/f"), "inside").unwrap();
    std::fs::create_dir(scratch.0.join("outside/b")).unwrap();
    std::fs::write(scratch.0.join("outside/b/f"), "outside").unwrap();
    scratch.link("root/swap", "../outside");
    let (directory, link) = (scratch.0.join("root/a"), scratch.0.join("root/swap"));
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let exchange = rustix::fs::RenameFlags::EXCHANGE;
            while !stop.load(Ordering::Relaxed) {
                let cwd = rustix::fs::CWD;
                rustix::fs::renameat_with(cwd, &directory, cwd, &link, exchange).unwrap();
            }
        });
        let mut read = 0;
        for roots in scratch.roots() {
            for _ in 0..TRIES {
                let found = Spot::find(&roots, "a/b/f", Leaf::Follow);
                let found = found.and_then(|spot| super::super::disk::read(&roots, &spot.real));
                if let Ok(Some(bytes)) = found {
                    read += usize::from(bytes != b"inside");
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(read, 0);
    });
}
