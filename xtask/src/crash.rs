//! `cargo xtask crash`: agents that are killed at any moment, and disks that fail.

use std::process::Command;

use crate::Result;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many agents are killed at random
    #[arg(long, default_value_t = 25)]
    loops: u64,
    /// The seed of the first store; each has the one after
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Also kills an agent at every call on its store, and fails every call
    #[arg(long)]
    every: bool,
    /// The same at so many calls of each kind
    #[arg(long, conflicts_with = "every")]
    points: Option<u64>,
    /// One fault alone, such as v1:write:17:kill-torn
    #[arg(long, conflicts_with_all = ["loops", "seed", "every", "points"])]
    point: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // The program as it is used: what is between two calls takes the time that it takes there.
    let package = ["--quiet", "--release", "--package", "crash-tests"];
    let built = Command::new("cargo").arg("build").args(package).status();
    if !built.map_err(unusable)?.success() {
        return Err("the rig cannot be built".into());
    }
    let mut rig = Command::new("cargo");
    rig.arg("run")
        .args(package)
        .args(["--bin", "crash-rig", "--"]);
    match &arguments.point {
        Some(point) => {
            rig.args(["--point", point]);
        }
        None => {
            rig.args(["--loops", &arguments.loops.to_string()]);
            rig.args(["--seed", &arguments.seed.to_string()]);
        }
    }
    if arguments.every {
        rig.arg("--every");
    }
    if let Some(points) = arguments.points {
        rig.args(["--points", &points.to_string()]);
    }
    match rig.status().map_err(unusable)?.success() {
        true => Ok(()),
        false => {
            Err("a promise was broken; the lines above say which and how to see it again".into())
        }
    }
}

fn unusable(error: std::io::Error) -> String {
    format!("cargo cannot be run: {error}")
}
