//! What the environment says of terminal and editor.

use std::ffi::OsString;

use ply_tui::{Background, ColorDepth};

fn text(variable: &impl Fn(&str) -> Option<OsString>, name: &str) -> Option<String> {
    let value = variable(name)?.into_string().ok()?;
    Some(value).filter(|value| !value.is_empty())
}

/// Returns whether the terminal can do nothing but print.
pub(crate) fn is_dumb(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    text(&variable, "TERM").is_none_or(|term| term == "dumb")
}

/// Returns how many colours there are; none if the user wants none.
pub(crate) fn colors(variable: impl Fn(&str) -> Option<OsString>) -> Option<ColorDepth> {
    if text(&variable, "NO_COLOR").is_some() {
        return None;
    }
    let depth = text(&variable, "COLORTERM").unwrap_or_default();
    let term = text(&variable, "TERM").unwrap_or_default();
    Some(match depth.as_str() {
        "truecolor" | "24bit" => ColorDepth::TrueColor,
        _ if term.contains("256") => ColorDepth::Indexed,
        _ => ColorDepth::Ansi16,
    })
}

/// Returns what the background is like, as some terminals say in a variable: `15;0` is white on black.
pub(crate) fn background(variable: impl Fn(&str) -> Option<OsString>) -> Background {
    let colors = text(&variable, "COLORFGBG").unwrap_or_default();
    match colors
        .rsplit(';')
        .next()
        .and_then(|color| color.parse().ok())
    {
        Some(7u8 | 9..=15) => Background::Light,
        Some(_) => Background::Dark,
        None => Background::Unknown,
    }
}

/// Returns the shell for commands of the user's own, and what makes it take one.
pub(super) fn shell(variable: impl Fn(&str) -> Option<OsString>) -> Vec<String> {
    let shell = text(&variable, "SHELL").unwrap_or_else(|| "sh".to_owned());
    vec![shell, "-c".to_owned()]
}

/// Characters for which a shell has to read the name of an editor.
const SHELL: &[char] = &[
    '"', '\'', '\\', '$', '`', '~', '|', '&', ';', '<', '>', '(', ')', '*', '?', '[', '#', '=',
];

/// Returns the editor and its arguments; the file comes behind them.
pub(super) fn editor(variable: impl Fn(&str) -> Option<OsString>) -> Vec<String> {
    let editor = text(&variable, "VISUAL").or_else(|| text(&variable, "EDITOR"));
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    // As other programs read these variables: by a shell, if it is more than words.
    match editor.contains(SHELL) {
        true => ["sh", "-c", &format!("{editor} \"$1\""), "sh"]
            .map(str::to_owned)
            .into(),
        false => editor.split_whitespace().map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(variables: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        }
    }

    #[test]
    fn colours_are_as_many_as_the_terminal_says_and_none_if_the_user_says_so() {
        let all = [("COLORTERM", "truecolor"), ("TERM", "xterm-256color")];
        assert_eq!(colors(of(&all)), Some(ColorDepth::TrueColor));
        assert_eq!(
            colors(of(&[("TERM", "tmux-256color")])),
            Some(ColorDepth::Indexed)
        );
        assert_eq!(colors(of(&[("TERM", "linux")])), Some(ColorDepth::Ansi16));
        assert_eq!(
            colors(of(&[("NO_COLOR", "1"), ("COLORTERM", "24bit")])),
            None
        );
    }

    #[test]
    fn the_background_is_what_the_variable_says_and_else_the_terminal_is_asked() {
        assert_eq!(background(of(&[("COLORFGBG", "0;15")])), Background::Light);
        assert_eq!(
            background(of(&[("COLORFGBG", "15;default;0")])),
            Background::Dark
        );
        assert_eq!(background(of(&[])), Background::Unknown);
    }

    #[test]
    fn an_editor_may_have_arguments() {
        assert_eq!(editor(of(&[("EDITOR", "code --wait")])), ["code", "--wait"]);
        assert_eq!(editor(of(&[("EDITOR", "a"), ("VISUAL", "b")])), ["b"]);
        assert_eq!(editor(of(&[])), ["vi"]);
        let quoted = editor(of(&[("EDITOR", "'/opt/my editor/ed' -w")]));
        let expected = ["sh", "-c", "'/opt/my editor/ed' -w \"$1\"", "sh"];
        assert_eq!(quoted, expected);
        assert!(is_dumb(of(&[("TERM", "dumb")])) && is_dumb(of(&[])));
    }
}
