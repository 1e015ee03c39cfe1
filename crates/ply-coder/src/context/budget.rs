//! How long a request is, and how it is made shorter without a model's help.

use crate::model::{Content, Facts, Message, Part, Request};
use crate::text;

/// Tokens that are kept free besides the answer, for what the estimate gets wrong.
const RESERVE_TOKENS: u64 = 2_000;
/// What an image is counted as.
const IMAGE_TOKENS: u64 = 1_600;
/// What a message is counted as besides its words.
const MESSAGE_TOKENS: u64 = 8;
/// Outputs below this are not worth leaving out.
const ELIDED_BYTES_MIN: usize = 512;
/// The part of the room above which one output is cut.
const LARGE_SHARE: u64 = 4;
/// What long texts are cut to, one after the other, when nothing else is left to cut.
const SQUEEZED_BYTES: [usize; 3] = [8_000, 2_000, 400];
/// The newest part of a conversation, in tokens, of which no output is left out.
const UNTOUCHED_TOKENS: u64 = 20_000;

/// Returns about how many tokens a request has.
pub(crate) fn tokens(request: &Request) -> u64 {
    let tools = request.tools.iter().map(|tool| {
        of_text(&tool.description) + of_text(&tool.name) + of_text(&tool.schema.to_string())
    });
    let messages = request.messages.iter().map(of_message);
    of_text(&request.system) + tools.sum::<u64>() + messages.sum::<u64>()
}

/// Returns how many tokens a request may have so that the answer fits behind it.
pub(crate) fn room(facts: &Facts) -> u64 {
    // Models with a small window may claim that the answer can fill it.
    let answer = facts.output_tokens_max.min(facts.window_tokens / 4);
    let reserve = RESERVE_TOKENS.min(facts.window_tokens / 16);
    facts.window_tokens.saturating_sub(answer + reserve)
}

/// Leaves old outputs of tools out of a conversation until it has at most so many tokens, oldest
/// first. Returns whether that was enough.
pub(crate) fn elide(messages: &mut [Message], tokens: u64, room: u64) -> bool {
    elide_but(messages, tokens, room, UNTOUCHED_TOKENS.min(room / 2))
}

fn elide_but(messages: &mut [Message], mut tokens: u64, room: u64, untouched: u64) -> bool {
    let mut newer: u64 = messages.iter().map(of_message).sum();
    for message in messages {
        if tokens <= room {
            return true;
        }
        newer = newer.saturating_sub(of_message(message));
        if newer < untouched {
            break;
        }
        let Message::Results(results) = message else {
            continue;
        };
        for result in results {
            if result.text.len() < ELIDED_BYTES_MIN && result.images.is_empty() {
                continue;
            }
            let before = of_text(&result.text) + of_contents(&result.images);
            result.images.clear();
            result.text = format!(
                "[{} bytes of old output left out; call {} again if you need them]",
                result.text.len(),
                result.name
            );
            tokens = (tokens + of_text(&result.text)).saturating_sub(before);
        }
    }
    tokens <= room
}

/// Cuts outputs that alone fill a good part of the room in the middle. Returns how many tokens are left.
pub(crate) fn cut_large(messages: &mut [Message], tokens: u64, room: u64) -> u64 {
    let bytes_max = usize::try_from(room / LARGE_SHARE).unwrap_or(usize::MAX) * 4;
    let before: u64 = messages.iter().map(of_message).sum();
    for message in &mut *messages {
        if let Message::Results(results) = message {
            for result in results {
                result.text = text::middle_cut(&result.text, bytes_max);
            }
        }
    }
    let after: u64 = messages.iter().map(of_message).sum();
    tokens.saturating_sub(before.saturating_sub(after))
}

/// Makes a conversation fit whatever it takes: all outputs may go, and long texts are cut in the
/// middle.
pub(crate) fn squeeze(messages: &mut [Message], mut tokens: u64, room: u64) {
    if elide_but(messages, tokens, room, 0) {
        return;
    }
    for bytes_max in SQUEEZED_BYTES {
        let before: u64 = messages.iter().map(of_message).sum();
        for text in messages.iter_mut().flat_map(texts_of) {
            *text = text::middle_cut(text, bytes_max);
        }
        let after: u64 = messages.iter().map(of_message).sum();
        tokens = tokens.saturating_sub(before.saturating_sub(after));
        if tokens <= room {
            return;
        }
    }
}

fn texts_of(message: &mut Message) -> Vec<&mut String> {
    match message {
        Message::User(contents) => contents
            .iter_mut()
            .filter_map(|content| match content {
                Content::Text(text) => Some(text),
                _ => None,
            })
            .collect(),
        Message::Assistant(parts) => parts
            .iter_mut()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text),
                _ => None,
            })
            .collect(),
        Message::Results(results) => results.iter_mut().map(|result| &mut result.text).collect(),
    }
}

pub(crate) fn of_message(message: &Message) -> u64 {
    MESSAGE_TOKENS
        + match message {
            Message::User(contents) => of_contents(contents),
            Message::Assistant(parts) => parts.iter().map(of_part).sum(),
            Message::Results(results) => results
                .iter()
                .map(|result| MESSAGE_TOKENS + of_text(&result.text) + of_contents(&result.images))
                .sum(),
        }
}

fn of_contents(contents: &[Content]) -> u64 {
    let each = contents.iter().map(|content| match content {
        Content::Text(text) => of_text(text),
        Content::Image { .. } => IMAGE_TOKENS,
        Content::Audio { data, .. } => of_text(data) / 16,
    });
    each.sum()
}

fn of_part(part: &Part) -> u64 {
    match part {
        Part::Text(text) => of_text(text),
        Part::Thought { text, signature } => {
            of_text(text) + signature.as_deref().map_or(0, of_text)
        }
        Part::Call(call) => MESSAGE_TOKENS + of_text(&call.arguments.to_string()),
    }
}

/// Services count differently; what they say of a request corrects the next estimate.
fn of_text(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CallResult;

    fn results(bytes: usize) -> Message {
        Message::Results(vec![CallResult {
            call: "c".to_owned(),
            name: "read_file".to_owned(),
            text: "x".repeat(bytes),
            images: Vec::new(),
            failed: false,
        }])
    }

    fn lengths(messages: &[Message]) -> Vec<usize> {
        let results = messages.iter().filter_map(|message| match message {
            Message::Results(results) => Some(results.first()?.text.len()),
            _ => None,
        });
        results.collect()
    }

    #[test]
    fn old_outputs_go_first_and_new_ones_stay() {
        let mut messages = vec![
            results(40_000),
            results(100),
            results(40_000),
            results(90_000),
        ];
        let tokens = messages.iter().map(of_message).sum();
        assert!(elide(&mut messages, tokens, 36_000));
        let lengths = lengths(&messages);
        assert!(lengths[0] < 100, "{lengths:?}");
        assert_eq!(lengths[1..], [100, 40_000, 90_000]);
    }

    #[test]
    fn what_is_new_is_never_left_out() {
        let mut messages = vec![results(40_000)];
        let tokens = messages.iter().map(of_message).sum();
        assert!(!elide(&mut messages, tokens, 1_000));
        assert_eq!(lengths(&messages), [40_000]);
    }

    #[test]
    fn a_conversation_to_be_summed_up_is_made_to_fit() {
        let text = |bytes: usize| Message::User(vec![Content::Text("é".repeat(bytes / 2))]);
        let mut messages = vec![text(100_000), results(50_000), text(100_000), text(100)];
        let tokens = |messages: &[Message]| messages.iter().map(of_message).sum::<u64>();
        let before = tokens(&messages);
        squeeze(&mut messages, before, 3_000);
        assert!(tokens(&messages) <= 3_000, "{}", tokens(&messages));
        assert_eq!(messages[3], text(100), "what is short stays");
    }

    #[test]
    fn the_answer_has_room_behind_the_request() {
        let mut facts = Facts::new("x");
        (facts.window_tokens, facts.output_tokens_max) = (100_000, 8_000);
        assert_eq!(room(&facts), 90_000);
        (facts.window_tokens, facts.output_tokens_max) = (8_000, 8_000);
        assert_eq!(room(&facts), 5_500);
    }
}
