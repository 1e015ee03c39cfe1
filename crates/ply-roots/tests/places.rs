//! What every user of the crate relies on. The hostile paths and the races are tested through the users as well.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ply_roots::{Error, Kind, Leaf, Onto, Roots};
use rustix::fs::{CWD, RenameFlags, renameat_with};

/// A directory with a `root`, a second root `more` and a place `outside`, without links on the way to it.
struct Scratch(
    #[expect(dead_code, reason = "removes it")] tempfile::TempDir,
    PathBuf,
);

impl Scratch {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        for name in ["root/sub", "more", "outside/sub"] {
            fs::create_dir_all(base.join(name)).unwrap();
            fs::write(base.join(name).join("file"), name).unwrap();
        }
        Self(directory, base)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.1.join(name)
    }

    /// Returns the roots as every user has them: kept open or not, with the kernel's guard or by hand.
    fn roots(&self) -> [Roots; 4] {
        let paths = || [self.at("root"), self.at("more")];
        let (kept, late) = (Roots::open(paths()).unwrap(), Roots::new(paths()));
        [kept.by_hand(), late.by_hand(), kept, late]
    }
}

fn read(roots: &Roots, path: &Path) -> Result<String, Error> {
    let (file, _) = roots.place(path, Leaf::Follow)?.open()?;
    Ok(std::io::read_to_string(file)?)
}

#[test]
fn links_lead_to_any_root_and_nowhere_else() {
    let scratch = Scratch::new();
    for (name, target) in [
        ("in", scratch.at("root/sub")),
        ("other", "../more".into()),
        ("out", "../outside/sub".into()),
        ("out-absolute", scratch.at("outside")),
        ("leaf", "../outside/sub/file".into()),
        ("loop", "loop".into()),
        ("nowhere", "not-there".into()),
    ] {
        symlink(target, scratch.at("root").join(name)).unwrap();
    }
    for roots in scratch.roots() {
        let read = |name: &str| read(&roots, &scratch.at("root").join(name));
        assert_eq!(read("in/file").unwrap(), "root/sub");
        assert_eq!(read("other/file").unwrap(), "more");
        for name in [
            "out/file",
            "out-absolute/sub/file",
            "leaf",
            "../outside/sub/file",
            "out/new",
        ] {
            assert!(matches!(read(name), Err(Error::Outside)), "{name}");
        }
        assert!(matches!(read("loop"), Err(Error::Links)));
        assert!(matches!(read("nowhere/file"), Err(Error::Dangling)));
        assert!(matches!(read("sub"), Err(Error::IsADirectory)));
        assert!(matches!(read("sub/file/x"), Err(Error::NotADirectory)));
        let link = roots.place(&scratch.at("root/leaf"), Leaf::Keep).unwrap();
        assert_eq!(link.kind().unwrap(), Kind::Link);
        assert!(matches!(link.open(), Err(Error::Moved)));
    }
}

#[test]
fn another_directory_in_place_of_a_root_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.at("root/sub/file");
    for roots in scratch.roots() {
        fs::rename(scratch.at("root"), scratch.at("moved")).unwrap();
        assert!(matches!(read(&roots, &file), Err(Error::RootGone)));
        symlink(scratch.at("outside"), scratch.at("root")).unwrap();
        assert!(matches!(read(&roots, &file), Err(Error::RootGone)));
        fs::remove_file(scratch.at("root")).unwrap();
        fs::rename(scratch.at("moved"), scratch.at("root")).unwrap();
        assert_eq!(read(&roots, &file).unwrap(), "root/sub");
    }
}

#[test]
fn a_root_named_by_a_link_is_the_directory_the_link_led_to_first() {
    let scratch = Scratch::new();
    let name = scratch.at("name");
    symlink(scratch.at("root"), &name).unwrap();
    let roots = Roots::open([name.clone()]).unwrap();
    let real = scratch.at("root/sub/file");
    assert_eq!(roots.as_given(&real), name.join("sub/file"));
    assert_eq!(read(&roots, &name.join("sub/file")).unwrap(), "root/sub");
    fs::remove_file(&name).unwrap();
    symlink(scratch.at("outside"), &name).unwrap();
    assert!(matches!(
        read(&roots, &name.join("sub/file")),
        Err(Error::RootGone)
    ));
    assert_eq!(read(&roots, &real).unwrap(), "root/sub");
}

#[test]
fn a_write_replaces_a_whole_file_and_keeps_its_mode() {
    let scratch = Scratch::new();
    let path = scratch.at("root/sub/file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    fs::hard_link(&path, scratch.at("root/twin")).unwrap();
    let [.., roots] = scratch.roots();
    let place = || roots.place(&path, Leaf::Follow).unwrap();
    assert!(matches!(
        place().write(b"x", Onto::Nothing),
        Err(Error::Exists)
    ));
    place().write(b"new", Onto::File).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    assert_eq!(fs::read(scratch.at("root/twin")).unwrap(), b"root/sub");
    let missing = roots.place(&scratch.at("root/a/b"), Leaf::Follow);
    assert!(matches!(
        missing.unwrap().write(b"x", Onto::File),
        Err(Error::NotFound)
    ));
    assert_eq!(fs::read_dir(scratch.at("root")).unwrap().count(), 2);
}

#[test]
fn what_is_named_again_by_its_real_path_must_still_be_there() {
    let scratch = Scratch::new();
    for roots in scratch.roots() {
        let real = scratch.at("root/sub/file");
        assert_eq!(roots.find(&real).unwrap().real(), Some(real.as_path()));
        fs::rename(scratch.at("root/sub"), scratch.at("root/away")).unwrap();
        symlink("away", scratch.at("root/sub")).unwrap();
        assert!(matches!(roots.find(&real), Err(Error::Moved)));
        assert!(matches!(
            roots.find_directory(&scratch.at("root/sub")),
            Err(Error::Moved)
        ));
        fs::remove_file(scratch.at("root/sub")).unwrap();
        fs::rename(scratch.at("root/away"), scratch.at("root/sub")).unwrap();
    }
}

#[test]
fn names_are_counted_and_a_link_is_not_entered() {
    let scratch = Scratch::new();
    symlink("../outside", scratch.at("root/link")).unwrap();
    let [.., roots] = scratch.roots();
    let root = roots.directory(&scratch.at("root")).unwrap();
    let (mut names, whole) = root.names(10).unwrap();
    names.sort();
    assert_eq!((names, whole), (vec!["link".into(), "sub".into()], true));
    assert_eq!(root.names(1).unwrap().0.len(), 1);
    assert!(!root.names(1).unwrap().1);
    assert!(root.enter(OsStr::new("sub")).is_ok());
    assert!(root.enter(OsStr::new("link")).is_err());
}

#[test]
fn a_directory_swapped_for_a_link_never_leads_outside() {
    const TRIES: usize = 3000;
    let scratch = Scratch::new();
    symlink("../outside/sub", scratch.at("root/trap")).unwrap();
    let (sub, trap) = (scratch.at("root/sub"), scratch.at("root/trap"));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, &sub, CWD, &trap, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let tries = (0..TRIES).flat_map(|_| scratch.roots());
        let seen: Vec<_> = tries.map(|roots| read(&roots, &sub.join("file"))).collect();
        done.store(true, Ordering::Relaxed);
        for result in seen {
            match result {
                Ok(text) => assert_eq!(text, "root/sub"),
                Err(Error::Outside | Error::Moved) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    });
}
