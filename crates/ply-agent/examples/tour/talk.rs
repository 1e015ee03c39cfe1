//! Words: messages, thoughts, plans, and what was said before.

use std::time::Duration;

use ply_agent::transcript::{Entry, MessageKind};
use ply_agent::{Result, Stop, Turn, v2};

use crate::WORDS;

/// How long a step of the plan takes.
const STEP: Duration = Duration::from_millis(50);

/// What is said in a row is one message, however many pieces it comes in.
pub(crate) async fn say(turn: &Turn) -> Result<Stop> {
    for piece in ["One ", "message ", "in ", "pieces."] {
        turn.say(piece).await?;
    }
    Ok(Stop::EndTurn)
}

/// Thoughts are shown apart from messages.
pub(crate) async fn think(turn: &Turn) -> Result<Stop> {
    turn.think("What would they like to hear?").await?;
    turn.say("Good question.").await?;
    Ok(Stop::EndTurn)
}

/// Each plan takes the place of the one before. Whatever the agent waits for itself, such as a
/// model, goes through `unless_cancelled`, so that a cancel ends the wait.
pub(crate) async fn plan(turn: &Turn) -> Result<Stop> {
    let steps = ["Look around", "Think", "Act"];
    for done in 0..=steps.len() {
        turn.plan(entries(&steps, done)).await?;
        turn.unless_cancelled(tokio::time::sleep(STEP)).await?;
    }
    turn.say("All done.").await?;
    Ok(Stop::EndTurn)
}

fn entries(steps: &[&str], done: usize) -> Vec<v2::PlanEntry> {
    use std::cmp::Ordering;
    let entry = |(place, step): (usize, &&str)| {
        let status = match place.cmp(&done) {
            Ordering::Less => v2::PlanEntryStatus::Completed,
            Ordering::Equal => v2::PlanEntryStatus::InProgress,
            Ordering::Greater => v2::PlanEntryStatus::Pending,
        };
        v2::PlanEntry::new(*step, v2::PlanEntryPriority::Medium, status)
    };
    steps.iter().enumerate().map(entry).collect()
}

/// The history is kept for the agent, also over a restart if the journal is kept. It is what a
/// model is to be told about.
pub(crate) async fn history(turn: &Turn) -> Result<Stop> {
    let history = turn.history().await?;
    let first = history.entries().find_map(|entry| match entry {
        Entry::Message(message) if message.kind == MessageKind::User => Some(message.text()),
        _ => None,
    });
    turn.say(format!(
        "You first said: {}",
        first.as_deref().unwrap_or("nothing")
    ))
    .await?;
    Ok(Stop::EndTurn)
}

/// A prompt has only such content as `About::accepts` names; the rest is refused before it comes
/// here.
pub(crate) async fn look(turn: &Turn) -> Result<Stop> {
    use v2::EmbeddedResourceResource as Embedded;
    for block in turn.prompt().content() {
        let seen = match block {
            v2::ContentBlock::Image(image) => format!("an image, {}", image.mime_type.0),
            v2::ContentBlock::Audio(audio) => format!("a sound, {}", audio.mime_type.0),
            v2::ContentBlock::ResourceLink(link) => format!("a link to {}", link.name),
            v2::ContentBlock::Resource(embedded) => match &embedded.resource {
                Embedded::TextResourceContents(text) => {
                    format!("a text of {} lines", text.text.lines().count())
                }
                _ => "a file".to_owned(),
            },
            _ => continue,
        };
        turn.say(format!("I see {seen}.\n")).await?;
    }
    turn.say("That is all.").await?;
    Ok(Stop::EndTurn)
}

/// Text is Markdown.
pub(crate) async fn help(turn: &Turn) -> Result<Stop> {
    turn.say("Begin a prompt with one of these words:\n\n")
        .await?;
    for (word, shows) in WORDS {
        turn.say(format!("- `{word}`: {shows}\n")).await?;
    }
    Ok(Stop::EndTurn)
}
