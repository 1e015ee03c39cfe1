//! The helper's side: a process confines itself and becomes another program.

mod bounds;
mod calls;
mod connections;
pub(super) mod gate;
pub(super) mod handed;
mod keeper;
pub(super) mod order;
mod orphans;
mod outside;
mod powers;
mod rules;
mod sockets;
mod view;

pub(super) use self::view::ATTRIBUTES;

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::thread::CapabilitySet;

use self::order::Order;
use crate::shell::Error;

/// The exit code of a helper that gets [`Error::NotEnforced`].
pub(super) const NOT_ENFORCED_CODE: i32 = 125;
/// The exit code of a helper that gets [`Error::NotApart`].
pub(super) const NOT_APART_CODE: i32 = 124;
/// The exit code of a helper after any other error.
const FAILED_CODE: i32 = 126;

/// What holds a command.
#[derive(Debug, Clone, Copy)]
struct Confined {
    /// The version of Landlock; none where there is none.
    abi: Option<u32>,
    /// Whether system calls are kept from it.
    calls: bool,
    /// Whether the number of its processes is bounded.
    bounded: bool,
    /// Whether it is kept from sockets of other programs, whenever those were made.
    connects: bool,
}

impl Error {
    /// Returns the code with which a helper exits after [`enter_and_exec`] returned this.
    #[must_use]
    pub fn helper_code(&self) -> i32 {
        match self {
            Self::NotEnforced => NOT_ENFORCED_CODE,
            Self::NotApart(_) => NOT_APART_CODE,
            Self::Exec { source, .. } if source.kind() == std::io::ErrorKind::NotFound => 127,
            _ => FAILED_CODE,
        }
    }
}

/// Confines this process and becomes the program named in the arguments, as told by the agent.
///
/// `arguments` are those after [`super::HELPER_WORD`]. Call it first thing in `main`: it must run
/// before the program starts threads or reads anything. It returns only if something failed; the
/// helper then prints the error and exits with [`Error::helper_code`]. It never runs the program
/// without the sandbox.
#[must_use = "it returns only if it failed"]
pub fn enter_and_exec(arguments: impl IntoIterator<Item = OsString>) -> Error {
    let Some((order, program, mut arguments)) = Order::read(arguments) else {
        return Error::HelperArguments;
    };
    let confined = match order.apart {
        true => keeper::enter(&order),
        false => confine_here(&order),
    };
    let confined = match confined {
        Ok(confined) => confined,
        Err(error) => return error,
    };
    if order.report {
        arguments.push(confined.abi.unwrap_or_default().to_string().into());
        for has in [confined.calls, confined.bounded, confined.connects] {
            arguments.push(if has { "yes" } else { "no" }.into());
        }
    }
    let source = Command::new(&program).args(arguments).exec();
    Error::Exec { program, source }
}

/// Confines this process where it is, without namespaces.
fn confine_here(order: &Order) -> Result<Confined, Error> {
    let failed = |error: std::io::Error| Error::Ruleset(error.into());
    orphans::keep().map_err(failed)?;
    powers::give_up(CapabilitySet::empty()).map_err(failed)?;
    let bounded = bounds::set(order).map_err(failed)?;
    let Some(abi) = rules::confine(order)? else {
        // Nothing else confines it here.
        return Err(Error::NotEnforced);
    };
    Ok(Confined {
        abi: Some(abi),
        calls: calls::confine(order)?,
        bounded,
        // It cannot open any.
        connects: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_make_no_sense_run_nothing() {
        for line in [
            "",
            "--",
            "--write",
            "--write /a",
            "--write /a --",
            "--private /a -- sh",
            "--processes many -- sh",
            "sh",
            "--what -- sh",
        ] {
            let words: Vec<_> = line.split(' ').map(OsString::from).collect();
            let error = enter_and_exec(words);
            assert!(matches!(error, Error::HelperArguments), "{line}");
        }
    }
}
