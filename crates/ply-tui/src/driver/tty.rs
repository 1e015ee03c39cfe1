//! The terminal, taken and given back.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
    EnableFocusChange, EnableMouseCapture, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    SetTitle, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Position, Rect};
use ratatui::{Frame, Terminal};

use crate::options::Notify;

/// Bytes of a frame that are kept until it is whole.
const FRAME_BYTES_MAX: usize = 1024 * 1024;

/// Whether the terminal is ours. A panic has to know that wherever it happens.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// What the client is shown on.
pub(super) trait Screen {
    fn draw(&mut self, draw: &mut dyn FnMut(&mut Frame<'_>)) -> io::Result<()>;
    /// Has the next frame drawn anew, whatever the terminal shows.
    fn refresh(&mut self);
    fn set_title(&mut self, title: &str) -> io::Result<()>;
    fn notify(&mut self, words: &str, how: Notify) -> io::Result<()>;
    /// Gives the terminal back.
    fn leave(&mut self) -> io::Result<()>;
    /// Says something on the terminal that was given back.
    fn say_after(&mut self, words: &str) -> io::Result<()>;
    /// Takes it again.
    fn enter(&mut self) -> io::Result<()>;
}

/// The terminal of this process.
pub(super) struct Tty {
    terminal: Terminal<CrosstermBackend<Frames>>,
    has_mouse: bool,
    /// What the terminal shows is not known.
    is_unknown: bool,
}

/// Standard output, written a frame at a time. Half a frame is forgotten once the terminal is not ours any more: after a panic it
/// would be drawn over what the panic says.
#[derive(Default)]
struct Frames {
    bytes: Vec<u8>,
}

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > FRAME_BYTES_MAX {
            self.flush()?;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut out = io::stdout();
        let written = match IS_TAKEN.load(Ordering::SeqCst) {
            true => out.write_all(&self.bytes).and_then(|()| out.flush()),
            false => Ok(()),
        };
        self.bytes.clear();
        written
    }
}

impl Tty {
    pub(super) fn new(has_mouse: bool) -> io::Result<Self> {
        HOOK.call_once(|| {
            let told = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                // First, or nobody would see what it says.
                restore();
                told(panic);
            }));
        });
        let terminal = Terminal::new(CrosstermBackend::new(Frames::default()))?;
        let mut tty = Self {
            terminal,
            has_mouse,
            is_unknown: true,
        };
        tty.enter()?;
        Ok(tty)
    }
}

/// Gives the terminal back as it was, as far as possible.
fn restore() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        // Nothing can be done about a terminal that is gone.
        drop(try_restore());
    }
}

fn try_restore() -> io::Result<()> {
    // First, since whoever sees their shell again may type, and what they type has to end with a line.
    let cooked = disable_raw_mode();
    let mut out = io::stdout();
    let written = execute!(
        out,
        EndSynchronizedUpdate,
        PopKeyboardEnhancementFlags,
        DisableFocusChange,
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        cursor::Show,
    );
    cooked.and(written)
}

impl Screen for Tty {
    fn draw(&mut self, draw: &mut dyn FnMut(&mut Frame<'_>)) -> io::Result<()> {
        if !IS_TAKEN.load(Ordering::SeqCst) {
            return Err(io::Error::other("a part of the client broke down"));
        }
        // Nobody sees half a frame, where the terminal knows how to wait.
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        if std::mem::take(&mut self.is_unknown) {
            // Not by `clear`, which asks the terminal where its cursor is and would race with the reader of the keys for the answer.
            let size = self.terminal.size()?;
            self.terminal.resize(Rect::from((Position::ORIGIN, size)))?;
        }
        self.terminal.draw(|frame| draw(frame))?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }

    fn refresh(&mut self) {
        self.is_unknown = true;
    }

    fn set_title(&mut self, title: &str) -> io::Result<()> {
        execute!(io::stdout(), SetTitle(title))
    }

    fn notify(&mut self, words: &str, how: Notify) -> io::Result<()> {
        let mut out = io::stdout();
        if how == Notify::Desktop {
            let words = ply_client::text::Line(words);
            write!(out, "\x1b]9;{words}\x07")?;
        }
        if how != Notify::Never {
            write!(out, "\x07")?;
        }
        out.flush()
    }

    fn leave(&mut self) -> io::Result<()> {
        match IS_TAKEN.swap(false, Ordering::SeqCst) {
            true => try_restore(),
            false => Ok(()),
        }
    }

    fn say_after(&mut self, words: &str) -> io::Result<()> {
        writeln!(io::stdout(), "{words}")
    }

    fn enter(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        IS_TAKEN.store(true, Ordering::SeqCst);
        let mut out = io::stdout();
        execute!(
            out,
            EnterAlternateScreen,
            EnableBracketedPaste,
            EnableFocusChange,
            // Where it is not known it does nothing; where it is, Shift-Enter can be told from Enter.
            PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
        )?;
        if self.has_mouse {
            execute!(out, EnableMouseCapture)?;
        }
        self.refresh();
        Ok(())
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        restore();
    }
}

#[cfg(test)]
mod tests;
