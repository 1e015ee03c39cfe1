//! One session on the screen, from before it is opened until it is closed.

pub(crate) mod queue;
pub(crate) mod trace;

use std::collections::VecDeque;

use ply_client::v2;

use self::queue::Editing;
use super::action::{Action, Target};
use super::ask::Ask;
use super::event::{Ended, Failure, How, Opened, Tally};
use super::{AgentId, TabId, Tick};
use crate::composer::Composer;
use crate::transcript_view::{End, Scroll, TranscriptView};

/// Words of the first prompt that name a session.
const NAME_WORDS_MAX: usize = 8;

/// What a session is doing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Phase {
    /// Its agent is being started, or it is being opened.
    Starting(Tick),
    Ready,
    Working(Tick),
    Cancelling {
        since: Tick,
        is_overdue: bool,
    },
    /// Nothing goes on until the user did something.
    Stuck(Trouble),
}

/// What keeps a session from going on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trouble {
    /// The agent's program is not there.
    Missing(String),
    /// The agent wants a login.
    Auth {
        methods: Vec<v2::AuthMethod>,
        /// The method that the keys are on.
        chosen: usize,
        /// Since when a login is under way.
        since: Option<Tick>,
        /// Why the last one failed.
        failure: Option<String>,
    },
    Failed(String),
}

/// Why a tab that is not looked at wants to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attention {
    NeedsYou,
    Finished,
}

/// What the next drawing does to the view first, since only it has the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViewWork {
    Scroll(Scroll),
    FoldAt(u16),
    Folds,
}

/// Context and cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Usage {
    pub(crate) used: u64,
    pub(crate) size: u64,
    pub(crate) cost: Option<(f64, String)>,
}

/// One session on the screen.
pub(crate) struct Tab {
    pub(crate) id: TabId,
    pub(crate) agent: AgentId,
    pub(crate) target: Target,
    pub(crate) session: Option<String>,
    pub(crate) title: String,
    /// The beginning of the first prompt, for a session that has no title.
    first_words: String,
    pub(crate) phase: Phase,
    /// The last words of an agent that is not running.
    pub(crate) died: Option<String>,
    /// Since when nothing was heard, if that is worth saying.
    pub(crate) quiet_since: Option<Tick>,
    /// The agent works though no prompt of ours runs.
    pub(crate) is_busy_alone: bool,
    /// What there is to say of how the last turn ended, besides its trace.
    pub(crate) last_end: Option<String>,
    /// The trace of the last turn, if it has no place in the transcript.
    pub(crate) trace: Option<End>,
    /// When the turn began.
    began: Tick,
    /// What the session had cost then.
    cost_before: f64,
    /// What the turn took.
    tally: Option<Tally>,
    pub(crate) composer: Composer,
    /// A line that looks like a command and is none, for which the user has to press Enter again.
    pub(crate) refused: Option<String>,
    pub(crate) queue: VecDeque<Composer>,
    /// The queue waits for the user, because a turn did not end well.
    pub(crate) is_held: bool,
    /// The queued prompt that is in the composer.
    editing: Option<Editing>,
    /// The prompt that runs, for the case that it never reached the agent.
    sent: Option<Composer>,
    /// The queue goes on when the cancelled turn has ended.
    is_interrupting: bool,
    pub(crate) asks: Vec<Ask>,
    pub(crate) ask: usize,
    pub(crate) options: Vec<v2::SessionConfigOption>,
    pub(crate) commands: Vec<v2::Command>,
    pub(crate) usage: Option<Usage>,
    pub(crate) attention: Option<Attention>,
    pub(crate) view: TranscriptView,
    pub(crate) view_work: Vec<ViewWork>,
    pub(crate) saved_draft: String,
}

impl Tab {
    pub(crate) fn new(id: TabId, agent: AgentId, target: Target, now: Tick) -> Self {
        let title = match &target {
            Target::Stored { title, .. } => title.clone(),
            Target::New | Target::Latest => String::new(),
        };
        Self {
            id,
            agent,
            target,
            session: None,
            title,
            first_words: String::new(),
            phase: Phase::Starting(now),
            died: None,
            quiet_since: None,
            is_busy_alone: false,
            last_end: None,
            trace: None,
            began: 0,
            cost_before: 0.0,
            tally: None,
            composer: Composer::default(),
            refused: None,
            queue: VecDeque::new(),
            is_held: false,
            editing: None,
            sent: None,
            is_interrupting: false,
            asks: Vec::new(),
            ask: 0,
            options: Vec::new(),
            commands: Vec::new(),
            usage: None,
            attention: None,
            view: TranscriptView::new(),
            view_work: Vec::new(),
            saved_draft: String::new(),
        }
    }

    /// Returns whether the user was told that a line is no command.
    pub(crate) fn is_sent_anyway(&self, line: &str) -> bool {
        self.refused.as_deref() == Some(line)
    }

    pub(crate) fn is_working(&self) -> bool {
        matches!(self.phase, Phase::Working(_) | Phase::Cancelling { .. })
    }

    /// Returns whether there is something in it to come back to.
    pub(crate) fn has_content(&self) -> bool {
        !self.first_words.is_empty() || !self.title.is_empty()
    }

    /// Returns whether something on the screen moves by itself.
    pub(crate) fn is_moving(&self) -> bool {
        match &self.phase {
            Phase::Starting(_) | Phase::Working(_) | Phase::Cancelling { .. } => true,
            Phase::Ready => self.is_busy_alone,
            Phase::Stuck(Trouble::Auth { since, .. }) => since.is_some(),
            Phase::Stuck(_) => false,
        }
    }

    /// Returns what tells this session from others, if anything does.
    pub(crate) fn name(&self) -> &str {
        match self.title.as_str() {
            "" => &self.first_words,
            title => title,
        }
    }

    /// Asks for the session again.
    pub(crate) fn reopen(&mut self, now: Tick, out: &mut Vec<Action>) {
        self.phase = Phase::Starting(now);
        self.died = None;
        self.last_end = None;
        // Whoever asked them is gone.
        self.asks.clear();
        self.ask = 0;
        out.push(Action::Open(self.id, self.agent, self.target.clone()));
    }

    pub(crate) fn opened(&mut self, opened: Opened, now: Tick, out: &mut Vec<Action>) {
        // Should it have to be opened again, it is this one.
        self.target = Target::Stored {
            id: opened.session.clone(),
            cwd: None,
            title: self.title.clone(),
        };
        self.session = Some(opened.session);
        self.phase = Phase::Ready;
        self.died = None;
        // What was laid out is of another transcript, whose stamps mean nothing in this one.
        self.view = TranscriptView::new();
        self.view_work.clear();
        let how = match opened.how {
            How::New => None,
            How::Loaded => Some("session loaded with its history".to_owned()),
            How::Resumed => Some("session resumed; the agent does not tell its history".to_owned()),
        };
        // A prompt that was given with them is not for a session without them.
        let has_refused = !opened.refused.is_empty();
        self.is_held |= has_refused && !self.queue.is_empty();
        let waits = match has_refused && self.is_held {
            true => Some("your prompt was not sent: Enter sends it anyway".to_owned()),
            false => None,
        };
        let said = how.into_iter().chain(opened.told).chain(opened.refused);
        let said: Vec<String> = said.chain(waits).collect();
        self.last_end = (!said.is_empty()).then(|| said.join("\n"));
        if self.composer.is_empty() {
            self.composer = Composer::with_text(&opened.draft);
        }
        self.saved_draft = opened.draft;
        self.send_next(now, out);
    }

    /// Sends the next prompt of the queue, if it may.
    pub(crate) fn send_next(&mut self, now: Tick, out: &mut Vec<Action>) {
        if self.phase != Phase::Ready || self.is_held {
            return;
        }
        if let Some(next) = self.queue.pop_front() {
            out.push(Action::Prompt(self.id, next.outgoing()));
            if self.first_words.is_empty() {
                let words = next.plain();
                let words = words.split_whitespace().take(NAME_WORDS_MAX);
                self.first_words = words.collect::<Vec<_>>().join(" ");
            }
            if let Some(editing) = &mut self.editing {
                editing.place = editing.place.saturating_sub(1);
            }
            self.sent = Some(next);
            self.phase = Phase::Working(now);
            self.began = now;
            self.cost_before = self.cost();
            self.tally = None;
            self.trace = None;
            self.last_end = None;
            self.died = None;
            self.quiet_since = None;
            self.view_work.push(ViewWork::Scroll(Scroll::End));
        }
    }

    /// Lets the queue go on.
    pub(crate) fn release(&mut self, now: Tick, out: &mut Vec<Action>) {
        self.is_held = false;
        self.send_next(now, out);
    }

    /// Cancels the turn; what waits is then held. Doing so again says it to the agent again.
    pub(crate) fn cancel(&mut self, now: Tick, out: &mut Vec<Action>) {
        match self.phase {
            Phase::Working(_) => {
                self.phase = Phase::Cancelling {
                    since: now,
                    is_overdue: false,
                };
            }
            Phase::Cancelling { .. } => {}
            _ => return,
        }
        out.push(Action::Cancel(self.id));
    }

    /// Notes a cancelled turn that goes on for too long, even if its prompt is still on its way.
    pub(super) fn look_at_clock(&mut self, now: Tick) {
        if let Phase::Cancelling { since, is_overdue } = &mut self.phase {
            *is_overdue |= *since + super::CANCEL_MS <= now;
        }
    }

    /// Leaves a login: first the waiting for it, then the asking for it.
    pub(super) fn leave_login(&mut self) {
        let Phase::Stuck(Trouble::Auth { since, .. }) = &mut self.phase else {
            return;
        };
        if since.take().is_none() && self.session.is_some() {
            self.phase = Phase::Ready;
            self.is_held = !self.queue.is_empty();
        }
    }

    /// Cancels the turn and sends a prompt as soon as it has ended, before all others.
    pub(crate) fn interrupt(&mut self, prompt: Composer, now: Tick, out: &mut Vec<Action>) {
        self.queue.push_front(prompt);
        self.is_interrupting = true;
        self.cancel(now, out);
    }

    /// A prompt did not reach the agent: it goes back to where the user wrote it.
    pub(crate) fn prompt_failed(&mut self, failure: Failure) {
        if let Some(sent) = self.sent.take() {
            match self.composer.is_empty() && !matches!(failure, Failure::Auth(..)) {
                true => self.write(sent),
                false => self.queue.push_front(sent),
            }
        }
        self.phase = Phase::Ready;
        self.is_interrupting = false;
        self.is_held = !self.queue.is_empty();
        self.failed(failure);
    }

    pub(crate) fn turn_ended(&mut self, ended: Ended, now: Tick, out: &mut Vec<Action>) {
        if !self.is_working() {
            return;
        }
        let was_cancelled = matches!(self.phase, Phase::Cancelling { .. });
        let goes_on = std::mem::take(&mut self.is_interrupting);
        // What was held when the prompt was sent by hand stays so.
        let was_held = std::mem::take(&mut self.is_held);
        self.phase = Phase::Ready;
        self.quiet_since = None;
        self.leave_trace(&ended, now);
        let sent = self.sent.take();
        let mut is_kept = false;
        match ended {
            Ended::Done(reason) => {
                let is_good = matches!(reason, Some(v2::StopReason::EndTurn) | None);
                let is_cancelled = matches!(reason, Some(v2::StopReason::Cancelled));
                self.last_end = (!is_good && !is_cancelled).then(|| told(reason.as_ref()));
                self.is_held = (was_held || !is_good) && !self.queue.is_empty() && !goes_on;
            }
            Ended::Unsent => {
                self.last_end = Some("cancelled before it was sent".to_owned());
                // The agent never heard of it, so nothing but this shows it.
                if let Some(sent) = sent {
                    match self.composer.is_empty() {
                        true => self.write(sent),
                        false => {
                            // Behind the one that is to go instead, and not without being asked for.
                            let place = usize::from(goes_on).min(self.queue.len());
                            self.queue.insert(place, sent);
                            is_kept = true;
                        }
                    }
                }
            }
            Ended::Failed(failure) => {
                if let (Failure::Auth(..), Some(sent)) = (&failure, sent) {
                    self.queue.push_front(sent);
                }
                self.is_held = !self.queue.is_empty();
                self.failed(failure);
            }
        }
        self.is_held |= was_cancelled && !goes_on && !self.queue.is_empty();
        self.send_next(now, out);
        self.is_held |= (is_kept || was_held) && !self.queue.is_empty();
    }

    /// Returns what the session has cost, in its currency.
    fn cost(&self) -> f64 {
        let cost = self.usage.as_ref().and_then(|usage| usage.cost.as_ref());
        cost.map_or(0.0, |(amount, _)| *amount)
    }

    /// Keeps what the turn took and how it ended, where it ended.
    fn leave_trace(&mut self, ended: &Ended, now: Tick) {
        let tally = self.tally.take();
        let took = trace::took(
            now.saturating_sub(self.began),
            tally,
            self.usage.as_ref(),
            self.cost_before,
        );
        let Some(end) = trace::end(ended, &took) else {
            return;
        };
        match tally {
            Some(tally) => self.view.turn_ended(tally.entries, end),
            None => self.trace = Some(end),
        }
    }

    pub(crate) fn set_tally(&mut self, tally: Tally) {
        self.tally = Some(tally);
    }

    /// The session could not be opened: nothing goes on until the user did something, whatever it was.
    pub(crate) fn open_failed(&mut self, failure: Failure) {
        match failure {
            Failure::Died(words) | Failure::Other(words) => {
                self.phase = Phase::Stuck(Trouble::Failed(words));
            }
            failure => self.failed(failure),
        }
    }

    /// Shows why nothing goes on.
    pub(crate) fn failed(&mut self, failure: Failure) {
        match failure {
            Failure::Missing(words) => self.phase = Phase::Stuck(Trouble::Missing(words)),
            Failure::Auth(methods, words) => {
                self.phase = Phase::Stuck(Trouble::Auth {
                    methods,
                    chosen: 0,
                    since: None,
                    failure: words,
                });
            }
            Failure::Died(words) if self.session.is_some() => self.died = Some(words),
            Failure::Other(words) if self.session.is_some() => self.last_end = Some(words),
            Failure::Died(words) | Failure::Other(words) => {
                self.phase = Phase::Stuck(Trouble::Failed(words));
            }
        }
    }

    pub(crate) fn logged_in(
        &mut self,
        result: Result<(), String>,
        now: Tick,
        out: &mut Vec<Action>,
    ) {
        let Phase::Stuck(Trouble::Auth { since, failure, .. }) = &mut self.phase else {
            return;
        };
        *since = None;
        match (result, &self.session) {
            (Err(words), _) => *failure = Some(words),
            (Ok(()), Some(_)) => {
                self.phase = Phase::Ready;
                self.release(now, out);
            }
            (Ok(()), None) => self.reopen(now, out),
        }
    }

    pub(crate) fn open_ask(&self) -> Option<&Ask> {
        self.asks.get(self.ask)
    }

    /// Takes away a question that is closed.
    pub(crate) fn close_ask(&mut self, id: super::AskId) -> bool {
        let Some(place) = self.asks.iter().position(|ask| ask.id == id) else {
            return false;
        };
        self.asks.remove(place);
        if self.ask > place || self.ask >= self.asks.len() {
            self.ask = self.ask.saturating_sub(1);
        }
        if self.asks.is_empty() && self.attention == Some(Attention::NeedsYou) {
            self.attention = None;
        }
        true
    }

    /// Returns the option of a category.
    pub(crate) fn option(
        &self,
        category: &v2::SessionConfigOptionCategory,
    ) -> Option<&v2::SessionConfigOption> {
        let mut options = self.options.iter();
        options.find(|option| option.category.as_ref() == Some(category))
    }
}

/// Says why a turn stopped, for those reasons that the user should know.
pub(super) fn told(reason: Option<&v2::StopReason>) -> String {
    use v2::StopReason as Reason;
    match reason {
        Some(Reason::Refusal) => {
            "the agent refused; it no longer remembers the last prompt".to_owned()
        }
        Some(Reason::MaxTokens) => "stopped: the answer reached the model's limit".to_owned(),
        Some(Reason::MaxTurnRequests) => "stopped: too many requests in one turn".to_owned(),
        Some(Reason::Error(stop)) => match &stop.error {
            Some(error) => format!("the turn failed: {}", error.message),
            None => "the turn failed; the agent does not say why".to_owned(),
        },
        _ => "stopped for a reason of its own".to_owned(),
    }
}
