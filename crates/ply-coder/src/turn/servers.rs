//! The MCP servers that the project names: the user is asked before one is started.

use std::sync::Arc;

use ply_agent::{Decision, Permission, Result, v2};

use super::TurnLoop;
use crate::mcp::Way;
use crate::mcp::project::{FILE, ProjectServer};
use crate::permission::text::{code, shown};
use crate::permission::{self, Scope, about_server, command_line};

const ALLOW_ONCE: &str = "allow_once";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT_ONCE: &str = "reject_once";
const REJECT_ALWAYS: &str = "reject_always";

impl TurnLoop<'_> {
    /// Asks about servers that nobody has decided about, one after the other, and starts those that the user allows.
    pub(super) async fn ask_about_servers(&self) -> Result<()> {
        let (state, variables) = (self.state, &self.config.variables);
        let mut unasked = Vec::new();
        for server in state.undecided.servers() {
            let name = server.configured.shown_name();
            // Another session may have been told in the meantime.
            let ruled = state.permissions.may_start(&name, &server.version);
            let allowed = match ruled {
                Some(ruled) => Some(ruled),
                None => self.ask_about(&server, &name).await?,
            };
            match allowed {
                Some(true) => state.servers.add_allowed(&server, variables),
                Some(false) => {}
                None => {
                    unasked.push(name);
                    continue;
                }
            }
            state.undecided.settle(&server);
        }
        if !unasked.is_empty() && state.begin_telling_unasked() {
            let names = unasked.join("`, `");
            let words = format!(
                "Of the MCP servers in `{FILE}`, `{names}` did not start: nobody is there to allow it. Allow it once in an \
                 interactive session, or add it to `config.toml`."
            );
            self.notice(words).await?;
        }
        for problem in state.undecided.take_problems() {
            self.notice(problem).await?;
        }
        Ok(())
    }

    /// Tells the user where to log in at servers that want it. The turn goes on without them; their tools are there afterwards.
    pub(super) async fn ask_to_log_in(&self) -> Result<()> {
        let logins = self.state.servers.begin_logins();
        for (name, url) in self.turn.unless_cancelled(logins).await? {
            if self.turn.has_urls() {
                let words = format!("Log in at the MCP server `{name}`.");
                match self.turn.elicit_url(words, url.clone()).await {
                    Ok(_) => continue,
                    Err(error) if self.turn.is_cancelled() => return Err(error),
                    // Its client may not take this address; the user may.
                    Err(error) => tracing::debug!(%error, "the client does not open an address"),
                }
            }
            self.notice(format!(
                "The MCP server `{name}` wants you to log in: open {url}. Its tools are there once you have."
            ))
            .await?;
        }
        Ok(())
    }

    /// Asks about one server. None means that nobody decided.
    async fn ask_about(&self, server: &ProjectServer, name: &str) -> Result<Option<bool>> {
        use v2::PermissionOptionKind as Kind;
        let rule = |decision| about_server(decision, name, &server.version);
        // What cannot be kept for good is not offered.
        let is_kept =
            rule(permission::Decision::Allow).is_some() && self.config.user_rules.is_some();
        let mut question = Permission::new(format!("Start the MCP server {}", code(&shown(name))))
            .description(description(server));
        if let Some(Way::Command { command, args, .. }) = &server.configured.way {
            question = question.command(command_line(command, args));
        }
        question = question.option(ALLOW_ONCE, "Allow in this session", Kind::AllowOnce);
        if is_kept {
            let label = "Always allow it in this project, as it is now";
            question = question.option(ALLOW_ALWAYS, label, Kind::AllowAlways);
        }
        question = question.option(REJECT_ONCE, "Reject in this session", Kind::RejectOnce);
        if is_kept {
            let label = "Always reject it in this project, as it is now";
            question = question.option(REJECT_ALWAYS, label, Kind::RejectAlways);
        }
        let decision = self.turn.ask(question).await?;
        if decision == Decision::Unanswered {
            return Ok(None);
        }
        let allowed = decision.is_allowed();
        let chosen = decision.option_id().map(|id| id.0.to_string());
        let kept = match chosen.as_deref() {
            Some(ALLOW_ALWAYS) => rule(permission::Decision::Allow),
            Some(REJECT_ALWAYS) => rule(permission::Decision::Deny),
            _ => None,
        };
        if let Some(kept) = kept {
            let permissions = Arc::clone(&self.state.permissions);
            // The rules file may be locked by another process for a while.
            let kept =
                tokio::task::spawn_blocking(move || permissions.remember(Scope::Project, kept));
            if let Ok(Err(error)) = kept.await {
                self.notice(format!("The rule was not saved: {error}"))
                    .await?;
            }
        }
        Ok(Some(allowed))
    }
}

/// Says all of what would be started or asked.
fn description(server: &ProjectServer) -> String {
    let file = server.directory.join(FILE);
    let file = code(&shown(&file.to_string_lossy()));
    let named = |what: &str, pairs: &[(String, crate::model::service::Secret)]| {
        let pairs = pairs.iter().map(|(name, value)| {
            let pair = format!("{name}: {}", value.reveal());
            format!("- {}\n", code(&shown(&pair)))
        });
        let pairs: String = pairs.collect();
        match pairs.is_empty() {
            true => String::new(),
            false => format!("\n{what}:\n{pairs}"),
        }
    };
    match &server.configured.way {
        Some(Way::Command { command, args, env }) => format!(
            "{file} names it. It would run outside of the sandbox, with everything that you may do:\n{}{}",
            code(&command_line(command, args)),
            named("With these variables", env)
        ),
        Some(Way::Url { url, headers }) => format!(
            "{file} names it. It is a server on the network, which gets what the model sends to it:\n{}{}",
            code(&shown(url)),
            named("With these headers", headers)
        ),
        None => file,
    }
}
