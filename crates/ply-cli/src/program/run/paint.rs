//! Colours, where they are wanted. Meaning never depends on them.

/// How something is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Bold,
    Dim,
    Emphasis,
    Code,
    Added,
    Removed,
    Hunk,
    Good,
    Bad,
    Running,
}

impl Look {
    fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Emphasis => "3",
            Self::Code | Self::Hunk => "36",
            Self::Added | Self::Good => "32",
            Self::Removed | Self::Bad => "31",
            Self::Running => "33",
        }
    }
}

/// Paints, or leaves everything as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Paint {
    pub(super) is_on: bool,
}

impl Paint {
    /// Returns a text that looks so. The text is to be harmless already.
    pub(super) fn paint(self, look: Look, text: &str) -> String {
        match self.is_on && !text.is_empty() {
            true => format!("{}{text}{}", self.begin(look), self.end()),
            false => text.to_owned(),
        }
    }

    /// Returns a line with what stands between backticks painted as code, and without them.
    pub(super) fn inline(self, line: &str) -> String {
        let parts: Vec<&str> = line.split('`').collect();
        if !self.is_on || parts.len().is_multiple_of(2) {
            return line.to_owned();
        }
        let parts = parts.iter().enumerate();
        let painted = parts.map(|(place, part)| match place % 2 {
            0 => (*part).to_owned(),
            _ => self.paint(Look::Code, part),
        });
        painted.collect()
    }

    pub(super) fn begin(self, look: Look) -> String {
        match self.is_on {
            true => format!("\x1b[{}m", look.code()),
            false => String::new(),
        }
    }

    pub(super) fn end(self) -> &'static str {
        match self.is_on {
            true => "\x1b[0m",
            false => "",
        }
    }
}
