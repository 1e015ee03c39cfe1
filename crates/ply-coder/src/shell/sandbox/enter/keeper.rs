//! A command in namespaces of its own, and the two processes that keep it there.
//!
//! The helper stays outside. It starts the first process inside, gives it its ids, and ends as the command
//! ended. The process inside arranges everything, gives up its powers, starts the command and takes in
//! all orphans. When it ends, the kernel kills whatever is left in there, however it tried to get away; and
//! it ends when the helper does.

use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;

use ply_sys::apart::{Side, end_by, fork, fork_apart, ignore_signals};
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, set_dumpable_behavior,
    set_parent_process_death_signal, wait, waitpid,
};
use rustix::thread::CapabilitySet;

use super::order::Order;
use super::outside::Outside;
use super::{Confined, bounds, calls, connections, gate, powers, rules, sockets, view};
use crate::shell::Error;

/// Goes on as the process that becomes the command, in namespaces of its own. All others stay in here.
pub(super) fn enter(order: &Order) -> Result<Confined, Error> {
    let not_apart = |what: &str, error: io::Error| Error::NotApart(format!("{what} ({error})"));
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| not_apart("it cannot be tied to the agent", error.into()))?;
    let gate = order.gate.as_deref().map(gate::connect).transpose();
    let gate = gate.map_err(|error| not_apart("the agent's gate is closed", error))?;
    let sockets = sockets::of_others(order);
    // Sockets of the same network may be the command's own.
    let outside = order.no_network.then(Outside::open).transpose();
    let outside = outside.map_err(|error| not_apart("sockets cannot be told apart", error))?;
    let pipe = || io::pipe().map_err(|error| not_apart("there are no pipes", error));
    let ((go, mut say_go), (status, say_status)) = (pipe()?, pipe()?);
    let side = fork_apart(order.no_network);
    let side = side.map_err(|error| not_apart("user namespaces are not available", error))?;
    match side {
        Side::Child => {
            drop((say_go, status));
            arrange_inside(order, go, (sockets.as_slice(), outside), gate, say_status)
        }
        Side::Parent(inside) => {
            drop((go, say_status));
            if let Err(error) = map_ids(inside).and_then(|()| say_go.write_all(b"!")) {
                drop(say_go);
                waitpid(Some(inside), WaitOptions::empty()).ok();
                return Err(not_apart("ids cannot be mapped in user namespaces", error));
            }
            // The agent serves the command as long as this is open.
            let _gate = gate;
            keep(inside, status)
        }
    }
}

/// Gives the process inside the same ids as outside: all of them if we may, or our own.
fn map_ids(inside: Pid) -> io::Result<()> {
    let at = |name: &str| format!("/proc/{}/{name}", inside.as_raw_nonzero());
    let powers = rustix::thread::capabilities(None)?.effective;
    if powers.contains(CapabilitySet::SETUID | CapabilitySet::SETGID) {
        for name in ["uid_map", "gid_map"] {
            let own = std::fs::read_to_string(format!("/proc/self/{name}"))?;
            std::fs::write(at(name), same_ids(&own))?;
        }
        return Ok(());
    }
    let uid = rustix::process::geteuid().as_raw();
    let gid = rustix::process::getegid().as_raw();
    std::fs::write(at("uid_map"), format!("{uid} {uid} 1"))?;
    std::fs::write(at("setgroups"), "deny")?;
    std::fs::write(at("gid_map"), format!("{gid} {gid} 1"))
}

/// Returns a map from the ids that there are to themselves.
fn same_ids(own: &str) -> String {
    let line = |line: &str| {
        let mut numbers = line.split_whitespace();
        let (first, count) = (numbers.next()?, numbers.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    };
    own.lines().filter_map(line).collect()
}

/// Waits for the end of the process inside, and ends in the way that the command did.
fn keep(inside: Pid, mut status: io::PipeReader) -> ! {
    // They are for the command, which may handle them.
    ignore_signals();
    let mut told = [0; 4];
    let told = status
        .read_exact(&mut told)
        .map(|()| i32::from_ne_bytes(told));
    let ended = waitpid(Some(inside), WaitOptions::empty());
    let own = ended.ok().flatten().map(|(_, status)| status.as_raw());
    // Without a word the command was never started, or the process inside was killed.
    end_as(told.ok().or(own))
}

/// Ends in the way that a command did.
pub(super) fn end_as(status: Option<i32>) -> ! {
    let status = status.map(ExitStatus::from_raw);
    let signal = status.and_then(|status| status.signal());
    if let Some(signal) = signal.and_then(Signal::from_named_raw) {
        end_by(signal);
    }
    let code = status.and_then(|status| status.code());
    std::process::exit(code.unwrap_or(super::FAILED_CODE))
}

/// Arranges everything, starts the command, and goes on as the command; the first process stays in here.
fn arrange_inside(
    order: &Order,
    mut go: io::PipeReader,
    (sockets, outside): (&[PathBuf], Option<Outside>),
    gate: Option<OwnedFd>,
    say_status: io::PipeWriter,
) -> Result<Confined, Error> {
    let failed = |what: &str, error: io::Error| Error::NotApart(format!("{what} ({error})"));
    let tie = || set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from);
    tie().map_err(|error| failed("it cannot be tied to the agent", error))?;
    // Without the word the helper is gone.
    go.read_exact(&mut [0])
        .map_err(|error| failed("the helper is gone", error))?;
    let bounded = bounds::set(order).map_err(|error| failed("it cannot be bounded", error))?;
    bounds::offer_first();
    if order.no_network {
        gate::open(gate).map_err(|error| failed("its network cannot be set up", error))?;
    }
    view::arrange(order, sockets)?;
    // It looks into the command to connect in its place.
    powers::give_up(CapabilitySet::SYS_PTRACE)
        .map_err(|error| failed("powers cannot be given up", error))?;
    let abi = rules::confine(order)?;
    // Dropping powers may have undone it.
    tie().map_err(|error| failed("it cannot be tied to the agent", error))?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| failed("it cannot be kept from being traced", error.into()))?;
    let (from_command, to_keeper) =
        UnixStream::pair().map_err(|error| failed("there are no sockets", error))?;
    match fork().map_err(|error| failed("there is no room for another process", error))? {
        Side::Child => {
            // The command may be traced by its own children, as everywhere.
            set_parent_process_death_signal(None)
                .map_err(|error| failed("it cannot be untied", error.into()))?;
            powers::give_up(CapabilitySet::empty())
                .map_err(|error| failed("powers cannot be given up", error))?;
            Ok(Confined {
                abi,
                calls: calls::confine(order)?,
                bounded,
                connects: connections::hold(&to_keeper)
                    .map_err(|error| failed("its connections cannot be held up", error))?,
            })
        }
        Side::Parent(command) => {
            drop(to_keeper);
            connections::serve(&from_command, order, outside);
            take_in_orphans(order, command, say_status)
        }
    }
}

/// Waits for everything that ends in here until the command does, then tells how it ended and ends too.
fn take_in_orphans(order: &Order, command: Pid, say_status: io::PipeWriter) -> ! {
    if let Some(watch) = bounds::Watch::new(order) {
        end_at_bounds(watch, &say_status);
    }
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => leave(&say_status, status.as_raw()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => std::process::exit(super::FAILED_CODE),
        }
    }
}

/// Ends everything once it uses too much of the machine.
fn end_at_bounds(watch: bounds::Watch, say_status: &io::PipeWriter) {
    let Ok(say_status) = say_status.try_clone() else {
        return;
    };
    let watch = move || {
        let words = format!("\nply: ended because {}\n", watch.passed());
        // Without it there is still the signal that it seems to have ended by.
        drop(io::stderr().write_all(words.as_bytes()));
        leave(&say_status, Signal::KILL.as_raw())
    };
    // Without a thread for it there is no bound.
    drop(std::thread::Builder::new().spawn(watch));
}

/// Tells how the command ended and ends, with everything in here.
fn leave(mut say_status: &io::PipeWriter, status: i32) -> ! {
    // If nobody hears it, the helper is gone.
    drop(say_status.write_all(&status.to_ne_bytes()));
    std::process::exit(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stay_what_they_are() {
        let own = "         0          0 4294967295\n";
        assert_eq!(same_ids(own), "0 0 4294967295\n");
        let own = "0 1000 1\n1 100000 65536\n";
        assert_eq!(same_ids(own), "0 0 1\n1 1 65536\n");
    }
}
