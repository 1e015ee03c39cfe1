//! Going on with what an earlier owner of the session left.

use ply_session::{Answer, Handover, Input, Outcome, Stop, TurnId};

use super::{Driver, Todo};
use crate::Broken;
use crate::agent::AgentTurn;
use crate::program::{Line, Says, Wish};
use crate::world::World;

impl World<'_> {
    /// Returns what another life left, if there is something to go on with or to end. A program that nobody goes on with ends.
    pub(in crate::world) fn handover(&mut self, handover: Handover) -> Option<Handover> {
        let holder = handover.holder();
        let is_there = self.program.as_ref().map(|program| &*program.name);
        if is_there.is_some() && is_there == holder {
            return Some(handover);
        }
        self.end_program();
        // Some look for it before they open the session, others find out then.
        (handover.is_held() && self.choices.percent(50)).then_some(handover)
    }

    /// Notes what waits in a session that was adopted: clients may answer and cancel before anybody goes on with it.
    pub(in crate::world) fn meet(&mut self, number: u64, handover: Handover) {
        let Some(life) = self.life.as_mut().filter(|life| life.number == number) else {
            return;
        };
        let engine = life.core.engine();
        let turn = engine.adopted().map(|start| start.turn);
        for passed in &handover.questions {
            if engine.question(passed.ask).is_some() {
                let program = self.program.as_ref();
                let of_prompt =
                    program.is_some_and(|program| program.asks_in_prompt(passed.request));
                self.asks
                    .insert(passed.ask, (number, turn.filter(|_| of_prompt)));
            }
        }
        if let Some(turn) = turn {
            let code = AgentTurn::new(number, Some(turn), &mut self.choices);
            life.turns.insert(turn, code);
        }
        life.handover = Some(handover);
    }

    /// Goes on with what another life left.
    pub(in crate::world) fn go_on(&mut self, number: u64) -> Result<(), Broken> {
        let Some(life) = self.life.as_mut().filter(|life| life.number == number) else {
            return Ok(());
        };
        let Some(handover) = life.handover.take() else {
            return Ok(());
        };
        let adopted = life.core.engine().adopted();
        let adopted = adopted.map(|start| {
            let message = start.message.as_ref().map(ToString::to_string);
            (start.turn, message.unwrap_or_default())
        });
        if self.program.is_none() {
            return self.go_on_without(number, &handover, adopted);
        }
        self.trace.adoptions += 1;
        let mut driver = self.fold(&handover)?;
        let asked = self.journal.asked()?;
        let Some(program) = &self.program else {
            return Ok(());
        };
        let Some(life) = self.life.as_mut().filter(|life| life.number == number) else {
            return Ok(());
        };
        let told = driver.todo.drain(..).filter_map(|todo| match todo {
            Todo::Tell(Wish::Answer(request, _)) => Some(request),
            _ => None,
        });
        driver.answered = told.collect();
        // What the program still waits for keeps its number; the rest is taken back.
        let mut taken_back = Vec::new();
        for passed in &handover.questions {
            driver.requested = driver.requested.max(passed.request);
            driver.known.insert(passed.request, passed.ask);
            let (ask, request) = (passed.ask, passed.request);
            let answer = life.unclaimed.remove(&ask).or(passed.answer.clone());
            let is_open = program.is_open(request);
            match answer {
                None if life.core.engine().question(ask).is_none() => {
                    if asked.contains(&ask) {
                        return Err(format!("{ask:?} lost its question"));
                    }
                    // It offered nothing that anybody could answer, so that nobody was asked.
                    if is_open {
                        let wish = Wish::Answer(request, Answer::Cancelled);
                        driver.todo.push_back(Todo::Tell(wish));
                        driver.answered.push(request);
                    }
                }
                None if is_open => drop(driver.requests.insert(ask, request)),
                None => taken_back.push(ask),
                Some(answer) if is_open && !driver.answered.contains(&request) => {
                    let wish = Wish::Answer(request, answer);
                    driver.todo.push_back(Todo::Tell(wish));
                    // The line that asks may come once more.
                    driver.answered.push(request);
                }
                Some(_) => {}
            }
        }
        let is_cancelled = |turn: &TurnId| life.turns.get(turn).is_some_and(|code| code.cancelled);
        let mut ended = None;
        match adopted {
            Some((turn, message)) if driver.prompted == message => {
                let read = usize::try_from(driver.read).unwrap_or(usize::MAX);
                let mut lines = program.lines.iter().take(read);
                let is_end = |line: &Line| {
                    matches!(line.says, Says::Ends(_)) && line.of.as_deref() == Some(&*message)
                };
                if lines.any(is_end) {
                    ended = Some((turn, Stop::EndTurn));
                } else if is_cancelled(&turn) {
                    driver.todo.push_back(Todo::Tell(Wish::Cancel));
                }
                driver.turns.insert(message, turn);
            }
            Some((turn, _)) if is_cancelled(&turn) => ended = Some((turn, Stop::Cancelled)),
            // The owner before did not come to send it.
            Some((turn, message)) => driver.todo.push_back(Todo::Prompt(turn, message)),
            None if program.prompt().is_some() => {
                driver.todo.push_back(Todo::Tell(Wish::Cancel));
            }
            None => {}
        }
        life.driver = Some(driver);
        for ask in taken_back {
            self.feed(number, Input::Unask { ask })?;
        }
        if let Some((turn, stop)) = ended {
            let life = self.get(number);
            if let Some(code) = life.and_then(|life| life.turns.get_mut(&turn)) {
                code.done = true;
            }
            let outcome = Outcome::Stopped(stop);
            self.feed(number, Input::Ended { turn, outcome })?;
        }
        if self.is_ending {
            self.plan_program(self.programs);
        }
        self.plan_driver(number);
        Ok(())
    }

    /// Makes a driver what that of the earlier life was, and tells the program what it was not told. What was told is in its list.
    fn fold(&mut self, handover: &Handover) -> Result<Driver, Broken> {
        let mut driver = Driver {
            read: handover.lines,
            told: handover.told_before,
            prompted: handover.state.clone().unwrap_or_default(),
            ..Driver::default()
        };
        let Some(program) = &mut self.program else {
            return Ok(driver);
        };
        if handover.lines > program.lines.len() as u64 {
            return Err("the journal has lines that were never said".into());
        }
        for told in &handover.told {
            driver.told += 1;
            if told.number != driver.told {
                return Err("not everything is recorded that the program was told".into());
            }
            let wish = Wish::read(&told.what)?;
            let is_new = told.number > program.heard;
            if let Wish::Prompt(message) = &wish {
                driver.prompted.clone_from(message);
                if is_new && !self.prompted.insert(message.clone()) {
                    return Err(format!("{message} is sent to two programs"));
                }
            }
            program.hear(told.number, wish.clone())?;
            driver.todo.push_back(Todo::Tell(wish));
        }
        match program.heard == driver.told {
            true => Ok(driver),
            false => Err("the journal and the program know different wishes".into()),
        }
    }

    /// Goes on without the program, which is gone: a prompt that no program was sent is sent to another one.
    fn go_on_without(
        &mut self,
        number: u64,
        handover: &Handover,
        adopted: Option<(TurnId, String)>,
    ) -> Result<(), Broken> {
        for passed in &handover.questions {
            self.feed(number, Input::Unask { ask: passed.ask })?;
        }
        let Some((turn, _)) = adopted else {
            return Ok(());
        };
        match is_unsent(handover)? {
            Some(message) => {
                self.todo(number, Todo::Prompt(turn, message));
                Ok(())
            }
            None => self.lose_program(number),
        }
    }
}

/// Returns the prompt whose turn has not ended, if no program was sent it.
fn is_unsent(handover: &Handover) -> Result<Option<String>, Broken> {
    let Some(prompt) = handover.prompt.as_ref().map(ToString::to_string) else {
        return Ok(None);
    };
    for told in &handover.told {
        if matches!(Wish::read(&told.what)?, Wish::Prompt(message) if message == prompt) {
            return Ok(None);
        }
    }
    let was_sent = handover.state.as_deref() == Some(&*prompt);
    Ok((!was_sent).then_some(prompt))
}
