//! Disks that take no more.

use crate::child::Process;
use crate::scratch::Scratch;

// Also: F6, for it is an error of the disk and no full disk to whoever writes.
#[test]
fn f5_files_that_may_not_grow_stop_writing_until_they_may() {
    let scratch = Scratch::new();
    let script = "trap '' XFSZ; ulimit -S -f 1024; exec \"$0\" \"$@\"";
    let mut process = Process::start_under(&["sh", "-c", script], "is limited", &scratch.store());
    assert_eq!(process.hear().as_deref(), Some("done"));
    process.ends_well();
}
