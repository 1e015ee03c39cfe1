//! Shapes: what a turn looks like to whoever reads it, in a form that both versions of the protocol share.

use std::fmt;

use super::{Atom, Script};

/// What a turn looks like: an entry for each message, thought and tool call.
///
/// Plans are no part of it, since a session has only one: see [`Script::plans`].
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Shape(Vec<Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    Text {
        is_thought: bool,
        text: String,
    },
    Call {
        title: String,
        content: Vec<String>,
        status: Status,
    },
}

/// How a tool call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It is not over.
    Open,
    /// It ended well.
    Completed,
    /// It failed, was cancelled, or was cut off: version 1 has one word for these.
    Failed,
}

/// Lists the entries, their texts cut to what tells them apart.
impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        let mut list = f.debug_list();
        for entry in &self.0 {
            match entry {
                Entry::Text {
                    is_thought: false,
                    text,
                } => list.entry(&text),
                Entry::Text { text, .. } => list.entry(&format!("thought {text}")),
                Entry::Call {
                    title,
                    content,
                    status,
                } => {
                    let content: Vec<String> = content.iter().map(|text| cut(text)).collect();
                    list.entry(&(title, content, status))
                }
            };
        }
        list.finish()
    }
}

impl Shape {
    /// Adds a text, to the one before if that is of the same kind: where one message ends and the next begins, version 1
    /// does not tell.
    pub fn text(&mut self, is_thought: bool, more: &str) {
        if more.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(Entry::Text {
                is_thought: same,
                text,
            }) if *same == is_thought => text.push_str(more),
            _ => self.0.push(Entry::Text {
                is_thought,
                text: more.to_owned(),
            }),
        }
    }

    /// Adds a tool call.
    pub fn call(&mut self, title: String, content: Vec<String>, status: Status) {
        let call = Entry::Call {
            title,
            content,
            status,
        };
        self.0.push(call);
    }

    /// Returns whether a tool call is not over.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let is_open =
            |entry: &Entry| matches!(entry, Entry::Call { status, .. } if *status == Status::Open);
        self.0.iter().any(is_open)
    }

    fn atom(&mut self, atom: &Atom) {
        let mut in_call = |more: Option<&str>, becomes: Option<Status>| {
            if let Some(Entry::Call {
                content, status, ..
            }) = self.0.last_mut()
            {
                content.extend(more.map(str::to_owned));
                *status = becomes.unwrap_or(*status);
            }
        };
        match atom {
            Atom::Say(text) => self.text(false, text),
            Atom::Think(text) => self.text(true, text),
            Atom::Open(title) => self.call(title.clone(), Vec::new(), Status::Open),
            Atom::Output(text) => in_call(Some(text), None),
            Atom::Edit { path, .. } => in_call(Some(path), None),
            Atom::Finish => in_call(None, Some(Status::Completed)),
            Atom::Fail(text) => in_call(Some(text), Some(Status::Failed)),
            Atom::Plan(_) | Atom::Start | Atom::Ask { .. } => {}
        }
    }

    /// Closes what was cut off.
    fn cut_off(&mut self) {
        if let Some(Entry::Call { status, .. }) = self.0.last_mut()
            && *status == Status::Open
        {
            *status = Status::Failed;
        }
    }
}

impl Script {
    /// Returns the shapes that the turn has when it ends after 0, 1, 2, … of its atoms.
    #[must_use]
    pub fn shapes(&self) -> Vec<Shape> {
        let mut shape = Shape::default();
        let mut shapes = vec![shape.clone()];
        for atom in self.atoms() {
            shape.atom(&atom);
            let mut ended = shape.clone();
            ended.cut_off();
            shapes.push(ended);
        }
        shapes
    }

    /// Returns the places of its plans among its atoms.
    #[must_use]
    pub fn plans(&self) -> Vec<usize> {
        let atoms = self.atoms();
        let plans = atoms.iter().enumerate();
        let plans = plans.filter(|(_, atom)| matches!(atom, Atom::Plan(_)));
        plans.map(|(place, _)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_is_cut_off_has_the_shape_of_what_there_was_of_it() {
        let script: Script = "[s1t1] say:2 allow:1 plan:1 think:1".parse().unwrap();
        let shapes = script.shapes();
        let mut expected = Shape::default();
        assert_eq!(shapes[0], expected);
        expected.text(false, "<s1t1.0> ");
        assert_eq!(shapes[1], expected);
        expected.text(false, "<s1t1.1> ");
        assert_eq!(shapes[2], expected);
        let before = expected.clone();
        expected.call("call <s1t1.2>".to_owned(), vec![], Status::Failed);
        // Opened, asked, started.
        assert!((3..=5).all(|atoms| shapes[atoms] == expected));
        expected = before;
        expected.call(
            "call <s1t1.2>".to_owned(),
            vec!["<s1t1.5>".to_owned()],
            Status::Completed,
        );
        // Finished, planned.
        assert!((7..=8).all(|atoms| shapes[atoms] == expected));
        assert_eq!(script.plans(), [7]);
        assert!(shapes.iter().all(|shape| !shape.is_open()));
        assert_eq!(shapes.len(), 10);
    }
}
