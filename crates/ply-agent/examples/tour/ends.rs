//! How a turn can end besides well.

use ply_agent::{Error, Result, Stop, Turn};

/// The user sees a refused turn, but a model is not told about it: it is not among the entries of
/// the history.
pub(crate) async fn refuse(turn: &Turn) -> Result<Stop> {
    turn.say("I would rather not.").await?;
    Ok(Stop::Refusal)
}

/// The model said as much as it may.
pub(crate) async fn tokens(turn: &Turn) -> Result<Stop> {
    turn.say("To be continu").await?;
    Ok(Stop::MaxTokens)
}

/// The agent asked the model as often as it may in one turn.
pub(crate) async fn requests(turn: &Turn) -> Result<Stop> {
    turn.say("I keep going in circles.").await?;
    Ok(Stop::MaxTurnRequests)
}

/// Any error can be passed on with `?`; the client is shown its words.
pub(crate) async fn fail() -> Result<Stop> {
    Err(Error::msg("The tour bus broke down."))
}

/// What a tool had done when the user cancelled is still reported, and then the turn ends as
/// cancelled whatever is returned.
pub(crate) async fn wait(turn: &Turn) -> Result<Stop> {
    let call = turn.tool_call("Wait for you").await?;
    call.start().await?;
    turn.cancelled().await;
    call.add("Waited until you had enough.").await?;
    call.cancel().await?;
    Ok(Stop::EndTurn)
}
