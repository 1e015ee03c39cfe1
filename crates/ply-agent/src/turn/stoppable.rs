//! Calls and terminals of a turn: where they report, and when they are to stop.

use ply_session::Entity;
use ply_wire::v2;

use super::{Context, Turn};
use crate::Result;
use crate::cancel::Cancel;
use crate::session::Watched;
use crate::session::op::Op;

/// Work that stops with its turn, and by itself if the user may cancel it alone.
#[derive(Debug)]
pub(super) struct Stoppable {
    pub(super) context: Context,
    entity: Entity,
    /// How it hears that it alone is to stop.
    watched: Option<Watched>,
}

impl Stoppable {
    /// To be made before clients hear of it, so that no cancel is missed.
    pub(super) fn new(turn: &Turn, entity: Entity, can_be_cancelled: bool) -> Self {
        let context = turn.context.clone();
        let watched = can_be_cancelled.then(|| context.session.watch(entity.clone()));
        Self {
            context,
            entity,
            watched,
        }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        let alone = self.watched.as_ref();
        self.context.cancel.is_asked() || alone.is_some_and(|alone| alone.cancel.is_asked())
    }

    pub(super) async fn cancelled(&self) {
        let alone = async {
            match &self.watched {
                Some(alone) => alone.cancel.asked().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.context.cancel.asked() => {}
            () = alone => {}
        }
    }

    /// Has it go on after the turn; then it stops with the session.
    pub(super) async fn detach(&mut self) -> Result<()> {
        let Some(turn) = self.context.turn else {
            return Ok(());
        };
        let session = &self.context.session;
        if self.watched.is_none() {
            self.watched = Some(session.watch(self.entity.clone()));
        }
        let outlive = Op::Outlive(turn, self.entity.clone());
        session.report(outlive).await?;
        self.context.turn = None;
        // The user's cancel of the turn is not about it any more (V2-CANCEL-11).
        self.context.cancel = Cancel::default();
        Ok(())
    }

    /// Reports without waiting, for what is dropped.
    pub(super) fn report_now(&self, update: v2::SessionUpdate) {
        self.context.session.report_now(Op::Update {
            turn: self.context.turn,
            update: Box::new(update),
            edits: Vec::new(),
        });
    }
}
