//! What the offline model says about itself.

use super::commands;

/// How to get a language model.
const GET_ONE: &str = "Set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or another provider's key, or choose a local model \
                       with `--model ollama/NAME`; `ply models` lists what is available.";

/// What can be asked.
const QUESTIONS: &str = "\
- `explain this repository`, `explain FILE`, `what is in DIR?`
- `where is NAME defined?`, `where is NAME used?`, `are there TODOs?`
- `how do I build this?`, `what are the dependencies?`, `how big is it?`
- `what changed?`, `show me the diff`
- `run the tests`, `build it`";

/// Ends an answer with where it came from.
pub(super) fn signed(answer: &str) -> String {
    format!(
        "{}\n\n_Looked up by Ply's offline model, without a language model. `ply models` shows how to add one._\n",
        answer.trim_end()
    )
}

/// Says what the model is and can do.
pub(super) fn about() -> String {
    format!(
        "I am Ply's offline model. I am not a language model: I answer questions about a project by looking \
         things up in its files, and nothing leaves this machine.\n\nAsk me:\n\n{QUESTIONS}\n\nOr say \
         exactly what to do:\n\n{}\n\nEverything else needs a language model. {GET_ONE}\n",
        commands::HELP
    )
}

/// Says that something takes a language model.
pub(super) fn reasoning() -> String {
    format!(
        "That needs a language model. This is Ply's offline model: it looks things up and runs what you name, \
         but cannot judge or write code.\n\n{GET_ONE}\n\nWithout one I can answer:\n\n\
         {QUESTIONS}\n"
    )
}

/// Says that a prompt was not understood.
pub(super) fn unknown() -> String {
    format!(
        "I did not understand that. I am Ply's offline model and know a few kinds of questions:\n\n{QUESTIONS}\n\n\
         And a few exact sentences:\n\n{}\n\nFor anything else, use a language model. {GET_ONE}\n",
        commands::HELP
    )
}

/// Says that an attachment was not looked at.
pub(super) fn unseen(count: usize) -> String {
    let what = match count {
        1 => "the attachment",
        _ => "the attachments",
    };
    format!(
        "I cannot see {what}: the offline model reads text only. A language model that takes images can; \
         `ply models` shows how to add one.\n"
    )
}

/// Bytes of a command's output that are repeated.
const OUTPUT_BYTES_MAX: usize = 2_000;

/// Says that a command failed, with the end of its output.
pub(super) fn failed(command: &str, output: &str) -> String {
    let tail = crate::text::tail(output.trim_end(), OUTPUT_BYTES_MAX);
    format!(
        "`{command}` failed. The end of its output:\n\n```\n{}\n```",
        tail.trim()
    )
}

/// Says that a command was not run, and why.
pub(super) fn not_run(command: &str, why: &str) -> String {
    // What the loop tells a model about that is not for the user to read.
    let why = match why.trim() {
        why if why.starts_with("The user rejected") => "you rejected it.",
        why if why.to_lowercase().contains("nobody") => {
            "nobody was there to allow it. On a terminal you are asked; elsewhere `ply run --permit all` allows it."
        }
        why => why,
    };
    let why = crate::text::head(why, OUTPUT_BYTES_MAX);
    format!("`{command}` was not run: {why}\n\nYou can run it in a terminal yourself.")
}
