//! How many bytes the two programs allocate for one large message, as multiples of it.

use std::sync::Arc;

use super::super::client::{Client, End, Session};
use super::super::tally::Tally;
use super::super::task::Task;
use crate::Result;
use crate::allocations;
use crate::measure::{Outcome, to_f64};
use crate::payload::{CHUNK_TEXT, LARGE_TEXT_BYTES};

/// What one turn made both programs allocate, in multiples of the large message.
struct Cost {
    client: f64,
    agent: f64,
}

/// Measures one prompt and one update, after one of each that fills what is kept and used again.
pub(super) async fn run<C: Client>(client: C, tally: Arc<Tally>) -> Result<Outcome> {
    let mut session = client.open().await?;
    let prompt = Task::Measure.prompt();
    let length = prompt.len().to_string().len() as u64;
    let (mut down, mut up) = (None, None);
    for _ in 0..2 {
        let prompt = prompt.clone();
        down = Some(cost(&mut session, prompt, length, &tally).await?);
        let update = Task::Big.prompt();
        up = Some(cost(&mut session, update, LARGE_TEXT_BYTES as u64, &tally).await?);
    }
    let (down, up) = down.zip(up).ok_or("nothing was measured")?;
    Ok(Outcome::default()
        .with("client_prompt", down.client)
        .with("agent_prompt", down.agent)
        .with("client_update", up.client)
        .with("agent_update", up.agent))
}

async fn cost(
    session: &mut impl Session,
    prompt: String,
    text_bytes: u64,
    tally: &Tally,
) -> Result<Cost> {
    let agent = agent_so_far(session, tally).await?;
    let client = allocations::so_far();
    tally.expect(text_bytes);
    session.turn(prompt).await?.expect(End::Regular)?;
    let client = allocations::so_far() - client;
    let agent = agent_so_far(session, tally).await? - agent;
    let multiple = |bytes: u64| to_f64(bytes) / to_f64(LARGE_TEXT_BYTES as u64);
    Ok(Cost {
        client: multiple(client),
        agent: multiple(agent),
    })
}

/// Has the agent note its count, which it does when a turn begins: by then it is done with the turn before.
async fn agent_so_far(session: &mut impl Session, tally: &Tally) -> Result<u64> {
    tally.expect(CHUNK_TEXT.len() as u64);
    session
        .turn(Task::Stream(1).prompt())
        .await?
        .expect(End::Regular)?;
    allocations::newest_note()
}
