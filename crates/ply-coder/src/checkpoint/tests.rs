use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

struct Project {
    root: PathBuf,
    checkpoints: Checkpoints,
    _places: [tempfile::TempDir; 2],
}

impl Project {
    fn new() -> Self {
        let (place, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = place.path().canonicalize().unwrap();
        let checkpoints = Checkpoints::new(Some(kept.path()), "s", vec![root.clone()]);
        Self {
            root,
            checkpoints,
            _places: [place, kept],
        }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root.join(name)).ok()
    }

    async fn turn(&self, prompt: &str, access: Access, work: impl FnOnce()) {
        self.checkpoints.begin(prompt, Some(prompt));
        assert_eq!(self.checkpoints.before(&[access]).await, None);
        work();
        assert_eq!(self.checkpoints.end().await, None);
    }

    fn command(&self) -> Access {
        Access::Shell {
            command: "make".to_owned(),
            cwd: self.root.clone(),
        }
    }

    fn file(&self, name: &str) -> Access {
        Access::Write(self.root.join(name))
    }

    async fn undo(&self) -> Vec<String> {
        self.done(self.checkpoints.undo(false).await.0)
    }

    async fn redo(&self) -> Vec<String> {
        self.done(self.checkpoints.redo(false).await.0)
    }

    fn done(&self, moved: Moved) -> Vec<String> {
        let Moved::Done { files, failed, .. } = moved else {
            panic!("{moved:?}");
        };
        assert_eq!(failed, []);
        let names = files.iter().map(|path| path.strip_prefix(&self.root));
        names
            .map(|name| name.unwrap().display().to_string())
            .collect()
    }
}

#[tokio::test]
async fn an_edit_is_taken_back_and_done_again() {
    let project = Project::new();
    project.write("a", "one");
    let work = || project.write("a", "two");
    project.turn("edit a", project.file("a"), work).await;
    assert_eq!(project.undo().await, ["a"]);
    assert_eq!(project.read("a").as_deref(), Some("one"));
    assert_eq!(project.redo().await, ["a"]);
    assert_eq!(project.read("a").as_deref(), Some("two"));
    assert_eq!(project.checkpoints.redo(false).await.0, Moved::Nothing);
}

#[tokio::test]
async fn whatever_a_command_does_is_taken_back() {
    let project = Project::new();
    for (name, text) in [
        ("a", "a"),
        ("run", "#!"),
        ("deep/er/b", "b"),
        ("moved", "m"),
    ] {
        project.write(name, text);
    }
    let at = |name: &str| project.root.join(name);
    fs::set_permissions(at("run"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a", at("link")).unwrap();
    let work = || {
        project.write("a", "changed");
        fs::remove_file(at("run")).unwrap();
        fs::remove_dir_all(at("deep")).unwrap();
        fs::rename(at("moved"), at("here")).unwrap();
        fs::remove_file(at("link")).unwrap();
        project.write("link", "no link");
        project.write("new/dir/c", "c");
    };
    project.turn("make", project.command(), work).await;
    let files = project.undo().await;
    assert_eq!(
        files,
        [
            "a",
            "deep/er/b",
            "here",
            "link",
            "moved",
            "new/dir/c",
            "run"
        ]
    );
    assert_eq!(project.read("a").as_deref(), Some("a"));
    assert_eq!(project.read("deep/er/b").as_deref(), Some("b"));
    assert_eq!(project.read("moved").as_deref(), Some("m"));
    assert!(!at("here").exists() && !at("new").exists());
    assert_eq!(fs::read_link(at("link")).unwrap(), Path::new("a"));
    let rights = fs::metadata(at("run")).unwrap().permissions().mode();
    assert_eq!(rights & 0o777, 0o755);
    project.redo().await;
    assert_eq!(project.read("new/dir/c").as_deref(), Some("c"));
    assert!(!at("deep/er/b").exists() && !at("run").exists());
}

#[tokio::test]
async fn turns_are_taken_back_one_by_one_from_the_last() {
    let project = Project::new();
    project.write("a", "0");
    for text in ["1", "2"] {
        let work = || project.write("a", text);
        project.turn(text, project.command(), work).await;
    }
    // One that changed nothing is no turn to take back.
    project.turn("look", project.command(), || ()).await;
    project.undo().await;
    assert_eq!(project.read("a").as_deref(), Some("1"));
    project.undo().await;
    assert_eq!(project.read("a").as_deref(), Some("0"));
    assert_eq!(project.checkpoints.undo(false).await.0, Moved::Nothing);
    project.redo().await;
    // Something else now: the second turn cannot be done again.
    project
        .turn("3", project.file("b"), || project.write("b", "3"))
        .await;
    assert_eq!(project.checkpoints.redo(false).await.0, Moved::Nothing);
}

#[tokio::test]
async fn what_the_user_changed_since_is_not_overwritten_unasked() {
    let project = Project::new();
    project.write("a", "one");
    project.write("b", "one");
    let work = || {
        project.write("a", "two");
        project.write("b", "two");
    };
    project.turn("make", project.command(), work).await;
    project.write("a", "mine");
    let (refused, _) = project.checkpoints.undo(false).await;
    assert_eq!(refused, Moved::Conflicts(vec![project.root.join("a")]));
    assert_eq!(project.read("b").as_deref(), Some("two"));
    project.done(project.checkpoints.undo(true).await.0);
    assert_eq!(project.read("a").as_deref(), Some("one"));
    // Nothing is lost by it.
    project.redo().await;
    assert_eq!(project.read("a").as_deref(), Some("mine"));
}

#[tokio::test]
async fn what_is_ignored_stays_whatever_becomes_of_the_rules() {
    let project = Project::new();
    project.write(".gitignore", "built\n");
    project.write("built/x", "old");
    project.write("b", "b");
    // Files are told from new ones by their times.
    let written = now();
    while now() < written + 2 * tree::TICK {
        tokio::task::yield_now().await;
    }
    let work = || {
        project.write(".gitignore", "b\n");
        project.write("c", "c");
    };
    project.turn("make", project.command(), work).await;
    assert_eq!(project.undo().await, [".gitignore", "c"]);
    assert_eq!(project.read("built/x").as_deref(), Some("old"));
    assert_eq!(project.read("b").as_deref(), Some("b"));
}

#[tokio::test]
async fn a_directory_is_deleted_with_all_that_is_ignored_in_it() {
    let project = Project::new();
    project.write(".gitignore", "built\n");
    project.write("built/x", "old");
    let access = Access::Delete(project.root.join("built"));
    let work = || fs::remove_dir_all(project.root.join("built")).unwrap();
    project.turn("delete", access, work).await;
    assert_eq!(project.undo().await, ["built/x"]);
    assert_eq!(project.read("built/x").as_deref(), Some("old"));
}

#[tokio::test]
async fn the_difference_is_to_what_was_before_the_session() {
    let project = Project::new();
    project.write("a", "0");
    for text in ["1", "2"] {
        project
            .turn(text, project.file("a"), || project.write("a", text))
            .await;
    }
    project
        .turn("b", project.file("b"), || project.write("b", "b"))
        .await;
    let changes = project.checkpoints.changes().await.0;
    let texts: Vec<_> = changes
        .iter()
        .map(|change| (change.old.as_deref(), change.new.as_deref()))
        .collect();
    assert_eq!(texts, [(Some("0"), Some("2")), (None, Some("b"))]);
}

#[tokio::test]
async fn a_large_file_is_named_and_not_brought_back() {
    let project = Project::new();
    let large = project.root.join("large");
    fs::File::create(&large).unwrap().set_len(9 << 20).unwrap();
    project.write("a", "one");
    let work = || {
        fs::remove_file(&large).unwrap();
        project.write("a", "two");
    };
    project.turn("make", project.command(), work).await;
    let Moved::Done { files, failed, .. } = project.checkpoints.undo(false).await.0 else {
        panic!("not done");
    };
    assert_eq!(files, [project.root.join("a")]);
    assert_eq!(failed[0].0, large);
}

#[tokio::test]
async fn without_a_place_there_is_nothing_to_take_back() {
    let checkpoints = Checkpoints::new(None, "s", Vec::new());
    checkpoints.begin("p", None);
    assert_eq!(checkpoints.end().await, None);
    assert_eq!(checkpoints.undo(false).await.0, Moved::Nothing);
}

#[tokio::test]
async fn a_file_that_was_ignored_is_never_taken_for_a_new_one() {
    let project = Project::new();
    project.write(".gitignore", "secrets\n");
    project.write("secrets", "old");
    let written = now();
    while now() < written + 2 * tree::TICK {
        tokio::task::yield_now().await;
    }
    let work = || {
        fs::remove_file(project.root.join(".gitignore")).unwrap();
        project.write("secrets", "changed");
    };
    project.turn("make", project.command(), work).await;
    assert_eq!(project.undo().await, [".gitignore"]);
    assert_eq!(project.read("secrets").as_deref(), Some("changed"));
}

#[tokio::test]
async fn directories_without_files_come_back_and_go() {
    let project = Project::new();
    let at = |name: &str| project.root.join(name);
    fs::create_dir_all(at("old/er")).unwrap();
    let work = || {
        fs::remove_dir_all(at("old")).unwrap();
        fs::create_dir_all(at("new/er")).unwrap();
    };
    project.turn("make", project.command(), work).await;
    assert_eq!(project.undo().await, ["new", "new/er", "old", "old/er"]);
    assert!(at("old/er").is_dir() && !at("new").exists());
    project.redo().await;
    assert!(at("new/er").is_dir() && !at("old").exists());
    let access = Access::Delete(at("new"));
    let work = || fs::remove_dir_all(at("new")).unwrap();
    project.turn("delete", access, work).await;
    project.undo().await;
    assert!(at("new/er").is_dir());
}

#[tokio::test]
async fn a_turn_that_cannot_be_kept_is_not_passed_over_in_silence() {
    let (place, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = place.path().canonicalize().unwrap().join("a");
    fs::write(&file, "one").unwrap();
    // Nothing can be written below a file.
    let store = kept.path().join("file");
    fs::write(&store, "").unwrap();
    let checkpoints = Checkpoints::new(Some(&store), "s", vec![place.path().to_owned()]);
    checkpoints.begin("edit", None);
    assert_eq!(
        checkpoints.before(&[Access::Write(file.clone())]).await,
        None
    );
    fs::write(&file, "two!").unwrap();
    let words = checkpoints.end().await.unwrap_or_default();
    assert!(words.contains("cannot take back"), "{words}");
}

#[tokio::test]
async fn a_turn_is_recorded_though_nobody_waits_for_it() {
    let project = Project::new();
    project.write("a", "one");
    project.checkpoints.begin("edit", None);
    project.checkpoints.before(&[project.command()]).await;
    project.write("a", "two");
    drop(project.checkpoints.end());
    // What comes next waits for it.
    project.checkpoints.begin("next", None);
    project.checkpoints.before(&[project.command()]).await;
    project.write("b", "b");
    assert_eq!(project.checkpoints.end().await, None);
    assert_eq!(project.undo().await, ["b"]);
    assert_eq!(project.undo().await, ["a"]);
}
