//! `ply agents login`: the agent's own login.

use ply_client::text::Line;
use ply_client::{Agent, Client, v2};

use super::arguments::Login;
use crate::program::error::Error;
use crate::program::output;
use crate::program::roster::{Choice, Roster};

/// Logs in to an agent by the method that is named, or by the only one.
pub(super) async fn run(arguments: &Login) -> Result<(), Error> {
    let roster = Roster::read(None)?;
    let choice = roster.choose(Some(&arguments.name), &[])?;
    let agent = start(&choice).await?;
    let done = log_in(&agent, arguments, &choice).await;
    agent.close().await;
    done
}

/// Starts an agent and greets it.
pub(super) async fn start(choice: &Choice) -> Result<Agent, Error> {
    let client = Client::new()
        .info("ply", env!("CARGO_PKG_VERSION"))
        .terminal_login();
    let started = client.spawn(choice.command.clone()).await;
    started.map_err(|error| {
        let hint = match &choice.install {
            Some(install) => format!("to install it: {install}"),
            None => "check that its command starts an ACP agent".to_owned(),
        };
        Error::agents(format!("`{}` did not start: {error}", choice.name), hint)
    })
}

async fn log_in(agent: &Agent, arguments: &Login, choice: &Choice) -> Result<(), Error> {
    let methods = agent.auth_methods();
    let name = &choice.name;
    let id = |method: &v2::AuthMethod| method.method_id().0.to_string();
    let chosen = match (&arguments.method, methods.as_slice()) {
        (None, []) => {
            output::tell(&format!("{name} needs no login"));
            return Ok(());
        }
        (None, [only]) => only,
        (None, several) => {
            let ways = several
                .iter()
                .map(|way| format!("\n--method {}", Line(&id(way))));
            let ways: String = ways.collect();
            return Err(Error::agents(
                format!("{name} offers {} login methods", several.len()),
                format!("choose one:{ways}"),
            ));
        }
        (Some(wanted), all) => {
            let found = all.iter().find(|way| id(way) == *wanted);
            found.ok_or_else(|| {
                let known: Vec<_> = all.iter().map(id).collect();
                Error::agents(
                    format!("{name} has no login method `{wanted}`"),
                    format!("it offers: {}", known.join(", ")),
                )
            })?
        }
    };
    let failed = |error: ply_client::Error| {
        let hint = "try again, or log in with the agent's own program";
        Error::agents(error.to_string(), hint)
    };
    match chosen {
        v2::AuthMethod::Terminal(method) => {
            if !output::can_ask() {
                return Err(Error::agents(
                    "this login needs a terminal",
                    format!("run `ply agents login {name}` in a terminal"),
                ));
            }
            let login = agent.terminal_login(&method.method_id.0).map_err(failed)?;
            login.run().await.map_err(failed)?;
        }
        v2::AuthMethod::Agent(method) => {
            output::tell(&format!("logging in to {name}; follow what it opens"));
            agent.login(&method.method_id.0).await.map_err(failed)?;
        }
        other => {
            return Err(Error::agents(
                format!("{name}: the login method `{}` is not supported", id(other)),
                "see the agent's documentation",
            ));
        }
    }
    output::tell(&format!("logged in to {name}"));
    Ok(())
}
