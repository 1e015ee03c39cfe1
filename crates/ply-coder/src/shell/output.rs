//! What a call put out: bounded in memory, whole in a log once it does not fit.

use super::clean::Cleaner;
use super::kept::{Cut, Ends};
use super::log::{Log, Logs};
use super::{OUTPUT_BYTES_MAX, processes::Counter};

/// What a call put out.
#[derive(Debug)]
pub(super) struct Output<'p> {
    logs: &'p Logs,
    ids: &'p Counter,
    cleaner: Cleaner,
    ends: Ends,
    log: Option<(String, Log)>,
}

impl<'p> Output<'p> {
    pub(super) fn new(logs: &'p Logs, ids: &'p Counter) -> Self {
        Self {
            logs,
            ids,
            cleaner: Cleaner::default(),
            ends: Ends::new(OUTPUT_BYTES_MAX),
            log: None,
        }
    }

    pub(super) async fn push(&mut self, bytes: &[u8]) {
        let text = self.cleaner.push(bytes);
        self.keep(&text).await;
    }

    /// Returns what the model is told.
    pub(super) async fn finish(mut self) -> String {
        let text = self.cleaner.finish();
        self.keep(&text).await;
        let Cut { head, gone, tail } = self.ends.cut();
        match self.log {
            Some((id, log)) if gone > 0 => {
                let note = log.note(&id);
                let end = if head.is_empty() || head.ends_with('\n') {
                    ""
                } else {
                    "\n"
                };
                format!("{head}{end}[{gone} bytes left out; {note}]\n{tail}")
            }
            _ => head + &tail,
        }
    }

    async fn keep(&mut self, text: &str) {
        if self.log.is_none() && !self.ends.holds(text.len()) {
            let id = self.ids.next("c");
            let mut log = self.logs.create(&id).await;
            // Nothing is missing yet, so the log begins with the beginning.
            let Cut { head, tail, .. } = self.ends.cut();
            log.append(&head).await;
            log.append(&tail).await;
            self.log = Some((id, log));
        }
        if let Some((_, log)) = &mut self.log {
            log.append(text).await;
        }
        self.ends.push(text);
    }
}
