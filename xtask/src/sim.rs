//! `cargo xtask sim`: simulated worlds, many on all cores or one with its trace.

use std::process::Command;

use crate::Result;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many worlds to run
    #[arg(long, default_value_t = 2_000)]
    seeds: u64,
    /// The seed of the first
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Worlds in which a program behind a holder runs the turns, and outlives the hub
    #[arg(long)]
    hub: bool,
    /// One seed, whose world is run and shown line by line
    #[arg(long, conflicts_with_all = ["seeds", "from"])]
    seed: Option<u64>,
    /// Instead of random worlds, every order of events in a small one, up to this many
    #[arg(long, value_name = "DEPTH", conflicts_with_all = ["seeds", "from", "seed", "hub"])]
    explore: Option<u64>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--package", "ply-sim", "--"]);
    if arguments.hub {
        command.arg("hub");
    }
    match (arguments.seed, arguments.explore) {
        (Some(seed), _) => command.arg(seed.to_string()),
        (None, Some(depth)) => command.arg("explore").arg(depth.to_string()),
        (None, None) => command
            .arg(arguments.from.to_string())
            .arg(arguments.seeds.to_string()),
    };
    let status = command
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => {
            Err("a world broke a promise; the lines above say which and how to replay it".into())
        }
    }
}
