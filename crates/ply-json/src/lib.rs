//! JSON text, for what every message costs: a [`Serializer`](serde::Serializer) that copies the plain parts of
//! strings instead of looking at each byte, and a [`Reader`] for code that knows the shape of what it reads.
//!
//! `serde_json` is the judge of both: [`write()`] writes the same bytes, and what a [`Reader`] gives up on is left to it.
//!
//! ```
//! let mut out = String::new();
//! ply_json::write(&("a\nb", [1, 2]), &mut out)?;
//! assert_eq!(out, r#"["a\nb",[1,2]]"#);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod escape;
mod read;
mod write;

pub use self::{
    escape::{Sink, escape},
    read::Reader,
    write::write,
};
