//! Why a service says no, in words that the agent can act on.

use std::path::Path;

use ply_rpc::RpcError;
use ply_wire::v1;
use rustix::io::Errno;

/// Why a request was not carried out.
///
/// What lies outside the roots is answered alike whether it exists or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("the path is not absolute; give the whole path from the root of the file system")]
    Relative,
    #[error("the path holds a NUL character; no file has such a name")]
    Nul,
    #[error(
        "the path is outside the session's directories or leads out of them through a link; use a path inside them"
    )]
    Outside,
    #[error("Resource not found")]
    NotFound,
    #[error("this directory of the session is gone or was replaced; open the session anew")]
    RootGone,
    #[error("the path does not name a regular file")]
    NotAFile,
    #[error("a part of the path is not a directory")]
    NotADirectory,
    #[error("the path has too many links or levels to follow")]
    TooDeep,
    #[error("the path kept changing while it was opened; try again")]
    Changing,
    #[error("lines are counted from 1")]
    LineZero,
    #[error(
        "more than {} MiB would have to be read; ask for lines nearer to the start of the file, and fewer of them",
        super::files::READ_BYTES_MAX >> 20
    )]
    TooLarge,
    #[error("the file is not UTF-8 text")]
    NotText,
    #[error("the files of this session did not answer in time; a write may still be carried out")]
    Slow,
    #[error("reading or writing stopped because of a fault in the client")]
    Panicked,
    #[error("the system refused: {0}")]
    System(Errno),
}

impl Refusal {
    /// Returns the answer to a request for `path`, which is the request's own.
    pub(crate) fn answer(self, path: &Path) -> RpcError {
        let code = match self {
            Self::NotFound => {
                return not_found().with_data(&serde_json::json!({ "uri": path }));
            }
            Self::Relative
            | Self::Nul
            | Self::Outside
            | Self::NotAFile
            | Self::NotADirectory
            | Self::LineZero => RpcError::INVALID_PARAMS,
            _ => RpcError::INTERNAL_ERROR,
        };
        RpcError::new(code, self.to_string())
    }
}

impl From<ply_roots::Error> for Refusal {
    fn from(error: ply_roots::Error) -> Self {
        use ply_roots::Error;
        match error {
            Error::Relative => Self::Relative,
            Error::Nul => Self::Nul,
            Error::Outside => Self::Outside,
            Error::RootGone => Self::RootGone,
            Error::NotFound | Error::Dangling => Self::NotFound,
            Error::NotADirectory => Self::NotADirectory,
            Error::IsADirectory | Error::Special => Self::NotAFile,
            Error::Links | Error::TooDeep => Self::TooDeep,
            Error::Moved | Error::Exists => Self::Changing,
            Error::System(error) => error.into(),
            // The rest is about moving files, which no service does.
            _ => Self::System(Errno::XDEV),
        }
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Self::System(Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}

/// Returns the answer to a request for something that does not exist.
pub(super) fn not_found() -> RpcError {
    let code = i32::from(v1::ErrorCode::ResourceNotFound);
    RpcError::new(code.into(), Refusal::NotFound.to_string())
}
