//! Themes of the user's own: another theme with some of its styles changed.

use ratatui::style::{Color, Modifier, Style};

use super::{STYLE_NAMES, Theme};

/// Words that a style can have besides colours.
const MODIFIERS: &[(&str, Modifier)] = &[
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
    ("crossed-out", Modifier::CROSSED_OUT),
];

impl Theme {
    /// Returns this theme with other styles, by name: `("accent", "#ff8800 bold")`, `("panel", "on #202020")`.
    ///
    /// A style is made of a colour, `on` and a colour for the background, and words such as `bold`. Colours are `#rrggbb`,
    /// a name such as `blue`, or a number of the terminal's palette.
    ///
    /// # Errors
    ///
    /// Says which name or word is not known, and which are.
    pub fn with_styles<'a>(
        mut self,
        styles: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, String> {
        for (name, text) in styles {
            let place = STYLE_NAMES.iter().position(|known| *known == name);
            let style = parse(text).map_err(|what| format!("`{name}`: {what}"))?;
            let mut all = self.styles_mut();
            match place.and_then(|place| all.get_mut(place)) {
                Some(known) => **known = style,
                None => {
                    let names = STYLE_NAMES.join(", ");
                    return Err(format!(
                        "there is no style `{name}`; the styles are {names}"
                    ));
                }
            }
        }
        Ok(self)
    }
}

fn parse(text: &str) -> Result<Style, String> {
    let mut style = Style::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if word == "on" {
            let named = words.next().ok_or("`on` needs a colour behind it")?;
            style = style.bg(color(named)?);
        } else if let Some((_, modifier)) = MODIFIERS.iter().find(|(name, _)| *name == word) {
            style = style.add_modifier(*modifier);
        } else {
            style = style.fg(color(word)?);
        }
    }
    Ok(style)
}

fn color(word: &str) -> Result<Color, String> {
    word.parse().map_err(|_| {
        let modifiers = MODIFIERS.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        format!(
            "`{word}` is neither a colour (`#rrggbb`, `blue`, `light-red`, `0` to `255`) nor one of {}",
            modifiers.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_changed_by_name_and_the_others_stay() {
        let theme = Theme::dark()
            .with_styles([
                ("accent", "#ff8800 bold"),
                ("panel", "on 236"),
                ("dim", "blue"),
            ])
            .unwrap();
        let bold = Style::new().fg(Color::Rgb(255, 136, 0));
        let bold = bold.add_modifier(Modifier::BOLD);
        assert_eq!(theme.accent, bold);
        assert_eq!(theme.panel, Style::new().bg(Color::Indexed(236)));
        assert_eq!(theme.dim, Style::new().fg(Color::Blue));
        assert_eq!(theme.error, Theme::dark().error);
    }

    #[test]
    fn what_is_not_known_is_said_with_what_is() {
        for (name, text, expected) in [
            ("acent", "blue", "the styles are text, dim, accent"),
            ("accent", "blueish", "`blueish` is neither a colour"),
            ("accent", "on", "needs a colour"),
            ("accent", "#12", "`#12` is neither"),
        ] {
            let told = Theme::dark().with_styles([(name, text)]).unwrap_err();
            assert!(told.contains(expected), "{told}");
        }
    }
}
