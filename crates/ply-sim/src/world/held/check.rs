//! What programs said and were told, and what the journal says of it.

use std::collections::BTreeMap;

use ply_session::{Answer, AskId, Connection, Event};

use crate::Broken;
use crate::program::Says;
use crate::world::World;

impl World<'_> {
    /// Checks what programs said and were told against what the journal says.
    pub(in crate::world) fn held_agrees(&self, events: &[Event]) -> Result<(), Broken> {
        let read = self.life.as_ref().and_then(|life| life.driver.as_ref());
        let programs = self.gone.iter().map(|program| (program, false));
        let programs = programs.chain(self.program.iter().map(|program| (program, true)));
        let text: Vec<String> = events
            .iter()
            .filter_map(|event| serde_json::to_string(event).ok())
            .collect();
        for (program, is_alive) in programs {
            let of = program.name.strip_prefix("holder-").unwrap_or_default();
            let mark = format!("<{of}.");
            let found = text.iter().flat_map(|text| {
                let places = text.split(&mark).skip(1);
                places.filter_map(|rest| rest.split_once('>')?.0.parse::<u64>().ok())
            });
            let found: Vec<u64> = found.collect();
            if !found.is_sorted_by(|one, next| one < next) {
                return Err(format!(
                    "what {} said is kept twice or out of its order: {found:?}",
                    program.name
                ));
            }
            if !is_alive {
                continue;
            }
            let upto = read.map_or(0, |driver| driver.read);
            if upto < program.lines.len() as u64 {
                return Err(format!(
                    "line {} of {} was not read",
                    upto + 1,
                    program.name
                ));
            }
            for (number, line) in (1..).zip(&program.lines) {
                let is_kept = found.contains(&number) || program.late.contains(&number);
                if matches!(line.says, Says::Update(_)) && !is_kept {
                    return Err(format!("line {number} of {} is lost", program.name));
                }
            }
        }
        self.answers_agree(events)
    }

    /// Checks that each request was passed on once, and that programs were told the answers that the journal has.
    fn answers_agree(&self, events: &[Event]) -> Result<(), Broken> {
        let mut runner = String::new();
        let mut asked: BTreeMap<(String, u64), AskId> = BTreeMap::new();
        let mut answers: BTreeMap<AskId, &Answer> = BTreeMap::new();
        for event in events {
            match event {
                Event::Runner(new) => runner = new.holder.clone().unwrap_or_default(),
                Event::Connection(Connection::Asked { ask, request }) => {
                    let of = (runner.clone(), *request);
                    if asked.insert(of, *ask).is_some() {
                        return Err(format!("request {request} of {runner} is asked twice"));
                    }
                }
                Event::Answered { ask, answer, .. } if answers.insert(*ask, answer).is_some() => {
                    return Err(format!("{ask:?} is answered twice in the journal"));
                }
                _ => {}
            }
        }
        for program in self.gone.iter().chain(&self.program) {
            for (request, answer) in &program.answers {
                let ask = asked.get(&(program.name.clone(), *request));
                let kept = ask.and_then(|ask| answers.get(ask));
                let is_none = matches!(answer, Answer::Cancelled | Answer::Unanswered);
                if !is_none && kept.copied() != Some(answer) {
                    return Err(format!(
                        "request {request} of {} was answered {answer:?}, and the journal says {kept:?}",
                        program.name
                    ));
                }
            }
        }
        Ok(())
    }
}
