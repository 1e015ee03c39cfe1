//! Keys, as the bytes a terminal sends for them.

/// A key, alone or with a modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// Control and a character.
    Ctrl(char),
    /// Alt and a character.
    Alt(char),
    /// Enter.
    Enter,
    /// Shift and Enter, which only the kitty keyboard tells apart from Enter.
    ShiftEnter,
    /// Alt and Enter.
    AltEnter,
    /// Control and Enter, which only the kitty keyboard tells apart from Enter.
    CtrlEnter,
    /// Escape. Wait for its effect before the next key: terminals send Esc and a key, and Alt and the key, as the same bytes.
    Esc,
    /// Tab.
    Tab,
    /// Shift and Tab.
    BackTab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A function key, 1 to 12.
    F(u8),
}

/// What decides about the bytes of a key.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyModes {
    /// The program asked for application cursor keys.
    pub(crate) application_cursor: bool,
    /// The program asked the kitty keyboard to tell keys apart.
    pub(crate) kitty: bool,
}

impl Key {
    /// Returns the bytes of this key on a terminal in these modes.
    pub(crate) fn bytes(self, modes: KeyModes) -> Vec<u8> {
        let letter = |letter: char| match modes.application_cursor {
            true => format!("\x1bO{letter}"),
            false => format!("\x1b[{letter}"),
        };
        let kitty = |code: u32, modifier: u8| match modifier {
            1 => format!("\x1b[{code}u"),
            _ => format!("\x1b[{code};{modifier}u"),
        };
        let text = match self {
            Key::Char(char) => char.to_string(),
            Key::Ctrl(char) if modes.kitty => kitty(char.to_ascii_lowercase().into(), 5),
            Key::Ctrl(char) => control(char).to_string(),
            Key::Alt(char) if modes.kitty => kitty(char.into(), 3),
            Key::Alt(char) => format!("\x1b{char}"),
            Key::Enter => "\r".to_owned(),
            Key::ShiftEnter if modes.kitty => kitty(13, 2),
            Key::AltEnter if modes.kitty => kitty(13, 3),
            Key::CtrlEnter if modes.kitty => kitty(13, 5),
            Key::ShiftEnter | Key::CtrlEnter => "\r".to_owned(),
            Key::AltEnter => "\x1b\r".to_owned(),
            Key::Esc if modes.kitty => kitty(27, 1),
            Key::Esc => "\x1b".to_owned(),
            Key::Tab => "\t".to_owned(),
            Key::BackTab => "\x1b[Z".to_owned(),
            Key::Backspace => "\x7f".to_owned(),
            Key::Delete => "\x1b[3~".to_owned(),
            Key::Up => letter('A'),
            Key::Down => letter('B'),
            Key::Right => letter('C'),
            Key::Left => letter('D'),
            Key::Home => letter('H'),
            Key::End => letter('F'),
            Key::PageUp => "\x1b[5~".to_owned(),
            Key::PageDown => "\x1b[6~".to_owned(),
            Key::F(number) => function(number),
        };
        text.into_bytes()
    }
}

fn control(char: char) -> char {
    match char {
        '?' => '\x7f',
        // Control clears the upper bits: `a` and `A` are 1, `[` is Esc, a blank and `@` are 0.
        _ => char::from(u8::try_from(char).map_or(0, |byte| byte.to_ascii_uppercase() & 0x1f)),
    }
}

fn function(number: u8) -> String {
    match number {
        1..=4 => format!("\x1bO{}", char::from(b'O' + number)),
        // The numbers have gaps, because the keyboards of the terminals they come from had them.
        5 => "\x1b[15~".to_owned(),
        6..=10 => format!("\x1b[{}~", number + 11),
        11 | 12 => format!("\x1b[{}~", number + 12),
        _ => panic!("there is no key F{number}"),
    }
}

/// Returns the bytes of pasted text; a program that did not ask for brackets gets it as if it was typed.
pub(crate) fn paste(text: &str, bracketed: bool) -> Vec<u8> {
    // A terminal sends Enter for the end of a line.
    let text = text.replace("\r\n", "\r").replace('\n', "\r");
    match bracketed {
        true => format!("\x1b[200~{text}\x1b[201~").into_bytes(),
        false => text.into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(key: Key, legacy: &str, kitty: &str) {
        let bytes = |kitty| {
            key.bytes(KeyModes {
                application_cursor: false,
                kitty,
            })
        };
        assert_eq!(String::from_utf8(bytes(false)).unwrap(), legacy);
        assert_eq!(String::from_utf8(bytes(true)).unwrap(), kitty);
    }

    #[test]
    fn keys_are_the_bytes_that_terminals_send() {
        check(Key::Char('ß'), "ß", "ß");
        check(Key::Ctrl('c'), "\x03", "\x1b[99;5u");
        check(Key::Ctrl('J'), "\n", "\x1b[106;5u");
        check(Key::Alt('x'), "\x1bx", "\x1b[120;3u");
        check(Key::Esc, "\x1b", "\x1b[27u");
        check(Key::ShiftEnter, "\r", "\x1b[13;2u");
        check(Key::Enter, "\r", "\r");
        check(Key::F(1), "\x1bOP", "\x1bOP");
        check(Key::F(5), "\x1b[15~", "\x1b[15~");
        check(Key::F(6), "\x1b[17~", "\x1b[17~");
        check(Key::F(12), "\x1b[24~", "\x1b[24~");
    }

    #[test]
    fn arrows_follow_the_mode_the_program_asked_for() {
        let modes = KeyModes {
            application_cursor: true,
            kitty: false,
        };
        assert_eq!(Key::Up.bytes(modes), b"\x1bOA");
        assert_eq!(Key::Up.bytes(KeyModes::default()), b"\x1b[A");
    }
}
