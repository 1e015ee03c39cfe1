//! Any byte stream, such as a socket.

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};

/// The two directions of a byte stream to a peer. Any value that can be read from and written to becomes one.
///
/// ```
/// use ply_rpc::transport::Transport;
///
/// let (here, _there) = tokio::io::duplex(4096);
/// let _one = Transport::from(here);
/// let _other = Transport::new(tokio::io::empty(), tokio::io::sink());
/// ```
#[must_use]
pub struct Transport {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
}

impl Transport {
    /// Returns a transport of two halves, such as a pair of pipes.
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            reader: Box::new(reader),
            writer: Box::new(writer),
        }
    }

    /// Returns the two halves.
    pub fn into_halves(
        self,
    ) -> (
        Box<dyn AsyncRead + Send + Unpin>,
        Box<dyn AsyncWrite + Send + Unpin>,
    ) {
        (self.reader, self.writer)
    }
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> From<S> for Transport {
    fn from(stream: S) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self::new(reader, writer)
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transport")
    }
}
