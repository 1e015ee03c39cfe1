//! How far a tour is, and what it does next.

use std::collections::VecDeque;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::ask::Ask;
use super::tab::{Phase, Tab};
use super::{Action, App, Tick};
use crate::tour::{TourAct, TourKey, TourMoment, TourProgram, TourStep};

/// Characters that are typed at each look at the clock.
const CHARS_AT_ONCE: usize = 2;
/// How long a moment is waited for, in milliseconds; then the tour goes on without it.
const MOMENT_MS_MAX: Tick = 15_000;
/// How long the part of a question that is on the screen stands before the next one, in milliseconds.
const PAGE_MS: Tick = 1_000;

/// What a tour wants done.
#[derive(Debug, PartialEq)]
enum Deed {
    Press(KeyEvent),
    Run(TourProgram),
}

/// A tour that is under way.
#[derive(Debug)]
pub(crate) struct Tour {
    steps: VecDeque<TourStep>,
    pub(crate) place: usize,
    pub(crate) count: usize,
    pub(crate) caption: String,
    acts: VecDeque<TourAct>,
    /// When the act began that is waited for.
    since: Option<Tick>,
    /// When a question that does not fit was last scrolled.
    paged: Tick,
    /// The reader wants to see what comes next.
    is_hurried: bool,
}

impl Tour {
    /// Returns a tour; none without steps.
    pub(crate) fn new(steps: &[TourStep]) -> Option<Self> {
        let mut tour = Self {
            steps: steps.iter().cloned().collect(),
            place: 0,
            count: steps.len(),
            caption: String::new(),
            acts: VecDeque::new(),
            since: None,
            paged: 0,
            is_hurried: false,
        };
        tour.next_step().then_some(tour)
    }

    fn next_step(&mut self) -> bool {
        let Some(step) = self.steps.pop_front() else {
            return false;
        };
        self.place += 1;
        self.caption = step.caption;
        self.acts = step.acts.into();
        self.since = None;
        self.is_hurried = false;
        true
    }

    /// Returns what is to be done now; nothing if the tour is over.
    fn step(&mut self, now: Tick, is_there: impl Fn(TourMoment) -> bool) -> Option<Vec<Deed>> {
        let since = *self.since.get_or_insert(now);
        let waited = now.saturating_sub(since);
        let Some(act) = self.acts.front_mut() else {
            return self.next_step().then(Vec::new);
        };
        let (deeds, is_done) = match act {
            TourAct::Type(text) => {
                let at_once = match self.is_hurried {
                    true => usize::MAX,
                    false => CHARS_AT_ONCE,
                };
                let typed: String = text.chars().take(at_once).collect();
                text.drain(..typed.len());
                let keys = typed.chars().map(|char| pressed(TourKey::Char(char)));
                (keys.collect(), text.is_empty())
            }
            TourAct::Press(key) => (vec![pressed(*key)], true),
            TourAct::WaitFor(moment) => (Vec::new(), is_there(*moment) || waited >= MOMENT_MS_MAX),
            TourAct::Hold(time) => {
                let is_over = u128::from(waited) >= time.as_millis();
                (Vec::new(), is_over || self.is_hurried)
            }
            TourAct::Run(program) => (vec![Deed::Run(program.clone())], true),
        };
        if is_done {
            self.acts.pop_front();
            self.since = None;
        }
        Some(deeds)
    }
}

fn pressed(key: TourKey) -> Deed {
    let (code, modifiers) = match key {
        TourKey::Enter => (KeyCode::Enter, KeyModifiers::NONE),
        TourKey::Esc => (KeyCode::Esc, KeyModifiers::NONE),
        TourKey::Char(char) => (KeyCode::Char(char), KeyModifiers::NONE),
        TourKey::Alt(char) => (KeyCode::Char(char), KeyModifiers::ALT),
    };
    Deed::Press(KeyEvent::new(code, modifiers))
}

impl App {
    /// Goes on with the tour, if there is one.
    pub(super) fn go_on_tour(&mut self, out: &mut Vec<Action>) {
        let Some(mut tour) = self.tour.take() else {
            return;
        };
        let waits = matches!(
            tour.acts.front(),
            Some(TourAct::WaitFor(TourMoment::Question))
        );
        let is_unread = self
            .tab()
            .and_then(Tab::open_ask)
            .is_some_and(Ask::is_unread);
        if waits && is_unread && self.now.saturating_sub(tour.paged) >= PAGE_MS {
            // As a user has to before a key answers.
            tour.paged = self.now;
            self.press(KeyCode::PageDown.into(), out);
        }
        let Some(deeds) = tour.step(self.now, |moment| self.is_moment(moment)) else {
            self.is_changed = true;
            self.say("that was the tour; this session is yours now, and Ctrl-D quits");
            return;
        };
        self.is_changed |= !deeds.is_empty() || tour.acts.is_empty();
        self.tour = Some(tour);
        for deed in deeds {
            match deed {
                Deed::Press(key) => self.press(key, out),
                Deed::Run(program) => out.push(Action::Errand(program)),
            }
        }
    }

    fn is_moment(&self, moment: TourMoment) -> bool {
        let has_question = self.tab().is_some_and(|tab| !tab.asks.is_empty());
        match moment {
            TourMoment::Question => has_question && self.can_answer(),
            TourMoment::NoQuestion => !has_question,
            TourMoment::Ready => self.tab().is_some_and(|tab: &Tab| {
                matches!(tab.phase, Phase::Ready) && tab.session.is_some() && tab.queue.is_empty()
            }),
        }
    }

    /// Takes a key of the user during a tour; returns whether it was for the tour. Ctrl-C ends the tour and is for the client.
    pub(super) fn tour_key(&mut self, key: KeyEvent) -> bool {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && key.code == KeyCode::Char('c') {
            self.tour = None;
        }
        match (&mut self.tour, key.code) {
            (None, _) => return false,
            (Some(_), KeyCode::Esc) => {
                self.tour = None;
                self.say("you left the tour; this session is yours now, and Ctrl-D quits");
            }
            (Some(tour), KeyCode::Right | KeyCode::Enter | KeyCode::Char(' ')) => {
                tour.is_hurried = true;
            }
            (Some(_), _) => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn tour(acts: Vec<TourAct>) -> Tour {
        Tour::new(&[TourStep::new("one", acts), TourStep::new("two", Vec::new())]).unwrap()
    }

    #[test]
    fn a_tour_types_waits_and_goes_on() {
        let mut tour = tour(vec![
            TourAct::Type("abc".to_owned()),
            TourAct::WaitFor(TourMoment::Ready),
            TourAct::Hold(Duration::from_secs(1)),
        ]);
        let none = |_: TourMoment| false;
        assert_eq!(tour.step(0, none).unwrap().len(), 2);
        assert_eq!(tour.step(100, none).unwrap().len(), 1);
        assert!(tour.step(200, none).unwrap().is_empty());
        assert!(tour.step(300, |_| true).unwrap().is_empty());
        assert!(tour.step(400, none).unwrap().is_empty());
        tour.step(1_500, none).unwrap();
        tour.step(1_600, none).unwrap();
        assert_eq!((tour.caption.as_str(), tour.place), ("two", 2));
        assert_eq!(tour.step(1_700, none), None);
    }

    #[test]
    fn a_moment_that_never_comes_is_given_up() {
        let mut tour = tour(vec![TourAct::WaitFor(TourMoment::Question)]);
        tour.step(0, |_| false).unwrap();
        tour.step(MOMENT_MS_MAX, |_| false).unwrap();
        tour.step(MOMENT_MS_MAX + 100, |_| false).unwrap();
        assert_eq!(tour.place, 2);
    }

    #[test]
    fn who_is_in_a_hurry_waits_for_nothing_that_is_only_shown() {
        let mut tour = tour(vec![
            TourAct::Type("a long text".to_owned()),
            TourAct::Hold(Duration::from_secs(60)),
        ]);
        tour.is_hurried = true;
        assert_eq!(tour.step(0, |_| false).unwrap().len(), "a long text".len());
        tour.step(100, |_| false).unwrap();
        tour.step(200, |_| false).unwrap();
        assert_eq!(tour.place, 2);
    }

    #[test]
    fn there_is_no_tour_without_steps() {
        assert!(Tour::new(&[]).is_none());
    }
}
