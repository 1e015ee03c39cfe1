//! What the client may offer: files, terminals, forms and pages. An agent asks first whether it
//! does, and has an answer for when it does not.

use ply_agent::v2::{ElicitationContentValue as Value, ElicitationSchema, ToolKind};
use ply_agent::{Elicited, Result, Stop, Turn};

/// A file with what is not saved yet. A relative path is meant in the session's directory.
pub(crate) async fn read(turn: &Turn, path: &str) -> Result<Stop> {
    if !turn.can_read_files() {
        turn.say("Your editor shows no files.").await?;
        return Ok(Stop::EndTurn);
    }
    // Refused or not there: an error like any other, and no reason to end the turn.
    match turn.read_text_file(path).line(1).limit(10).await {
        Ok(lines) => turn.say(lines).await?,
        Err(error) => turn.say(format!("It cannot be read: {error}.")).await?,
    }
    Ok(Stop::EndTurn)
}

pub(crate) async fn write(turn: &Turn, rest: &str) -> Result<Stop> {
    let (path, text) = rest.split_once(' ').unwrap_or((rest, ""));
    if !turn.can_write_files() {
        turn.say("Your editor takes no files.").await?;
        return Ok(Stop::EndTurn);
    }
    match turn.write_text_file(path, text).await {
        Ok(()) => turn.say("Written.").await?,
        Err(error) => turn.say(format!("It cannot be written: {error}.")).await?,
    }
    Ok(Stop::EndTurn)
}

/// A command that the client runs. It has to be shown before it is released.
pub(crate) async fn run(turn: &Turn, line: &str) -> Result<Stop> {
    let mut words = line.split_whitespace();
    let Some(program) = words.next().filter(|_| turn.has_terminals()) else {
        turn.say("There is no terminal, or no command.").await?;
        return Ok(Stop::EndTurn);
    };
    let terminal = turn
        .terminal(program)
        .cwd(turn.session().cwd())
        .env("TOUR", "1")
        .output_bytes(64 * 1024);
    let terminal = words.fold(terminal, |terminal, word| terminal.arg(word));
    let terminal = terminal.await?;
    let call = turn.tool_call(line).kind(ToolKind::Execute).await?;
    call.add_terminal(&terminal).await?;
    call.start().await?;
    // A cancel ends the wait, and dropping the terminal ends the command.
    let exit = terminal.wait().await?;
    let output = terminal.output().await?;
    terminal.release().await?;
    call.finish().await?;
    let code = exit.exit_code;
    let code = code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
    let bytes = output.output.len();
    turn.say(format!(
        "It ended with {code} after {bytes} bytes of output."
    ))
    .await?;
    Ok(Stop::EndTurn)
}

/// A form. Its fields are not to ask for secrets.
pub(crate) async fn form(turn: &Turn) -> Result<Stop> {
    if !turn.has_forms() {
        turn.say("Your editor has no forms. What is your name?")
            .await?;
        return Ok(Stop::EndTurn);
    }
    let schema = ElicitationSchema::new()
        .title("About you")
        .string("name", true)
        .integer("visits", 0, 100, false);
    let answer = match turn.elicit_form("Who are you?", schema).await? {
        Elicited::Accepted(fields) => match fields.get("name") {
            Some(Value::String(name)) => format!("Hello, {name}."),
            _ => "Hello, whoever you are.".to_owned(),
        },
        Elicited::Declined => "You need not say.".to_owned(),
        _ => "Another time.".to_owned(),
    };
    turn.say(answer).await?;
    Ok(Stop::EndTurn)
}

/// A page to visit, for what should not pass through the client: a login, a payment.
pub(crate) async fn visit(turn: &Turn) -> Result<Stop> {
    let url = "https://agentclientprotocol.com/";
    if !turn.has_urls() {
        turn.say(format!("Please visit {url}")).await?;
        return Ok(Stop::EndTurn);
    }
    let (elicited, id) = turn.elicit_url("Read about the protocol", url).await?;
    if matches!(elicited, Elicited::Accepted(_)) {
        // A real agent waits until it hears from the page.
        turn.finish_url(id).await?;
        turn.say("I hope you liked it.").await?;
    }
    Ok(Stop::EndTurn)
}
