//! From before the agent's process to the answer to `initialize`, many times.

use std::time::Duration;

use super::work::Plan;
use crate::Result;
use crate::measure::{Outcome, median_ms, to_f64, worst_ms};

/// Calls `greet`, which starts an agent, greets it, says how long that took and ends it.
pub(super) async fn run<F>(plan: &Plan, mut greet: impl FnMut() -> F) -> Result<Outcome>
where
    F: Future<Output = Result<Duration>>,
{
    // The first one reads the program from disk.
    greet().await?;
    let mut waits = Vec::new();
    for _ in 0..plan.count {
        waits.push(greet().await?);
    }
    Ok(Outcome::default()
        .with("tries", to_f64(plan.count))
        .with("worst_ms", worst_ms(&waits))
        .with("p50_ms", median_ms(&mut waits)))
}
