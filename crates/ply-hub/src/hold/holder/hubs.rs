//! What the holder does with hubs: lets one in, does what it says, and tells it what has happened.

use rustix::io::Errno;

use super::{BURST_WRITES_MAX, Holder};
use crate::hold::frame::{Frame, Kind};
use crate::hold::guard::may_speak;
use crate::hold::message::{FromHolder, PROTOCOL};
use crate::hold::visit::{Caller, Heard, Hub, refuse};

impl Holder {
    pub(super) fn accept(&mut self) {
        // Whoever cannot be accepted has gone, or tries again.
        let Ok((stream, _)) = self.listener.accept() else {
            return;
        };
        if !may_speak(&self.directory, &stream) {
            return tracing::warn!("a process that is no hub wanted to speak as one");
        }
        if let Ok(caller) = Caller::new(stream, self.now()) {
            self.callers.push(caller);
        }
    }

    pub(super) fn hear_caller(&mut self, index: usize) {
        let Some(caller) = self.callers.get_mut(index) else {
            return;
        };
        match caller.hear(&mut self.scratch) {
            Heard::Nothing => {}
            Heard::Stranger => drop(self.callers.swap_remove(index)),
            Heard::Hub(epoch) if epoch < self.epoch => {
                refuse(&self.callers.swap_remove(index), self.epoch);
            }
            Heard::Hub(epoch) => {
                self.epoch = epoch;
                let hub = self.callers.swap_remove(index).into_hub();
                self.attach(hub);
            }
        }
    }

    /// Speaks to this hub from now on, and to no other.
    fn attach(&mut self, mut hub: Hub) {
        hub.say_message(
            Kind::Hello,
            &FromHolder {
                protocol: PROTOCOL,
                pid: self.agent.pid,
                started: self.agent.started,
                last_in: self.given.written(),
                first_out: self.kept.first(),
                last_out: self.kept.last(),
            },
        );
        hub.wrote_told = self.given.written();
        self.kept.rewind();
        self.ending.attached();
        self.hub = Some(hub);
        // It may have gone on speaking at once.
        self.take_frames();
    }

    pub(super) fn hear_hub(&mut self) {
        let Some(hub) = &mut self.hub else {
            return;
        };
        if self.given.is_full() {
            // It is here for writing, or because the hub hung up; what it had not been read of, the next one sends again.
            if hub.hung_up() {
                self.hub_is_gone();
            }
            return;
        }
        let is_there = hub.read(&mut self.scratch);
        self.take_frames();
        if !is_there {
            self.hub_is_gone();
        }
    }

    fn take_frames(&mut self) {
        while let Some(hub) = &mut self.hub {
            let makes_sense = match hub.next() {
                Ok(Some(frame)) => self.take(&frame),
                Ok(None) => return,
                Err(_) => false,
            };
            if !makes_sense {
                tracing::warn!("a hub sent what no hub sends");
                self.hub_is_gone();
            }
        }
    }

    /// Does what a frame says, and returns whether it made sense.
    fn take(&mut self, frame: &Frame) -> bool {
        match frame.kind {
            Kind::Acknowledge => self.kept.acknowledge(frame.number),
            Kind::In if memchr::memchr(b'\n', &frame.body).is_some() => return false,
            Kind::In => self.given.take(frame.number, frame.body.clone()),
            Kind::Stop => self.ending.stop(),
            Kind::Bury => {
                self.buried = true;
                self.leave();
            }
            Kind::Busy => self.ending.set_busy(frame.number != 0),
            Kind::Stderr => {
                if let Some(hub) = &mut self.hub {
                    hub.stderr_due = true;
                }
            }
            Kind::Hello | Kind::Out | Kind::Wrote | Kind::Exit | Kind::Refused => return false,
        }
        true
    }

    fn hub_is_gone(&mut self) {
        self.hub = None;
        self.ending.alone(self.now());
    }

    /// Returns whether a hub is to be told something.
    pub(super) fn has_news(&self, hub: &Hub) -> bool {
        let is_over = self.agent.is_over().is_some() && !hub.exit_told;
        !hub.unsaid().is_empty()
            || self.kept.has_unsent()
            || hub.wrote_told < self.given.written()
            || hub.stderr_due
            || is_over
    }

    /// Writes what there is, as far as the hub takes it.
    pub(super) fn write_to_hub(&mut self) {
        for _ in 0..BURST_WRITES_MAX {
            self.tell();
            let Some(hub) = &mut self.hub else {
                return;
            };
            let is_line = !self.kept.is_between_frames() || hub.unsaid().is_empty();
            let bytes = if is_line {
                self.kept.unsent()
            } else {
                hub.unsaid()
            };
            if bytes.is_empty() {
                return;
            }
            match rustix::io::write(&hub.stream, bytes) {
                Ok(bytes) if is_line => self.kept.sent(bytes),
                Ok(bytes) => hub.said(bytes),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => return self.hub_is_gone(),
            }
        }
    }

    /// Says what is to be said besides lines.
    fn tell(&mut self) {
        let Some(hub) = &mut self.hub else {
            return;
        };
        if !hub.unsaid().is_empty() {
            return;
        }
        let written = self.given.written();
        if hub.wrote_told < written {
            hub.say(Kind::Wrote, written, &[]);
            hub.wrote_told = written;
        }
        let ended = self.agent.is_over().filter(|_| !self.kept.has_unsent());
        let ended = ended.filter(|_| !hub.exit_told);
        if hub.stderr_due || ended.is_some() {
            hub.say(Kind::Stderr, self.stderr.total(), &self.stderr.bytes());
            hub.stderr_due = false;
        }
        if let Some(ended) = ended {
            hub.say_message(Kind::Exit, &ended);
            hub.exit_told = true;
        }
    }
}
