//! Colours by what they mean.

mod custom;
mod depth;

pub use self::depth::ColorDepth;

use ratatui::style::{Color, Modifier, Style};

/// The styles of everything that is drawn, each named for what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Theme {
    /// Text as it is.
    pub text: Style,
    /// What matters less.
    pub dim: Style,
    /// What the eye should find first.
    pub accent: Style,
    /// Messages of the user.
    pub user: Style,
    /// Thoughts of the agent.
    pub thought: Style,
    /// Headings.
    pub heading: Style,
    /// Strong emphasis.
    pub strong: Style,
    /// Emphasis.
    pub emphasis: Style,
    /// Text that is struck through.
    pub struck: Style,
    /// Links and their addresses.
    pub link: Style,
    /// Quotes.
    pub quote: Style,
    /// Code inside of text, and code of an unknown language.
    pub code: Style,
    /// Keywords of code.
    pub keyword: Style,
    /// Strings of code.
    pub string: Style,
    /// Comments of code.
    pub comment: Style,
    /// Numbers and other constants of code.
    pub number: Style,
    /// Functions of code.
    pub function: Style,
    /// Types of code.
    pub type_name: Style,
    /// Attributes, keys and parameters of code.
    pub attribute: Style,
    /// Lines that a diff adds.
    pub added: Style,
    /// Lines that a diff removes.
    pub removed: Style,
    /// Words that an added line does not share with the one before.
    pub added_word: Style,
    /// Words that a removed line does not share with the one after.
    pub removed_word: Style,
    /// The background of lines that a diff adds; none where colours are few.
    pub added_line: Style,
    /// The background of lines that a diff removes; none where colours are few.
    pub removed_line: Style,
    /// The background of code and of the user's messages; none where colours are few.
    pub panel: Style,
    /// Line numbers.
    pub line_number: Style,
    /// Work that went well.
    pub ok: Style,
    /// Work that failed.
    pub failed: Style,
    /// Work that waits or runs.
    pub waiting: Style,
    /// Frames and rules.
    pub border: Style,
    /// What is chosen in a list.
    pub selection: Style,
    /// Notices.
    pub notice: Style,
    /// Errors.
    pub error: Style,
}

/// The names that [`Theme::named`] knows.
pub const THEME_NAMES: [&str; 3] = ["dark", "light", "plain"];

/// The names of a theme's styles, in the order of [`Theme::styles_mut`].
const STYLE_NAMES: [&str; 34] = [
    "text",
    "dim",
    "accent",
    "user",
    "thought",
    "heading",
    "strong",
    "emphasis",
    "struck",
    "link",
    "quote",
    "code",
    "keyword",
    "string",
    "comment",
    "number",
    "function",
    "type-name",
    "attribute",
    "added",
    "removed",
    "added-word",
    "removed-word",
    "added-line",
    "removed-line",
    "panel",
    "line-number",
    "ok",
    "failed",
    "waiting",
    "border",
    "selection",
    "notice",
    "error",
];

/// The colours that a theme is mixed from.
struct Palette {
    dim: Color,
    accent: Color,
    blue: Color,
    purple: Color,
    green: Color,
    yellow: Color,
    red: Color,
    cyan: Color,
    orange: Color,
    border: Color,
    added_word: Color,
    removed_word: Color,
    added_line: Color,
    removed_line: Color,
    panel: Color,
    user: Color,
}

impl Theme {
    /// Returns the theme for dark backgrounds.
    #[must_use]
    pub fn dark() -> Self {
        Self::mixed(&Palette {
            dim: rgb(0x8b_94_9e),
            accent: rgb(0x58_c4_dc),
            blue: rgb(0x6c_b6_ff),
            purple: rgb(0xc8_9d_f2),
            green: rgb(0x7e_c8_7a),
            yellow: rgb(0xe2_c0_6d),
            red: rgb(0xf0_80_80),
            cyan: rgb(0x6f_c9_c3),
            orange: rgb(0xe5_a2_6b),
            border: rgb(0x4b_53_5d),
            added_word: rgb(0x23_5c_36),
            removed_word: rgb(0x742c32),
            added_line: rgb(0x14_2e_20),
            removed_line: rgb(0x38_1c_22),
            panel: rgb(0x22_27_30),
            user: rgb(0x9c_d0_ff),
        })
    }

    /// Returns the theme for light backgrounds.
    #[must_use]
    pub fn light() -> Self {
        Self::mixed(&Palette {
            dim: rgb(0x6a_73_7d),
            accent: rgb(0x0b_6e_8a),
            blue: rgb(0x0a_58_b8),
            purple: rgb(0x7a_3e_b1),
            green: rgb(0x1f_7a_33),
            yellow: rgb(0x8a_63_00),
            red: rgb(0xb4_23_2c),
            cyan: rgb(0x0e_75_6e),
            orange: rgb(0xa3_4d_0a),
            border: rgb(0xb5_bc_c4),
            added_word: rgb(0xab_e3_b6),
            removed_word: rgb(0xf6_bc_be),
            added_line: rgb(0xe2_f5_e6),
            removed_line: rgb(0xfc_e6_e7),
            panel: rgb(0xee_f0_f4),
            user: rgb(0x1d_4e_89),
        })
    }

    /// Returns the theme without colours: what differs is bold, dim, underlined or reversed.
    #[must_use]
    pub fn plain() -> Self {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        let dim = plain.add_modifier(Modifier::DIM);
        let under = plain.add_modifier(Modifier::UNDERLINED);
        Self {
            text: plain,
            dim,
            accent: bold,
            user: bold,
            thought: plain.add_modifier(Modifier::DIM | Modifier::ITALIC),
            heading: plain.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            strong: bold,
            emphasis: plain.add_modifier(Modifier::ITALIC),
            struck: plain.add_modifier(Modifier::CROSSED_OUT),
            link: under,
            quote: plain.add_modifier(Modifier::ITALIC),
            code: plain,
            keyword: bold,
            string: plain,
            comment: dim,
            number: plain,
            function: plain,
            type_name: plain,
            attribute: plain,
            added: plain,
            removed: dim,
            added_word: bold.add_modifier(Modifier::UNDERLINED),
            removed_word: dim.add_modifier(Modifier::UNDERLINED),
            added_line: plain,
            removed_line: plain,
            panel: plain,
            line_number: dim,
            ok: plain,
            failed: bold,
            waiting: plain,
            border: dim,
            selection: plain.add_modifier(Modifier::REVERSED),
            notice: plain,
            error: bold,
        }
    }

    /// Returns the theme with that name, which is one of [`THEME_NAMES`].
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "dark" => Some(Self::dark()),
            "light" => Some(Self::light()),
            "plain" => Some(Self::plain()),
            _ => None,
        }
    }

    /// Returns the theme in the colours that a terminal can show.
    #[must_use]
    pub fn for_colors(mut self, depth: ColorDepth) -> Self {
        for style in self.styles_mut() {
            *style = depth.shown(*style);
        }
        self
    }

    fn mixed(palette: &Palette) -> Self {
        let plain = Style::new();
        let of = |color| plain.fg(color);
        Self {
            text: plain,
            dim: of(palette.dim),
            accent: of(palette.accent),
            user: of(palette.user),
            thought: of(palette.dim).add_modifier(Modifier::ITALIC),
            heading: of(palette.accent).add_modifier(Modifier::BOLD),
            strong: plain.add_modifier(Modifier::BOLD),
            emphasis: plain.add_modifier(Modifier::ITALIC),
            struck: plain.add_modifier(Modifier::CROSSED_OUT),
            link: of(palette.blue).add_modifier(Modifier::UNDERLINED),
            quote: of(palette.dim),
            code: of(palette.cyan),
            keyword: of(palette.purple),
            string: of(palette.green),
            comment: of(palette.dim).add_modifier(Modifier::ITALIC),
            number: of(palette.orange),
            function: of(palette.blue),
            type_name: of(palette.yellow),
            attribute: of(palette.cyan),
            added: of(palette.green),
            removed: of(palette.red),
            added_word: of(palette.green).bg(palette.added_word),
            removed_word: of(palette.red).bg(palette.removed_word),
            added_line: plain.bg(palette.added_line),
            removed_line: plain.bg(palette.removed_line),
            panel: plain.bg(palette.panel),
            line_number: of(palette.border),
            ok: of(palette.green),
            failed: of(palette.red),
            waiting: of(palette.yellow),
            border: of(palette.border),
            selection: plain.add_modifier(Modifier::REVERSED),
            notice: of(palette.yellow),
            error: of(palette.red).add_modifier(Modifier::BOLD),
        }
    }

    fn styles_mut(&mut self) -> [&mut Style; 34] {
        [
            &mut self.text,
            &mut self.dim,
            &mut self.accent,
            &mut self.user,
            &mut self.thought,
            &mut self.heading,
            &mut self.strong,
            &mut self.emphasis,
            &mut self.struck,
            &mut self.link,
            &mut self.quote,
            &mut self.code,
            &mut self.keyword,
            &mut self.string,
            &mut self.comment,
            &mut self.number,
            &mut self.function,
            &mut self.type_name,
            &mut self.attribute,
            &mut self.added,
            &mut self.removed,
            &mut self.added_word,
            &mut self.removed_word,
            &mut self.added_line,
            &mut self.removed_line,
            &mut self.panel,
            &mut self.line_number,
            &mut self.ok,
            &mut self.failed,
            &mut self.waiting,
            &mut self.border,
            &mut self.selection,
            &mut self.notice,
            &mut self.error,
        ]
    }
}

fn rgb(hex: u32) -> Color {
    Color::from_u32(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_gives_a_theme_and_no_other_does() {
        assert!(THEME_NAMES.iter().all(|name| Theme::named(name).is_some()));
        assert_eq!(Theme::named("Dark"), None);
    }

    #[test]
    fn a_theme_is_left_with_colours_that_the_terminal_has() {
        for mut theme in [Theme::dark(), Theme::light(), Theme::plain()] {
            let mut ansi = theme.clone().for_colors(ColorDepth::Ansi16);
            assert_eq!(theme.clone().for_colors(ColorDepth::TrueColor), theme);
            for (style, ansi) in theme.styles_mut().into_iter().zip(ansi.styles_mut()) {
                assert!(!matches!(ansi.fg, Some(Color::Rgb(..) | Color::Indexed(_))));
                assert_eq!(ansi.bg, None);
                assert_eq!(style.fg.is_some(), ansi.fg.is_some());
            }
        }
    }

    #[test]
    fn without_colours_no_theme_has_any() {
        let mut plain = Theme::plain();
        let styles = plain.styles_mut();
        assert!(
            styles
                .iter()
                .all(|style| style.fg.is_none() && style.bg.is_none())
        );
    }
}
