//! What belongs to the session and to no turn: it can be reported at any time.

use std::time::Duration;

use ply_agent::v2::{self, SessionConfigKind};
use ply_agent::{Result, Session, Stop, Turn};

const MODE: &str = "mode";
/// How long `later` takes.
const LATER: Duration = Duration::from_millis(500);

/// Prepares a new session. The first option of category `mode` also stands for the modes of
/// version 1.
pub(crate) async fn set_up(session: &Session) -> Result<()> {
    let values = [("ask", "Ask first"), ("code", "Write code")];
    let values = values.map(|(id, name)| v2::SessionConfigSelectOption::new(id, name));
    let mode = v2::SessionConfigOption::select(MODE, "Mode", "ask", values.to_vec())
        .category(v2::SessionConfigOptionCategory::Mode);
    session.set_options(vec![mode]).await?;
    session.set_commands(vec![greet_command()]).await
}

/// Reacts to an option that the user changes. An error here would refuse it.
pub(crate) async fn option_changes(
    session: &Session,
    option: &v2::SessionConfigId,
    value: &v2::SessionConfigOptionValue,
) -> Result<()> {
    let value = value.as_id().map_or("something else", |id| &*id.0);
    let change = format!("{} becomes {value}.", option.0);
    session.notice(v2::NoticeSeverity::Info, change).await
}

/// The options with their values are part of what the session remembers.
pub(crate) async fn mode(turn: &Turn) -> Result<Stop> {
    let history = turn.history().await?;
    let mut options = history.transcript().config_options().iter();
    let mode = options.find(|option| &*option.config_id.0 == MODE);
    let answer = match mode.map(|option| &option.kind) {
        Some(SessionConfigKind::Select(mode)) => format!("The mode is {}.", mode.current_value.0),
        _ => "There is no mode.".to_owned(),
    };
    turn.say(answer).await?;
    Ok(Stop::EndTurn)
}

/// A notice is shown once and forgotten.
pub(crate) async fn notice(turn: &Turn) -> Result<Stop> {
    let session = turn.session();
    session
        .notice(v2::NoticeSeverity::Warning, "The tour is long.")
        .await?;
    Ok(Stop::EndTurn)
}

pub(crate) async fn usage(turn: &Turn) -> Result<Stop> {
    let usage = v2::UsageUpdate::new(12_000, 200_000).cost(v2::Cost::new(0.04, "USD"));
    turn.session().set_usage(usage).await?;
    Ok(Stop::EndTurn)
}

pub(crate) async fn title(turn: &Turn, title: &str) -> Result<Stop> {
    turn.session().set_title(title).await?;
    Ok(Stop::EndTurn)
}

/// Commands are set all at once. The user types them like any other prompt.
pub(crate) async fn commands(turn: &Turn) -> Result<Stop> {
    let help = v2::AvailableCommand::Command(v2::Command::new("help", "Lists the words"));
    turn.session()
        .set_commands(vec![greet_command(), help])
        .await?;
    turn.say("Try `/greet you`.").await?;
    Ok(Stop::EndTurn)
}

fn greet_command() -> v2::AvailableCommand {
    let input = v2::AvailableCommandInput::Text(v2::TextCommandInput::new("whom to greet"));
    v2::AvailableCommand::Command(v2::Command::new("greet", "Greets somebody").input(input))
}

pub(crate) async fn greet(turn: &Turn, name: &str) -> Result<Stop> {
    turn.say(format!("Hello, {name}!")).await?;
    Ok(Stop::EndTurn)
}

/// The agent works without being asked. Such a turn waits for those before it, and can be cancelled
/// like any other.
pub(crate) async fn later(turn: &Turn) -> Result<Stop> {
    turn.say("I will be back.").await?;
    let session = turn.session().clone();
    tokio::spawn(async move {
        tokio::time::sleep(LATER).await;
        let work = async |turn: Turn| {
            turn.say("Here I am.").await?;
            Ok(Stop::EndTurn)
        };
        let ended = session.start_turn(work).await;
        // The session may be closed by then, and there is nobody left to tell.
        drop(ended);
    });
    Ok(Stop::EndTurn)
}
