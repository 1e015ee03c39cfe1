//! The editor is killed, while what it started lives for as long as it takes to notice.

use std::time::Duration;

use ply_client::v2::SessionId;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::{KILL_MS_MAX, User};
use crate::editor::OPEN;
use crate::world::PATIENCE;

impl User<'_> {
    /// Has an editor of its own prompt, and kills it meanwhile. Returns whether the prompt was worked on to its end, which nobody
    /// is told: the editor may have been killed before it prompted.
    pub(super) async fn prompt_by_process(
        &mut self,
        id: &SessionId,
        number: u64,
        words: &str,
    ) -> Result<bool, String> {
        let told = |error: std::io::Error| error.to_string();
        let mut editor = self.world.editor(self.client, &id.0, words).map_err(told)?;
        let out = editor.stdout.take().ok_or("the editor has no output")?;
        let mut lines = BufReader::new(out).lines();
        let opened = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let opened = opened.map_err(|_| "an editor does not open its session".to_owned())?;
        if opened.map_err(told)?.as_deref() != Some(OPEN) {
            return Err("an editor cannot open its session".to_owned());
        }
        let after = Duration::from_millis(self.dice.roll(KILL_MS_MAX));
        tokio::time::sleep(after).await;
        self.tally.kills += u64::from(editor.start_kill().is_ok());
        editor.wait().await.map_err(told)?;
        // The hub has heard everything that the editor said once it knows that it is gone.
        let is_gone = async || {
            let sessions = self.world.sessions().await;
            let mut own = sessions.iter().filter(|live| live.id == *id.0);
            own.any(|live| live.clients <= 1)
        };
        self.world.until("the end of an editor", is_gone).await?;
        self.is_idle(id).await?;
        let log = self.world.log().map_err(told)?;
        let own = format!("s{}p{number}w", self.seed);
        let is_done = log
            .iter()
            .any(|line| line.what == "done" && line.rest.contains(&own));
        Ok(is_done)
    }
}
