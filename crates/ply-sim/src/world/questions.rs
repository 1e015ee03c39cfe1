//! Whose questions are whose.

use ply_session::{AskId, Form, Input, Message, Prompt, Reply, ViewId};
use ply_wire::{v1, v2};

use super::World;
use crate::Broken;

impl World<'_> {
    /// Returns the question that must be open after this input as it was before: whoever prompted still looks at it, and
    /// another client fails or dismisses it.
    pub(super) fn kept_open(&mut self, number: u64, input: &Input) -> Option<AskId> {
        let asks = &self.asks;
        let life = self.life.as_mut().filter(|life| life.number == number)?;
        let (ask, view) = match input {
            Input::Answer { ask, view, reply } if is_none(reply) => (*ask, *view),
            Input::Prompt(Prompt {
                view, steers: true, ..
            }) => {
                life.steering.insert(*view);
                return None;
            }
            _ => return None,
        };
        let (turn, prompter) = life.prompter?;
        let is_of_turn = asks.get(&ask) == Some(&(number, Some(turn)));
        let looked_on = view != prompter && !life.steering.contains(&view);
        let is_open = life.core.engine().question(ask).is_some();
        // Whoever prompted may have left, which its client sees only when it is told.
        let is_there = life.core.views().any(|view| view == prompter);
        let (client, epoch) = life.seats.get(&prompter).copied().filter(|_| is_there)?;
        let client = self.clients.get(client)?;
        let is_shown = client.epoch == epoch && client.shown().any(|shown| shown == ask);
        (is_of_turn && looked_on && is_open && is_shown).then_some(ask)
    }

    /// Checks that an address to visit goes to whoever prompted, if anybody did.
    pub(super) fn asked_rightly(
        &mut self,
        number: u64,
        view: ViewId,
        message: &Message,
    ) -> Result<(), Broken> {
        let Message::Ask { ask, form } = message else {
            return Ok(());
        };
        let is_url = match form {
            Form::Elicitation(request) => matches!(request.mode, v2::ElicitationMode::Url(_)),
            Form::ElicitationV1(request) => matches!(request.mode, v1::ElicitationMode::Url(_)),
            _ => false,
        };
        let of = self.asks.get(ask).copied();
        let Some(life) = self.get(number).filter(|_| is_url) else {
            return Ok(());
        };
        match life.prompter {
            Some((turn, prompter)) if of == Some((number, Some(turn))) => {
                if view != prompter && !life.steering.contains(&view) {
                    return Err(format!(
                        "{view:?} was sent to an address for another client"
                    ));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Whether a reply decides nothing.
fn is_none(reply: &Reply) -> bool {
    matches!(reply, Reply::Failed | Reply::Dismissed | Reply::CancelTurn)
}
