//! File access confined to the directories of a session.
//!
//! A path is never checked first and opened later. Every lookup opens relative to a directory that is already open, and
//! every link on the way is resolved beneath the roots or refused, so a link that someone puts in place meanwhile leads to
//! a refusal and never out of the roots. Both sides of the protocol use it: clients for the files they serve, the coding
//! agent for its tools.
//!
//! ```
//! use ply_roots::{Error, Leaf, Onto, Roots};
//!
//! # let directory = tempfile::tempdir().unwrap();
//! # let cwd = directory.path().canonicalize().unwrap();
//! let roots = Roots::open([cwd.clone()])?;
//! let mut place = roots.place(&cwd.join("notes/today"), Leaf::Follow)?;
//! place.write(b"buy milk", Onto::Nothing)?;
//! assert_eq!(std::fs::read(cwd.join("notes/today")).unwrap(), b"buy milk");
//!
//! let outside = roots.place("/etc/passwd".as_ref(), Leaf::Follow);
//! assert!(matches!(outside, Err(Error::Outside)));
//! # Ok::<(), Error>(())
//! ```
//!
//! All calls may block on the file system: in async code, run them where blocking is allowed. Hard links are the file
//! system's business: one inside a root is a file of that root.

mod error;
mod follow;
mod fresh;
mod os;
mod place;
mod roots;

pub use error::Error;
pub use os::{Directory, Stat};
pub use place::{Kind, Leaf, Onto, Place};
pub use roots::Roots;

/// The number of symbolic links that are followed for one path, the same as in the kernel.
const LINKS_MAX: usize = 40;

/// How often a lookup is repeated when the path changes under it. Callers that see [`Error::Moved`] may use it, too.
pub const RACES_MAX: usize = 64;
