//! The numbers as tables in Markdown for people and as JSON for programs.

use std::collections::BTreeSet;

use serde::Serialize;

use super::counts::{self, Count};
use super::machine::Machine;
use super::sample::{Sample, median};
use super::suite::Suite;
use super::table::{Table, number, times};
use super::targets::{Row, Verdict, judge};
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
        let mut parts = vec![self.heading(), self.rates().text()];
        if !self.targets.is_empty() {
            parts.push(self.missed());
        }
        if !self.counts.is_empty() {
            parts.push(counts::table(&self.counts).text());
        }
        parts.extend(self.notes());
        parts.join("\n")
    }

    /// What a reader of the table has to know.
    fn heading(&self) -> String {
        let mut text = format!(
            "Medians of {} runs of `{}`: {}.\n",
            self.runs,
            self.command.join(" "),
            self.machine.text(),
        );
        if let (Some(ours), false) = (self.suite.ours.first(), self.suite.against.is_empty()) {
            let ours = self.suite.head(ours);
            let line = format!(
                "A number in brackets says how many times better “{ours}” was in the same run.\n"
            );
            text.push_str(&line);
        }
        text
    }

    fn rates(&self) -> Table {
        let is_shown = |peer: &&str| self.samples.iter().any(|sample| sample.peer == *peer);
        let peers: Vec<&str> = self.suite.peers.iter().copied().filter(is_shown).collect();
        let heads = peers.iter().map(|peer| self.suite.head(peer));
        let mut head: Vec<&str> = ["Work"].into_iter().chain(heads).collect();
        if !self.targets.is_empty() {
            head.push("Target");
        }
        let mut table = Table::new(1, head);
        for row in self.suite.rows {
            if self.samples.iter().any(|sample| sample.work == row.work) {
                table.push(self.rate_row(row, &peers));
            }
        }
        table
    }

    fn rate_row(&self, row: &Row, peers: &[&str]) -> Vec<String> {
        let mut cells = vec![row.label()];
        cells.extend(peers.iter().map(|peer| self.cell(row, peer)));
        if !self.targets.is_empty() {
            let verdicts = self.targets.iter().filter(|verdict| verdict.is_of(row));
            let of_several = self.suite.ours.len() > 1;
            let verdicts: Vec<String> = verdicts.map(|verdict| verdict.short(of_several)).collect();
            cells.push(verdicts.join("; "));
        }
        cells
    }

    /// A peer's number, and how many times better ours is.
    fn cell(&self, row: &Row, peer: &str) -> String {
        let Some(value) = median(&self.samples, row.of(peer)) else {
            return "-".to_owned();
        };
        let ours = self.suite.ours.first();
        let ours = ours.filter(|_| self.suite.against.contains(&peer));
        let ratio = ours.and_then(|ours| row.ratio(self.suite, &self.samples, ours, peer));
        match ratio {
            Some(ratio) => format!("{} ({}×)", number(value), times(ratio)),
            None => number(value),
        }
    }

    /// A line for each target that was missed.
    fn missed(&self) -> String {
        let missed = self.targets.iter().filter(|verdict| !verdict.is_met());
        let lines: Vec<String> = missed
            .map(|verdict| format!("- {}\n", verdict.missed()))
            .collect();
        let met = self.targets.len() - lines.len();
        format!(
            "{met} of {} targets met.\n{}",
            self.targets.len(),
            lines.concat()
        )
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
