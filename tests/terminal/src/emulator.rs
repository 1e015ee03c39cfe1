//! The terminal emulator: bytes of the program in, a screen and answers out.

mod answers;

use std::collections::BTreeSet;

use crate::key::KeyModes;
use crate::shot::cells;
use crate::{Launch, Shot};

use answers::Listener;

/// How many notifications and copied texts are kept; a test looks at the first few.
const HEARD_MAX: usize = 64;

/// What a program told its terminal, beside what it drew.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// The title of the window.
    pub title: String,
    /// How often the bell rang.
    pub bells: usize,
    /// The texts of desktop notifications.
    pub notifications: Vec<String>,
    /// What was put into the clipboard, in base64 as it came.
    pub copied: Vec<String>,
}

/// A terminal without a cable.
pub(crate) struct Emulator {
    parser: vt100::Parser<Listener>,
}

impl Emulator {
    pub(crate) fn new(launch: &Launch) -> Self {
        let listener = Listener::new(launch.background, launch.keyboard);
        Emulator {
            parser: vt100::Parser::new_with_callbacks(
                cells(launch.rows),
                cells(launch.columns),
                0,
                listener,
            ),
        }
    }

    /// Draws what the program wrote and returns what the terminal answers to it.
    pub(crate) fn process(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.parser.process(bytes);
        self.parser.callbacks_mut().take_answers()
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.set_size(cells(rows), cells(columns));
    }

    pub(crate) fn shot(&self) -> Shot {
        Shot::new(self.parser.screen())
    }

    pub(crate) fn heard(&self) -> Heard {
        self.parser.callbacks().heard.clone()
    }

    pub(crate) fn key_modes(&self) -> KeyModes {
        KeyModes {
            application_cursor: self.parser.screen().application_cursor(),
            kitty: self.parser.callbacks().is_kitty(),
        }
    }

    /// Tells whether the program is in the middle of a frame, and asked not to show it yet.
    pub(crate) fn is_drawing(&self) -> bool {
        self.parser.callbacks().is_on(2026)
    }

    pub(crate) fn is_paste_bracketed(&self) -> bool {
        self.parser.screen().bracketed_paste()
    }

    /// What a program has switched on and not off again.
    pub(crate) fn switched_on(&self) -> BTreeSet<&'static str> {
        let screen = self.parser.screen();
        let listener = self.parser.callbacks();
        let is_mouse = screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None;
        [
            (screen.alternate_screen(), "the alternate screen"),
            (screen.hide_cursor(), "the hidden cursor"),
            (screen.bracketed_paste(), "bracketed paste"),
            (screen.application_cursor(), "application cursor keys"),
            (screen.application_keypad(), "the application keypad"),
            (is_mouse, "the mouse"),
            (listener.is_on(1004), "focus events"),
            (listener.is_on(2026), "a synchronized update"),
            (listener.is_on(2031), "colour scheme events"),
            (listener.is_kitty(), "the kitty keyboard"),
        ]
        .into_iter()
        .filter_map(|(on, name)| on.then_some(name))
        .collect()
    }
}
