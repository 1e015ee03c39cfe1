//! What the agent asks during a turn, and who answers.

use std::collections::BTreeMap;

use ply_client::text::Line;
use ply_client::{Elicitation, Permission, Turn, v2};

use super::super::ask::{self, Typed};
use super::super::ending::Cut;
use super::super::form::{self, Entry};
use super::super::permit::{Answered, By, Verdict};
use super::super::stage::at_time;
use super::super::subject::Subject;
use super::{CANCEL_TIME_MAX, Following};
use crate::program::output;
use crate::program::sessions::content;

impl Following<'_> {
    pub(super) async fn permission(&mut self, turn: &Turn, permission: &Permission) {
        let request = permission.request();
        let session = &self.opened.session;
        let subject = session.with_transcript(|it| Subject::of(request, it));
        let (option, by) = match self.request.permit.decide(&subject, permission.options()) {
            // Nothing more is allowed or asked in a turn that is to end.
            _ if self.cut.is_some() => (None, By::Nobody),
            Verdict::Answer(option, by) => (option, by),
            Verdict::Ask => match self.ask(turn, permission, &subject).await {
                Some(option) => (option, By::User),
                None if self.cut.is_some() => (None, By::Nobody),
                // It was taken back.
                None => return,
            },
        };
        match &option {
            Some(option) => {
                let answered = match by {
                    By::Nobody => permission.reject_unattended(&option.option_id).await,
                    By::Policy | By::User => permission.select(&option.option_id).await,
                };
                if answered.is_err() && self.cut.is_none() {
                    // Taken back meanwhile.
                    return;
                }
            }
            None => permission.cancel().await,
        }
        let answered = Answered {
            title: subject.title,
            kind: subject.kind,
            command: subject.command,
            answer: match &option {
                Some(option) => content::name(&option.kind),
                None => "cancelled".to_owned(),
            },
            option_id: option.map(|option| option.option_id.0.to_string()),
            by,
        };
        if by != By::User && !answered.is_allowed() && self.cut.is_none() {
            self.settle().await;
            let why = match by {
                By::Nobody => "nobody can be asked; see `--permit`",
                _ => "by `--permit`",
            };
            let title = Line(&answered.title).to_string();
            self.stage
                .tell(&format!("permission refused ({why}): {title}"));
        }
        self.view.answered(&answered, &mut self.stage.out);
        self.report.permissions.push(answered);
    }

    /// Asks whoever is there; the answer has no option if there was none. None at all if the question is gone.
    async fn ask(
        &mut self,
        turn: &Turn,
        permission: &Permission,
        subject: &Subject,
    ) -> Option<Option<v2::PermissionOption>> {
        let request = permission.request();
        let paint = self.stage.streams.error_paint;
        let session = &self.opened.session;
        let words = session.with_transcript(|it| ask::permission(request, subject, it, paint));
        let options = permission.options();
        self.begin_question(&words).await;
        loop {
            output::tell_part(&format!("Choose 1-{}: ", options.len()));
            let line = self.typed_line(turn, permission.closed()).await?;
            match line {
                Some(line) => match ask::chosen(&line, options) {
                    Some(option) => return Some(Some(option)),
                    None => output::tell("  say the number of one of them; Ctrl-D for none"),
                },
                None => {
                    output::tell("");
                    let rejects = |it: &&v2::PermissionOption| {
                        it.kind == v2::PermissionOptionKind::RejectOnce
                    };
                    return Some(options.iter().find(rejects).cloned());
                }
            }
        }
    }

    pub(super) async fn elicitation(&mut self, turn: &Turn, elicitation: &Elicitation) {
        let filled_in = match self.cut {
            Some(_) => None,
            None => self.fill_in(turn, elicitation).await,
        };
        let action = match (filled_in, &self.cut) {
            (Some(action), _) => action,
            (None, Some(_)) => v2::ElicitationAction::Cancel,
            (None, None) => v2::ElicitationAction::Decline,
        };
        // One that was taken back needs no answer.
        drop(elicitation.answer(action).await);
    }

    /// Asks for the fields of a form; none if it is not filled in.
    async fn fill_in(
        &mut self,
        turn: &Turn,
        elicitation: &Elicitation,
    ) -> Option<v2::ElicitationAction> {
        let request = elicitation.request();
        let v2::ElicitationMode::Form(form) = &request.mode else {
            return None;
        };
        if !self.request.permit.asks() {
            return None;
        }
        let fields = form::fields(&form.requested_schema)?;
        let words = ask::form(&request.message);
        self.begin_question(&words).await;
        let mut content = BTreeMap::new();
        for field in fields {
            loop {
                output::tell_part(&field.question());
                let line = self.typed_line(turn, elicitation.closed()).await??;
                match field.read(&line) {
                    Entry::Value(value) => {
                        content.insert(field.name().to_owned(), value);
                        break;
                    }
                    Entry::Nothing => break,
                    Entry::Wrong(why) => output::tell(&format!("  {why}")),
                }
            }
        }
        Some(form::accepted(content))
    }

    /// Shows a question after everything that was said before it.
    async fn begin_question(&mut self, words: &str) {
        self.stage.progress.clear();
        self.view.break_line(&mut self.stage.out);
        // Whoever reads slowly is not asked before the rest is there; a signal is looked at right after.
        let written = tokio::time::timeout(CANCEL_TIME_MAX, self.stage.out.written());
        drop(written.await);
        self.typed.get_or_insert_with(Typed::start).forget();
        output::tell_part(words);
    }

    /// Waits for a line: none inside at the end of the input, none at all if the question is gone.
    async fn typed_line(
        &mut self,
        turn: &Turn,
        gone: impl Future<Output = ()>,
    ) -> Option<Option<String>> {
        let typed = self.typed.get_or_insert_with(Typed::start);
        let (limit, limit_at) = self.stage.limit.unzip();
        let cut = tokio::select! {
            biased;
            signal = self.stage.signals.next() => Cut::Signal(signal),
            () = at_time(limit_at) => Cut::Timeout(limit.unwrap_or_default()),
            () = gone => {
                output::tell("\n  the question was taken back");
                return None;
            }
            line = typed.line() => return Some(line),
        };
        // This answers the question too.
        self.cancel(turn, cut).await;
        None
    }
}
