//! What a terminal answers when a program asks, and what it remembers of the rest.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{HEARD_MAX, Heard};
use crate::{Background, Keyboard};

/// How deep programs may push keyboard modes. Those that do not pop them are told apart well before.
const KEYBOARD_STACK_MAX: usize = 16;

/// Private modes that the emulator itself does not know.
const MODES: [u16; 3] = [1004, 2026, 2031];

pub(super) struct Listener {
    pub(super) heard: Heard,
    background: Background,
    keyboard: Keyboard,
    answers: String,
    modes_on: BTreeSet<u16>,
    /// Flags of the kitty keyboard, the last being in force.
    keyboard_flags: Vec<u16>,
}

impl Listener {
    pub(super) fn new(background: Background, keyboard: Keyboard) -> Self {
        Listener {
            heard: Heard::default(),
            background,
            keyboard,
            answers: String::new(),
            modes_on: BTreeSet::new(),
            keyboard_flags: Vec::new(),
        }
    }

    pub(super) fn take_answers(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.answers).into_bytes()
    }

    pub(super) fn is_on(&self, mode: u16) -> bool {
        self.modes_on.contains(&mode)
    }

    pub(super) fn is_kitty(&self) -> bool {
        self.keyboard == Keyboard::Kitty
            && self.keyboard_flags.last().is_some_and(|flags| *flags != 0)
    }

    fn answer(&mut self, text: std::fmt::Arguments<'_>) {
        self.answers
            .write_fmt(text)
            .expect("a string takes everything");
    }

    fn colour(&mut self, which: &[u8]) {
        let is_text = which == b"10";
        // The two colours change places on a light terminal.
        let is_bright = is_text == (self.background == Background::Dark);
        let number = if is_text { 10 } else { 11 };
        let level = if is_bright { "eeee" } else { "1111" };
        self.answer(format_args!(
            "\x1b]{number};rgb:{level}/{level}/{level}\x1b\\"
        ));
    }

    /// `CSI ? … u` asks, `>` pushes, `<` pops, `=` sets. A legacy terminal knows none of it.
    fn keyboard(&mut self, what: u8, number: Option<u16>) {
        if self.keyboard == Keyboard::Legacy {
            return;
        }
        match what {
            b'?' => {
                let flags = self.keyboard_flags.last().copied().unwrap_or(0);
                self.answer(format_args!("\x1b[?{flags}u"));
            }
            b'>' if self.keyboard_flags.len() < KEYBOARD_STACK_MAX => {
                self.keyboard_flags.push(number.unwrap_or(0));
            }
            b'<' => {
                let popped = usize::from(number.unwrap_or(1).max(1));
                let kept = self.keyboard_flags.len().saturating_sub(popped);
                self.keyboard_flags.truncate(kept);
            }
            b'=' => {
                self.keyboard_flags.pop();
                self.keyboard_flags.push(number.unwrap_or(0));
            }
            _ => {}
        }
    }

    fn keep(kept: &mut Vec<String>, text: &[u8]) {
        if kept.len() < HEARD_MAX {
            kept.push(String::from_utf8_lossy(text).into_owned());
        }
    }
}

impl vt100::Callbacks for Listener {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.heard.bells += 1;
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.heard.title = String::from_utf8_lossy(title).into_owned();
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], data: &[u8]) {
        Self::keep(&mut self.heard.copied, data);
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        second: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        let number = params.first().and_then(|param| param.first()).copied();
        match (first, second, last, number) {
            // A terminal of the 400 series with colours.
            (None, None, 'c', None | Some(0)) => self.answer(format_args!("\x1b[?64;22c")),
            (Some(b'>'), None, 'c', None | Some(0)) => self.answer(format_args!("\x1b[>41;0;0c")),
            (Some(b'>'), None, 'q', None | Some(0)) => {
                self.answer(format_args!("\x1bP>|ply-test-terminal\x1b\\"));
            }
            (None, None, 'n', Some(5)) => self.answer(format_args!("\x1b[0n")),
            (None, None, 'n', Some(6)) => {
                let (row, column) = screen.cursor_position();
                self.answer(format_args!("\x1b[{};{}R", row + 1, column + 1));
            }
            (Some(b'?'), None, 'n', Some(996)) => {
                let scheme = match self.background {
                    Background::Dark => 1,
                    Background::Light => 2,
                };
                self.answer(format_args!("\x1b[?997;{scheme}n"));
            }
            (None, None, 't', Some(18)) => {
                let (rows, columns) = screen.size();
                self.answer(format_args!("\x1b[8;{rows};{columns}t"));
            }
            // No private mode is promised.
            (Some(b'?'), Some(b'$'), 'p', Some(mode)) => {
                self.answer(format_args!("\x1b[?{mode};0$y"));
            }
            (Some(what @ (b'?' | b'>' | b'<' | b'=')), None, 'u', number) => {
                self.keyboard(what, number);
            }
            (Some(b'?'), None, 'h' | 'l', _) => {
                let modes = params.iter().filter_map(|param| param.first());
                for mode in modes.filter(|mode| MODES.contains(mode)) {
                    match last {
                        'h' => self.modes_on.insert(*mode),
                        _ => self.modes_on.remove(mode),
                    };
                }
            }
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        match params {
            [which @ (b"10" | b"11"), b"?", ..] => self.colour(which),
            // Progress reports share the number with notifications.
            [b"9", b"4", ..] => {}
            [b"9", text @ ..] => Self::keep(&mut self.heard.notifications, &text.join(&b';')),
            [b"777", b"notify", text @ ..] => {
                Self::keep(&mut self.heard.notifications, &text.join(&b';'));
            }
            _ => {}
        }
    }
}
