//! What the loop itself tells a model, apart from what the user says.

/// How a note begins. Services know no third voice, so a note goes where the user speaks and says whose
/// it is.
const BEGINS: &str = "[Note of the program, not of the user: ";

/// Returns a note.
pub(crate) fn note(text: &str) -> String {
    format!("{BEGINS}{text}]")
}

/// Says whether a text is a note.
pub(crate) fn is_note(text: &str) -> bool {
    text.starts_with(BEGINS)
}
