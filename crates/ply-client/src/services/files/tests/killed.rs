//! A process that is killed while it writes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};

use super::super::super::scratch::Scratch;

/// Tells the writer where to write.
const TARGET: &str = "PLY_TEST_WRITER_TARGET";
const BYTES: usize = 4 << 20;
const KILLS: usize = 30;
const WRITES_MAX: usize = 5000;

/// Writes one letter after the other until it is killed. Run by the test below, in a process of its own.
#[test]
#[ignore = "writes until it is killed"]
fn writer() {
    let Some(path) = std::env::var_os(TARGET).map(PathBuf::from) else {
        return;
    };
    let directory = path.parent().unwrap().to_owned();
    let roots = super::super::Roots::new([directory]);
    // Not for ever, should nobody be left to kill it.
    for letter in ('a'..='z').cycle().take(WRITES_MAX) {
        let text = letter.to_string().repeat(BYTES);
        super::super::write(&roots, &path, None, &text).unwrap();
    }
}

fn inode(path: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).unwrap())
}

#[test]
fn h6_a_writer_that_is_killed_leaves_the_old_file_or_the_new_one() {
    let tree = Scratch::new();
    let path = tree.file("root/file", "0".repeat(BYTES));
    let (_, name) = module_path!().split_once("::").unwrap();
    let mut left = 0;
    for round in 0..KILLS {
        let before = inode(&path);
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--ignored", "--exact", &format!("{name}::writer")])
            .env(TARGET, &path)
            .stdout(Stdio::null());
        let mut writer = command.spawn().unwrap();
        while inode(&path) == before {
            assert_eq!(writer.try_wait().unwrap(), None, "the writer has ended");
        }
        // At another point of the next write each time.
        for _ in 0..round * 2000 {
            std::hint::spin_loop();
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        let content = std::fs::read(&path).unwrap();
        assert_eq!(content.len(), BYTES);
        assert!(content.iter().all(|byte| Some(byte) == content.first()));
        left = tree.everything_in("root").len() - 1;
    }
    // Only between giving a complete file its name and moving it there is something to leave.
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    let unnamed = rustix::fs::open(tree.at("root"), flags, Mode::RUSR);
    assert!(left <= 1 || unnamed.is_err(), "{left} unfinished files");
}
