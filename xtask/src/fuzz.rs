//! `cargo xtask fuzz`: libFuzzer on one target, from the kept corpus.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The target: frames, envelope, v1_messages, v2_messages, translate or engine
    target: String,
    /// One input to replay instead of fuzzing
    input: Option<PathBuf>,
    /// How many inputs to try
    #[arg(long, default_value_t = 1_000_000)]
    runs: u64,
    /// The longest input to try, in bytes
    #[arg(long, default_value_t = 2048)]
    max_len: usize,
}

/// Runs `cargo fuzz`, which needs a nightly compiler.
///
/// New inputs are kept outside the repository's corpus; copy over what is worth keeping.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .ok_or("xtask has no parent directory")?;
    let fuzz = root.join("fuzz");
    let found = fuzz.join("target").join("found").join(&arguments.target);
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "fuzz", "run", "--fuzz-dir"])
        .arg(&fuzz)
        .arg(&arguments.target);
    match &arguments.input {
        Some(input) => command.arg(input),
        None => {
            std::fs::create_dir_all(&found)?;
            command
                .arg(&found)
                .arg(fuzz.join("corpus").join(&arguments.target))
                .arg("--");
            command
                .arg(format!("-runs={}", arguments.runs))
                .arg(format!("-max_len={}", arguments.max_len));
            command.arg("-print_final_stats=1")
        }
    };
    let status = command
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err("fuzzing failed; it needs a nightly compiler and `cargo install cargo-fuzz`".into())
}
