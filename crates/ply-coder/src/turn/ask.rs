//! Whether a call may run: the dispatcher decides by mode and rules, and asks where they say so.

use std::sync::Arc;

use ply_agent::{Decision, Permission, Result, ToolCall, v2};

use super::TurnLoop;
use super::dispatch::show_changes;
use crate::permission::{Question, Remember, Verdict};
use crate::tool::{Access, Change};

/// Whether a call may run.
pub(super) enum Allowed {
    Yes(By),
    /// No, and what the model is told.
    No(String),
}

/// Who allowed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The mode, or a rule.
    Rule,
    /// The user, for this call.
    User,
}

const ALLOW_ONCE: &str = "allow_once";
const REJECT_ONCE: &str = "reject_once";

impl TurnLoop<'_> {
    /// Decides about a call, and asks the user if need be. What it would change is shown unless it is
    /// denied.
    ///
    /// # Errors
    ///
    /// The turn was cancelled.
    pub(super) async fn may(
        &self,
        card: &ToolCall,
        access: &[Access],
        changes: &[Change],
    ) -> Result<Allowed> {
        let settled = self.settled(access);
        if !matches!(settled, Some(Allowed::No(_))) {
            show_changes(card, changes).await?;
        }
        if let Some(settled) = settled {
            return Ok(settled);
        }
        let _one_at_a_time = self
            .turn
            .unless_cancelled(self.shared.asking.lock())
            .await?;
        // An answer to the question before may have settled this one, or the mode has changed.
        match self.decide(access) {
            Verdict::Allow => Ok(Allowed::Yes(By::Rule)),
            Verdict::Deny(reason) => Ok(Allowed::No(reason)),
            Verdict::Ask(question) => self.ask(card, question).await,
        }
    }

    /// Decides about a call, if that can be done without asking.
    pub(super) fn settled(&self, access: &[Access]) -> Option<Allowed> {
        match self.decide(access) {
            Verdict::Allow => Some(Allowed::Yes(By::Rule)),
            Verdict::Deny(reason) => Some(Allowed::No(reason)),
            Verdict::Ask(_) => None,
        }
    }

    fn decide(&self, access: &[Access]) -> Verdict {
        let mode = self.state.choice().mode;
        self.state.permissions.decide(mode, access)
    }

    async fn ask(&self, card: &ToolCall, question: Question) -> Result<Allowed> {
        use v2::PermissionOptionKind as Kind;
        let mut permission = Permission::new(self.question(question.title.clone()));
        if !question.description.is_empty() {
            permission = permission.description(question.description.clone());
        }
        permission = permission.option(ALLOW_ONCE, "Allow once", Kind::AllowOnce);
        for (place, remember) in question.remember.iter().enumerate() {
            let id = remember_id(place);
            permission = permission.option(id, remember.label.clone(), Kind::AllowAlways);
        }
        permission = permission.option(REJECT_ONCE, "Reject", Kind::RejectOnce);
        let decision = card.ask_with(permission).await?;
        if decision.is_allowed() {
            self.remember(&decision, &question.remember).await;
            return Ok(Allowed::Yes(By::User));
        }
        Ok(Allowed::No(match decision {
            Decision::Unanswered => {
                "Nobody is there to approve this, so it was not done. Do what needs no approval, and say \
                 what is left to do."
                    .to_owned()
            }
            _ => "The user rejected this. Do not do it in another way; ask, or go on with \
                  something else."
                .to_owned(),
        }))
    }

    async fn remember(&self, decision: &Decision, choices: &[Remember]) {
        let chosen = decision.option_id();
        let places = choices.iter().enumerate();
        let mut chosen =
            places.filter(|(place, _)| chosen.is_some_and(|id| *id.0 == *remember_id(*place)));
        let Some((_, remember)) = chosen.next() else {
            return;
        };
        let permissions = Arc::clone(&self.state.permissions);
        let (scope, rule) = (remember.scope, remember.rule.clone());
        // The rules file may be locked by another process for a while.
        let kept = tokio::task::spawn_blocking(move || permissions.remember(scope, rule));
        if let Ok(Err(error)) = kept.await {
            // The user allowed it now; that it cannot be kept for later must not undo that.
            let words = format!("The rule was not saved: {error}");
            let session = self.turn.session();
            if let Err(error) = session.notice(v2::NoticeSeverity::Warning, words).await {
                tracing::debug!(%error, "nobody to tell that a rule was not saved");
            }
        }
    }
}

fn remember_id(place: usize) -> String {
    format!("allow_always_{place}")
}
