use rustix::io::Errno;

/// Why a path was refused or an operation failed.
///
/// A path outside the roots gives [`Outside`](Self::Outside) whether or not something exists there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path is relative.
    #[error("the path is not absolute")]
    Relative,
    /// The path contains a NUL byte.
    #[error("the path contains a NUL byte")]
    Nul,
    /// The path leads out of the roots, by itself or through a link.
    #[error("the path leads out of the session's directories")]
    Outside,
    /// A root was moved, removed or replaced by another directory.
    #[error("a directory of the session was moved, removed or replaced")]
    RootGone,
    /// Nothing exists at the path.
    #[error("no such file or directory")]
    NotFound,
    /// A part of the path is a file where a directory is needed.
    #[error("a part of the path is not a directory")]
    NotADirectory,
    /// The path names a directory where a file is needed.
    #[error("the path names a directory")]
    IsADirectory,
    /// The path names a pipe, a device or a socket.
    #[error("the path names a pipe, a device or a socket")]
    Special,
    /// A symbolic link inside the path points to nothing.
    #[error("a symbolic link in the path points to nothing")]
    Dangling,
    /// The path contains too many symbolic links, or a loop of them.
    #[error("the path contains too many symbolic links")]
    Links,
    /// The path has too many levels.
    #[error("the path has too many levels")]
    TooDeep,
    /// The path changed during the operation.
    #[error("the path changed during the operation")]
    Moved,
    /// Something exists where nothing may.
    #[error("something exists at the path already")]
    Exists,
    /// A move between two file systems.
    #[error("the two paths are on different file systems")]
    OtherDevice,
    /// The operating system refused.
    #[error("the operating system refused: {0}")]
    System(#[source] std::io::Error),
}

impl From<Errno> for Error {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT => Self::NotFound,
            Errno::NOTDIR => Self::NotADirectory,
            Errno::ISDIR => Self::IsADirectory,
            Errno::LOOP => Self::Links,
            Errno::EXIST => Self::Exists,
            // A device, or a pipe that nobody has open at the other end.
            Errno::NXIO | Errno::NODEV => Self::Special,
            other => Self::System(other.into()),
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(number) => number.into(),
            None => Self::System(error),
        }
    }
}
