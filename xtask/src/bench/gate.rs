//! Instructions for each message, compared with a file in the repository: a regression shows without a clock.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::binary::Binary;
use super::counts;
use super::suite;
use crate::Result;
use crate::build::Profile;

/// What is counted: every shape of message that comes often or is large. What it costs hardly depends on how processes take turns.
const WORKS: [&str; 9] = [
    "updates",
    "roundtrip",
    "resume",
    "option",
    "set_mode",
    "set_mode_raw",
    "permission",
    "large_prompt",
    "large_update",
];
/// Ours on one thread, which runs the same instructions each time.
const PEER: &str = "ply";
/// How much more than the file says fails, in percent.
const WORSE_PERCENT: f64 = 5.0;

#[derive(clap::Args)]
pub(crate) struct Gate {
    /// Writes what is counted to the file instead of comparing.
    #[arg(long)]
    update: bool,
    /// Only this work; may be given more than once.
    #[arg(long, value_name = "WORK", value_parser = clap::builder::PossibleValuesParser::new(WORKS))]
    only: Vec<String>,
}

/// Instructions for each message, by work and side.
type Counts = BTreeMap<String, BTreeMap<String, f64>>;

pub(super) fn run(gate: &Gate) -> Result<()> {
    let binary = Binary::build(suite::SDK.program, Profile::Release)?;
    let file = file();
    let kept: Counts = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    let mut counted = Counts::new();
    for work in super::chosen(&WORKS, &gate.only) {
        super::progress(&format!("counting instructions: {work}"));
        let (client, agent) = counts::instructions(&binary, &suite::SDK, work, PEER)?;
        let sides = [("client", client), ("agent", agent)];
        let sides = sides.map(|(side, count)| (side.to_owned(), count.round()));
        counted.insert(work.to_owned(), sides.into());
    }
    let (lines, worse) = compare(&kept, &counted);
    for line in lines {
        println!("{line}");
    }
    if gate.update {
        // What was not counted now stays, unless it is counted no more.
        let mut all = kept;
        all.retain(|work, _| WORKS.contains(&work.as_str()));
        all.extend(counted);
        let text = serde_json::to_string_pretty(&all)?;
        return Ok(std::fs::write(file, text + "\n")?);
    }
    match worse {
        0 => Ok(()),
        worse => Err(format!(
            "{worse} counts are missing in or more than {WORSE_PERCENT} % above {}; if that is meant, run `cargo xtask bench gate --update`",
            file.display()
        )
        .into()),
    }
}

/// Says how each count compares, and how many are worse.
fn compare(kept: &Counts, counted: &Counts) -> (Vec<String>, usize) {
    let (mut lines, mut worse) = (Vec::new(), 0);
    for (work, sides) in counted {
        for (side, count) in sides {
            let before = kept.get(work).and_then(|sides| sides.get(side));
            let Some(before) = before.filter(|before| **before > 0.0) else {
                worse += 1;
                lines.push(format!("{work:12} {side:6} {count:12.0}  not in the file"));
                continue;
            };
            let percent = (count / before - 1.0) * 100.0;
            let is_worse = *count > before * (1.0 + WORSE_PERCENT / 100.0);
            worse += usize::from(is_worse);
            let verdict = if is_worse { "  worse" } else { "" };
            lines.push(format!(
                "{work:12} {side:6} {count:12.0}  was {before:12.0}  {percent:+5.1} %{verdict}"
            ));
        }
    }
    (lines, worse)
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/instructions.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(client: f64) -> Counts {
        let sides = BTreeMap::from([("client".to_owned(), client)]);
        Counts::from([("updates".to_owned(), sides)])
    }

    #[test]
    fn more_than_the_margin_is_worse_and_less_is_not() {
        assert_eq!(compare(&counts(100.0), &counts(105.0)).1, 0);
        assert_eq!(compare(&counts(100.0), &counts(50.0)).1, 0);
        assert_eq!(compare(&counts(100.0), &counts(106.0)).1, 1);
        assert_eq!(compare(&Counts::new(), &counts(1.0)).1, 1);
    }

    #[test]
    fn the_file_has_both_sides_of_every_work_that_is_counted_and_of_no_other() {
        let kept = std::fs::read_to_string(file()).expect("the file is there");
        let kept: Counts = serde_json::from_str(&kept).expect("it is JSON");
        let mut works = WORKS;
        works.sort_unstable();
        assert!(kept.keys().eq(works), "{:?}", kept.keys());
        for (work, sides) in kept {
            let sides: Vec<_> = sides.keys().map(String::as_str).collect();
            assert_eq!(sides, ["agent", "client"], "{work}");
        }
    }
}
