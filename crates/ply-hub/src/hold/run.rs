//! `ply hold`: from the order to the holder's loop.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;

use ply_sys::apart::{Side, fork};
use rustix::process::Signal;

use super::agent::Agent;
use super::files::{About, Directory};
use super::holder::Holder;
use super::message::{Outcome, body};
use super::order::{ORDER_BYTES_MAX, Order};

/// Is a holder: takes its order from standard input, says on standard output whether the agent runs, and holds it.
///
/// The process that calls this returns at once; a copy of it that is nobody's child is the holder, and returns when it has
/// nothing left to hold. It must be called before anything starts a thread.
///
/// # Errors
///
/// A terminal is where the order should come from, or the loop of the holder failed. Why an agent does not start is told to
/// whoever gave the order.
pub fn run() -> io::Result<()> {
    if io::stdin().is_terminal() {
        let problem = "`ply hold` is what the hub starts for each agent; run `ply serve` or `ply attach` instead";
        return Err(io::Error::other(problem));
    }
    if let Side::Parent(_) = fork()? {
        return Ok(());
    }
    match begin() {
        Ok((mut holder, pid)) => {
            if tell(&Outcome::Started { pid }).is_err() {
                // Whoever gave the order has gone, and does not know of this holder.
                holder.leave();
            }
            holder.run()
        }
        Err(problem) => tell(&Outcome::Failed(problem)),
    }
}

fn begin() -> Result<(Holder, u32), String> {
    let order = prepare().map_err(|error| format!("the holder cannot start: {error}"))?;
    // Before the agent, so that its end is not missed.
    let watched = [Signal::CHILD, Signal::TERM, Signal::INT, Signal::HUP];
    let signals = ply_sys::signals(&watched).map_err(|error| error.to_string())?;
    let path = Path::new(&order.directory);
    let directory = Directory::open(path).map_err(|error| error.to_string())?;
    let listener = About::own(&order.id, &order.agent, &order.store)
        .and_then(|about| directory.publish(&about))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    match Agent::start(&order) {
        Ok(agent) => {
            let pid = agent.pid;
            let holder = Holder::new(&order, directory, listener, signals, agent);
            Ok((holder, pid))
        }
        Err(error) => {
            directory.remove(&order.id);
            Err(error.to_string())
        }
    }
}

fn prepare() -> io::Result<Order> {
    rustix::process::setsid()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    // No directory that somebody may want to unmount.
    rustix::process::chdir("/")?;
    let mut text = Vec::new();
    io::stdin().take(ORDER_BYTES_MAX).read_to_end(&mut text)?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(serde_json::from_slice(&text)?)
}

/// Says how it went, and closes standard output.
fn tell(outcome: &Outcome) -> io::Result<()> {
    let mut text = body(outcome);
    text.push(b'\n');
    let mut rest = text.as_slice();
    while !rest.is_empty() {
        let bytes = rustix::io::write(rustix::stdio::stdout(), rest)?;
        rest = rest.get(bytes..).unwrap_or_default();
    }
    let null = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(null)?;
    Ok(())
}
