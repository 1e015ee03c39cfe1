//! One turn, from the prompt to its end.

mod questions;

use std::time::Duration;

use ply_client::text::Line;
use ply_client::{Event, Events, SessionEvent, Turn, TurnError, Version, v2};
use tokio::time::Instant;

use super::ask::Typed;
use super::ending::{Confirmed, Cut, Ended};
use super::failure::Failure;
use super::open::Opened;
use super::report::Report;
use super::request::Request;
use super::stage::{LAST_WORDS_TIME_MAX, Stage, at_time, more_of};
use super::view::View;

/// How long an agent may take to end a turn that was cancelled before it is stopped.
const CANCEL_TIME_MAX: Duration = Duration::from_secs(6);
/// How long is listened after the end of a turn of version 1: many agents say their last words too late.
const LATE_TIME: Duration = Duration::from_millis(150);
/// How long is listened at most, however much comes.
const LATE_TIME_MAX: Duration = Duration::from_secs(2);

/// Remembers the session as one that can be continued, since the agent may keep no list of its own.
fn noting(
    request: &Request,
    opened: &Opened,
) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
    let recent = request.recent.clone();
    let recent = recent.filter(|_| opened.agent.can_continue());
    let (key, session) = (request.choice.key.clone(), opened.session.clone());
    async move {
        match recent {
            Some(recent) => recent.note(&key, &session).await,
            None => Ok(()),
        }
    }
}

/// A turn that is followed to its end.
pub(super) struct Following<'a> {
    pub(super) request: &'a Request,
    pub(super) opened: &'a Opened,
    pub(super) stage: &'a mut Stage,
    pub(super) report: &'a mut Report,
    pub(super) view: &'a mut View,
    typed: Option<Typed>,
    /// Why the turn was cancelled, and when it is stopped.
    cut: Option<(Cut, Instant)>,
    heard_at: Instant,
}

/// How the turn came to its end.
enum Over {
    /// The turn ended, or failed.
    Turn(Option<TurnError>),
    /// It is not waited for.
    Stopped(Cut),
}

impl<'a> Following<'a> {
    pub(super) fn new(
        request: &'a Request,
        opened: &'a Opened,
        stage: &'a mut Stage,
        report: &'a mut Report,
        view: &'a mut View,
    ) -> Self {
        Self {
            request,
            opened,
            stage,
            report,
            view,
            typed: None,
            cut: None,
            heard_at: Instant::now(),
        }
    }

    /// Says the prompt and follows what comes of it.
    pub(super) async fn follow(mut self) -> Ended {
        let session = &self.opened.session;
        // The stream has what comes after the end too; the turn itself is read for its end and its clock.
        let mut events = session.events();
        let prompt = self.request.prompt(&self.opened.agent.capabilities());
        let said = self
            .stage
            .during("saying the prompt", session.prompt(prompt));
        let mut turn = match said.await {
            Ok(Ok(turn)) => turn,
            Ok(Err(error)) => return Failure::of_call(&error, &self.request.choice).into(),
            Err(cut) => return cut.into(),
        };
        // At once, so that a run that is killed can be continued, and again when its title may be known.
        tokio::spawn(noting(self.request, self.opened));
        self.stage.progress.begin("waiting for the agent");
        self.heard_at = Instant::now();
        match self.listen(&mut turn, &mut events).await {
            Over::Stopped(cut) => Ended::Cut(cut, Confirmed::No),
            Over::Turn(failed) => {
                let late = self.listen_late(&turn, &mut events).await;
                self.tell_refusals();
                if let Err(error) = noting(self.request, self.opened).await {
                    self.stage
                        .tell(&format!("`--continue` may not find this session: {error}"));
                }
                self.ended(&turn, failed, late)
            }
        }
    }

    /// Tells what was refused to the agent that it wanted from this client.
    fn tell_refusals(&mut self) {
        for refused in self.opened.refusals.take() {
            let title = Line(&refused.title).to_string();
            self.stage
                .tell(&format!("not done for the agent (by `--permit`): {title}"));
            self.view.answered(&refused, &mut self.stage.out);
            self.report.permissions.push(refused);
        }
    }

    fn ended(mut self, turn: &Turn, failed: Option<TurnError>, late: Option<Cut>) -> Ended {
        let stop = turn.stop_reason().cloned();
        match (self.cut.take(), failed) {
            // What was cancelled may also fail by that.
            (Some((cut, _)), _) => Ended::Cut(cut, Confirmed::Yes(stop)),
            (None, Some(error)) => {
                let methods = self.opened.agent.auth_methods();
                let failure = Failure::of_turn(&error, &methods, &self.request.choice);
                match self.stopped_by_error(turn) {
                    Some(stop) => Ended::TurnFailed(stop, failure),
                    None => failure.into(),
                }
            }
            (None, None) => match late {
                Some(cut) => Ended::Cut(cut, Confirmed::After(stop)),
                None => Ended::Turn(stop),
            },
        }
    }

    /// Returns the stop reason of a turn that an agent of version 2 took and ended with an error. Version 1 has no such reason.
    fn stopped_by_error(&self, turn: &Turn) -> Option<v2::StopReason> {
        let is_v1 = self.opened.agent.version() == Version::V1;
        if is_v1 || turn.message_id().is_none() {
            return None;
        }
        let session = &self.opened.session;
        let stop = session.with_transcript(|transcript| transcript.stop_reason().cloned());
        stop.filter(|stop| matches!(stop, v2::StopReason::Error(_)))
    }

    /// Follows the turn until it ends or is given up.
    async fn listen(&mut self, turn: &mut Turn, events: &mut Events) -> Over {
        loop {
            if let Err(cut) = self.stage.take_wire() {
                self.cancel(turn, cut).await;
            }
            let is_cut = self.cut.is_some();
            let is_full = self.stage.out.is_full();
            if is_full {
                // Nothing is heard meanwhile, which is not the agent's fault.
                self.heard_at = Instant::now();
            }
            let (limit, limit_at) = self.stage.limit.filter(|_| !is_cut).unzip();
            let silence = self.request.idle_timeout.filter(|_| !is_cut && !is_full);
            let silence_at = silence.map(|silence| self.heard_at + silence);
            let stop_at = self.cut.as_ref().map(|(_, at)| *at);
            tokio::select! {
                biased;
                signal = self.stage.signals.next() => match self.cut.take() {
                    // The second one is meant.
                    Some((Cut::Signal(first), _)) => return Over::Stopped(Cut::Signal(first)),
                    Some(_) => return Over::Stopped(Cut::Signal(signal)),
                    None => self.cancel(turn, Cut::Signal(signal)).await,
                },
                () = at_time(stop_at) => {
                    let cut = self.cut.take().map_or(Cut::Output, |(cut, _)| cut);
                    return Over::Stopped(cut);
                }
                () = at_time(limit_at) => {
                    self.cancel(turn, Cut::Timeout(limit.unwrap_or_default())).await;
                }
                () = at_time(silence_at) => {
                    self.cancel(turn, Cut::Silence(silence.unwrap_or_default())).await;
                }
                pumped = self.stage.out.pump() => if pumped.is_err() {
                    self.cancel(turn, Cut::Output).await;
                },
                told = turn.next() => match told {
                    Some(Ok(event)) => self.noticed(&event).await,
                    Some(Err(error)) => return Over::Turn(Some(error)),
                    None => return Over::Turn(None),
                },
                // An agent that is to end must not wait for a reader.
                event = events.next(), if is_cut || !is_full => match event {
                    Some(told) => self.take(turn, told.event).await,
                    // The agent is gone, which the turn tells.
                    None => return Over::Turn(last_of(turn).await),
                },
                () = more_of(self.stage.wire.as_deref()) => {}
                _ = self.stage.tick.tick() => self.tick(),
            }
        }
    }

    /// Takes what is still there, and what a version 1 agent says too late; returns the signal that ended it.
    async fn listen_late(&mut self, turn: &Turn, events: &mut Events) -> Option<Cut> {
        let wait = match self.opened.agent.version() {
            Version::V1 => LATE_TIME,
            Version::V2 => Duration::ZERO,
        };
        let until = Instant::now() + LATE_TIME_MAX;
        while Instant::now() < until {
            let event = tokio::select! {
                biased;
                signal = self.stage.signals.next() => return Some(Cut::Signal(signal)),
                event = tokio::time::timeout(wait, events.next()) => event,
            };
            let Ok(Some(SessionEvent { event, .. })) = event else {
                return None;
            };
            match self.cut {
                // What was asked before the end is recorded, too.
                Some(_) => self.take(turn, event).await,
                None => self.show(&event),
            }
        }
        None
    }

    fn tick(&mut self) {
        // What ends a line now is on the screen by the next time.
        let was_open = self.view.is_mid_line();
        self.view.tick(&mut self.stage.out);
        if !was_open && !self.view.is_mid_line() {
            self.stage.progress.tick();
        }
    }

    /// Tells what the client itself noticed; everything else comes by the stream.
    async fn noticed(&mut self, event: &Event) {
        match event {
            Event::Quiet { for_s } => {
                if self.stage.out.is_full() {
                    // It may well have said something.
                    return;
                }
                self.view
                    .event(event, &self.opened.session, &mut self.stage.out);
                self.settle().await;
                self.stage
                    .tell(&format!("the agent has been silent for {for_s} s"));
            }
            Event::CancelOverdue => {
                self.view
                    .event(event, &self.opened.session, &mut self.stage.out);
                self.settle().await;
                self.stage
                    .tell("the agent goes on although it was cancelled; it is stopped soon");
            }
            _ => {}
        }
    }

    /// Ends what stands open on standard output, so that something else can be said on standard error: both may be one
    /// terminal or one file.
    async fn settle(&mut self) {
        if !self.stage.is_quiet() && self.view.break_line(&mut self.stage.out) {
            // A terminal that takes no more gets both at once, later.
            let written = tokio::time::timeout(LAST_WORDS_TIME_MAX, self.stage.out.written());
            drop(written.await);
        }
    }

    fn show(&mut self, event: &Event) {
        self.heard_at = Instant::now();
        self.stage.progress.heard();
        self.report.note(event);
        if let Event::Notice(notice) = event
            && !self.view.has_notices()
            && let Some(words) = notice_words(notice)
        {
            self.stage.tell(&words);
        }
        if self.cut.is_some() && self.stage.out.is_full() {
            // Nobody reads, and it is not kept for ever.
            return;
        }
        self.view
            .event(event, &self.opened.session, &mut self.stage.out);
    }

    async fn take(&mut self, turn: &Turn, event: Event) {
        self.show(&event);
        match event {
            Event::Permission(permission) => self.permission(turn, &permission).await,
            Event::Elicitation(elicitation) => self.elicitation(turn, &elicitation).await,
            _ => return,
        }
        // Whoever was asked took the time, not the agent.
        self.heard_at = Instant::now();
    }

    /// Cancels the turn; it may take a while to end, but not for ever.
    async fn cancel(&mut self, turn: &Turn, cut: Cut) {
        if self.cut.is_some() {
            return;
        }
        if let Cut::Signal(_) = cut {
            self.stage
                .tell("\ncancelling; Ctrl-C again stops the agent at once");
        }
        self.cut = Some((cut, Instant::now() + CANCEL_TIME_MAX));
        // A turn that ended meanwhile needs no end.
        drop(turn.cancel().await);
        self.stage.progress.begin("waiting for the agent to stop");
    }
}

/// Returns what the agent wants to be known, if it is more than a note.
fn notice_words(notice: &v2::Notice) -> Option<String> {
    let mark = match notice.severity {
        v2::NoticeSeverity::Error => "error",
        v2::NoticeSeverity::Warning => "warning",
        _ => return None,
    };
    let about = notice.description.as_deref();
    let about = about.map(|about| format!(": {about}")).unwrap_or_default();
    let words = format!("the agent says: {mark}: {}{about}", notice.title);
    Some(Line(&words).to_string())
}

/// Reads a turn to its end, and returns why it failed if it did.
async fn last_of(turn: &mut Turn) -> Option<TurnError> {
    while let Some(told) = turn.next().await {
        if let Err(error) = told {
            return Some(error);
        }
    }
    None
}
