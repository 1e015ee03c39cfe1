//! What the journal of the world does, and what the core hears of it.

use ply_session::{Effect, Input, Keep, Level, ViewId};
use ply_wire::v2;

use super::World;
use crate::Broken;
use crate::journal::Fate;
use crate::queue::Due;

/// How long the journal takes at most for an append, in milliseconds.
const APPEND_TIME_MAX_MS: u64 = 40;

impl World<'_> {
    pub(super) fn persist(&mut self, number: u64) -> Result<(), Broken> {
        let Some(life) = self.get(number) else {
            return Ok(());
        };
        let Some(persist) = life.core.persist() else {
            return Ok(());
        };
        if life.append.is_some() {
            return Err("two appends are under way".into());
        }
        life.appends += 1;
        let append = life.appends;
        let now = self.queue.now_ms();
        self.trace.note(now, || {
            let records = persist
                .records
                .iter()
                .map(|record| String::from_utf8_lossy(record));
            let records: Vec<_> = records.collect();
            let mut line = format!("    append {append} {:?} {records:?}", persist.level);
            line.truncate(line.floor_char_boundary(2000));
            line
        });
        for record in &persist.records {
            self.trace.mix(record);
            self.check_ids(number, record)?;
        }
        if let Some(life) = self.get(number) {
            life.append = Some((append, persist));
        }
        let mut delay = self.choices.below(APPEND_TIME_MAX_MS);
        let mut fate = Fate::Done;
        if !self.is_ending && self.choices.percent(self.faults.max(1)) {
            // Slow, or stuck for a long time.
            delay *= self.choices.below(3000);
        }
        if self.fails() {
            fate = match self.choices.weighted(&[3, 2, 2]) {
                0 => Fate::Busy,
                1 => Fate::Broken,
                _ => Fate::Doubtful,
            };
        }
        let life = number;
        self.queue
            .after(delay, Due::Appended { life, append, fate });
        if self.choices.percent(20) {
            self.queue.after(delay + 20, Due::Committed { life });
        }
        Ok(())
    }

    pub(super) fn appended(&mut self, number: u64, append: u64, fate: Fate) -> Result<(), Broken> {
        let owns = self.journal.is_owner(number);
        let Some(life) = self.get(number) else {
            return Ok(());
        };
        let Some((_, persist)) = life.append.take_if(|(under_way, _)| *under_way == append) else {
            return Ok(());
        };
        if !owns {
            // Another owner has it. Some stores know, some say no more than that it failed.
            return if self.choices.percent(50) {
                self.lost(number)
            } else {
                self.not_persisted(number, false)
            };
        }
        self.journal.append(persist, fate, &mut self.choices)?;
        match fate {
            Fate::Done => self.feed(
                number,
                Input::Persisted {
                    reached: Level::Accepted,
                },
            ),
            Fate::Busy => self.not_persisted(number, true),
            Fate::Broken | Fate::Doubtful => self.not_persisted(number, false),
        }
    }

    pub(super) fn not_persisted(&mut self, number: u64, may_pass: bool) -> Result<(), Broken> {
        let error = v2::Error::new(-32603, "the journal failed");
        self.feed(number, Input::NotPersisted { error, may_pass })?;
        match may_pass {
            true => Ok(()),
            false => self.lose_program(number),
        }
    }

    pub(super) fn opened(&mut self, number: u64, from: Option<u64>) -> Result<(), Broken> {
        let now = self.queue.now_ms();
        if self.get(number).is_none_or(|life| life.is_releasing) {
            return Ok(());
        }
        let is_taken = self.journal.is_taken(now);
        if is_taken || self.fails() || (from.is_some() && !self.journal.is_created) {
            let error = v2::Error::new(-32603, "the journal is in use");
            self.feed(number, Input::NotOpened { error })?;
            return self.lose_program(number);
        }
        let opened = self.journal.open(number, from.unwrap_or(0))?;
        self.feed(number, Input::Opened(opened))
    }

    pub(super) fn taken(&mut self, number: u64) -> Result<(), Broken> {
        if self.is_ending || !self.is_alive(number) || !self.journal.is_created {
            return Ok(());
        }
        let until = self.queue.now_ms() + self.choices.below(400);
        let writes = self.choices.percent(70);
        // What the process had only accepted never comes.
        self.journal.killed(&mut self.choices);
        self.journal.take_over(until, writes)?;
        if self.choices.percent(50) {
            let delay = self.choices.below(500);
            self.queue.after(delay, Due::Lost { life: number });
        }
        Ok(())
    }

    pub(super) fn lost(&mut self, number: u64) -> Result<(), Broken> {
        if self.journal.is_owner(number) {
            // It was opened again meanwhile.
            return Ok(());
        }
        let error = v2::Error::new(-32603, "the session was taken over");
        self.feed(number, Input::Lost { error })?;
        self.lose_program(number)
    }

    pub(super) fn page(&mut self, number: u64, view: ViewId, from: u64) -> Result<(), Broken> {
        let count = self.choices.below(4) + 1;
        if let Some(life) = self.get(number) {
            life.reading.remove(&view);
        }
        let records = if number > self.deleted {
            self.journal.page(from, count)
        } else {
            // What is there now is another session.
            Vec::new()
        };
        let next = from + (records.len() as u64).max(1);
        if records.is_empty() {
            // The session was deleted, and with it what the client did not see yet.
            let of_view = self.clients.iter_mut().filter(|client| client.view == view);
            of_view.for_each(|client| (client.is_whole, client.is_cut) = (false, true));
        }
        let page = Input::Page {
            view,
            from,
            records,
            next,
        };
        self.feed(number, page)
    }

    pub(super) fn released(&mut self, number: u64, then: Keep) -> Result<(), Broken> {
        // An append that did not come back may have been done all the same.
        let lands = self.choices.percent(50);
        let owns = self.journal.is_owner(number);
        if let Some((_, persist)) = self.get(number).and_then(|life| life.append.take())
            && lands
            && owns
        {
            self.journal
                .append(persist, Fate::Done, &mut self.choices)?;
        }
        let (delete, archive) = (then == Keep::Nothing, then == Keep::Archived);
        let is_others = !owns && self.journal.is_created;
        let is_nowhere = archive && !self.journal.is_created;
        if (delete || archive) && (is_others || is_nowhere || self.fails()) {
            let error = v2::Error::new(-32603, "the session is another owner's");
            return self.feed(number, Input::NotReleased { error });
        }
        if archive {
            self.archived = number;
        }
        if delete {
            self.journal.delete();
            self.ids.clear();
            self.ended_turns.clear();
            self.deleted = number;
            self.end_program();
            self.gone.clear();
            self.prompted.clear();
        } else if owns {
            self.journal.sync()?;
        }
        self.feed(number, Input::Released)
    }

    /// Does what the core wants done about its journal and its end.
    pub(super) fn do_store(&mut self, number: u64, effect: Effect) -> Result<(), Broken> {
        let delay = self.choices.below(60);
        let life = number;
        match effect {
            Effect::Create => self.queue.after(delay, Due::Opened { life, from: None }),
            Effect::Open { from } => {
                let from = Some(from);
                self.queue.after(delay, Due::Opened { life, from });
            }
            Effect::Release { delete, archive } => {
                let then = match (delete, archive) {
                    (true, true) => return Err("a session is deleted and archived".into()),
                    (true, false) => Keep::Nothing,
                    (false, true) => Keep::Archived,
                    (false, false) => Keep::All,
                };
                if let Some(life) = self.get(number) {
                    if life.is_releasing {
                        return Err("a session was released twice".into());
                    }
                    life.is_releasing = true;
                }
                self.queue.after(delay, Due::Released { life, then });
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn fails(&mut self) -> bool {
        !self.is_ending && self.choices.percent(self.faults)
    }
}
