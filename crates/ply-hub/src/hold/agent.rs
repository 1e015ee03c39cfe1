//! The agent's process, as the holder has it.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

use ply_rpc::transport::child::SpawnError;
use ply_rpc::transport::tree::{self, End};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};

use super::message::Ended;
use super::order::Order;

/// The agent.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) pid: u32,
    /// When it was started, in ticks after boot.
    pub(super) started: u64,
    /// `None` once it is closed, like the others.
    pub(super) input: Option<ChildStdin>,
    pub(super) output: Option<ChildStdout>,
    pub(super) errors: Option<ChildStderr>,
    /// How it ended, if it did.
    pub(super) ended: Option<Ended>,
}

impl Agent {
    /// Starts the agent, as the root of a tree that is this process's.
    pub(super) fn start(order: &Order) -> Result<Self, SpawnError> {
        let cwd = Path::new(&order.cwd);
        let mut command = Command::new(&order.program);
        command
            .args(&order.args)
            .current_dir(cwd)
            .env_clear()
            .envs(order.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        tree::plant(&mut command);
        let failed = |source| SpawnError::new(&order.program, Some(cwd), source);
        let mut child = command.spawn().map_err(failed)?;
        let agent = Self {
            pid: child.id(),
            // It cannot be gone: nobody has waited for it. One that has ended already counts so, and is not asked for.
            started: tree::started(child.id()).unwrap_or_default(),
            input: child.stdin.take(),
            output: child.stdout.take(),
            errors: child.stderr.take(),
            ended: None,
        };
        agent.set_nonblocking().map_err(failed)?;
        Ok(agent)
    }

    fn set_nonblocking(&self) -> io::Result<()> {
        let streams = [
            self.input.as_ref().map(AsFd::as_fd),
            self.output.as_ref().map(AsFd::as_fd),
            self.errors.as_ref().map(AsFd::as_fd),
        ];
        for stream in streams.into_iter().flatten() {
            rustix::fs::fcntl_setfl(stream, OFlags::NONBLOCK)?;
        }
        Ok(())
    }

    /// Waits for what has ended, the agent or a descendant that lost its parent, and returns whether anything is left.
    pub(super) fn reap(&mut self) -> bool {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid.as_raw_nonzero().get().unsigned_abs() == self.pid {
                        self.ended = Some(Ended {
                            code: status.exit_status(),
                            signal: status.terminating_signal(),
                        });
                    }
                }
                Ok(None) => return true,
                Err(Errno::INTR) => {}
                // No child: then there is no descendant either.
                Err(_) => return false,
            }
        }
    }

    /// Signals the agent and everything that it started.
    pub(super) fn end_tree(&self, how: End) {
        let Err(error) = tree::end_descendants(how) else {
            return;
        };
        tracing::warn!(%error, "the process table cannot be read; only the agent's group is ended");
        let signal = match how {
            End::Ask => Signal::TERM,
            End::Kill => Signal::KILL,
        };
        // Once the agent was waited for, its id may belong to somebody else's group.
        let leader = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if let Some(leader) = leader.filter(|_| self.ended.is_none())
            && let Err(error) = rustix::process::kill_process_group(leader, signal)
        {
            tracing::warn!(%error, "the agent's group cannot be ended");
        }
    }

    /// Returns whether it has ended and all that it wrote was read.
    pub(super) fn is_over(&self) -> Option<Ended> {
        let is_read = self.output.is_none() && self.errors.is_none();
        self.ended.filter(|_| is_read)
    }

    /// Closes what is open: nothing more is to come.
    pub(super) fn close(&mut self) {
        self.input = None;
        self.output = None;
        self.errors = None;
    }
}
