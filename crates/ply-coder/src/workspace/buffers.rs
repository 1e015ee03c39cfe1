//! Files as the user sees them: what is on disk, or what the client has not saved yet.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::disk;
use super::text::{LineEnds, Text};
use super::{Error, READ_BYTES_MAX, Spot, Workspace};
use crate::tool::Surface;

/// How long the client may take for one file.
const CLIENT_WAIT: Duration = Duration::from_secs(30);
/// Files with unsaved changes that a search asks the client for.
const OVERLAY_FILES_MAX: usize = 32;

/// What the user is told about a client that does not answer.
const SILENT: &str = "The editor does not answer when it is asked for a file. From now on this session \
                      reads and writes what is on disk: save your changes.";

/// A text file as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loaded {
    pub(crate) text: Text,
    /// Whether it is what the client has not saved.
    pub(crate) unsaved: bool,
    /// What is on disk, if anything is.
    disk: Option<Vec<u8>>,
}

/// What a write left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Landed {
    /// What the file holds now, which is not what was written if the client formats what it saves.
    pub(crate) text: Text,
    /// Whether it is in the client's buffer only.
    pub(crate) unsaved: bool,
}

impl Workspace {
    /// Reads a text file; none if there is none, neither on disk nor in the client.
    ///
    /// # Errors
    ///
    /// It is no text, too large, or not to be had.
    ///
    /// # Cancel safety
    ///
    /// Dropping it has no effect.
    pub(crate) async fn load(
        &self,
        spot: &Spot,
        surface: &dyn Surface,
    ) -> Result<Option<Loaded>, Error> {
        let real = spot.real.clone();
        let disk = self
            .blocking(move |inner| disk::read(inner.roots_of(&real), &real))
            .await?;
        let text = disk.clone().map(Text::decode).transpose()?;
        let buffer = self.buffer(spot, surface).await;
        let mut seen = self.inner.seen();
        let folded = text.as_ref().map(Text::folded);
        let dirty = match (&buffer, &folded) {
            (None, _) => false,
            // Some clients have an empty buffer for every name there is.
            (Some(buffer), None) => !buffer.text.is_empty(),
            // A buffer that holds what was on disk before is one that the client has not refreshed.
            (Some(buffer), Some(folded)) => {
                let buffer = buffer.folded();
                buffer != *folded && !seen.was_disk(&spot.real, &buffer)
            }
        };
        if let Some(folded) = &folded {
            seen.put_disk(&spot.real, folded);
        }
        Ok(match (buffer, text) {
            (Some(buffer), text) if dirty => Some(Loaded {
                text: resembling(buffer, text.as_ref()),
                unsaved: true,
                disk,
            }),
            (_, Some(text)) => Some(Loaded {
                text,
                unsaved: false,
                disk,
            }),
            (_, None) => None,
        })
    }

    /// Writes a text file that must be as it was loaded, through the client if it has files.
    ///
    /// # Errors
    ///
    /// The file changed, or could not be written.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: a write that has begun may be finished after it is dropped. The file is the
    /// old one or the new one, never something between.
    pub(crate) async fn store(
        &self,
        spot: &Spot,
        old: Option<&Loaded>,
        new: Text,
        surface: &dyn Surface,
    ) -> Result<Landed, Error> {
        if self.load(spot, surface).await?.as_ref() != old {
            return Err(Error::Stale);
        }
        let landed = match self.asks_client(surface) {
            true => self.store_through_client(spot, old, new, surface).await?,
            false => self.store_on_disk(spot, old, new).await?,
        };
        let mut seen = self.inner.seen();
        seen.show(&spot.real, &landed.text.whole(), landed.unsaved);
        if !landed.unsaved {
            seen.put_disk(&spot.real, &landed.text.folded());
        }
        Ok(landed)
    }

    async fn store_on_disk(
        &self,
        spot: &Spot,
        old: Option<&Loaded>,
        new: Text,
    ) -> Result<Landed, Error> {
        let disk = old.and_then(|old| old.disk.clone());
        self.replace(spot, disk, &new).await?;
        Ok(Landed {
            text: new,
            unsaved: false,
        })
    }

    async fn store_through_client(
        &self,
        spot: &Spot,
        old: Option<&Loaded>,
        new: Text,
        surface: &dyn Surface,
    ) -> Result<Landed, Error> {
        let real = spot.real.clone();
        self.blocking(move |inner| disk::make_directories(&inner.roots, &real))
            .await?;
        let write = surface.write_text(&spot.shown, new.whole());
        match tokio::time::timeout(CLIENT_WAIT, write).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::debug!(error, "the client did not write a file");
                return match old {
                    Some(old) if old.unsaved => Err(Error::ClientWrite),
                    old => self.store_on_disk(spot, old, new).await,
                };
            }
            Err(_) => return Err(Error::ClientSilent),
        }
        let real = spot.real.clone();
        let disk = self
            .blocking(move |inner| disk::read(&inner.roots, &real))
            .await?;
        if disk == old.and_then(|old| old.disk.clone()) && disk != Some(new.whole().into_bytes()) {
            // The disk is as before: the client changed its buffer and did not save it.
            let buffer = self.buffer(spot, surface).await;
            return match buffer {
                Some(buffer) if buffer.folded() == new.folded() => Ok(Landed {
                    text: new,
                    unsaved: true,
                }),
                _ => Err(Error::ClientLost),
            };
        }
        let Some(bytes) = disk else {
            return Err(Error::ClientLost);
        };
        let landed = Text::decode(bytes.clone())?;
        if landed != new && landed.folded() == new.folded() {
            // The client kept the text and lost its line ends or its mark; they are the file's own.
            self.replace(spot, Some(bytes), &new).await?;
            return Ok(Landed {
                text: new,
                unsaved: false,
            });
        }
        Ok(Landed {
            text: landed,
            unsaved: false,
        })
    }

    async fn replace(&self, spot: &Spot, old: Option<Vec<u8>>, new: &Text) -> Result<(), Error> {
        let (real, new) = (spot.real.clone(), new.whole());
        self.blocking(move |inner| {
            disk::replace(&inner.roots, &real, old.as_deref(), new.as_bytes())?;
            // Also when nobody waits any more: it is what the model wrote.
            inner.seen().show(&real, &new, false);
            Ok(())
        })
        .await
    }

    /// Says whether the client is asked for files: it has some, and answers.
    fn asks_client(&self, surface: &dyn Surface) -> bool {
        surface.has_files() && !self.silent.load(Ordering::Relaxed)
    }

    /// Returns what the client has of a file, if it has files and knows this one.
    async fn buffer(&self, spot: &Spot, surface: &dyn Surface) -> Option<Text> {
        if !self.asks_client(surface) {
            return None;
        }
        let read = surface.read_text(&spot.shown);
        let text = match tokio::time::timeout(CLIENT_WAIT, read).await {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => {
                tracing::debug!(error, "the client has no buffer for a file");
                return None;
            }
            Err(_) => {
                // It would cost as much with every file from now on.
                if !self.silent.swap(true, Ordering::Relaxed) {
                    surface.notice(SILENT).await;
                }
                return None;
            }
        };
        let small = u64::try_from(text.len()).is_ok_and(|bytes| bytes <= READ_BYTES_MAX);
        small.then(|| Text::new(text))
    }

    /// Returns the unsaved text of files that had some when the model read them.
    pub(crate) async fn overlay(&self, surface: &dyn Surface) -> Vec<(PathBuf, String)> {
        let paths = self.inner.seen().unsaved(OVERLAY_FILES_MAX);
        let mut overlay = Vec::new();
        for real in paths {
            let spot = Spot::at(&self.inner.roots, real, super::Kind::File);
            // One that cannot be read any more is searched on disk, or not at all.
            if let Ok(Some(loaded)) = self.load(&spot, surface).await
                && loaded.unsaved
            {
                overlay.push((spot.real, loaded.text.text));
            }
        }
        overlay
    }
}

/// Gives a buffer the line ends and the mark of its file, where the client keeps neither.
fn resembling(buffer: Text, disk: Option<&Text>) -> Text {
    let Some(disk) = disk else {
        return buffer;
    };
    let ends = match (disk.line_ends(), LineEnds::of(&buffer.text)) {
        (LineEnds::Crlf, LineEnds::Lf) => LineEnds::Crlf,
        _ => LineEnds::Mixed,
    };
    Text {
        bom: buffer.bom || disk.bom,
        text: ends.apply(&buffer.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_gets_the_line_ends_and_the_mark_of_its_file_back() {
        let disk = Text::new("\u{feff}a\r\nb\r\n");
        let buffer = resembling(Text::new("a\nc\n"), Some(&disk));
        assert_eq!(buffer.whole(), "\u{feff}a\r\nc\r\n");
    }

    #[test]
    fn a_buffer_of_a_file_with_mixed_line_ends_stays_as_it_is() {
        let disk = Text::new("a\r\nb\n");
        assert_eq!(resembling(Text::new("a\nc\n"), Some(&disk)).text, "a\nc\n");
    }
}
