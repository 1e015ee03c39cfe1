//! One call of a tool: prepared, allowed, run, reported.

use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use ply_agent::{Result, ToolCall, v2};

use super::TurnLoop;
use super::ask::{Allowed, By};
use super::order::Right;
use super::surface::Live;
use super::tickets::Ticket;
use crate::context::conversation;
use crate::mcp::search;
use crate::model::{Call, CallResult, Content};
use crate::permission::{Mode, Verdict, trigger};
use crate::tool::{Access, Change, Order, Outcome, Prepared, Tool, ToolContext};

/// Bytes of a call's output that its card shows as text.
const SHOWN_BYTES_MAX: usize = 16 * 1024;

impl TurnLoop<'_> {
    /// Takes a call through all its steps. Whatever happens, there is a result for the model, and the
    /// card has a final status.
    pub(super) async fn dispatch(
        &self,
        call: Call,
        card: ToolCall,
        mut ticket: Ticket,
    ) -> CallResult {
        let outcome = match self.carry_out(&call, &card, &mut ticket).await {
            Ok(outcome) => outcome,
            // Only a cancel, or the end of the session, leads here; nobody reads the result.
            Err(error) => Outcome::failed(error.to_string()),
        };
        if let Err(error) = self.report(card, &outcome).await {
            tracing::debug!(%error, "the end of a call was not reported");
        }
        let (text, images) = self.seen(outcome.text, outcome.images);
        CallResult {
            call: call.id,
            name: call.name,
            text,
            images,
            failed: outcome.failed,
        }
    }

    /// Returns what the model gets of a result. One that cannot see images is told that they are there.
    fn seen(&self, text: String, images: Vec<Content>) -> (String, Vec<Content>) {
        let facts = self.state.choice().model.facts().clone();
        match images.is_empty() || facts.images {
            true => (text, images),
            false => (conversation::with_unseen(text, images.len()), Vec::new()),
        }
    }

    async fn carry_out(
        &self,
        call: &Call,
        card: &ToolCall,
        ticket: &mut Ticket,
    ) -> Result<Outcome> {
        card.set_raw_input(call.arguments.clone()).await?;
        let tools = self.tools();
        let Some(tool) = tools.find(&call.name) else {
            if tools.is_hidden(&call.name) {
                let words = format!(
                    "Find `{}` first: call `{}` with its name, and call it in your next answer.",
                    call.name,
                    search::NAME
                );
                return Ok(Outcome::failed(words));
            }
            let words = format!(
                "There is no tool `{}`. There are: {}.",
                call.name,
                tools.names().join(", ")
            );
            return Ok(Outcome::failed(words));
        };
        if tool.only_reads(&call.arguments) {
            ticket.looks();
        }
        // What it would do may depend on what the calls before it did, and the user is asked in order.
        self.turn.unless_cancelled(ticket.reached()).await?;
        let surface = Live::new(self, card);
        let context = ToolContext {
            workspace: &self.state.workspace,
            processes: &self.state.processes,
            surface: &surface,
        };
        let work = async {
            let prepared = match tool.prepare(call.arguments.clone(), context).await {
                Ok(prepared) => prepared,
                Err(refused) => return Ok(refused),
            };
            self.run_prepared(call, card, tool, prepared).await
        };
        // A tool that breaks must not take the turn with it. What it broke was its own.
        let outcome = match AssertUnwindSafe(work).catch_unwind().await {
            Ok(outcome) => outcome,
            Err(_) => Ok(Outcome::failed(
                "The tool failed unexpectedly; try another way.",
            )),
        };
        if surface.has_progress() {
            // How far it is gives way to what came of it.
            card.set_content(Vec::new()).await?;
        }
        outcome
    }

    async fn run_prepared(
        &self,
        call: &Call,
        card: &ToolCall,
        tool: &dyn Tool,
        mut prepared: Prepared<'_>,
    ) -> Result<Outcome> {
        note_triggers(&mut prepared.access, &prepared.changes);
        let touched = prepared.locations.iter().map(|(path, _)| path.clone());
        let touched: Vec<_> = touched.collect();
        let edits = !prepared.changes.is_empty();
        let locations = prepared.locations.into_iter().map(|(path, line)| {
            v2::ToolCallLocation::new(path).line(line.filter(|line| *line > 0))
        });
        self.does(&prepared.title).await;
        let shown = v2::ToolCallUpdate::new(card.id().clone())
            .title(prepared.title)
            .kind(prepared.kind)
            .locations(locations.collect::<Vec<_>>());
        card.update(v2::SessionUpdate::ToolCallUpdate(shown))
            .await?;
        if let Some(blocked) = self.before_tool(call).await? {
            return Ok(Outcome::failed(blocked));
        }
        if is_shell(&prepared.access) {
            self.tell_about_sandbox().await?;
        }
        let allowed = self.may(card, &prepared.access, &prepared.changes).await?;
        let right = match allowed {
            Allowed::No(reason) => Err(reason),
            Allowed::Yes(by) => {
                self.enter(card, &prepared.access, &prepared.order, by)
                    .await?
            }
        };
        let _right = match right {
            Ok(right) => right,
            Err(reason) => {
                if !prepared.changes.is_empty() {
                    // A change that is not made is not shown as one.
                    card.set_content(Vec::new()).await?;
                }
                return Ok(Outcome::failed(reason));
            }
        };
        self.keep_what_is_there(&prepared.access).await?;
        card.start().await?;
        let mut outcome = match tool.tidies_up() {
            true => prepared.work.await,
            false => self.turn.unless_cancelled(prepared.work).await?,
        };
        let changes = outcome.changes.as_deref();
        let not_made = outcome.failed && !prepared.changes.is_empty();
        if changes.is_some() || not_made {
            card.set_content(Vec::new()).await?;
            show_changes(card, changes.unwrap_or(&[])).await?;
        }
        if edits && !outcome.failed {
            self.changed(touched.clone());
        }
        self.after_tool(call, &mut outcome).await;
        self.add_instructions(touched, &mut outcome).await;
        Ok(outcome)
    }

    /// Keeps what files are like before a call that may change them, so that the turn can be taken back.
    async fn keep_what_is_there(&self, access: &[Access]) -> Result<()> {
        let permissions = &self.state.permissions;
        if let Verdict::Allow = permissions.decide(Mode::Plan, access) {
            // Nothing that changes a file is allowed there.
            return Ok(());
        }
        let keeping = self.state.checkpoints.before(access);
        match self.turn.unless_cancelled(keeping).await? {
            Some(words) => self.notice(words).await,
            None => Ok(()),
        }
    }

    /// Waits until a call may run beside the others. What was decided about it is looked at again then:
    /// the mode or the rules may have changed while it waited.
    async fn enter(
        &self,
        card: &ToolCall,
        access: &[Access],
        order: &Order,
        mut by: By,
    ) -> Result<std::result::Result<Right<'_>, String>> {
        loop {
            let right = self
                .turn
                .unless_cancelled(self.shared.queue.enter(order))
                .await?;
            match self.settled(access) {
                Some(Allowed::Yes(_)) => return Ok(Ok(right)),
                Some(Allowed::No(reason)) => return Ok(Err(reason)),
                None if by == By::User => return Ok(Ok(right)),
                None => {}
            }
            // Nobody waits for others while the user is asked.
            drop(right);
            match self.may(card, access, &[]).await? {
                Allowed::Yes(now) => by = now,
                Allowed::No(reason) => return Ok(Err(reason)),
            }
        }
    }

    /// Tells the user, before the first command runs, if commands are not confined.
    async fn tell_about_sandbox(&self) -> Result<()> {
        let support = self.state.processes.support();
        self.turn.unless_cancelled(support).await?;
        match self.state.take_sandbox_notice() {
            Some(words) => self.notice(words).await,
            None => Ok(()),
        }
    }

    async fn report(&self, card: ToolCall, outcome: &Outcome) -> Result<()> {
        card.set_raw_output(conversation::raw_output(&outcome.text, outcome.failed))
            .await?;
        match &outcome.content {
            Some(content) => {
                for block in content {
                    card.add(block.clone()).await?;
                }
            }
            None => show_outcome(&card, outcome).await?,
        }
        card.end(match (outcome.failed, self.turn.is_cancelled()) {
            (true, true) => v2::ToolCallStatus::Cancelled,
            (true, false) => v2::ToolCallStatus::Failed,
            (false, _) => v2::ToolCallStatus::Completed,
        })
        .await
    }
}

/// Shows what came of a call as text and images.
async fn show_outcome(card: &ToolCall, outcome: &Outcome) -> Result<()> {
    let shown = outcome.shown.as_deref().unwrap_or(&outcome.text);
    let shown = crate::text::head(shown, SHOWN_BYTES_MAX);
    if !shown.trim().is_empty() {
        card.add(shown).await?;
    }
    for image in &outcome.images {
        if let Content::Image { mime_type, data } = image {
            let image = v2::ImageContent::new(data.clone(), mime_type.clone());
            card.add(v2::ContentBlock::Image(image)).await?;
        }
    }
    Ok(())
}

fn is_shell(access: &[Access]) -> bool {
    access
        .iter()
        .any(|access| matches!(access, Access::Shell { .. }))
}

/// Marks writes that make other programs run something.
fn note_triggers(access: &mut [Access], changes: &[Change]) {
    let only = match changes {
        [only] => Some(only),
        _ => None,
    };
    for one in access {
        let Access::Write(path) = one else { continue };
        let change = changes.iter().find(|change| change.path == *path).or(only);
        let (old, new) = match change {
            Some(change) => (change.old.as_deref(), change.new.as_deref()),
            None => (None, None),
        };
        if let Some(reason) = trigger(path, old, new) {
            let path = std::mem::take(path);
            *one = Access::Trigger { path, reason };
        }
    }
}

pub(super) async fn show_changes(card: &ToolCall, changes: &[Change]) -> Result<()> {
    for change in changes {
        let (old, new) = (change.old.as_deref(), change.new.as_deref());
        card.add_diff(&change.path, old, new).await?;
    }
    Ok(())
}
