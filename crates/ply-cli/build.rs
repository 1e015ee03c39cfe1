//! Packs the relative relocations of the program where its C library can read them.
//!
//! The loader reads every relocation at each start. Unpacked, those of this program are over a megabyte that stays in memory.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if can_be_packed() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether what is built runs here, with a glibc that knows packed relocations: 2.36 and later.
fn can_be_packed() -> bool {
    let variable = |name| std::env::var(name).unwrap_or_default();
    if variable("TARGET") != variable("HOST") || !variable("TARGET").ends_with("-linux-gnu") {
        return false;
    }
    let Ok(told) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else {
        return false;
    };
    let told = String::from_utf8_lossy(&told.stdout);
    let version = told.trim().strip_prefix("glibc 2.");
    version
        .and_then(|minor| minor.parse::<u32>().ok())
        .is_some_and(|minor| minor >= 36)
}
