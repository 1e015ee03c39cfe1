//! Keys of the user's own.
//!
//! Every action has its usual key, and the rest of the client knows only those: a key that the user chose is turned into the
//! usual one before anybody looks at it, and a usual key whose action has another now is for nobody.

use std::collections::BTreeMap;
use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// Actions that can have another key, and the usual key of each.
const ACTIONS: &[(&str, &str)] = &[
    ("help", "F1"),
    ("new-session", "Ctrl-N"),
    ("next-session", "Ctrl-P"),
    ("sessions", "Ctrl-S"),
    ("close-session", "Alt-W"),
    ("options", "Ctrl-O"),
    ("next-mode", "Shift-Tab"),
    ("interrupt", "Alt-I"),
    ("newline", "Alt-Enter"),
    ("queue", "Ctrl-X"),
    ("search", "Ctrl-R"),
    ("editor", "Ctrl-G"),
    ("plan", "Ctrl-T"),
    ("thoughts", "Alt-T"),
    ("fold", "Alt-F"),
    ("wire-log", "Alt-L"),
    ("redraw", "Ctrl-L"),
    ("kill", "Alt-K"),
    ("suspend", "Ctrl-Z"),
    ("page-up", "PgUp"),
    ("page-down", "PgDn"),
    ("first-line", "Ctrl-Home"),
    ("last-line", "Ctrl-End"),
    ("previous-prompt", "Alt-Up"),
    ("next-prompt", "Alt-Down"),
];

/// Keys that edit text, answer, cancel or quit, and that nothing else can have.
const FIXED: &[&str] = &[
    "Ctrl-A",
    "Ctrl-B",
    "Ctrl-C",
    "Ctrl-D",
    "Ctrl-E",
    "Ctrl-F",
    "Ctrl-H",
    "Ctrl-I",
    "Ctrl-J",
    "Ctrl-K",
    "Ctrl-M",
    "Ctrl-U",
    "Ctrl-W",
    "Ctrl-Y",
    "Ctrl-Enter",
    "Alt-B",
    "Alt-D",
    "Shift-Enter",
    "Ctrl-Left",
    "Ctrl-Right",
    "Alt-Left",
    "Alt-Right",
];

/// Names of keys that are no characters.
const NAMED: &[(&str, KeyCode)] = &[
    ("Enter", KeyCode::Enter),
    ("Tab", KeyCode::Tab),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PgUp", KeyCode::PageUp),
    ("PgDn", KeyCode::PageDown),
    ("Ins", KeyCode::Insert),
    ("Del", KeyCode::Delete),
    ("Space", KeyCode::Char(' ')),
];

/// Which keys do what, where they differ from the usual ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    /// For each action that was changed: its usual key, and the user's.
    changed: Vec<(Chord, Chord)>,
}

impl Keys {
    /// Returns keys for actions by name, such as `("wire-log", "F12")`. Actions that are not named keep their usual keys.
    ///
    /// # Errors
    ///
    /// Says what is wrong: an unknown action, no key, a key that cannot be used, or one that two actions would have.
    pub fn new<'a>(chosen: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let chosen: BTreeMap<&str, &str> = chosen.into_iter().collect();
        if let Some(unknown) = chosen.keys().find(|name| usual(name).is_none()) {
            let names: Vec<_> = ACTIONS.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "there is no action `{unknown}`; the actions are {}",
                names.join(", ")
            ));
        }
        let mut changed = Vec::new();
        let mut taken: Vec<(Chord, &str)> = Vec::new();
        for (action, key) in ACTIONS {
            let usual = parse(key)?;
            let own = match chosen.get(action) {
                Some(key) => allowed(action, key)?,
                None => usual,
            };
            if let Some((_, other)) = taken.iter().find(|(key, _)| *key == own) {
                return Err(format!(
                    "`{own}` is the key of both `{other}` and `{action}`"
                ));
            }
            taken.push((own, action));
            if own != usual {
                changed.push((usual, own));
            }
        }
        Ok(Self { changed })
    }

    /// Returns the usual key for one that was pressed; none if it does nothing any more.
    pub(crate) fn translate(&self, key: KeyEvent) -> Option<KeyEvent> {
        let pressed = Chord::of(key);
        let own = self.changed.iter().find(|(_, own)| *own == pressed);
        if let Some((usual, _)) = own {
            return Some(KeyEvent {
                code: usual.code,
                modifiers: usual.modifiers,
                ..key
            });
        }
        let is_gone = self.changed.iter().any(|(usual, _)| *usual == pressed);
        (!is_gone).then_some(key)
    }

    /// Returns a text that names usual keys, such as `Ctrl-X, or Up`, with the user's keys in their place.
    pub(crate) fn shown(&self, text: &str) -> String {
        // Whole names, each once: `F1` is no part of `F12`, and a key may have become that of another action.
        let words = text.split_inclusive([' ', ',', ';']).map(|word| {
            let name = word.trim_end_matches([' ', ',', ';']);
            let changed = self.changed.iter();
            let mut changed = changed.filter(|(usual, _)| usual.to_string() == name);
            match changed.next() {
                Some((_, own)) => word.replacen(name, &own.to_string(), 1),
                None => word.to_owned(),
            }
        });
        words.collect()
    }
}

/// Returns the usual key of an action.
fn usual(action: &str) -> Option<&'static str> {
    let found = ACTIONS.iter().find(|(name, _)| *name == action);
    found.map(|(_, key)| *key)
}

/// Returns a key that an action can have.
fn allowed(action: &str, key: &str) -> Result<Chord, String> {
    let chord = parse(key)?;
    let is_fixed = FIXED.iter().any(|fixed| parse(fixed) == Ok(chord));
    let is_usual = usual(action).is_some_and(|usual| parse(usual) == Ok(chord));
    let held = KeyModifiers::CONTROL | KeyModifiers::ALT;
    let is_text = match chord.code {
        KeyCode::Char(_) => !chord.modifiers.intersects(held),
        KeyCode::F(_) | KeyCode::PageUp | KeyCode::PageDown | KeyCode::Insert => false,
        KeyCode::BackTab => false,
        _ => !chord.modifiers.intersects(held),
    };
    // Sessions are chosen by them.
    let is_number =
        matches!(chord.code, KeyCode::Char('1'..='9')) && chord.modifiers == KeyModifiers::ALT;
    match (is_fixed || is_text || is_number) && !is_usual {
        true => Err(format!(
            "`{action}` cannot be `{key}`: that key writes, edits, answers or cancels; \
             use a function key, or Ctrl or Alt with a key that is free"
        )),
        false => Ok(chord),
    }
}

fn parse(text: &str) -> Result<Chord, String> {
    let wrong = || {
        format!(
            "`{text}` is not a key; write it as `F5`, `Ctrl-N`, `Alt-Enter` or `Ctrl-Alt-X`, with {} for keys without a character",
            NAMED
                .iter()
                .map(|(name, _)| *name)
                .collect::<Vec<_>>()
                .join(", ")
        )
    };
    let mut modifiers = KeyModifiers::NONE;
    let mut rest = text;
    while let Some((first, more)) = rest.split_once('-').filter(|(_, more)| !more.is_empty()) {
        modifiers |= match first.to_ascii_lowercase().as_str() {
            "ctrl" => KeyModifiers::CONTROL,
            "alt" => KeyModifiers::ALT,
            "shift" => KeyModifiers::SHIFT,
            _ => return Err(wrong()),
        };
        rest = more;
    }
    let named = NAMED
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(rest));
    let function = rest
        .strip_prefix(['F', 'f'])
        .and_then(|number| number.parse().ok())
        .filter(|number| (1..=24).contains(number));
    let mut chars = rest.chars();
    let code = match (named, function, chars.next(), chars.next()) {
        (Some((_, code)), _, _, _) => *code,
        (None, Some(number), _, _) => KeyCode::F(number),
        (None, None, Some(char), None) => KeyCode::Char(char.to_ascii_lowercase()),
        _ => return Err(wrong()),
    };
    Ok(Chord { code, modifiers }.settled())
}

impl Chord {
    fn of(key: KeyEvent) -> Self {
        let known = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
        let code = match key.code {
            KeyCode::Char(char) => KeyCode::Char(char.to_ascii_lowercase()),
            code => code,
        };
        Self {
            code,
            modifiers: key.modifiers & known,
        }
        .settled()
    }

    /// Returns the one form of a key that terminals report in several.
    fn settled(mut self) -> Self {
        if self.code == KeyCode::Tab && self.modifiers == KeyModifiers::SHIFT {
            self.code = KeyCode::BackTab;
        }
        if self.code == KeyCode::BackTab {
            self.modifiers = KeyModifiers::NONE;
        }
        // Ctrl and Shift with a letter are one with Ctrl alone in most terminals.
        let held = KeyModifiers::CONTROL | KeyModifiers::ALT;
        if matches!(self.code, KeyCode::Char(_)) && self.modifiers.intersects(held) {
            self.modifiers -= KeyModifiers::SHIFT;
        }
        self
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, name) in [
            (KeyModifiers::CONTROL, "Ctrl-"),
            (KeyModifiers::ALT, "Alt-"),
            (KeyModifiers::SHIFT, "Shift-"),
        ] {
            if self.modifiers.contains(modifier) {
                f.write_str(name)?;
            }
        }
        let named = NAMED.iter().find(|(_, code)| *code == self.code);
        match (named, self.code) {
            (Some((name, _)), _) => f.write_str(name),
            (None, KeyCode::BackTab) => f.write_str("Shift-Tab"),
            (None, KeyCode::F(number)) => write!(f, "F{number}"),
            (None, KeyCode::Char(char)) => write!(f, "{}", char.to_ascii_uppercase()),
            (None, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(key: &str) -> KeyEvent {
        let Chord { code, modifiers } = parse(key).unwrap();
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn every_usual_key_is_a_key_and_there_is_one_for_each_action() {
        assert_eq!(Keys::new([]), Ok(Keys::default()));
        for (action, key) in ACTIONS {
            assert_eq!(parse(key).unwrap().to_string(), *key);
            assert_eq!(Keys::new([(*action, *key)]), Ok(Keys::default()));
        }
        assert!(FIXED.iter().all(|key| parse(key).is_ok()));
    }

    #[test]
    fn a_chosen_key_does_what_the_usual_one_did_and_that_one_nothing() {
        let keys = Keys::new([("wire-log", "F12"), ("redraw", "alt-l")]).unwrap();
        let translated = |key: &str| keys.translate(event(key));
        assert_eq!(translated("F12"), Some(event("Alt-L")));
        // One that became free can be given away.
        assert_eq!(translated("Alt-L"), Some(event("Ctrl-L")));
        assert_eq!(translated("Ctrl-L"), None);
        assert_eq!(translated("Ctrl-N"), Some(event("Ctrl-N")));
        let shift = KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT);
        assert_eq!(keys.translate(shift), Some(shift));
    }

    #[test]
    fn texts_name_the_keys_that_there_are() {
        let keys = Keys::new([("help", "F2"), ("queue", "Ctrl-Q")]).unwrap();
        assert_eq!(keys.shown("Ctrl-X, or Up"), "Ctrl-Q, or Up");
        assert_eq!(keys.shown("F1, ?"), "F2, ?");
        assert_eq!(keys.shown("F12 and F1"), "F12 and F2");
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_accepted() {
        for (chosen, expected) in [
            (
                &[("wirelog", "F2")][..],
                "the actions are help, new-session",
            ),
            (&[("plan", "Hyper-X")], "`Hyper-X` is not a key"),
            (&[("plan", "")], "is not a key"),
            (&[("plan", "x")], "`plan` cannot be `x`"),
            (&[("plan", "Ctrl-A")], "`plan` cannot be `Ctrl-A`"),
            (&[("plan", "Enter")], "`plan` cannot be `Enter`"),
            (&[("plan", "Alt-3")], "`plan` cannot be `Alt-3`"),
            (&[("plan", "Ctrl-N")], "both `new-session` and `plan`"),
            (&[("plan", "F5"), ("fold", "F5")], "both `plan` and `fold`"),
        ] {
            let told = Keys::new(chosen.iter().copied()).unwrap_err();
            assert!(told.contains(expected), "{told}");
        }
    }
}
