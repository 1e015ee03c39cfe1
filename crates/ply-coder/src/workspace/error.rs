//! Why a file could not be had.

use std::path::Path;

use rustix::io::Errno;

use super::{PATH_BYTES_MAX, READ_BYTES_MAX, label};
use crate::tool::Outcome;

/// Why a file could not be read or changed. The words go to the model, after the path it gave.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path without a single character.
    #[error("the path is empty; name a file or a directory")]
    Empty,
    /// A path with a NUL in it.
    #[error("the path holds a NUL character, which no file name can; leave it out")]
    Nul,
    /// A path or a name in it that is longer than file systems take.
    #[error(
        "the path is too long: at most {PATH_BYTES_MAX} bytes, and 255 for each name; use a shorter one"
    )]
    TooLong,
    /// A path that leads out of the roots, by itself or through a link.
    #[error(
        "the path leads out of this session's directories; use a path inside them, relative to the working directory"
    )]
    Outside,
    /// Nothing there.
    #[error("there is no such file or directory; look with list_dir or glob")]
    NotFound,
    /// A file where a directory is wanted.
    #[error("that is not a directory; name the directory instead")]
    NotADirectory,
    /// A directory where a file is wanted.
    #[error("that is a directory, not a file; use list_dir to look into it")]
    IsADirectory,
    /// A pipe, a device or a socket.
    #[error("that is a pipe, a device or a socket, not a regular file; such files are left alone")]
    Special,
    /// A link where something else is wanted, with nothing behind it.
    #[error("a symbolic link on the path leads nowhere; name the place itself instead")]
    Dangling,
    /// Links that lead in a circle, or too many of them.
    #[error("too many symbolic links on the path; name the place itself instead")]
    Links,
    /// A file over the limit.
    #[error(
        "the file has {bytes} bytes, over the limit of {READ_BYTES_MAX}; use grep, or a shell command that cuts out a part"
    )]
    TooLarge {
        /// How large it is.
        bytes: u64,
    },
    /// More entries below a directory than a call may touch.
    #[error(
        "there are more than {limit} entries in it; go through its directories one at a time, or use a shell command"
    )]
    TooMany {
        /// How many there may be.
        limit: usize,
    },
    /// Bytes that are no text.
    #[error("the file is binary, not text; use a shell command that understands it")]
    Binary,
    /// Text with two bytes a character.
    #[error("the file is UTF-16, not UTF-8; convert it with a shell command first")]
    Utf16,
    /// Text in some other encoding.
    #[error(
        "the file is not valid UTF-8 and would be damaged by an edit; convert it with a shell command first"
    )]
    NotUtf8,
    /// A change to a file that was never read.
    #[error("the file has not been read yet; read it with read_file, then try again")]
    Unread,
    /// A change to a file that is not as it was read.
    #[error(
        "the file has changed since it was read; read it again with read_file, then decide anew"
    )]
    Stale,
    /// Something in a place that must be free.
    #[error("something of that name is there already and is not overwritten; choose another name")]
    Exists,
    /// A directory that is not empty.
    #[error("the directory is not empty; pass recursive = true to delete all that is in it")]
    NotEmpty,
    /// A root, or a directory with a root in it.
    #[error("that is one of this session's directories or holds one; it stays where it is")]
    IsARoot,
    /// A path that means another place than it did when the call was prepared.
    #[error("the path leads to another place than a moment ago; try again")]
    Moved,
    /// A root that is not where it was.
    #[error(
        "the session's directory was moved or removed; nothing can be done until it is back, tell the user"
    )]
    RootGone,
    /// A root that cannot be one.
    #[error("the session's directories must be absolute paths; pass them so")]
    RelativeRoot,
    /// More roots than a session may have.
    #[error("a session has at most {limit} directories; pass fewer")]
    TooManyRoots {
        /// How many there may be.
        limit: usize,
    },
    /// Edits in the editor that a write would lose.
    #[error(
        "the user has unsaved changes to this file in the editor; ask them to save or to discard these first"
    )]
    Unsaved,
    /// A write that the client did not do.
    #[error(
        "the editor could not write the file, and the user has unsaved changes in it; ask them to save, then read it again"
    )]
    ClientWrite,
    /// A write of which nothing was heard.
    #[error(
        "the editor did not say in time whether the file was written; read the file again to see what is in it"
    )]
    ClientSilent,
    /// A write that did something else.
    #[error(
        "the editor took the text but neither its buffer nor the disk holds it; read the file again to see what is in it"
    )]
    ClientLost,
    /// No right to do that.
    #[error("permission denied by the operating system; the user has to change the file's rights")]
    Denied,
    /// A read-only file system.
    #[error("the file system is read-only; nothing can be changed there")]
    ReadOnly,
    /// Two file systems.
    #[error(
        "the two places are on different file systems; write the new file and delete the old one instead"
    )]
    OtherDevice,
    /// Work that was given up while the program ends.
    #[error("the program is ending")]
    Ending,
    /// Anything else.
    #[error("the operating system refused: {0}")]
    Io(#[source] std::io::Error),
}

impl Error {
    /// Returns what a model is told: what could not be done, where, and why.
    pub(crate) fn refuse(&self, verb: &str, path: &str) -> Outcome {
        let path = label(Path::new(path));
        Outcome::failed(format!("Cannot {verb} `{path}`: {self}."))
    }
}

impl From<ply_roots::Error> for Error {
    fn from(error: ply_roots::Error) -> Self {
        use ply_roots::Error as Roots;
        match error {
            // What a model gives is made absolute first.
            Roots::Relative => Self::RelativeRoot,
            Roots::Nul => Self::Nul,
            Roots::Outside => Self::Outside,
            Roots::RootGone => Self::RootGone,
            Roots::NotFound => Self::NotFound,
            Roots::NotADirectory => Self::NotADirectory,
            Roots::IsADirectory => Self::IsADirectory,
            Roots::Special => Self::Special,
            Roots::Dangling => Self::Dangling,
            Roots::Links => Self::Links,
            Roots::TooDeep => Self::TooLong,
            Roots::Exists => Self::Exists,
            Roots::OtherDevice => Self::OtherDevice,
            Roots::System(error) => error.into(),
            // `Moved`: the others are above.
            _ => Self::Moved,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(Errno::ACCESS | Errno::PERM) => Self::Denied,
            Some(Errno::NAMETOOLONG) => Self::TooLong,
            Some(Errno::ROFS) => Self::ReadOnly,
            Some(Errno::NOTEMPTY) => Self::NotEmpty,
            _ => Self::Io(error),
        }
    }
}
