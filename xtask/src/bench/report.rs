//! The numbers as a table for people and as JSON for programs.

use std::collections::BTreeSet;

use serde::Serialize;

use super::counts::{self, Count};
use super::machine::Machine;
use super::sample::{Sample, median};
use super::suite::Suite;
use super::table::{Table, number};
use super::targets::{Row, Verdict, judge, ratio};
use crate::Result;

#[derive(Serialize)]
pub(super) struct Report {
    #[serde(skip)]
    suite: &'static Suite,
    machine: Machine,
    command: Vec<String>,
    runs: u32,
    samples: Vec<Sample>,
    targets: Vec<Verdict>,
    counts: Vec<Count>,
}

impl Report {
    pub(super) fn new(
        suite: &'static Suite,
        machine: Machine,
        runs: u32,
        samples: Vec<Sample>,
        counts: Vec<Count>,
    ) -> Self {
        // The program's own path says nothing to a reader; how it is called does.
        let arguments = std::env::args().skip(1);
        let command = ["cargo", "xtask"].map(str::to_owned).into_iter();
        Report {
            suite,
            machine,
            command: command.chain(arguments).collect(),
            runs,
            targets: judge(suite, &samples),
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
        let peers = self.suite.peers.iter().copied();
        let ratios = self.suite.against.iter().map(|(_, head)| *head);
        let head = ["work", "unit"].into_iter().chain(peers).chain(ratios);
        let mut table = Table::new(2, head);
        for row in self.suite.rows {
            if self.samples.iter().any(|sample| sample.work == row.work) {
                table.push(self.rate_row(row));
            }
        }
        table
    }

    fn rate_row(&self, row: &Row) -> Vec<String> {
        let of = |peer: &str| median(&self.samples, row.work, peer, row.metric);
        let ours = self.suite.ours.first().and_then(|ours| of(ours));
        let mut cells = vec![row.work.to_owned(), row.unit.to_owned()];
        for peer in self.suite.peers {
            cells.push(of(peer).map_or_else(|| "-".to_owned(), number));
        }
        for (peer, _) in self.suite.against {
            let ratio = ours
                .zip(of(peer))
                .and_then(|(ours, theirs)| ratio(row.better, ours, theirs))
                .map(|ratio| format!("{ratio:.2}x"));
            cells.push(ratio.unwrap_or_else(|| "-".to_owned()));
        }
        cells
    }

    fn verdicts(&self) -> Table {
        let head = [
            "target",
            "peer",
            "measured",
            "wanted",
            "floor would be",
            "verdict",
        ];
        let mut table = Table::new(2, head);
        for verdict in &self.targets {
            table.push(vec![
                verdict.target.clone(),
                verdict.peer.to_owned(),
                format!("{:.2}", verdict.measured),
                format!("{:.2}", verdict.wanted),
                verdict
                    .floor
                    .map_or_else(|| "-".to_owned(), |floor| format!("{floor:.2}")),
                verdict.text(),
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
