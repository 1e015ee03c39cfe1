//! Requests that get no answer, where one is due.

use std::time::Duration;

use ply_client::Direction;
use ply_wire::negotiate::Version;

use super::bench::Bench;
use super::hearing::Wish;
use crate::findings::Found;
use crate::rule::id;
use crate::verdict::Evidence;

/// Returns the rule that says what a request is answered with. Prompts take as long as their model, and agents may be slow to start
/// and to make a session, so silence about those counts only when it is all there ever is.
fn due(version: Version, method: &str) -> Option<&'static str> {
    let is_v1 = version == Version::V1;
    Some(match method {
        "initialize" | "session/new" | "session/prompt" => return None,
        "session/list" if is_v1 => id::V1_LIST_02,
        "session/load" => id::V1_LOAD_05,
        "session/resume" if is_v1 => id::V1_RESUME_04,
        "session/close" if is_v1 => id::V1_CLOSE_03,
        "session/delete" if is_v1 => id::V1_DEL_02,
        "session/set_mode" => id::V1_MODE_03,
        "session/set_config_option" if is_v1 => id::V1_CONF_09,
        "session/set_config_option" => id::V2_CONF_03,
        "session/delete" => id::V2_DEL_01,
        "session/list" | "session/resume" | "session/close" => id::V2_INIT_10,
        "authenticate" => id::V1_AUTH_03,
        "logout" => id::V1_AUTH_13,
        "auth/login" | "auth/logout" => id::V2_AUTH_01,
        _ if is_v1 => id::V1_RPC_08,
        _ => id::V2_RPC_01,
    })
}

impl Bench {
    /// Judges that a request got no answer.
    pub(super) fn judge_silence(&mut self, method: &str, waited: Duration) {
        let Some(rule) = due(self.version, method) else {
            return;
        };
        let saw = format!(
            "no answer to `{method}` came within {} s",
            waited.as_secs_f32()
        );
        let evidence = self.last_request(method);
        self.findings
            .add(rule, Found::Broken, saw, evidence, Some(self.probe));
    }

    /// Judges an agent that answered no request for a session at all.
    pub(super) fn judge_deafness(&mut self) {
        if self.hearing.try_for(Wish::Session).is_ok() {
            return;
        }
        let rule = match self.version {
            Version::V1 => id::V1_INIT_15,
            Version::V2 => id::V2_INIT_10,
        };
        let saw = "`session/new` got no response several times in a row";
        let evidence = self.last_request("session/new");
        self.findings
            .add(rule, Found::Broken, saw, evidence, Some(self.probe));
    }

    /// Returns the last of our requests for a method.
    fn last_request(&self, method: &str) -> Evidence {
        let recordings = self.findings.recordings.iter().enumerate().rev();
        let mut found = recordings.filter_map(|(place, recording)| {
            let frame = recording.with_frames(|frames| {
                let ours = frames.iter().rev().find(|frame| {
                    frame.direction == Direction::ToAgent && frame.method() == Some(method)
                });
                ours.map(|frame| frame.number)
            })?;
            Some(Evidence {
                recording: place,
                frames: vec![frame],
            })
        });
        found.next().unwrap_or_default()
    }
}
