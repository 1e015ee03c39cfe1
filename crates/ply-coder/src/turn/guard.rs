//! Noticing a model that goes in circles.

use crate::model::{Call, CallResult, Message, Part};

/// The same calls with the same results so often in a row are worth a word.
const WARN_AT: u32 = 3;
/// So often, the turn ends.
const STOP_AT: u32 = 6;

/// What the model is told.
pub(super) const WARNING: &str = "you made the same calls with the same results several times; do something else, or say what keeps \
     you";

/// What the user is told when the turn ends.
pub(super) const GIVING_UP: &str =
    "I keep making the same call without getting anywhere, so I stop here. Tell me how to go on.";

/// Counts rounds that are the same as the one before.
#[derive(Debug, Default)]
pub(super) struct Guard {
    last: Option<Round>,
    times: u32,
}

/// What was called, and what came of it.
type Round = (Vec<(String, String)>, Vec<String>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Fine,
    Warn,
    Stop,
}

impl Guard {
    /// Looks at what the model called, and what came of it.
    pub(super) fn look(&mut self, said: Option<&Message>, results: &[CallResult]) -> Verdict {
        let calls = match said {
            Some(Message::Assistant(parts)) => parts.iter().filter_map(|part| match part {
                Part::Call(call) => Some(key(call)),
                _ => None,
            }),
            _ => return Verdict::Fine,
        };
        let calls: Vec<_> = calls.collect();
        // Asking a process again and again is waiting, not going in circles.
        if calls.iter().any(|(name, _)| name == "process") {
            self.last = None;
            return Verdict::Fine;
        }
        let texts = results.iter().map(|result| result.text.clone());
        let round = Some((calls, texts.collect()));
        if round == self.last {
            self.times += 1;
        } else {
            self.times = 1;
            self.last = round;
        }
        match self.times {
            STOP_AT.. => Verdict::Stop,
            WARN_AT => Verdict::Warn,
            _ => Verdict::Fine,
        }
    }
}

fn key(call: &Call) -> (String, String) {
    (call.name.clone(), call.arguments.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(argument: u32, text: &str) -> (Message, Vec<CallResult>) {
        let call = Call {
            id: "c".to_owned(),
            name: "read_file".to_owned(),
            arguments: serde_json::json!({ "path": argument }),
            signatures: Vec::new(),
        };
        let result = CallResult {
            call: "c".to_owned(),
            name: "read_file".to_owned(),
            text: text.to_owned(),
            images: Vec::new(),
            failed: true,
        };
        (Message::Assistant(vec![Part::Call(call)]), vec![result])
    }

    #[test]
    fn the_same_round_again_and_again_ends_the_turn() {
        let mut guard = Guard::default();
        let (said, results) = round(1, "no such file");
        let verdicts: Vec<_> = (0..6).map(|_| guard.look(Some(&said), &results)).collect();
        use Verdict::{Fine, Stop, Warn};
        assert_eq!(verdicts, [Fine, Fine, Warn, Fine, Fine, Stop]);
    }

    #[test]
    fn another_result_is_progress() {
        let mut guard = Guard::default();
        for number in 0..20 {
            let (said, results) = round(1, &number.to_string());
            assert_eq!(guard.look(Some(&said), &results), Verdict::Fine);
        }
    }
}
