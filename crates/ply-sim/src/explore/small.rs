//! The small world: a core, two clients that take everything at once, and a script of what may happen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use ply_session::{
    Answers, Ask, AskId, Attach, Close, Core, How, Input, Keep, Level, Outcome, Persist, Prompt,
    Pull, Question, Reply, RequestId, Settings, Setup, Stop, TurnId, ViewId, Viewer,
};
use ply_wire::negotiate::Version;
use ply_wire::project::Shows;
use ply_wire::v2;

use super::check::Seen;
use crate::Broken;

/// Something that can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Event {
    /// The client of version 1 sends its prompt.
    PromptV1,
    /// The client of version 2 sends its prompt.
    PromptV2,
    /// The client of version 2 cancels.
    Cancel,
    /// The agent's code says something.
    Say,
    /// The agent's code asks.
    Ask,
    /// The client of version 1, or of version 2, approves.
    Approve(u64),
    /// Its user dismisses the question.
    Dismiss(u64),
    /// It answers the question with an error: nobody answers there.
    Leave(u64),
    /// The agent's code ends.
    End,
    /// The journal is done with the append under way.
    Done,
    /// It fails in passing.
    Busy,
    /// It fails, and nothing was written.
    Fail,
    /// It fails after it has written.
    Doubt,
    /// The journal was created or opened.
    Opened,
    /// A deadline passes.
    Tick,
    /// The client of version 2 closes the session.
    Close,
}

/// What has happened of what happens once.
#[derive(Debug, Default)]
struct Happened {
    v1: bool,
    v2: bool,
    cancel: bool,
    close: bool,
    failed: bool,
    asked: bool,
    said: bool,
}

#[derive(Debug)]
pub(super) struct Small {
    pub(super) core: Core,
    now: Duration,
    happened: Happened,
    append: Option<Persist>,
    pub(super) opens: Option<Option<u64>>,
    pub(super) releases: bool,
    pub(super) records: Vec<Vec<u8>>,
    pub(super) synced: usize,
    epoch: u64,
    /// The code that runs, and whether it was told to stop.
    pub(super) code: Option<(TurnId, bool)>,
    pub(super) started: BTreeSet<RequestId>,
    /// The client whose prompt the newest turn is about.
    pub(super) prompter: Option<ViewId>,
    pub(super) seen: Seen,
}

pub(super) const V1: ViewId = ViewId(1);
pub(super) const V2: ViewId = ViewId(2);

impl Small {
    pub(super) fn new() -> Self {
        let setup = Arc::new(Setup::new("/work"));
        let core = Core::new("s".into(), Settings::default(), Arc::clone(&setup));
        let mut world = Self {
            core,
            now: Duration::ZERO,
            happened: Happened::default(),
            append: None,
            opens: None,
            releases: false,
            records: Vec::new(),
            synced: 0,
            epoch: 0,
            code: None,
            started: BTreeSet::new(),
            prompter: None,
            seen: Seen::default(),
        };
        let attach = |(view, version)| {
            Input::Attach(Box::new(Attach {
                request: RequestId(100 + u64::from(version == Version::V2)),
                view,
                viewer: Viewer::new(version, Shows::ALL, Answers::default()),
                how: How::New,
                setup: Arc::clone(&setup),
                after: None,
            }))
        };
        let outcome = Ok(());
        let first = [Input::Prepared { outcome }];
        let views = [(V1, Version::V1), (V2, Version::V2)].map(attach);
        for input in first.into_iter().chain(views) {
            // Nothing can be broken before anything happens, and the first event would show it.
            let _ignored = world.feed(input);
        }
        world
    }

    /// Returns what can happen now.
    pub(super) fn choices(&self) -> Vec<Event> {
        let mut choices = Vec::new();
        let mut add = |can_happen: bool, event| {
            if can_happen {
                choices.push(event);
            }
        };
        let happened = &self.happened;
        add(!happened.v1, Event::PromptV1);
        add(!happened.v2, Event::PromptV2);
        add(!happened.cancel && happened.v1, Event::Cancel);
        add(!happened.close && happened.v1, Event::Close);
        add(self.code.is_some() && !happened.said, Event::Say);
        add(self.code.is_some() && !happened.asked, Event::Ask);
        for view in [V1, V2] {
            let is_asked = self.seen.is_asked(view);
            add(is_asked, Event::Approve(view.0));
            add(is_asked, Event::Dismiss(view.0));
            add(is_asked, Event::Leave(view.0));
        }
        add(self.code.is_some(), Event::End);
        let is_appending = self.append.is_some();
        add(is_appending, Event::Done);
        add(is_appending && !happened.failed, Event::Busy);
        add(is_appending && !happened.failed, Event::Fail);
        add(is_appending && !happened.failed, Event::Doubt);
        add(self.opens.is_some(), Event::Opened);
        add(self.core.deadline().is_some(), Event::Tick);
        choices
    }

    pub(super) fn take(&mut self, event: Event) -> Result<(), Broken> {
        match event {
            Event::PromptV1 => {
                self.happened.v1 = true;
                self.feed(prompt(1, V1))
            }
            Event::PromptV2 => {
                self.happened.v2 = true;
                self.feed(prompt(2, V2))
            }
            Event::Cancel => {
                self.happened.cancel = true;
                self.feed(Input::Cancel { view: Some(V2) })
            }
            Event::Close => {
                self.happened.close = true;
                self.feed(Input::Close(Close {
                    request: Some(RequestId(3)),
                    view: Some(V2),
                    journal: Keep::All,
                }))
            }
            Event::Say => {
                self.happened.said = true;
                let content = v2::ContentBlock::from("word ");
                let (turn, thought) = (self.code.map(|(turn, _)| turn), false);
                self.feed(Input::Say {
                    turn,
                    thought,
                    content,
                })
            }
            Event::Ask => {
                self.happened.asked = true;
                let yes =
                    v2::PermissionOption::new("yes", "Yes", v2::PermissionOptionKind::AllowOnce);
                let request = v2::RequestPermissionRequest::new("s", "Really?", vec![yes]);
                self.seen.waits_for = true;
                self.feed(Input::Ask(Ask {
                    id: AskId(1),
                    turn: self.code.map(|(turn, _)| turn),
                    question: Question::Permission(Box::new(request)),
                }))
            }
            Event::Approve(view) => {
                let view = ViewId(view);
                self.seen.answered(view);
                let reply = Reply::Selected(v2::PermissionOptionId::new("yes"));
                let ask = AskId(1);
                self.feed(Input::Answer { ask, view, reply })
            }
            Event::Dismiss(view) => self.dismissed(ViewId(view)),
            Event::Leave(view) => self.given_up(ViewId(view), Reply::Failed),
            Event::End => {
                let Some((turn, _)) = self.code.take() else {
                    return Ok(());
                };
                self.seen.waits_for = false;
                let outcome = Outcome::Stopped(Stop::EndTurn);
                self.feed(Input::Ended { turn, outcome })
            }
            Event::Done | Event::Busy | Event::Fail | Event::Doubt => self.appended(event),
            Event::Opened => {
                let from = self.opens.take().flatten().unwrap_or(0);
                self.epoch += 1;
                self.synced = self.records.len();
                let skip = usize::try_from(from).unwrap_or(usize::MAX);
                let opened = ply_session::Opened {
                    epoch: self.epoch,
                    records: self.records.len() as u64,
                    tail: self.records.iter().skip(skip).cloned().collect(),
                };
                self.feed(Input::Opened(opened))
            }
            Event::Tick => {
                self.now = self.core.deadline().unwrap_or(self.now).max(self.now);
                self.feed(Input::Tick)?;
                match self.core.deadline() {
                    Some(deadline) if deadline <= self.now => {
                        Err("a deadline that has passed stays a deadline".into())
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    fn appended(&mut self, event: Event) -> Result<(), Broken> {
        let Some(persist) = self.append.take() else {
            return Ok(());
        };
        self.happened.failed |= event != Event::Done;
        if matches!(event, Event::Done | Event::Doubt) {
            self.records
                .extend(persist.records.into_iter().map(Vec::from));
        }
        if event == Event::Done && persist.level == Level::Durable {
            self.synced = self.records.len();
        }
        if event == Event::Done {
            return self.feed(Input::Persisted {
                reached: Level::Accepted,
            });
        }
        let error = v2::Error::new(-32603, "the journal failed");
        let may_pass = event == Event::Busy;
        self.feed(Input::NotPersisted { error, may_pass })
    }

    /// Lets everything come to its end: the journal works, the code ends, and the session is closed.
    pub(super) fn rest(mut self) -> Result<(), Broken> {
        self.happened.failed = true;
        self.feed(Input::Cancel { view: None })?;
        self.settle()?;
        self.at_rest()?;
        self.feed(Input::Close(Close {
            request: None,
            view: None,
            journal: Keep::All,
        }))?;
        self.settle()?;
        self.seen.at_end()
    }

    /// Does what is under way until nothing is.
    fn settle(&mut self) -> Result<(), Broken> {
        for _ in 0..100 {
            let order = [Event::Opened, Event::Done, Event::End, Event::Tick];
            let choices = self.choices();
            let Some(event) = order.iter().find(|event| choices.contains(event)) else {
                return Ok(());
            };
            self.take(*event)?;
        }
        Err("the world does not come to rest".into())
    }

    fn at_rest(&self) -> Result<(), Broken> {
        if self.core.engine().running().is_some() {
            return Err("a turn goes on".into());
        }
        self.seen.at_rest()
    }

    pub(super) fn feed(&mut self, input: Input) -> Result<(), Broken> {
        if let Some(request) = input.request() {
            self.seen.sent(request);
        }
        let mut out = Vec::new();
        self.core.step(self.now, input, &mut out);
        self.perform(out)?;
        for view in [V1, V2] {
            loop {
                let mut out = Vec::new();
                let pull = self.core.pull(self.now, view, &mut out);
                self.perform(out)?;
                match pull {
                    Pull::Message(message) => self.sent(view, &message)?,
                    Pull::Read { .. } => return Err("a fast client has to read".into()),
                    _ => break,
                }
            }
        }
        if self.append.is_none() {
            self.append = self.core.persist();
        } else if self.core.persist().is_some() {
            return Err("two appends are under way".into());
        }
        if self.releases {
            self.releases = false;
            if self.append.take().is_some() {
                // It never came back, and the core knows.
                self.seen.is_lost = true;
            }
            return self.feed(Input::Released);
        }
        let engine = self.core.engine();
        if let (Some((turn, false)), true) = (self.code, engine.is_cancelled())
            && engine.running() == Some(turn)
        {
            return Err("a turn was cancelled and its code was not told".into());
        }
        Ok(())
    }
}

fn prompt(request: u64, view: ViewId) -> Input {
    Input::Prompt(Prompt {
        request: RequestId(request),
        view,
        content: vec![format!("prompt {request}").into()],
        operation: None,
        steers: false,
    })
}

/// Keeps the type of maps in one place.
pub(super) type PerView<T> = BTreeMap<u64, T>;
