//! A real terminal for tests: a program on a pty, its screen read by a terminal emulator.
//!
//! [`Terminal`] runs a program as a terminal would: it is the program's controlling terminal, answers its questions, sends it
//! keys, and knows what is on the screen at any moment. [`Tmux`] does the same with tmux in between. Both are a [`Screen`], and
//! [`on_every_screen`] runs one scenario on each.
//!
//! Waiting is for something that can be seen, never for a time, and it ends after [`WAIT_MAX`] with the whole screen in the message.
//!
//! ```
//! use terminal_tests::{Ended, Key, Launch, Screen as _, Terminal};
//!
//! let mut terminal = Terminal::spawn(&Launch::new("sh").args(["-c", "read name; echo hello, $name"])).unwrap();
//! terminal.type_text("you");
//! terminal.press(Key::Enter);
//! terminal.wait_for_text("hello, you");
//! assert_eq!(terminal.ended(), Ended::Code(0));
//! ```

mod emulator;
mod key;
mod launch;
pub mod pictures;
mod scenario;
pub mod scenes;
mod screen;
mod shot;
mod terminal;
mod tmux;

pub use emulator::Heard;
pub use key::Key;
pub use launch::{Background, Keyboard, Launch};
pub use scenario::{on_every_screen, tmux_is_missing};
pub use screen::{Ended, NotSeen, Screen, WAIT_MAX};
pub use shot::{Colour, Shot, Style};
pub use terminal::Terminal;
pub use tmux::Tmux;
