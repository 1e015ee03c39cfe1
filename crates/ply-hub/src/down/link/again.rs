//! Going on with a connection that another process began.
//!
//! That process wrote down the state of its link now and then, and each wish before it was sent; the agent's lines since then were
//! kept for whoever comes. Folded in the order in which they happened they make the same link. What they mean is in the journal
//! up to some line, and is told again from there on.

use std::collections::{BTreeMap, VecDeque};

use ply_wire::v2;

use super::{Link, Output, Wish};

/// A wish that was written down, and how many lines of the agent came before it.
#[derive(Debug)]
pub struct Told {
    /// How many lines came before.
    pub after: u64,
    /// The wish.
    pub wish: Wish,
}

/// A connection on its way back.
#[derive(Debug)]
pub struct Again {
    link: Link,
    told: VecDeque<Told>,
    /// The last line whose meaning is in the journal.
    upto: u64,
    /// The last line that was written to the agent.
    written: u64,
    /// The last line for the agent that the state had.
    recorded: u64,
    /// What was asked in lines that are in the journal.
    asked: BTreeMap<u64, Output>,
    /// What came of the lines after those.
    outputs: Vec<(u64, Output)>,
    was_working: Option<bool>,
}

/// A connection that goes on.
#[derive(Debug)]
pub struct Resumed {
    /// Its link.
    pub link: Link,
    /// What the agent asked that is not answered, though the journal has the lines.
    pub asked: Vec<Output>,
    /// Everything that came of further lines, each with the number of its line.
    pub outputs: Vec<(u64, Output)>,
    /// Whether the agent worked in the foreground when it wrote the last line that the journal has.
    pub was_working: bool,
    /// The message of the last prompt that the agent was sent.
    pub prompted: Option<v2::MessageId>,
}

/// Why nobody can go on with a connection.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Torn {
    /// Lines of the agent are missing.
    #[error("lines of the agent are missing")]
    Lines,
    /// The agent was never sent what the state takes for sent.
    #[error("the agent was not sent everything that is recorded")]
    Unsent,
    /// The agent was sent something that nobody wrote down.
    #[error("the agent was sent something that is not recorded")]
    Sent,
}

impl Again {
    /// Begins with a state and what was written down after it. Lines up to `upto` are in the journal, and the agent was written
    /// lines up to `written`.
    pub fn new(link: Link, told: impl IntoIterator<Item = Told>, upto: u64, written: u64) -> Self {
        Self {
            recorded: link.last_out,
            link,
            told: told.into_iter().collect(),
            upto,
            written,
            asked: BTreeMap::new(),
            outputs: Vec::new(),
            was_working: None,
        }
    }

    /// Takes the next line of the agent.
    pub fn line(&mut self, number: u64, line: &[u8]) -> Result<(), Torn> {
        if number <= self.link.last_in {
            return Ok(());
        }
        if number > self.link.last_in + 1 {
            return Err(Torn::Lines);
        }
        self.tell();
        let mut out = Vec::new();
        self.link.line(number, line, &mut out);
        for output in out {
            self.take(number, output);
        }
        Ok(())
    }

    /// Returns the connection, once all lines that are there were taken.
    pub fn finish(mut self) -> Result<Resumed, Torn> {
        self.tell();
        if !self.told.is_empty() || self.link.last_in < self.upto {
            return Err(Torn::Lines);
        }
        if self.link.last_out < self.written {
            return Err(Torn::Sent);
        }
        if self.written < self.recorded {
            // Its wish is part of the state, so that nobody knows its words any more.
            return Err(Torn::Unsent);
        }
        let link = self.link;
        let is_open = |request: &u64| link.requests.contains_key(request);
        let asked = self.asked.into_iter();
        let asked = asked.filter(|(request, _)| is_open(request));
        let asked = asked.map(|(_, output)| output).collect();
        self.outputs.retain(|(_, output)| match output {
            Output::Ask { request, .. } | Output::Service { request, .. } => is_open(request),
            _ => true,
        });
        Ok(Resumed {
            was_working: self.was_working.unwrap_or_else(|| link.is_working()),
            prompted: link.prompted.clone(),
            link,
            asked,
            outputs: self.outputs,
        })
    }

    /// Does again what was wished for before the next line.
    fn tell(&mut self) {
        while let Some(told) = self
            .told
            .pop_front_if(|told| told.after <= self.link.last_in)
        {
            let is_unsent = self.link.last_out >= self.written;
            if is_unsent && matches!(told.wish, Wish::Serve { .. } | Wish::Extend { .. }) {
                // What they say is not recorded. A file is read again, and a client sends again what was not answered.
                continue;
            }
            let mut out = Vec::new();
            self.link.wish(told.wish, &mut out);
            let at = self.link.last_in;
            let sent = out.into_iter().filter(|output| self.is_unsent(output));
            let sent: Vec<Output> = sent.collect();
            self.outputs.extend(sent.into_iter().map(|sent| (at, sent)));
        }
        if self.link.last_in == self.upto {
            self.was_working = Some(self.link.is_working());
        }
    }

    fn take(&mut self, line: u64, output: Output) {
        match output {
            Output::Send { .. } if !self.is_unsent(&output) => {}
            Output::Send { .. } => self.outputs.push((line, output)),
            Output::Ask { request, .. } | Output::Service { request, .. } if line <= self.upto => {
                self.asked.insert(request, output);
            }
            output if line > self.upto => self.outputs.push((line, output)),
            _ => {}
        }
    }

    fn is_unsent(&self, output: &Output) -> bool {
        matches!(output, Output::Send { number, .. } if *number > self.written)
    }
}
