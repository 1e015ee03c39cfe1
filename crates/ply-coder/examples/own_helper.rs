//! A program that is its own helper, also after its file was replaced; a test uses it.
//!
//! Called with a directory and a command line, it deletes its own file, puts a script in its place, and
//! runs the line in the sandbox.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "it is for a test, which reads what it says"
)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ply_coder::BoxFuture;
use ply_coder::shell::{HELPER_WORD, Line, Processes, Sandbox, enter_and_exec};
use ply_coder::tool::Surface;

/// A card that nobody looks at.
#[derive(Debug)]
struct Nobody;

impl Surface for Nobody {
    fn open_terminal<'t>(&'t self, _: &'t str, _: &'t Path) -> BoxFuture<'t, ()> {
        Box::pin(std::future::ready(()))
    }

    fn terminal_output<'t>(&'t self, _: &'t [u8]) -> BoxFuture<'t, ()> {
        Box::pin(std::future::ready(()))
    }

    fn close_terminal<'t>(&'t self, _: Option<i32>, _: Option<&'t str>) -> BoxFuture<'t, ()> {
        Box::pin(std::future::ready(()))
    }

    fn progress<'t>(&'t self, _: &'t str) -> BoxFuture<'t, ()> {
        Box::pin(std::future::ready(()))
    }

    fn has_files(&self) -> bool {
        false
    }

    fn read_text<'t>(&'t self, _: &'t Path) -> BoxFuture<'t, Result<String, String>> {
        Box::pin(std::future::ready(Err("no files".to_owned())))
    }

    fn write_text<'t>(&'t self, _: &'t Path, _: String) -> BoxFuture<'t, Result<(), String>> {
        Box::pin(std::future::ready(Err("no files".to_owned())))
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

fn main() {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [first, rest @ ..] = arguments.as_slice() else {
        panic!("give a directory and a command line");
    };
    if first == HELPER_WORD {
        let error = enter_and_exec(rest.iter().cloned());
        panic!("{error}");
    }
    let own = std::env::current_exe().unwrap();
    std::fs::remove_file(&own).unwrap();
    std::fs::write(&own, "#!/bin/sh\necho replaced\n").unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut sandbox = Sandbox::default();
    sandbox.helper = Some("/proc/self/exe".into());
    sandbox.temporary = Vec::new();
    let command = rest.first().unwrap().to_str().unwrap();
    let line = Line::new(command, PathBuf::from(first));
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let ran = runtime.block_on(async {
        let processes = Processes::new(sandbox, PathBuf::new());
        let ran = processes.run(&line, &Nobody).await.unwrap();
        assert!(processes.is_confined(), "{:?}", processes.sandbox_notice());
        ran
    });
    println!("{}", ran.text());
}
