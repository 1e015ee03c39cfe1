//! Reading and writing text files for an agent.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ply_roots::{Error, Kind, Leaf, Onto, RACES_MAX};
use ply_rpc::RpcError;
use ply_wire::v1;
use tokio::sync::Semaphore;

use super::Roots;
use super::refusal::Refusal;

mod read;

#[cfg(test)]
mod tests;

/// How far into a file is read for one request.
pub(super) const READ_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Files being read or written at once, over all sessions; more wait.
const FILES_AT_ONCE_MAX: usize = 4;
/// How long a request waits for the disk before it is answered with an error.
const FILE_TIME_MAX: Duration = Duration::from_secs(60);

/// Unsaved content of an editor, by absolute path.
///
/// Called on a thread where blocking is allowed.
pub trait Buffers: Send + Sync + 'static {
    /// Returns what the editor shows for the file at `path`, or nothing where the disk is right.
    fn read(&self, path: &Path) -> Option<String>;

    /// Notes that an agent has written `content` to the file at `path`.
    fn written(&self, path: &Path, content: &str) {
        let _ = (path, content);
    }
}

/// Gives agents the text files beneath their session's directories.
///
/// A write puts a new file in place of the old one as a whole and keeps its mode and owner; other hard links to it keep the old
/// content. A file that may not be written to is not replaced. Requests in flight at the same time are independent of each other,
/// so an agent that wants an order waits for the answers.
#[derive(Clone)]
pub struct Files {
    can_write: bool,
    buffers: Option<Arc<dyn Buffers>>,
    slots: Arc<Semaphore>,
}

impl Default for Files {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files")
            .field("can_write", &self.can_write)
            .field("buffers", &self.buffers.is_some())
            .finish_non_exhaustive()
    }
}

impl Files {
    /// Returns the files of the disk, to read and write.
    #[must_use]
    pub fn new() -> Self {
        Self {
            can_write: true,
            buffers: None,
            slots: Arc::new(Semaphore::new(FILES_AT_ONCE_MAX)),
        }
    }

    /// Returns the files of the disk, to read only.
    #[must_use]
    pub fn read_only() -> Self {
        Self {
            can_write: false,
            ..Self::new()
        }
    }

    /// Puts the unsaved content of an editor before what is on the disk.
    #[must_use]
    pub fn with_buffers(mut self, buffers: impl Buffers) -> Self {
        self.buffers = Some(Arc::new(buffers));
        self
    }

    pub(crate) fn can_write(&self) -> bool {
        self.can_write
    }

    pub(crate) async fn read_text_file(
        &self,
        roots: &Roots,
        request: v1::ReadTextFileRequest,
    ) -> Result<v1::ReadTextFileResponse, RpcError> {
        let v1::ReadTextFileRequest {
            path, line, limit, ..
        } = request;
        let work = {
            let (roots, path, buffers) = (roots.clone(), path.clone(), self.buffers.clone());
            move || read::read(&roots, &path, buffers.as_deref(), line, limit)
        };
        let content = self.blocking(work).await;
        content
            .map(v1::ReadTextFileResponse::new)
            .map_err(|refusal| refusal.answer(&path))
    }

    pub(crate) async fn write_text_file(
        &self,
        roots: &Roots,
        request: v1::WriteTextFileRequest,
    ) -> Result<v1::WriteTextFileResponse, RpcError> {
        if !self.can_write {
            return Err(RpcError::method_not_found());
        }
        let v1::WriteTextFileRequest { path, content, .. } = request;
        let work = {
            let (roots, path, buffers) = (roots.clone(), path.clone(), self.buffers.clone());
            move || write(&roots, &path, buffers.as_deref(), &content)
        };
        let written = self.blocking(work).await;
        written
            .map(|()| v1::WriteTextFileResponse::new())
            .map_err(|refusal| refusal.answer(&path))
    }

    /// Runs `work` on a thread where it may block. What has been started is finished even if nobody waits for it.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let slots = Arc::clone(&self.slots);
        let work = async move {
            let slot = slots.acquire_owned().await.map_err(|_| Refusal::Slow)?;
            let work = move || {
                let result = work();
                drop(slot);
                result
            };
            let result = tokio::task::spawn_blocking(work).await;
            result.map_err(|_| Refusal::Panicked)?
        };
        let result = tokio::time::timeout(FILE_TIME_MAX, work).await;
        result.map_err(|_| Refusal::Slow)?
    }
}

fn write(
    roots: &Roots,
    path: &Path,
    buffers: Option<&dyn Buffers>,
    content: &str,
) -> Result<(), Refusal> {
    let real = replace(roots, path, content.as_bytes())?;
    if let Some(buffers) = buffers {
        buffers.written(real.as_deref().unwrap_or(path), content);
    }
    Ok(())
}

/// Replaces the content of the file at `path`, which is made if it is missing, and tells where it really is.
fn replace(roots: &Roots, path: &Path, content: &[u8]) -> Result<Option<PathBuf>, Refusal> {
    for _ in 0..RACES_MAX {
        let written = roots.place(path, Leaf::Follow).and_then(|mut place| {
            let onto = match place.kind()? {
                Kind::Missing => Onto::Nothing,
                _ => Onto::File,
            };
            match place.write(content, onto) {
                // It went away after it was seen.
                Err(Error::NotFound) if onto == Onto::File => Err(Error::Moved),
                written => written,
            }?;
            Ok(place.real().map(Path::to_owned))
        });
        match written {
            // Something else has the name by now.
            Err(Error::Moved | Error::Exists) => {}
            written => return Ok(written?),
        }
    }
    Err(Refusal::Changing)
}
