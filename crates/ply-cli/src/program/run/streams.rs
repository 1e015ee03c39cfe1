//! What the standard streams are: terminals or not, and how wide.

use super::arguments::Color;
use super::paint::Paint;
use crate::program::output;

/// What the standard streams are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams {
    /// Columns of standard output, if it is a terminal.
    pub(super) out_columns: Option<usize>,
    pub(super) out_paint: Paint,
    /// Columns of standard error, if it is a terminal.
    pub(super) error_columns: Option<usize>,
    pub(super) error_paint: Paint,
    /// Whether somebody can be asked.
    pub(super) can_ask: bool,
}

impl Streams {
    /// Looks at them.
    pub(super) fn look(color: Color) -> Self {
        let wants_colours = output::wants_colours();
        let paint = |is_terminal: bool| Paint {
            is_on: match color {
                Color::Always => true,
                Color::Never => false,
                Color::Auto => is_terminal && wants_colours,
            },
        };
        let out_columns = output::stdout_columns();
        let error_columns = output::stderr_columns();
        Self {
            out_paint: paint(out_columns.is_some()),
            error_paint: paint(error_columns.is_some()),
            out_columns,
            error_columns,
            can_ask: output::can_ask(),
        }
    }
}
