//! `cargo xtask crash`: agents that are killed at any moment, and disks that fail; `cargo xtask crash hub`: everything around a hub.

use std::process::Command;

use crate::Result;

/// What is killed.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Rig {
    /// Agents and their disks
    Agent,
    /// The hub, holders, agents, and what editors start, around one user after the other
    Hub,
}

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What is killed
    #[arg(value_enum, default_value_t = Rig::Agent)]
    rig: Rig,
    /// How many agents are killed at random, or how many users are played
    #[arg(long, default_value_t = 25)]
    loops: u64,
    /// The seed of the first store or user; each has the one after
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
    let (package, program) = match arguments.rig {
        Rig::Agent => ("crash-tests", "crash-rig"),
        Rig::Hub => ("hub-tests", "hub-rig"),
    };
    let for_agents = arguments.every || arguments.points.is_some() || arguments.point.is_some();
    if arguments.rig == Rig::Hub && for_agents {
        return Err("`--every`, `--points` and `--point` are for agents; the hub takes `--loops` and `--seed`".into());
    }
    // The program as it is used: what is between two calls takes the time that it takes there.
    let package = ["--quiet", "--release", "--package", package];
    let built = Command::new("cargo").arg("build").args(package).status();
    if !built.map_err(unusable)?.success() {
        return Err("the rig cannot be built".into());
    }
    let mut rig = Command::new("cargo");
    rig.arg("run").args(package).args(["--bin", program, "--"]);
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
