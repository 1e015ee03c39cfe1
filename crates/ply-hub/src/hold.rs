//! Agents that outlive the hub: one small process for each of them, the holder (`ply hold`), owns its streams.
//!
//! ```text
//!   hub ──(socket, frames)──▶ holder ──(pipes, lines)──▶ agent
//! ```
//!
//! The hub may be killed at any moment. Its successor [finds](find) the holders, [connects](connect) and goes on in the same
//! turn, because both sides know exactly where they stand:
//!
//! - **Lines of the agent are numbered from 1 and kept until a hub acknowledges them.** Each hub gets those that were not, in order.
//!   64 MiB are kept; then the agent is no longer read, and waits as on a full pipe.
//! - **Lines for the agent are numbered by the hub and written once.** One whose number was taken before is dropped, so a hub that does
//!   not know whether a line arrived sends it again. A line is in the holder's memory as a whole before its first byte is written;
//!   a hub that dies in the middle of one has sent nothing.
//! - **One hub at a time.** A connection begins with the hub's epoch. A later epoch cuts off the hub that is there, and an earlier one is
//!   refused.
//! - **An end is told until it is buried.** How the agent ended, and the last 64 KiB of its standard error, are told to every hub
//!   that comes, after all lines, until one says [`Control::bury`].
//! - **Without a hub the agent goes on** for [`Linger::busy`] or [`Linger::idle`], as the last hub said; then it is ended as by
//!   [`ToAgent::Stop`](crate::pipe::ToAgent::Stop): end of input, SIGTERM, SIGKILL.
//! - **Nothing of an agent is left.** The holder is the subreaper of all that the agent starts, so it finds also what has left session,
//!   parent and environment, and it knows when nothing is left: it has no child to wait for. When the agent itself ends, the rest of
//!   its tree is ended too. Should the holder be killed, the agent gets SIGTERM, and
//!   [`end_leftovers`](ply_rpc::transport::child::end_leftovers) finds what is left by the holder's mark.
//!
//! A holder is nobody's child, leads its own session, and has an empty environment: no mark by which it would be ended with the
//! tree of a hub that died. What the agent is started with comes over a pipe, and is in no argument and no file. In the holders'
//! directory (0700) lie `ID.sock` (0600) and `ID.json` ([`About`]). Only processes of the same user that are [not behind a
//! holder](is_held) may connect: an agent must not speak as a hub.
//!
//! The holder is one thread that waits in `poll`, without a runtime: there may be hundreds of them, and what each needs for itself
//! is little more than what the loader writes for a program of this size.
//!
//! # The frames
//!
//! `u32` length of the rest, `u8` kind, `u64` number, body; little-endian. Bodies are lines or JSON.
//!
//! | Kind | Direction | Meaning |
//! |---|---|---|
//! | 0 hello | both | `{protocol, epoch}`; `{protocol, pid, started, last_in, first_out, last_out}` |
//! | 1 out | to the hub | line `number` of the agent |
//! | 2 acknowledge | to the holder | lines up to `number` need not be kept |
//! | 3 in | to the holder | line `number` for the agent |
//! | 4 wrote | to the hub | lines up to `number` are written |
//! | 5 stderr | both | a request for the last of standard error, and the answer |
//! | 6 exit | to the hub | `{code, signal}`, after a 5 |
//! | 7 stop | to the holder | end the agent |
//! | 8 bury | to the holder | end what is left, remove the files, end |
//! | 9 busy | to the holder | `number` 1: there is work worth waiting for |
//! | 10 refused | to the hub | hub `number` has taken over |

mod agent;
mod connect;
mod ending;
mod files;
mod frame;
mod given;
mod guard;
mod holder;
mod kept;
mod message;
mod order;
mod run;
mod start;
mod visit;

pub use self::connect::{Connection, Control, connect};
pub use self::ending::{Grace, Linger};
pub use self::files::About;
pub use self::guard::is_held;
pub use self::order::Order;
pub use self::run::run;
pub use self::start::{Error, WORD, find, start};
pub(crate) use self::start::{bury, bury_all, of_store};
