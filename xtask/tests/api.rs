//! The public API changes on purpose only.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::process::Command;

#[test]
fn the_lists_of_public_items_are_up_to_date() {
    let checked = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["api", "--check"])
        .output()
        .unwrap();
    assert!(
        checked.status.success(),
        "run `cargo xtask api` if these changes of the public API are intended:\n{}",
        String::from_utf8_lossy(&checked.stderr)
    );
}
