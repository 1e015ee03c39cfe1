//! Writes a trace, and says in it what could not be written.

use std::io::{self, Write};

use super::{Entry, Event, Header, Lost, Redactor};

/// What is gathered before it is written.
const BUFFER_BYTES: usize = 64 * 1024;

/// Writes entries as lines.
///
/// When the output fails, what was to be written is lost and counted; as soon as it works again, the
/// trace says so with an entry of its own.
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    redactor: Option<Redactor>,
    /// Whole lines.
    buffer: Vec<u8>,
    /// What the trace does not say yet.
    untold: Lost,
    lost: Lost,
    /// Whether the output ends inside of a line.
    is_torn: bool,
    last_t: f64,
}

impl<W: Write> Writer<W> {
    /// Begins a trace; nothing is written before the first [`Writer::flush`].
    ///
    /// With a redactor secrets are taken out of everything, the header's command included.
    pub fn new(output: W, header: &Header, redactor: Option<Redactor>) -> Self {
        let mut header = header.clone();
        if let Some(redactor) = &redactor {
            header.command = redactor.command(&header.command);
            header.redacted = true;
        }
        let mut buffer = serde_json::to_vec(&header).expect("strings can be written");
        buffer.push(b'\n');
        Self {
            output,
            redactor,
            buffer,
            untold: Lost::default(),
            lost: Lost::default(),
            is_torn: false,
            last_t: 0.0,
        }
    }

    /// Writes an entry, soon.
    ///
    /// # Errors
    ///
    /// The output failed. The writer can be used further: what was lost is counted and will be told.
    pub fn write(&mut self, entry: &Entry) -> io::Result<()> {
        self.last_t = entry.t;
        match self.redactor.as_ref().and_then(|it| it.entry(entry)) {
            Some(redacted) => redacted.encode(&mut self.buffer),
            None => entry.encode(&mut self.buffer),
        }
        match self.buffer.len() >= BUFFER_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Notes a loss that happened before the writer.
    ///
    /// # Errors
    ///
    /// As for [`Writer::write`].
    pub fn note_lost(&mut self, t: f64, lost: Lost) -> io::Result<()> {
        self.lost.entries += lost.entries;
        self.lost.bytes += lost.bytes;
        self.write(&Entry::new(t, Event::Lost(lost)))
    }

    /// Hands everything to the output.
    ///
    /// # Errors
    ///
    /// As for [`Writer::write`].
    pub fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() && self.untold.entries == 0 {
            return Ok(());
        }
        let mut head = Vec::new();
        if self.is_torn {
            head.push(b'\n');
        }
        if self.untold.entries > 0 {
            Entry::new(self.last_t, Event::Lost(self.untold.clone())).encode(&mut head);
        }
        let head_bytes = head.len();
        head.append(&mut self.buffer);
        let (written, failed) = self.push(&head);
        if written > 0 {
            self.is_torn = head.get(written - 1) != Some(&b'\n');
        }
        if written >= head_bytes {
            self.untold = Lost::default();
        }
        let Some(error) = failed else {
            return self.output.flush();
        };
        let rest = head.get(written.max(head_bytes)..).unwrap_or_default();
        let lines = rest.iter().filter(|byte| **byte == b'\n').count();
        for lost in [&mut self.untold, &mut self.lost] {
            lost.entries += u64::try_from(lines).unwrap_or(u64::MAX);
            lost.bytes += u64::try_from(rest.len()).unwrap_or(u64::MAX);
            lost.why = error.to_string();
        }
        Err(error)
    }

    /// Writes as much as possible and returns how much that was.
    fn push(&mut self, mut bytes: &[u8]) -> (usize, Option<io::Error>) {
        let all = bytes.len();
        while !bytes.is_empty() {
            match self.output.write(bytes) {
                Ok(0) => return (all - bytes.len(), Some(io::ErrorKind::WriteZero.into())),
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (all - bytes.len(), Some(error)),
            }
        }
        (all, None)
    }

    /// Returns what was lost in all.
    pub fn lost(&self) -> &Lost {
        &self.lost
    }

    /// Writes what is left and returns the output.
    ///
    /// # Errors
    ///
    /// As for [`Writer::write`].
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        Ok(self.output)
    }
}
