//! The agent's code in the world: what it does, and what the core hears of it.

use ply_session::{Input, RequestId, TurnId};
use ply_wire::v2;

use super::World;
use crate::queue::Due;
use crate::{Broken, agent};

impl World<'_> {
    pub(super) fn prepared(&mut self, number: u64) -> Result<(), Broken> {
        if !self.is_alive(number) {
            return Ok(());
        }
        let fails = !self.is_ending && self.choices.percent(1);
        let outcome = match fails {
            true => Err(v2::Error::internal_error()),
            false => Ok(()),
        };
        let is_new = self.get(number).is_some_and(|life| {
            let transcript = life.core.history().transcript();
            transcript.config_options().is_empty()
        });
        if is_new {
            self.feed(
                number,
                Input::Update {
                    turn: None,
                    update: agent::options(),
                    edits: Vec::new(),
                },
            )?;
        }
        self.go_on(number)?;
        self.feed(number, Input::Prepared { outcome })
    }

    pub(super) fn option_set(&mut self, number: u64, request: RequestId) -> Result<(), Broken> {
        let outcome = match self.choices.percent(20) {
            true => Err(v2::Error::invalid_params()),
            false => Ok(()),
        };
        if let Some(life) = self.get(number) {
            life.option.take_if(|(of, _)| *of == request);
        }
        self.feed(number, Input::OptionSet { request, outcome })
    }

    pub(super) fn agent_acts(&mut self, number: u64, turn: TurnId) -> Result<(), Broken> {
        let again = self.choices.below(25) + 1;
        let Some(life) = self.life.as_mut().filter(|life| life.number == number) else {
            return Ok(());
        };
        let Some(code) = life.turns.get_mut(&turn) else {
            return Ok(());
        };
        // Code that was given up goes on for a while and is not heard.
        if code.done || (code.abandoned && self.choices.percent(30)) {
            life.turns.remove(&turn);
            return Ok(());
        }
        let life_number = number;
        self.queue.after(
            again,
            Due::AgentActs {
                life: life_number,
                turn,
            },
        );
        if life.core.is_paused() && !code.abandoned {
            return Ok(());
        }
        let inputs = code.act(&mut self.numbers, &mut self.choices);
        self.report(number, inputs)
    }

    pub(super) fn background_acts(&mut self, number: u64) -> Result<(), Broken> {
        if self.is_ending || !self.is_alive(number) {
            return Ok(());
        }
        let again = self.choices.below(200);
        self.queue
            .after(again + 20, Due::BackgroundActs { life: number });
        let Some(life) = &mut self.life else {
            return Ok(());
        };
        if life.core.is_paused() {
            return Ok(());
        }
        let inputs = match self.choices.weighted(&[3, 5]) {
            0 => {
                self.numbers.requests += 1;
                let request = RequestId(self.numbers.requests);
                life.own.insert(request);
                vec![Input::Begin { request }]
            }
            _ => life.background.act(&mut self.numbers, &mut self.choices),
        };
        self.report(number, inputs)
    }

    /// Passes on what the agent's code reports.
    pub(super) fn report(&mut self, number: u64, inputs: Vec<Input>) -> Result<(), Broken> {
        // In every second life it is another program that runs the turns, and its lines are counted.
        let lines = (number.is_multiple_of(2) && !inputs.is_empty()).then(|| {
            self.numbers.lines += 1;
            let upto = self.numbers.lines;
            Input::Lines { upto }
        });
        for input in inputs.into_iter().chain(lines) {
            match &input {
                Input::Ask(ask) => {
                    self.asks.insert(ask.id, (number, ask.turn));
                }
                Input::Barrier { barrier, .. } => {
                    if let Some(life) = self.get(number) {
                        life.barriers.insert(*barrier);
                    }
                }
                _ => {}
            }
            self.feed(number, input)?;
        }
        Ok(())
    }
}
