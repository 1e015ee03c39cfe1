//! Reading what agents say, and telling the loop what it has to know of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ply_client::{Event as Heard, Events, Prompt, Session};
use tokio::sync::{mpsc, watch};

use super::Note;
use crate::app::event::{Ended, Tally};
use crate::app::{Event, TabId};
use crate::driver::agents::Keeper;
use crate::driver::failure;

/// Reads a session to its end.
pub(super) struct Reading {
    tab: TabId,
    events: Events,
    is_changed: Arc<AtomicBool>,
    notes: mpsc::Sender<Note>,
}

impl Reading {
    pub(super) fn new(
        tab: TabId,
        session: &Session,
        is_changed: &Arc<AtomicBool>,
        notes: &mpsc::Sender<Note>,
    ) -> Self {
        Self {
            tab,
            events: session.events(),
            is_changed: Arc::clone(is_changed),
            notes: notes.clone(),
        }
    }

    async fn tell(&self, event: Event) {
        drop(self.notes.send(Note::App(event)).await);
    }

    /// Tells what was said before anybody listened.
    pub(super) async fn tell_all(&self, session: &Session) {
        let (title, usage) = session.with_transcript(|transcript| {
            let usage = transcript.usage().map(|usage| {
                ply_client::v2::UsageUpdate::new(usage.used, usage.size).cost(usage.cost.clone())
            });
            (transcript.info().title.clone(), usage)
        });
        self.tell(Event::Options(self.tab, session.config_options()))
            .await;
        self.tell(Event::Commands(self.tab, session.commands()))
            .await;
        // Without one it keeps the title that it was chosen by.
        if let Some(title) = title {
            self.tell(Event::Title(self.tab, title)).await;
        }
        if let Some(usage) = usage {
            self.tell(Event::Usage(self.tab, usage)).await;
        }
    }

    pub(super) async fn read(mut self) {
        let tab = self.tab;
        while let Some(told) = self.events.next().await {
            match told.event {
                Heard::Permission(permission) => {
                    drop(self.notes.send(Note::Permission(tab, permission)).await);
                }
                Heard::Elicitation(elicitation) => {
                    drop(self.notes.send(Note::Elicitation(tab, elicitation)).await);
                }
                Heard::ConfigOptions(update) => {
                    self.tell(Event::Options(tab, update.config_options)).await;
                }
                Heard::Commands(update) => {
                    self.tell(Event::Commands(tab, update.available_commands))
                        .await;
                }
                Heard::Info(update) => {
                    if let Some(title) = update.title.value() {
                        self.tell(Event::Title(tab, title.clone())).await;
                    }
                }
                Heard::Usage(update) => self.tell(Event::Usage(tab, update)).await,
                Heard::Notice(notice) => self.tell(Event::Notice(notice)).await,
                Heard::State(state) => self.tell(Event::State(tab, state)).await,
                // However much is said or was missed, one note waits at a time: the transcript has the rest.
                _ => {
                    if !self.is_changed.swap(true, Ordering::SeqCst) {
                        self.tell(Event::Changed(tab)).await;
                    }
                }
            }
        }
        self.tell(Event::SessionEnded(tab)).await;
    }
}

/// A turn that begins.
pub(super) struct Begun {
    pub(super) tab: TabId,
    pub(super) session: Session,
    /// The user does not want it any more. The session knows of a cancel only if it has work by then.
    pub(super) is_cancelled: watch::Receiver<bool>,
    pub(super) notes: mpsc::Sender<Note>,
}

/// Says something to the agent and tells how it ended. What the agent says is read elsewhere.
pub(super) async fn turn(
    begun: Begun,
    prompt: impl Future<Output = Result<Prompt, String>>,
    keeper: Arc<Keeper>,
) {
    let Begun {
        tab,
        session,
        mut is_cancelled,
        notes,
    } = begun;
    let tell = async |event| drop(notes.send(Note::App(event)).await);
    let prompt = match prompt.await {
        Ok(prompt) => prompt,
        Err(words) => {
            let failure = crate::app::event::Failure::Other(words);
            return tell(Event::PromptFailed(tab, failure)).await;
        }
    };
    let before = session.with_transcript(|transcript| transcript.entries().len());
    let prompted = {
        // A sender that is gone cancels nothing.
        let cancelled = async {
            if is_cancelled.wait_for(|is| *is).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            // Looked at before each step: the agent may have to be started again first, and dropped before that is done, the
            // prompt is not sent.
            biased;
            () = cancelled => None,
            prompted = session.prompt(prompt) => Some(prompted),
        }
    };
    // The agent may be a new one now.
    keeper.used();
    let mut turn = match prompted {
        Some(Ok(turn)) => turn,
        Some(Err(error)) => return tell(Event::PromptFailed(tab, failure::of(&error))).await,
        None => return tell(Event::TurnEnded(tab, Ended::Unsent)).await,
    };
    keeper.remember(&session);
    // It may have been cancelled in that very moment.
    if *is_cancelled.borrow() {
        drop(session.cancel().await);
    }
    while let Some(event) = turn.next().await {
        match event {
            Ok(Heard::Quiet { for_s }) => tell(Event::Quiet(tab, for_s)).await,
            Ok(Heard::CancelOverdue) => tell(Event::CancelOverdue(tab)).await,
            Ok(_) => {}
            Err(error) => {
                tell(Event::Tally(tab, tally(&session, before))).await;
                let failure = failure::of_turn(&error, session.agent());
                return tell(Event::TurnEnded(tab, Ended::Failed(failure))).await;
            }
        }
    }
    // Its title may be known by now.
    keeper.remember(&session);
    let reason = turn.stop_reason().cloned();
    tell(Event::Tally(tab, tally(&session, before))).await;
    tell(Event::TurnEnded(tab, Ended::Done(reason))).await;
}

/// Counts what came since there were so many entries.
fn tally(session: &Session, before: usize) -> Tally {
    session.with_transcript(|transcript| {
        let new = transcript.entries().skip(before);
        Tally {
            entries: transcript.entries().len(),
            tools: new.filter(|entry| entry.as_tool_call().is_some()).count(),
        }
    })
}
