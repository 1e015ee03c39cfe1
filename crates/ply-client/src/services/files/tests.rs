use std::collections::HashMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::sync::Mutex;

use serde_json::json;

use super::super::scratch::Scratch;
use super::*;

mod hostile;
mod killed;
mod race;

async fn read(
    files: &Files,
    roots: &Roots,
    path: impl Into<PathBuf>,
    window: (Option<u32>, Option<u32>),
) -> Result<String, RpcError> {
    let request = v1::ReadTextFileRequest::new("s", path)
        .line(window.0)
        .limit(window.1);
    let response = files.read_text_file(roots, request).await;
    response.map(|response| response.content)
}

async fn read_all(roots: &Roots, path: impl Into<PathBuf>) -> Result<String, RpcError> {
    read(&Files::new(), roots, path, (None, None)).await
}

async fn write(roots: &Roots, path: impl Into<PathBuf>, text: &str) -> Result<(), RpcError> {
    let request = v1::WriteTextFileRequest::new("s", path, text);
    let response = Files::new().write_text_file(roots, request).await?;
    assert_eq!(serde_json::to_value(response).unwrap(), json!({}));
    Ok(())
}

#[tokio::test]
async fn v1_fs_04_line_and_limit_choose_the_lines() {
    let tree = Scratch::new();
    let ten: String = (1..=10).map(|line| format!("line {line}\n")).collect();
    let whole = tree.file("root/ten", &ten);
    let unended = tree.file("root/unended", "a\nb\r\nc");
    let roots = tree.roots();
    let check = async |path: &Path, window, expected: &str| {
        let text = read(&Files::new(), &roots, path, window).await.unwrap();
        assert_eq!(text, expected, "{window:?}");
    };
    check(&whole, (None, None), &ten).await;
    check(&whole, (Some(1), None), &ten).await;
    check(&whole, (Some(3), Some(2)), "line 3\nline 4\n").await;
    check(&whole, (None, Some(1)), "line 1\n").await;
    check(&whole, (Some(10), None), "line 10\n").await;
    check(&whole, (Some(10), Some(5)), "line 10\n").await;
    check(&whole, (Some(11), Some(5)), "").await;
    check(&whole, (Some(11), None), "").await;
    check(&whole, (Some(u32::MAX), Some(u32::MAX)), "").await;
    check(&whole, (Some(1), Some(0)), "").await;
    check(&whole, (Some(1), Some(u32::MAX)), &ten).await;
    check(&unended, (Some(2), Some(1)), "b\r\n").await;
    check(&unended, (Some(3), Some(1)), "c").await;
    check(&unended, (Some(3), None), "c").await;
    check(&unended, (Some(4), None), "").await;
}

#[tokio::test]
async fn v1_fs_12_lines_that_cannot_be_are_invalid_params() {
    let tree = Scratch::new();
    let path = tree.file("root/file", "text");
    let roots = tree.roots();
    let error = read(&Files::new(), &roots, &path, (Some(0), None)).await;
    let error = error.unwrap_err();
    assert_eq!(error.code, RpcError::INVALID_PARAMS);
    assert_eq!(error.message, "lines are counted from 1");
    for wrong in [
        json!({"line": -1}),
        json!({"limit": "a"}),
        json!({"line": 1.5}),
    ] {
        let mut params = json!({"sessionId": "s", "path": path});
        let fields = params.as_object_mut().unwrap();
        fields.extend(wrong.as_object().unwrap().clone());
        let decoded = serde_json::from_value::<v1::ReadTextFileRequest>(params);
        let error = RpcError::from_decode(&decoded.unwrap_err());
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
    }
}

struct Editor {
    unsaved: HashMap<PathBuf, String>,
    written: Arc<Mutex<Vec<(PathBuf, String)>>>,
}

impl Buffers for Editor {
    fn read(&self, path: &Path) -> Option<String> {
        self.unsaved.get(path).cloned()
    }

    fn written(&self, path: &Path, content: &str) {
        let mut written = self.written.lock().unwrap();
        written.push((path.to_owned(), content.to_owned()));
    }
}

#[tokio::test]
async fn v1_fs_05_unsaved_content_comes_before_the_disk() {
    let tree = Scratch::new();
    let dirty = tree.file("root/dirty", "saved");
    let clean = tree.file("root/clean", "saved");
    let outside = tree.file("outside/dirty", "saved");
    let link = tree.link("root/link", "dirty");
    let trap = tree.link("root/trap", &outside);
    let unsaved = [
        (dirty.clone(), "one\ntwo\nthree\n".to_owned()),
        (tree.at("root/no-dir/never-saved"), "new".to_owned()),
        (outside.clone(), "outside".to_owned()),
        (trap.clone(), "outside".to_owned()),
    ];
    let written = Arc::default();
    let files = Files::new().with_buffers(Editor {
        unsaved: unsaved.into(),
        written: Arc::clone(&written),
    });
    let roots = tree.roots();
    let all = (None, None);
    let text = read(&files, &roots, &dirty, all).await.unwrap();
    assert_eq!(text, "one\ntwo\nthree\n");
    let text = read(&files, &roots, &dirty, (Some(2), Some(1))).await;
    assert_eq!(text.unwrap(), "two\n");
    assert_eq!(read(&files, &roots, &clean, all).await.unwrap(), "saved");
    let through_link = read(&files, &roots, &link, (Some(3), None)).await;
    assert_eq!(through_link.unwrap(), "three\n");
    let never_saved = tree.at("root/no-dir/never-saved");
    assert_eq!(read(&files, &roots, never_saved, all).await.unwrap(), "new");
    for refused in [outside, trap] {
        let error = read(&files, &roots, refused, all).await.unwrap_err();
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
    }
    let request = v1::WriteTextFileRequest::new("s", link, "by the agent");
    files.write_text_file(&roots, request).await.unwrap();
    let expected = (dirty, "by the agent".to_owned());
    assert_eq!(*written.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn v1_fs_06_an_empty_file_is_an_empty_string() {
    let tree = Scratch::new();
    let path = tree.file("root/empty", "");
    assert_eq!(read_all(&tree.roots(), path).await.unwrap(), "");
}

// Also: V1-FS-08.
#[tokio::test]
async fn v1_fs_07_writing_makes_the_file_and_its_directories() {
    let tree = Scratch::new();
    let roots = tree.roots();
    for name in ["root/new", "root/a/b/c/new", "root/a/b/other"] {
        write(&roots, tree.at(name), "text").await.unwrap();
        assert_eq!(std::fs::read_to_string(tree.at(name)).unwrap(), "text");
    }
    // The umask decides, as it does for everyone.
    let made = std::fs::File::create(tree.at("outside/mine")).unwrap();
    let usual = made.metadata().unwrap().mode();
    assert_eq!(tree.at("root/new").metadata().unwrap().mode(), usual);
    assert_eq!(tree.everything_in("root").len(), 3, "nothing else is left");
}

#[tokio::test]
async fn v1_fs_09_a_missing_file_is_resource_not_found() {
    let tree = Scratch::new();
    let roots = tree.roots();
    for name in ["root/missing", "root/no/such/directory"] {
        let path = tree.at(name);
        let error = read_all(&roots, &path).await.unwrap_err();
        assert_eq!(error.code, -32002);
        assert_eq!(error.message, "Resource not found");
        let data: serde_json::Value = serde_json::from_str(error.data.unwrap().get()).unwrap();
        assert_eq!(data, json!({"uri": path}));
    }
    let latin = tree.file("root/latin", b"caf\xe9");
    let error = read_all(&roots, latin).await.unwrap_err();
    assert_eq!(error.message, "the file is not UTF-8 text");
    let long = tree.at("root").join("x".repeat(300));
    let error = read_all(&roots, &long).await.unwrap_err();
    assert!(error.message.contains("too long"), "{error}");
    let error = write(&roots, &long, "text").await.unwrap_err();
    assert!(error.message.contains("too long"), "{error}");
}

#[tokio::test]
async fn v1_fs_10_writing_that_is_not_offered_does_nothing() {
    let tree = Scratch::new();
    let files = Files::read_only();
    assert!(!files.can_write() && Files::new().can_write());
    let request = v1::WriteTextFileRequest::new("s", tree.at("root/new"), "text");
    let error = files.write_text_file(&tree.roots(), request).await;
    assert_eq!(error.unwrap_err(), RpcError::method_not_found());
    assert!(tree.everything_in("root").is_empty());
    let path = tree.file("root/file", "text");
    let text = read(&files, &tree.roots(), path, (None, None)).await;
    assert_eq!(text.unwrap(), "text");
}

#[tokio::test]
async fn v1_fs_11_what_is_outside_is_answered_alike_whether_it_exists_or_not() {
    let tree = Scratch::new();
    let roots = tree.roots();
    tree.file("outside/there", "secret");
    tree.link("root/there", tree.at("outside/there"));
    tree.link("root/not-there", tree.at("outside/not-there"));
    let mut answers = Vec::new();
    for name in [
        "outside/there",
        "outside/not-there",
        "root/there",
        "root/not-there",
    ] {
        answers.push(read_all(&roots, tree.at(name)).await.unwrap_err());
        answers.push(write(&roots, tree.at(name), "x").await.unwrap_err());
    }
    for answer in &answers {
        assert_eq!((answer.code, &answer.data.is_some()), (-32602, &false));
        assert_eq!(answer.message, Refusal::Outside.to_string());
    }
}

#[tokio::test]
async fn h4_what_is_no_regular_file_is_refused_and_never_waited_for() {
    let tree = Scratch::new();
    let roots = tree.roots();
    let (fifo, socket) = (tree.at("root/fifo"), tree.at("root/socket"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    tree.link("root/link-to-fifo", "fifo");
    let everywhere = Roots::new(["/".into()]);
    let kernel: &[&str] = &[
        "/dev/null",
        "/dev/zero",
        "/dev/tty",
        "/proc/self/fd",
        "/proc/self/fd/0",
    ];
    let own = [fifo, socket, tree.at("root/link-to-fifo"), tree.at("root")];
    let cases = own.into_iter().map(|path| (&roots, path));
    let cases = cases.chain(kernel.iter().map(|path| (&everywhere, path.into())));
    for (roots, path) in cases {
        let refused = tokio::time::timeout(Duration::from_secs(10), async {
            read_all(roots, &path).await.unwrap_err();
            write(roots, &path, "text").await.unwrap_err();
        });
        refused
            .await
            .unwrap_or_else(|_| panic!("waited for {}", path.display()));
    }
}

#[tokio::test]
async fn h4_a_huge_file_is_refused_but_its_first_lines_can_be_read() {
    let tree = Scratch::new();
    let roots = tree.roots();
    let path = tree.file("root/huge", "one\ntwo\n");
    let huge = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    huge.set_len(1 << 40).unwrap();
    let files = Files::new();
    let error = read(&files, &roots, &path, (None, None)).await.unwrap_err();
    assert!(error.message.starts_with("more than 32 MiB"), "{error}");
    let start = read(&files, &roots, &path, (Some(2), Some(1))).await;
    assert_eq!(start.unwrap(), "two\n");
    for window in [
        (Some(3), Some(1)),
        (Some(1000), None),
        (Some(1000), Some(1)),
    ] {
        let error = read(&files, &roots, &path, window).await.unwrap_err();
        assert!(error.message.starts_with("more than 32 MiB"), "{window:?}");
    }
    huge.set_len(READ_BYTES_MAX).unwrap();
    let text = read(&files, &roots, &path, (None, None)).await.unwrap();
    assert_eq!(text.len() as u64, READ_BYTES_MAX);
    huge.set_len(READ_BYTES_MAX + 1).unwrap();
    assert!(read(&files, &roots, &path, (None, None)).await.is_err());
}

#[tokio::test]
async fn h6_a_write_replaces_the_file_whole_and_keeps_what_it_should() {
    let tree = Scratch::new();
    let roots = tree.roots();
    let text = "\u{feff}one\r\ntwo\nthree\r";
    let path = tree.file("root/script", text);
    let set_mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode));
    for mode in [0o755, 0o600, 0o640, 0o777] {
        set_mode(mode).unwrap();
        let before = std::fs::metadata(&path).unwrap();
        // A reader that has the old file keeps the old file.
        let old = std::fs::File::open(&path).unwrap();
        let same = read_all(&roots, &path).await.unwrap();
        assert_eq!(same, text);
        write(&roots, &path, &same).await.unwrap();
        let after = std::fs::metadata(&path).unwrap();
        assert_eq!(after.mode(), before.mode());
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
        assert_ne!(after.ino(), before.ino(), "put in place as a whole");
        assert_eq!(std::io::read_to_string(old).unwrap(), text);
        assert_eq!(std::fs::read(&path).unwrap(), text.as_bytes());
    }
    assert_eq!(tree.everything_in("root").len(), 1, "nothing else is left");
}

#[tokio::test]
async fn h6_a_write_that_fails_leaves_the_old_file_and_no_other() {
    let tree = Scratch::new();
    let roots = tree.roots();
    tree.file("root/name/inner", "old");
    // A directory cannot be replaced by a file.
    let error = write(&roots, tree.at("root/name"), "new")
        .await
        .unwrap_err();
    assert_eq!(error.message, "the path does not name a regular file");
    assert_eq!(tree.everything_in("root").len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h6_readers_see_the_old_or_the_new_file_but_never_a_part() {
    let tree = Scratch::new();
    let roots = tree.roots();
    let path = tree.file("root/file", "a".repeat(1 << 20));
    let writing = {
        let (roots, path) = (roots.clone(), path.clone());
        tokio::spawn(async move {
            for index in 0..20_u8 {
                let letter = char::from(b'b' + index);
                let text = letter.to_string().repeat(1 << 20);
                write(&roots, &path, &text).await.unwrap();
            }
        })
    };
    while !writing.is_finished() {
        let text = read_all(&roots, &path).await.unwrap();
        assert_eq!(text.len(), 1 << 20);
        let first = text.chars().next().unwrap();
        assert!(text.chars().all(|letter| letter == first));
    }
    writing.await.unwrap();
}

#[tokio::test]
async fn a_panic_in_the_editor_costs_one_request() {
    struct Broken;
    impl Buffers for Broken {
        fn read(&self, _: &Path) -> Option<String> {
            panic!("broken on purpose")
        }
    }
    let tree = Scratch::new();
    let path = tree.file("root/file", "text");
    let files = Files::new().with_buffers(Broken);
    for _ in 0..=FILES_AT_ONCE_MAX {
        let error = read(&files, &tree.roots(), &path, (None, None)).await;
        assert_eq!(error.unwrap_err().message, Refusal::Panicked.to_string());
    }
}
