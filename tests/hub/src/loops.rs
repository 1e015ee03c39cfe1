//! Many users, some at a time.

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use crate::rig::{Tally, play};

/// How many users are played at a time.
const AT_ONCE: usize = 4;

/// What came of all of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Total {
    /// Users.
    pub users: u64,
    /// What came of their prompts.
    pub tally: Tally,
}

/// Plays users with these seeds, and begins no more of them after `time_max`.
///
/// # Errors
///
/// A promise was broken, in words with the seed.
pub async fn run(
    peer: &Path,
    seeds: std::ops::Range<u64>,
    time_max: Option<Duration>,
) -> Result<Total, String> {
    let all = all(peer, seeds, time_max);
    tokio::task::LocalSet::new().run_until(all).await
}

async fn all(
    peer: &Path,
    mut seeds: std::ops::Range<u64>,
    time_max: Option<Duration>,
) -> Result<Total, String> {
    let began = Instant::now();
    let mut users = tokio::task::JoinSet::new();
    let mut total = Total::default();
    loop {
        while users.len() < AT_ONCE
            && time_max.is_none_or(|most| began.elapsed() < most)
            && let Some(seed) = seeds.next()
        {
            let peer = peer.to_owned();
            users.spawn_local(async move { play(&peer, seed).await });
        }
        let Some(user) = users.join_next().await else {
            return Ok(total);
        };
        let tally = user.map_err(|error| error.to_string())??;
        total.users += 1;
        total.tally.finished += tally.finished;
        total.tally.broken += tally.broken;
        total.tally.kills += tally.kills;
    }
}
