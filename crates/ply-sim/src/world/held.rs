//! The driver of a program that outlives the session's owner: what it says is reported and numbered in the journal, what it is told
//! is in the journal first, and the next owner goes on where this one stopped.

mod adopt;
mod check;

use std::collections::{BTreeMap, VecDeque};

use ply_session::{
    Answer, Ask, AskId, CancelScope, CloseEffect, Connection, Input, LastClient, Level, Outcome,
    Pace, Questions, QueuedPrompts, Runner, Start, TurnId,
};
use ply_wire::v2;

use super::World;
use crate::Broken;
use crate::agent::AgentTurn;
use crate::program::{Line, Program, Says, Wish};
use crate::queue::Due;

/// What the driver of a program has to remember in one life.
#[derive(Debug, Default)]
pub(super) struct Driver {
    /// The last line that was taken.
    read: u64,
    /// The last wish that was written down.
    told: u64,
    /// What is to be done next.
    todo: VecDeque<Todo>,
    /// Wishes that are on their way into the journal, by the barrier behind them.
    noted: BTreeMap<u64, (u64, Wish)>,
    /// Questions that are open, and the program's requests.
    requests: BTreeMap<AskId, u64>,
    /// Requests that an earlier owner passed on.
    known: BTreeMap<u64, AskId>,
    /// Requests that are answered already, by an earlier owner or since this one took over.
    answered: Vec<u64>,
    /// The turns of prompts.
    turns: BTreeMap<String, TurnId>,
    /// The last prompt, and the last request that was read.
    prompted: String,
    requested: u64,
    is_planned: bool,
}

#[derive(Debug)]
enum Todo {
    Prompt(TurnId, String),
    Tell(Wish),
}

impl World<'_> {
    /// Has the session behave as in a hub, or nearly so.
    pub(super) fn choose_hub(&mut self) {
        let settings = &mut self.settings;
        settings.last_client = LastClient::Stays;
        settings.queued_prompts = QueuedPrompts::Stay;
        settings.close = CloseEffect::Detaches;
        settings.questions = Questions::Wait;
        settings.cancel = CancelScope::Own;
        settings.pace = Pace::Journal;
        settings.shows = Level::Written;
        // Steering is passed on beside the prompts, in words of the program's own.
        settings.steering = false;
    }

    /// Begins the turn of a prompt in the program.
    pub(super) fn hand_on(&mut self, number: u64, start: &Start) -> Result<(), Broken> {
        let Some(message) = &start.message else {
            return Err(format!("{:?} has no prompt", start.turn));
        };
        self.todo(number, Todo::Prompt(start.turn, message.to_string()));
        Ok(())
    }

    /// Tells the program of a cancel.
    pub(super) fn cancel_held(&mut self, number: u64, turn: TurnId) {
        let asks = &self.asks;
        let Some(life) = self.life.as_mut().filter(|life| life.number == number) else {
            return;
        };
        let Some(driver) = life.driver.as_mut().filter(|_| life.handover.is_none()) else {
            return;
        };
        // The program takes a cancel for an answer to all that it asked.
        let is_of = |ask: &AskId| asks.get(ask) == Some(&(number, Some(turn)));
        driver.requests.retain(|ask, _| !is_of(ask));
        self.todo(number, Todo::Tell(Wish::Cancel));
    }

    /// Tells the program what was answered, if it still wants to know.
    pub(super) fn resolved(&mut self, number: u64, ask: AskId, answer: Answer) {
        let Some(life) = self.get(number).filter(|life| life.driver.is_some()) else {
            return;
        };
        if life.handover.is_some() {
            life.unclaimed.insert(ask, answer);
            return;
        }
        let driver = life.driver.as_mut();
        if let Some(request) = driver.and_then(|driver| driver.requests.remove(&ask)) {
            self.todo(number, Todo::Tell(Wish::Answer(request, answer)));
        }
    }

    fn todo(&mut self, number: u64, todo: Todo) {
        if let Some(driver) = self.get(number).and_then(|life| life.driver.as_mut()) {
            driver.todo.push_back(todo);
            self.plan_driver(number);
        }
    }

    fn plan_driver(&mut self, number: u64) {
        let delay = self.choices.below(6);
        let driver = self.get(number).and_then(|life| life.driver.as_mut());
        if let Some(driver) = driver.filter(|driver| !driver.is_planned) {
            driver.is_planned = true;
            self.queue.after(delay, Due::DriverActs { life: number });
        }
    }

    pub(super) fn driver_acts(&mut self, number: u64) -> Result<(), Broken> {
        if !self.is_alive(number) {
            return Ok(());
        }
        let life = self.get(number).filter(|life| life.handover.is_none());
        let Some(driver) = life.and_then(|life| life.driver.as_mut()) else {
            return Ok(());
        };
        driver.is_planned = false;
        let todo = std::mem::take(&mut driver.todo);
        for todo in todo {
            match todo {
                Todo::Prompt(turn, message) => self.prompt_program(number, turn, message)?,
                Todo::Tell(wish) => self.tell(number, wish)?,
            }
        }
        self.read_lines(number)
    }

    fn prompt_program(&mut self, number: u64, turn: TurnId, message: String) -> Result<(), Broken> {
        let goes_on = |code: &AgentTurn| !code.done && !code.abandoned;
        let life = self.get(number);
        if !life.is_some_and(|life| life.turns.get(&turn).is_some_and(goes_on)) {
            return Ok(());
        }
        if self.program.is_none() {
            self.programs += 1;
            let program = Program::new(self.programs, &mut self.choices);
            let (program_number, name) = (self.programs, program.name.clone());
            self.program = Some(program);
            if let Some(driver) = self.get(number).and_then(|life| life.driver.as_mut()) {
                *driver = Driver::default();
            }
            self.feed(number, Input::Runner(Runner::new("program").holder(name)))?;
            self.write_state(number)?;
            self.plan_program(program_number);
        }
        if let Some(driver) = self.get(number).and_then(|life| life.driver.as_mut()) {
            driver.turns.insert(message.clone(), turn);
            driver.prompted.clone_from(&message);
        }
        self.tell(number, Wish::Prompt(message))
    }

    fn write_state(&mut self, number: u64) -> Result<(), Broken> {
        let driver = self.get(number).and_then(|life| life.driver.as_ref());
        let Some(driver) = driver else {
            return Ok(());
        };
        let state = Connection::State {
            state: driver.prompted.clone(),
            told: driver.told,
            requests: driver.requested,
        };
        self.feed(number, Input::Connection(state))
    }

    /// Writes a wish down; the program hears of it when that is safe.
    fn tell(&mut self, number: u64, wish: Wish) -> Result<(), Broken> {
        self.numbers.barriers += 1;
        let (barrier, view) = (self.numbers.barriers, None);
        let Some(life) = self.life.as_mut().filter(|life| life.number == number) else {
            return Ok(());
        };
        let Some(driver) = &mut life.driver else {
            return Ok(());
        };
        driver.told += 1;
        let told = Connection::Told {
            number: driver.told,
            after: driver.read,
            what: wish.to_text(),
            once: matches!(wish, Wish::Prompt(_)),
        };
        driver.noted.insert(barrier, (driver.told, wish));
        life.barriers.insert(barrier);
        self.feed(number, Input::Connection(told))?;
        self.feed(number, Input::Barrier { barrier, view })
    }

    /// Hears that what was written down is safe, or never will be.
    pub(super) fn told(&mut self, number: u64, barrier: u64, is_safe: bool) -> Result<(), Broken> {
        let driver = self.get(number).and_then(|life| life.driver.as_mut());
        let noted = driver.and_then(|driver| driver.noted.remove(&barrier));
        let Some((wish_number, wish)) = noted else {
            return Ok(());
        };
        if !is_safe {
            return self.lose_program(number);
        }
        let now = self.queue.now_ms();
        self.trace.note(now, || {
            format!("    wish {wish_number}: {}", wish.to_text())
        });
        if let Wish::Prompt(message) = &wish
            && !self.prompted.insert(message.clone())
        {
            return Err(format!("{message} is sent to two programs"));
        }
        if let Some(program) = &mut self.program {
            program.hear(wish_number, wish)?;
            if self.is_ending && program.prompt().is_some() {
                self.plan_program(self.programs);
            }
        }
        Ok(())
    }

    /// Takes the program for dead, and ends its turns.
    pub(super) fn lose_program(&mut self, number: u64) -> Result<(), Broken> {
        // The next owner has the program, or another one.
        let is_replaced = self.life.as_ref().is_some_and(|life| life.number > number);
        if !self.is_held || is_replaced {
            return Ok(());
        }
        self.end_program();
        let Some(life) = self.life.as_mut().filter(|life| life.number == number) else {
            return Ok(());
        };
        if let Some(driver) = &mut life.driver {
            *driver = Driver::default();
        }
        let goes_on = life.turns.iter_mut().filter(|(_, code)| !code.done);
        let turns = goes_on.map(|(turn, code)| {
            code.done = true;
            *turn
        });
        for turn in turns.collect::<Vec<_>>() {
            let outcome = Outcome::Failed(v2::Error::internal_error());
            self.feed(number, Input::Ended { turn, outcome })?;
        }
        Ok(())
    }

    /// Ends the program with its session, its machine, or its holder.
    pub(super) fn end_program(&mut self) {
        if let Some(program) = self.program.take() {
            let now = self.queue.now_ms();
            self.trace.note(now, || format!("{} is gone", program.name));
            self.gone.push(program);
        }
    }

    fn plan_program(&mut self, program: u64) {
        let delay = match self.is_ending {
            // It may wait for a journal that takes its time, and steps until the world rests are counted.
            true => 100,
            false => self.choices.below(30) + 1,
        };
        self.queue.after(delay, Due::ProgramActs { program });
    }

    pub(super) fn program_acts(&mut self, number: u64) -> Result<(), Broken> {
        if number != self.programs {
            return Ok(());
        }
        let Some(program) = &mut self.program else {
            return Ok(());
        };
        let before = program.lines.len();
        program.act(&mut self.choices);
        let (has_spoken, is_busy) = (program.lines.len() > before, program.prompt().is_some());
        let life = self.life.as_ref().map(|life| life.number);
        if !self.is_ending || (is_busy && life.is_some()) {
            self.plan_program(number);
        }
        if let Some(life) = life.filter(|_| has_spoken) {
            self.plan_driver(life);
        }
        Ok(())
    }

    /// Reports what the program has said.
    fn read_lines(&mut self, number: u64) -> Result<(), Broken> {
        // Some stay with the holder for a while.
        let mut most = match self.is_ending || self.choices.percent(70) {
            true => u64::MAX,
            false => self.choices.below(3),
        };
        while most > 0 {
            most -= 1;
            let Some(life) = self.life.as_mut().filter(|life| life.number == number) else {
                return Ok(());
            };
            let (Some(driver), Some(program)) = (&mut life.driver, &self.program) else {
                return Ok(());
            };
            let next = usize::try_from(driver.read).ok();
            let Some(line) = next.and_then(|next| program.lines.get(next)).cloned() else {
                break;
            };
            if life.core.is_paused() {
                break;
            }
            driver.read += 1;
            let upto = driver.read;
            self.read_line(number, upto, line)?;
        }
        let has_more = self.get(number).is_some_and(|life| life.driver.is_some())
            && self.program.as_ref().is_some_and(|program| {
                let read = self.life.as_ref().and_then(|life| life.driver.as_ref());
                read.is_some_and(|driver| driver.read < program.lines.len() as u64)
            });
        if has_more {
            let delay = 20;
            let driver = self.get(number).and_then(|life| life.driver.as_mut());
            if let Some(driver) = driver.filter(|driver| !driver.is_planned) {
                driver.is_planned = true;
                self.queue.after(delay, Due::DriverActs { life: number });
            }
        }
        Ok(())
    }

    fn read_line(&mut self, number: u64, upto: u64, line: Line) -> Result<(), Broken> {
        let now = self.queue.now_ms();
        self.trace.note(now, || {
            let mut line = format!("    line {upto}: {line:?}");
            line.truncate(line.floor_char_boundary(300));
            line
        });
        let Some(life) = self.life.as_mut().filter(|life| life.number == number) else {
            return Ok(());
        };
        let Some(driver) = &mut life.driver else {
            return Ok(());
        };
        let goes_on = |code: &AgentTurn| !code.done && !code.abandoned;
        let known = line
            .of
            .as_ref()
            .and_then(|of| driver.turns.get(of).copied());
        let turn = known.filter(|turn| life.turns.get(turn).is_some_and(goes_on));
        let is_late = line.of.is_some() && turn.is_none();
        let lines = Input::Lines { upto };
        match line.says {
            Says::Update(_) if is_late => {
                if let Some(program) = &mut self.program {
                    program.late.insert(upto);
                }
                self.feed(number, lines)
            }
            Says::Update(update) => {
                let edits = Vec::new();
                let update = Input::Update {
                    turn,
                    update: *update,
                    edits,
                };
                self.feed_all(number, vec![update, lines])
            }
            Says::Asks(request, question) => {
                driver.requested = driver.requested.max(request);
                if driver.answered.contains(&request) {
                    return self.feed(number, lines);
                }
                if is_late {
                    self.tell(number, Wish::Answer(request, Answer::Cancelled))?;
                } else if let Some(ask) = driver.known.remove(&request) {
                    // It was passed on, and the journal did not hear that the line was.
                    if !driver.requests.contains_key(&ask) {
                        return self.feed(number, lines);
                    }
                } else {
                    self.numbers.asks += 1;
                    let id = AskId(self.numbers.asks);
                    driver.requests.insert(id, request);
                    self.asks.insert(id, (number, turn));
                    let ask = Input::Ask(Ask { id, turn, question });
                    let asked = Input::Connection(Connection::Asked { ask: id, request });
                    self.feed_all(number, vec![ask, asked])?;
                }
                self.feed(number, lines)
            }
            Says::TakesBack(request) => {
                let mut open = driver.requests.iter();
                let ask = open.find(|(_, of)| **of == request).map(|(ask, _)| *ask);
                if let Some(ask) = ask {
                    driver.requests.remove(&ask);
                    self.feed(number, Input::Unask { ask })?;
                }
                self.feed(number, lines)
            }
            Says::Ends(outcome) => {
                if let Some(turn) = turn
                    && let Some(code) = life.turns.get_mut(&turn)
                {
                    code.done = true;
                    let asks = &self.asks;
                    let is_of = |ask: &AskId| asks.get(ask) == Some(&(number, Some(turn)));
                    driver.requests.retain(|ask, _| !is_of(ask));
                    self.feed(number, Input::Ended { turn, outcome })?;
                }
                self.feed(number, lines)?;
                self.write_state_if_possible(number)
            }
        }
    }

    /// Writes the state down, which does not say what is asked, nor what was not told yet.
    fn write_state_if_possible(&mut self, number: u64) -> Result<(), Broken> {
        let driver = self.get(number).and_then(|life| life.driver.as_ref());
        let is_possible = driver.is_some_and(|driver| {
            let told = driver.noted.is_empty() && driver.todo.is_empty();
            driver.requests.is_empty() && driver.known.is_empty() && told
        });
        match is_possible && self.choices.percent(40) {
            true => self.write_state(number),
            false => Ok(()),
        }
    }
}
