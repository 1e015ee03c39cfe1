//! What the agent asks: permissions and forms.

use ply_client::transcript::ToolCall;
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
    /// Lines of the details that were on the screen, counted from the first.
    pub(crate) seen: usize,
    /// Whether every line of the details was on the screen.
    pub(crate) is_seen: bool,
    /// Lines of the details that fit on the screen.
    pub(crate) room: usize,
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
    /// The tool call as it was known then.
    pub(crate) call: Option<ToolCall>,
    pub(crate) lines: Vec<Line<'static>>,
    /// Whether code in it is plain because the syntaxes were not loaded yet.
    pub(crate) is_plain: bool,
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
            seen: 0,
            is_seen: false,
            room: 0,
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

    /// Returns the tool call that it is about, if it is about one.
    pub(crate) fn tool_call(&self) -> Option<v2::ToolCallId> {
        let What::Permission(request) = &self.what else {
            return None;
        };
        match &request.subject {
            Some(v2::RequestPermissionSubject::ToolCall(subject)) => {
                Some(subject.tool_call.tool_call_id.clone())
            }
            _ => None,
        }
    }

    /// Takes details of the same question that were laid out anew.
    pub(crate) fn set_details(&mut self, details: Details) {
        let old = self.details.replace(details);
        let (Some(old), Some(new)) = (old, &self.details) else {
            return;
        };
        let words = |lines: &[Line<'_>]| lines.iter().map(Line::to_string).collect::<Vec<_>>();
        let is_same_call = old.call == new.call;
        let (old, new) = (words(&old.lines), words(&new.lines));
        if old == new {
            // Only its colours are others.
        } else if is_same_call {
            // The same words in other lines, which need not be read again if they were.
            self.seen = 0;
            self.scroll = 0;
        } else {
            // What was decided was about something else: the lines that are new have to be read, and have to be in sight for a
            // while before a key answers.
            let same = old.iter().zip(&new).take_while(|(old, new)| old == new);
            self.seen = self.seen.min(same.count());
            self.scroll = self.scroll.min(self.seen);
            self.is_seen = false;
            self.drawn_at = None;
        }
    }

    /// Notes which lines of the details are on the screen: `room` of them, from `first` on, of `count`.
    pub(crate) fn show(&mut self, first: usize, room: usize, count: usize) {
        self.scroll = first;
        self.room = room;
        // Lines that a jump left out are not seen.
        if first <= self.seen {
            self.seen = self.seen.max(first + room);
        }
        self.is_seen |= self.seen >= count;
    }

    /// Scrolls the details by screens, up if negative.
    pub(crate) fn page(&mut self, by: isize) {
        let step = isize::try_from(self.room.max(1)).unwrap_or(isize::MAX);
        let rows = self
            .details
            .as_ref()
            .map_or(0, |details| details.lines.len());
        let mut last = rows.saturating_sub(self.room.max(1));
        if !self.is_seen {
            // No line is jumped over, however fast the keys come.
            last = last.min(self.seen);
        }
        self.scroll = self
            .scroll
            .saturating_add_signed(by.saturating_mul(step))
            .min(last);
    }

    /// Returns whether it is laid out, and a part of it was not on the screen yet.
    pub(crate) fn is_unread(&self) -> bool {
        self.details.is_some() && !self.is_seen
    }

    /// Returns whether it is laid out, and the screen does not show all of it.
    pub(crate) fn is_cut(&self) -> bool {
        let details = self.details.as_ref();
        self.is_unread() || details.is_some_and(|details| details.lines.len() > self.room)
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
