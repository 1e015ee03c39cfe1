//! What a client has to bear, and whether it does.

use std::time::Duration;

use serde_json::json;

use super::Stage;
use crate::client::report::{PROGRESS, beside};
use crate::peer::{Answer, Stopped};

impl Stage {
    /// Sends a request that nobody knows, and returns its answer: none if there is none in time.
    pub(crate) async fn ping(&mut self) -> Result<Option<Answer>, Stopped> {
        match self.peer.ask("_ply/ping", json!({})).await {
            Ok(answer) => Ok(Some(answer)),
            Err(Stopped::Silent { .. }) => Ok(None),
            Err(stopped) => Err(stopped),
        }
    }

    /// Says what the client has to bear from now on until [`Stage::survives`]: should it close the connection meanwhile, that is why.
    pub(crate) fn bear(&mut self, rules: &[&str], what: &str) {
        let rules = rules.iter().map(|&rule| rule.to_owned()).collect();
        self.burden = Some((rules, what.to_owned()));
    }

    /// Tells the harness that the client gets on, so that it is not taken for one that hangs.
    fn get_on(&self) {
        let told = self
            .out
            .as_ref()
            .map(|out| std::fs::write(beside(out, PROGRESS), b""));
        if let Some(Err(error)) = told {
            tracing::debug!(%error, "the harness does not hear that the client gets on");
        }
    }

    /// Judges that the client closed the connection under what it had to bear, if anything.
    pub(in crate::client) fn break_down(&mut self) {
        let Some((rules, what)) = self.burden.take() else {
            return;
        };
        let rules: Vec<_> = rules.iter().map(String::as_str).collect();
        let last = self.recording().len().saturating_sub(1);
        let saw = format!("the client closed the connection over {what}");
        self.judge(&rules, false, &[last], saw);
    }

    /// Finds out whether the client goes on after something that it has to bear, and judges these rules by that.
    pub(crate) async fn survives(
        &mut self,
        rules: &[&str],
        frames: &[usize],
        what: &str,
    ) -> Result<(), Stopped> {
        self.burden = None;
        if self.answers_pings == Some(false) {
            self.unclear(rules, "the client does not respond to unknown requests");
            return self.peer.listen(Duration::from_millis(300)).await.map(drop);
        }
        match self.ping().await {
            Ok(Some(_)) => {
                self.answers_pings = Some(true);
                self.get_on();
                self.judge(rules, true, frames, "");
                Ok(())
            }
            Ok(None) if self.answers_pings.is_none() => {
                self.unclear(rules, "the client does not respond to unknown requests");
                Ok(())
            }
            Ok(None) => {
                let saw = format!("the client stops responding after {what}");
                self.judge(rules, false, frames, saw);
                Ok(())
            }
            Err(stopped) => {
                let saw = format!("the client closed the connection after {what}");
                self.judge(rules, false, frames, saw);
                Err(stopped)
            }
        }
    }
}
