//! A name that a client gives the session.

use ply_wire::v2;

use super::Core;
use super::act::Gated;
use super::effect::Effect;
use super::record::Record;
use super::response::{Response, Title, request_cancelled};
use crate::{Event, RequestId, TITLE_CHARS_MAX};

impl Core {
    /// Names the session. Clients see it like any other title, whoever asked is answered when it is safe, and titles of the
    /// agent do not replace it.
    pub(super) fn set_title(&mut self, request: RequestId, title: &str, out: &mut Vec<Effect>) {
        let title = match title_of(title) {
            Ok(title) => title,
            Err(error) => {
                let response = Err(error);
                return out.push(Effect::Respond { request, response });
            }
        };
        self.engine.note(titled(&title), &mut self.actions);
        self.act(out);
        self.gate(Gated::Respond(request, Response::Title(Title { title })));
    }

    /// Answers a client that does not want to wait until its title is safe; returns whether there is one. The journal has the
    /// title or is about to, so it may be set all the same, and whoever sees the session is told.
    pub(super) fn withdraw_title(&mut self, request: RequestId, out: &mut Vec<Effect>) -> bool {
        let before = self.gated.len();
        self.gated
            .retain(|(_, what)| !matches!(what, Gated::Respond(of, _) if *of == request));
        let is_it = self.gated.len() < before;
        if is_it {
            let response = Err(request_cancelled());
            out.push(Effect::Respond { request, response });
        }
        is_it
    }
}

/// Returns a title as it is stored: on one line, without blanks around it, and not too long.
///
/// # Errors
///
/// Nothing is left of it.
pub fn title_of(title: &str) -> Result<String, v2::Error> {
    let spaced = title.replace(char::is_control, " ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let title: String = words.join(" ").chars().take(TITLE_CHARS_MAX).collect();
    let title = title.trim_end().to_owned();
    if title.is_empty() {
        let reason =
            "The title is empty; give the session a name of at least one visible character.";
        return Err(v2::Error::new(v2::ErrorCode::InvalidParams.into(), reason));
    }
    Ok(title)
}

/// Returns the record that names a session which nobody has open.
#[must_use]
pub fn title_record(title: &str) -> Vec<u8> {
    Record::new(&titled(title)).bytes().into()
}

fn titled(title: &str) -> Event {
    let info = v2::SessionInfoUpdate::new().title(title.to_owned());
    Event::Titled {
        update: v2::SessionUpdate::SessionInfoUpdate(info),
        by: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(title: &str, stored: &str) {
        assert_eq!(title_of(title).as_deref(), Ok(stored));
    }

    #[test]
    fn a_title_is_one_line_of_bounded_length() {
        check("Plums", "Plums");
        check("  two \n\t words\u{1b} ", "two words");
        check(&"x".repeat(1000), &"x".repeat(TITLE_CHARS_MAX));
        for empty in ["", " \n ", "\u{7}"] {
            let error = title_of(empty).map_err(|error| i32::from(error.code));
            assert_eq!(error, Err(-32602));
        }
    }
}
