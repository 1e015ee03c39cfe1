//! The numbers as a table for people and as JSON for programs.

use std::collections::BTreeSet;

use serde::Serialize;

use super::PEERS;
use super::counts::{self, Count};
use super::machine::Machine;
use super::sample::{Sample, median};
use super::table::{Table, number};
use super::targets::{ROWS, Row, Verdict, judge, ratio};
use crate::Result;

#[derive(Serialize)]
pub(super) struct Report {
    machine: Machine,
    command: Vec<String>,
    runs: u32,
    samples: Vec<Sample>,
    targets: Vec<Verdict>,
    counts: Vec<Count>,
}

impl Report {
    pub(super) fn new(
        machine: Machine,
        runs: u32,
        samples: Vec<Sample>,
        counts: Vec<Count>,
    ) -> Self {
        // The program's own path says nothing to a reader; how it is called does.
        let arguments = std::env::args().skip(1);
        let command = ["cargo", "xtask"].map(str::to_owned).into_iter();
        Report {
            machine,
            command: command.chain(arguments).collect(),
            runs,
            targets: judge(&samples),
            samples,
            counts,
        }
    }

    pub(super) fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    pub(super) fn text(&self) -> String {
        let mut parts = vec![format!(
            "machine  {}\ncommand  {}\nruns     {}, medians shown; a ratio says how many times better ply is\n",
            self.machine.text(),
            self.command.join(" "),
            self.runs
        )];
        parts.push(self.rates().text());
        let verdicts = self.verdicts();
        if !verdicts.is_empty() {
            parts.push(verdicts.text());
        }
        if !self.counts.is_empty() {
            parts.push(counts::table(&self.counts).text());
        }
        parts.extend(self.notes());
        parts.join("\n")
    }

    fn rates(&self) -> Table {
        let mut table = Table::new(
            2,
            [
                "work",
                "unit",
                "floor",
                "sdk-documented",
                "sdk-fastest",
                "ply",
                "ply:documented",
                "ply:fastest",
                "ply:floor",
            ],
        );
        for row in ROWS {
            if self.samples.iter().any(|sample| sample.work == row.work) {
                table.push(self.rate_row(row));
            }
        }
        table
    }

    fn rate_row(&self, row: &Row) -> Vec<String> {
        let of = |peer: &str| median(&self.samples, row.work, peer, row.metric);
        let mut cells = vec![row.work.to_owned(), row.unit.to_owned()];
        for peer in PEERS {
            cells.push(of(peer).map_or_else(|| "-".to_owned(), number));
        }
        for peer in ["sdk-documented", "sdk-fastest", "floor"] {
            let ratio = of("ply")
                .zip(of(peer))
                .and_then(|(ply, theirs)| ratio(row.better, ply, theirs))
                .map(|ratio| format!("{ratio:.2}x"));
            cells.push(ratio.unwrap_or_else(|| "-".to_owned()));
        }
        cells
    }

    fn verdicts(&self) -> Table {
        let mut table = Table::new(1, ["target", "measured", "floor would be", "verdict"]);
        for verdict in &self.targets {
            table.push(vec![
                verdict.target.clone(),
                format!("{:.2}", verdict.measured),
                verdict
                    .floor
                    .map_or_else(|| "-".to_owned(), |floor| format!("{floor:.2}")),
                if verdict.met { "met" } else { "missed" }.to_owned(),
            ]);
        }
        table
    }

    /// What the peers said about their arrangement, each sentence once.
    fn notes(&self) -> Option<String> {
        let notes: BTreeSet<String> = self
            .samples
            .iter()
            .filter_map(|sample| {
                let said = sample.outcome.note.as_ref()?;
                Some(format!("note: {}: {said}\n", sample.peer))
            })
            .collect();
        (!notes.is_empty()).then(|| notes.into_iter().collect())
    }
}
