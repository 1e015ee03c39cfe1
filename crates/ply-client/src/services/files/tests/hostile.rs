//! Paths that try to leave the session's directories, and links that may not.

use ply_rpc::RpcError;
use ply_wire::v1;

use std::path::PathBuf;

use super::super::super::refusal::Refusal;
use super::super::super::scratch::Scratch;
use super::super::{Files, Roots};

const SECRET: &str = "a secret from outside";

async fn read(roots: &Roots, path: impl Into<PathBuf>) -> Result<String, RpcError> {
    let request = v1::ReadTextFileRequest::new("s", path);
    let response = Files::new().read_text_file(roots, request).await;
    response.map(|response| response.content)
}

async fn write(roots: &Roots, path: impl Into<PathBuf>, text: &str) -> Result<(), RpcError> {
    let request = v1::WriteTextFileRequest::new("s", path, text);
    let response = Files::new().write_text_file(roots, request).await;
    response.map(drop)
}

/// Makes a tree with every kind of link, and returns it.
fn hostile_tree() -> Scratch {
    let tree = Scratch::new();
    let (root, outside) = (tree.at("root"), tree.at("outside"));
    tree.file("outside/secret", SECRET);
    tree.file("outside/deep/secret", SECRET);
    tree.file("root-evil/secret", SECRET);
    tree.file("rootless", SECRET);
    tree.file("root/file", "inside");
    tree.file("root/sub/file", "inside");
    tree.file("root/sub/deep/file", "inside");
    for (name, target) in [
        ("dir-abs", outside.clone()),
        ("dir-rel", "../outside".into()),
        ("sub/dir-rel", "../../outside".into()),
        ("leaf-abs", outside.join("secret")),
        ("leaf-rel", "../outside/secret".into()),
        ("sub/leaf-rel", "../../outside/secret".into()),
        ("leaf-dots", "sub/../../outside/secret".into()),
        ("leaf-chain", "leaf-chain-2".into()),
        ("leaf-chain-2", "leaf-chain-3".into()),
        ("leaf-chain-3", outside.join("secret")),
        ("dir-chain", "sub/dir-rel".into()),
        ("dangling-abs", outside.join("new")),
        ("dangling-rel", "../outside/new".into()),
        ("dangling-dir", outside.join("new-dir")),
        ("evil", "../root-evil".into()),
        ("evil-abs", tree.at("root-evil")),
        ("top", "/".into()),
        ("parent", "..".into()),
        ("parent-dots", "sub/../..".into()),
        ("loop", "loop".into()),
        ("loop-a", "loop-b".into()),
        ("loop-b", "loop-a".into()),
        ("proc-root", "/proc/self/root".into()),
        ("proc-cwd", "/proc/self/cwd".into()),
        ("proc-fd", "/proc/self/fd".into()),
        ("proc-environ", "/proc/self/environ".into()),
        ("null", "/dev/null".into()),
        ("zero", "/dev/zero".into()),
        ("in-and-out", "sub/back-out".into()),
        ("sub/back-out", root.join("dir-abs")),
        ("sub/up", "../..".into()),
    ] {
        tree.link(&format!("root/{name}"), target);
    }
    tree
}

/// Paths that must not be read or written, with `R` for the root and `O` for the place outside.
const HOSTILE: &[&str] = &[
    // Elsewhere.
    "O/secret",
    "O/new",
    "/etc/passwd",
    "/",
    "//",
    "/root-of-nobody/file",
    "R-evil/secret",
    "R-evil",
    "Rless",
    "R2/new",
    "//etc//passwd",
    "/./etc/./passwd",
    // Up and out.
    "R/../outside/secret",
    "R/../outside/new",
    "R/sub/../../outside/secret",
    "R/sub/../../outside/new",
    "R/sub/deep/../../../outside/secret",
    "R/./../outside/secret",
    "R//..//outside//secret",
    "R/../root-evil/secret",
    "R/../rootless",
    "R/../../../../../../../../../../etc/passwd",
    "R/../../../../../../../../../../etc/ply-new",
    "R/sub/../../root-evil/secret",
    "R/file/../../outside/secret",
    "R/..",
    "R/sub/..",
    "R/../",
    "R/../new",
    // Through links.
    "R/dir-abs/secret",
    "R/dir-abs/new",
    "R/dir-abs/deep/secret",
    "R/dir-abs/deep/../secret",
    "R/dir-abs/new-dir/new",
    "R/dir-rel/secret",
    "R/dir-rel/new",
    "R/dir-rel/../outside/secret",
    "R/sub/dir-rel/secret",
    "R/sub/dir-rel/new",
    "R/leaf-abs",
    "R/leaf-rel",
    "R/sub/leaf-rel",
    "R/leaf-dots",
    "R/leaf-chain",
    "R/dir-chain/secret",
    "R/dir-chain/new",
    "R/dangling-abs",
    "R/dangling-rel",
    "R/dangling-dir/new",
    "R/evil/secret",
    "R/evil/new",
    "R/evil-abs/secret",
    "R/top/etc/passwd",
    "R/top/tmp/ply-new-file",
    "R/parent/outside/secret",
    "R/parent/outside/new",
    "R/parent/rootless",
    "R/parent-dots/outside/secret",
    "R/sub/up/outside/secret",
    "R/in-and-out/secret",
    "R/in-and-out/new",
    "R/sub/back-out/secret",
    "R/loop",
    "R/loop/x",
    "R/loop-a",
    "R/loop-a/x",
    // Magic.
    "/proc/self/root/etc/passwd",
    "/proc/self/cwd/Cargo.toml",
    "/proc/self/fd/0",
    "/proc/self/environ",
    "/dev/stdin",
    "/dev/fd/0",
    "R/proc-root/etc/passwd",
    "R/proc-cwd/Cargo.toml",
    "R/proc-fd/0",
    "R/proc-environ",
    "R/null",
    "R/zero",
    // No file.
    "R",
    "R/",
    "R/.",
    "R/sub",
    "R/sub/",
    "R/sub/.",
    "R/file/",
    "R/file/.",
    "R/file/x",
    "R/file/../file/x",
    "R/leaf-abs/",
    // No path.
    "",
    ".",
    "..",
    "file",
    "root/file",
    "./root/file",
    "../outside/secret",
    "~/file",
    "R/fi\0le",
    "R/file\0",
    "\0",
    "R/file\0/../../outside/secret",
    "file://R/file",
];

fn spell(tree: &Scratch, pattern: &str) -> PathBuf {
    let root = tree.at("root").to_str().unwrap().to_owned();
    let outside = tree.at("outside").to_str().unwrap().to_owned();
    let pattern = match pattern.strip_prefix('O') {
        Some(rest) => format!("{outside}{rest}"),
        None => pattern.to_owned(),
    };
    match pattern.split_once('R') {
        Some((before, rest)) => format!("{before}{root}{rest}").into(),
        None => pattern.into(),
    }
}

// Also: V1-FS-11, H2.
#[tokio::test]
async fn h1_hostile_paths_are_refused_and_nothing_outside_is_touched() {
    assert!(HOSTILE.len() >= 60);
    let tree = hostile_tree();
    let outside = tree.everything_in("outside");
    let inside = tree.everything_in("root");
    let with_kernel = tree.roots();
    for roots in [&with_kernel, &with_kernel.by_hand()] {
        for pattern in HOSTILE {
            let path = spell(&tree, pattern);
            let error = read(roots, &path).await.expect_err(pattern);
            assert!(!error.message.contains(SECRET), "{pattern}");
            // Not even whether it exists can be learned.
            assert_ne!(error.code, -32002, "{pattern}: {error}");
            let error = write(roots, &path, "overwritten").await.expect_err(pattern);
            assert!(!error.message.is_empty(), "{pattern}");
        }
    }
    assert_eq!(tree.everything_in("outside"), outside);
    assert_eq!(tree.everything_in("root"), inside);
    assert_eq!(
        std::fs::read_to_string(tree.at("rootless")).unwrap(),
        SECRET
    );
    assert!(!tree.at("new").exists() && !tree.at("root2").exists());
    assert_eq!(tree.everything_in("root-evil").len(), 1);
}

#[tokio::test]
async fn h2_links_that_stay_inside_work() {
    let tree = Scratch::new();
    let root = tree.at("root");
    tree.file("root/file", "inside");
    tree.file("root/sub/deep/file", "inside");
    tree.file("second/file", "inside");
    for (name, target) in [
        ("leaf", PathBuf::from("file")),
        ("leaf-abs", root.join("file")),
        ("leaf-around", "../root/file".into()),
        ("sub/up", "../file".into()),
        ("dir", "sub/deep".into()),
        ("dir-abs", root.join("sub/deep")),
        ("dir-around", "../root/sub/deep".into()),
        ("chain", "dir-abs/../deep/file".into()),
        ("self", root.clone()),
        ("second-abs", tree.at("second")),
        ("second-rel", "../second".into()),
        ("second-leaf", tree.at("second/file")),
        (
            "slashes",
            PathBuf::from(format!("/{}//sub/./deep/", root.display())),
        ),
    ] {
        tree.link(&format!("root/{name}"), target);
    }
    tree.link("alias", &root);
    let real = Roots::new([root.clone(), tree.at("second")]);
    // The session's directory may itself be a link, and be named either way.
    let linked = Roots::new([tree.at("alias"), tree.at("second")]);
    for roots in [&real, &linked, &real.by_hand(), &linked.by_hand()] {
        for name in [
            "file",
            "leaf",
            "leaf-abs",
            "leaf-around",
            "sub/up",
            "sub/../file",
            "sub/deep/../../file",
            "dir/file",
            "dir/../../leaf",
            "dir-abs/file",
            "dir-around/file",
            "chain",
            "self/self/dir/file",
            "second-abs/file",
            "second-rel/file",
            "second-leaf",
            "slashes/file",
            ".//./file",
            "dir-abs/../../second-abs/file",
        ] {
            let path = root.join(name);
            assert_eq!(read(roots, &path).await.expect(name), "inside", "{name}");
            write(roots, &path, "changed").await.expect(name);
            assert_eq!(read(roots, &path).await.expect(name), "changed", "{name}");
            write(roots, &path, "inside").await.expect(name);
        }
    }
    let path = tree.at("alias/sub/up");
    assert_eq!(read(&linked, &path).await.unwrap(), "inside");
    let error = read(&real, &path).await.unwrap_err();
    assert_eq!(error.code, RpcError::INVALID_PARAMS, "not a name of a root");
    assert!(
        tree.at("root/leaf").is_symlink(),
        "the link was written through"
    );
    assert_eq!(tree.everything_in("second").len(), 1);
}

#[tokio::test]
async fn h2_a_dangling_link_inside_is_missing_to_read_and_made_to_write() {
    let tree = Scratch::new();
    let root = tree.at("root");
    tree.link("root/rel", "sub/new-rel");
    tree.link("root/abs", root.join("sub/new-abs"));
    tree.link("root/dir", "no-dir");
    for roots in [&tree.roots(), &tree.roots().by_hand()] {
        for name in ["rel", "abs"] {
            let error = read(roots, root.join(name)).await.unwrap_err();
            assert_eq!(error.code, -32002, "{name}");
            write(roots, root.join(name), "new").await.unwrap();
            let target = root.join(format!("sub/new-{name}"));
            assert_eq!(std::fs::read_to_string(&target).unwrap(), "new");
            assert!(root.join(name).is_symlink());
            std::fs::remove_file(target).unwrap();
        }
        assert_eq!(
            read(roots, root.join("dir/x")).await.unwrap_err().code,
            -32002
        );
        assert!(write(roots, root.join("dir/x"), "new").await.is_err());
    }
}

#[tokio::test]
async fn h2_another_directory_in_place_of_the_root_is_refused() {
    let tree = Scratch::new();
    tree.file("root/file", "inside");
    tree.file("outside/file", SECRET);
    let roots = tree.roots();
    let late = Roots::new([tree.at("late")]);
    std::fs::rename(tree.at("root"), tree.at("moved")).unwrap();
    let file = tree.at("root/file");
    let gone = Refusal::RootGone.to_string();
    assert_eq!(read(&roots, &file).await.unwrap_err().message, gone);
    tree.link("root", tree.at("outside"));
    assert_eq!(read(&roots, &file).await.unwrap_err().message, gone);
    assert_eq!(write(&roots, &file, "x").await.unwrap_err().message, gone);
    std::fs::remove_file(tree.at("root")).unwrap();
    std::fs::rename(tree.at("moved"), tree.at("root")).unwrap();
    assert_eq!(read(&roots, &file).await.unwrap(), "inside");
    // One that is made after the session was.
    assert_eq!(
        read(&late, tree.at("late/file")).await.unwrap_err().message,
        gone
    );
    assert!(!tree.at("late").exists());
    tree.file("late/file", "inside");
    assert_eq!(read(&late, tree.at("late/file")).await.unwrap(), "inside");
}
