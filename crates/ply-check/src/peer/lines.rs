//! Lines of the other side, whatever they hold.

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::mpsc;

/// Bytes read at a time.
const READ_BYTES: usize = 64 * 1024;
/// Bytes of a line; the rest of a longer one is a line of its own.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Cuts what is read into lines, without their line ends, until the end or until nobody listens.
pub(super) async fn read(mut reader: impl AsyncRead + Unpin, tell: mpsc::Sender<Vec<u8>>) {
    let mut line = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let read = reader.read(&mut buffer).await.unwrap_or(0);
        let Some(mut bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            line.extend_from_slice(head);
            if tell.send(std::mem::take(&mut line)).await.is_err() {
                return;
            }
        }
        line.extend_from_slice(bytes);
        if line.len() > LINE_BYTES_MAX && tell.send(std::mem::take(&mut line)).await.is_err() {
            return;
        }
    }
    if !line.is_empty() {
        // Whoever does not listen any more does not miss the last line either.
        drop(tell.send(line).await);
    }
}
