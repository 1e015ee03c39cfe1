//! What the holder does with its agent: reads, writes, waits for its end and brings it about.

use ply_rpc::transport::tree::End;
use rustix::io::Errno;
use rustix::process::Signal;

use super::{Holder, LAST_WORDS_TIME_MAX};
use crate::hold::ending::Step;
use crate::hold::message::Ended;

impl Holder {
    pub(super) fn hear_signals(&mut self) {
        let mut record = [0; ply_sys::SIGNAL_BYTES];
        while let Ok(bytes) = rustix::io::read(&self.signals, &mut record) {
            let number = record.first_chunk().copied().map(u32::from_ne_bytes);
            let child = u32::try_from(Signal::CHILD.as_raw()).ok();
            if bytes == record.len() && number != child {
                self.leave();
            }
        }
        if self.tree_gone.is_some() {
            return;
        }
        let was_there = self.agent.ended.is_none();
        let is_left = self.agent.reap();
        if was_there && self.agent.ended.is_some() {
            self.agent.input = None;
            self.given.close();
            self.ending.agent_is_gone();
        }
        if !is_left {
            self.tree_is_gone();
        }
    }

    fn tree_is_gone(&mut self) {
        self.ending.tree_is_gone();
        self.tree_gone = Some(self.now() + LAST_WORDS_TIME_MAX);
    }

    pub(super) fn read_output(&mut self) {
        let Some(output) = &self.agent.output else {
            return;
        };
        match rustix::io::read(output, &mut self.scratch) {
            Ok(bytes) if bytes > 0 => {
                self.kept
                    .push(self.scratch.get(..bytes).unwrap_or_default());
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => {
                self.kept.finish();
                self.agent.output = None;
            }
        }
    }

    pub(super) fn read_errors(&mut self) {
        let Some(errors) = &self.agent.errors else {
            return;
        };
        match rustix::io::read(errors, &mut self.scratch) {
            Ok(bytes) if bytes > 0 => {
                self.stderr
                    .push(self.scratch.get(..bytes).unwrap_or_default());
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => self.agent.errors = None,
        }
    }

    pub(super) fn keep_time(&mut self) {
        let now = self.now();
        self.callers.retain(|caller| caller.until > now);
        if self.ending.stop_if_abandoned(now) {
            self.leaving = true;
        }
        while let Some(step) = self.ending.step(now) {
            self.end_agent(step);
        }
        if let Some(until) = self.tree_gone.filter(|until| *until <= now) {
            if self.kept.has_room() || self.leaving {
                self.kept.finish();
                self.agent.close();
            } else {
                // What is in the pipe waits for the hub, not for the agent.
                self.tree_gone = Some(until + LAST_WORDS_TIME_MAX);
            }
        }
    }

    fn end_agent(&mut self, step: Step) {
        match step {
            Step::CloseInput => self.closing = true,
            Step::Terminate => {
                self.agent.input = None;
                self.agent.end_tree(End::Ask);
            }
            Step::Kill => self.agent.end_tree(End::Kill),
            Step::GiveUp => {
                self.agent.ended.get_or_insert(Ended::default());
                self.agent.close();
                self.tree_is_gone();
            }
        }
    }

    pub(super) fn write_to_agent(&mut self) {
        while let (Some(input), Some(line)) = (&self.agent.input, self.given.unwritten()) {
            match rustix::io::writev(input, &line) {
                Ok(bytes) => {
                    self.given.wrote(bytes);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // It has closed its input; that is its right.
                Err(_) => {
                    self.agent.input = None;
                    self.given.close();
                }
            }
        }
        if self.closing && self.given.is_empty() {
            self.agent.input = None;
        }
    }
}
