//! Lines that are no messages, and what an agent makes of them.

use serde_json::{Value, json};

use super::bench::Agent;
use super::judging::{PING, QUIET};
use crate::peer::Stopped;
use crate::recording::Frame;

/// What came after a line.
pub(super) struct Reaction {
    /// The frame of the line.
    pub(super) sent: usize,
    /// Every answer that came after it, but for that to the request which follows it.
    pub(super) answers: Vec<Frame>,
    /// Whether the request which follows it was answered.
    pub(super) is_alive: bool,
}

impl Reaction {
    /// Returns the frames that show it.
    pub(super) fn frames(&self) -> Vec<usize> {
        let answers = self.answers.iter().map(|frame| frame.number);
        std::iter::once(self.sent).chain(answers).collect()
    }

    /// Returns whether it is exactly one error with this code and the id null, and the agent goes on.
    pub(super) fn is_refusal(&self, codes: &[i64]) -> bool {
        let [only] = self.answers.as_slice() else {
            return false;
        };
        let code = code(only);
        self.is_alive
            && only.id() == Some(&Value::Null)
            && code.is_some_and(|code| codes.contains(&code))
    }

    /// Says what came, for a finding.
    pub(super) fn tell(&self, what: &str) -> String {
        if !self.is_alive {
            return format!("{what}: the next request got no response");
        }
        match self.answers.as_slice() {
            [] => format!("{what}: nothing was answered"),
            [only] => {
                let id = only.id().map(Value::to_string);
                let id = id.as_deref().unwrap_or("none");
                match code(only) {
                    Some(code) => format!("{what}: the error {code} came, with the id {id}"),
                    None => format!("{what}: a result came, with the id {id}"),
                }
            }
            answers => format!("{what}: {} answers came", answers.len()),
        }
    }
}

/// Returns the code of an error.
pub(super) fn code(frame: &Frame) -> Option<i64> {
    let json = frame.json.as_ref()?;
    json.pointer("/error/code")?.as_i64()
}

/// Sends a line and then a lawful request, and gathers what comes back. `line` has no line end.
pub(super) async fn react(agent: &mut Agent, line: &[u8]) -> Result<Reaction, Stopped> {
    let mut bytes = line.to_vec();
    bytes.push(b'\n');
    let before = agent.recording().len();
    let mut reaction = Reaction {
        sent: before,
        answers: Vec::new(),
        is_alive: false,
    };
    // An agent that is gone shows here or at the next step, by the size of the line.
    if agent.send_bytes(&bytes).await.is_err() {
        return Ok(reaction);
    }
    let Ok(ping) = agent.begin(PING, json!({})).await else {
        return Ok(reaction);
    };
    reaction.is_alive = agent.answer(&ping).await.is_ok();
    let gather = |agent: &Agent| {
        let heard = agent.heard_since(before).into_iter();
        let answers = heard.filter(|frame| frame.is_answer() && frame.id() != Some(&ping.id));
        answers.collect::<Vec<_>>()
    };
    reaction.answers = gather(agent);
    if reaction.is_alive && reaction.answers.is_empty() {
        // Agents may answer in another order.
        reaction.is_alive = agent.listen(QUIET).await.is_ok();
        reaction.answers = gather(agent);
    }
    Ok(reaction)
}
