//! What the agent asks: permissions and forms.

use ply_client::v2;
use ratatui::text::Line;

use super::event::Question;
use super::form::Form;
use super::{AskId, Tick};
use crate::diff::DiffStyle;
use crate::theme::Theme;

/// A question that waits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ask {
    pub(crate) id: AskId,
    pub(crate) what: What,
    /// The option that the keys are on.
    pub(crate) option: usize,
    /// Lines of the details that are scrolled away.
    pub(crate) scroll: usize,
    /// Since when its answers are in sight.
    pub(crate) drawn_at: Option<Tick>,
    /// What it is about, laid out.
    pub(crate) details: Option<Details>,
}

/// What a permission is about, laid out once for a width and a look.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Details {
    pub(crate) width: u16,
    pub(crate) diff_style: DiffStyle,
    pub(crate) theme: Theme,
    pub(crate) lines: Vec<Line<'static>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    Permission(Box<v2::RequestPermissionRequest>),
    Form(Form),
}

impl Ask {
    pub(crate) fn new(id: AskId, question: Question) -> Self {
        let what = match question {
            Question::Permission(request) => What::Permission(request),
            Question::Form(request) => What::Form(Form::new(&request)),
        };
        Self {
            id,
            what,
            option: 0,
            scroll: 0,
            drawn_at: None,
            details: None,
        }
    }

    /// Returns the options of a permission request, in the agent's order.
    pub(crate) fn options(&self) -> &[v2::PermissionOption] {
        match &self.what {
            What::Permission(request) => &request.options,
            What::Form(_) => &[],
        }
    }

    /// Moves to another option.
    pub(crate) fn step(&mut self, by: isize) {
        let count = self.options().len();
        let moved = self.option.saturating_add_signed(by);
        self.option = moved.min(count.saturating_sub(1));
    }

    pub(crate) fn title(&self) -> &str {
        match &self.what {
            What::Permission(request) => &request.title,
            What::Form(form) => &form.message,
        }
    }
}
