//! The agent's code in a simulated world: it talks, runs tools, asks, and does not always behave.

use std::path::PathBuf;

use ply_session::{Ask, AskId, Edit, Entity, Input, Outcome, Question, Stop, TurnId};
use ply_wire::convert::diff;
use ply_wire::v2;

use crate::choice::Choices;

/// Steps after which the code of a turn comes to an end by itself.
const STEPS_MAX: u64 = 40;

/// Numbers that nobody uses twice.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) asks: u64,
    pub(crate) barriers: u64,
    pub(crate) lines: u64,
    pub(crate) requests: u64,
    pub(crate) views: u64,
}

/// The code of one turn.
#[derive(Debug)]
pub(crate) struct AgentTurn {
    pub(crate) life: u64,
    /// The turn; none for work outside any turn.
    pub(crate) turn: Option<TurnId>,
    pub(crate) cancelled: bool,
    /// The engine no longer waits for it.
    pub(crate) abandoned: bool,
    pub(crate) done: bool,
    /// Whether it takes no notice of a cancel.
    stubborn: bool,
    /// Whether it stays silent until its questions are answered.
    patient: bool,
    steps: u64,
    names: u64,
    calls: Vec<v2::ToolCallId>,
    terminals: Vec<v2::TerminalId>,
    /// What a client wants to stop.
    pub(crate) stops: Vec<Entity>,
    pub(crate) waits_for: Vec<AskId>,
}

impl AgentTurn {
    pub(crate) fn new(life: u64, turn: Option<TurnId>, choices: &mut Choices<'_>) -> Self {
        Self {
            life,
            turn,
            cancelled: false,
            abandoned: false,
            done: false,
            stubborn: choices.percent(20),
            patient: choices.percent(50),
            steps: 0,
            names: 0,
            calls: Vec::new(),
            terminals: Vec::new(),
            stops: Vec::new(),
            waits_for: Vec::new(),
        }
    }

    /// Chooses what to do next; nothing while it waits.
    pub(crate) fn act(&mut self, numbers: &mut Numbers, choices: &mut Choices<'_>) -> Vec<Input> {
        self.steps += 1;
        if let Some(entity) = self.stops.pop() {
            return vec![self.stop(entity)];
        }
        let may_end = self.turn.is_some();
        if may_end && self.cancelled && !self.stubborn && choices.percent(60) {
            return self.end(choices);
        }
        if self.patient && !self.waits_for.is_empty() && !self.cancelled {
            return Vec::new();
        }
        if may_end && self.steps > STEPS_MAX && !self.stubborn {
            return self.end(choices);
        }
        let input = match choices.weighted(&[10, 12, 6, 8, 12, 8, 8, 3, 12, 4, 3, 3]) {
            0 if may_end => return self.end(choices),
            0 | 1 => self.say(false, choices),
            2 => self.say(true, choices),
            3 => self.announce(choices),
            4 => self.change_call(choices),
            5 => {
                let count = choices.weighted(&[6, 2, 1]) as u64 + 1;
                return (0..count).map(|_| self.ask(numbers, choices)).collect();
            }
            6 => self.report(choices),
            7 => match choices.pick(&self.waits_for) {
                Some(ask) => Input::Unask { ask: *ask },
                None => self.forbidden(),
            },
            9 => self.terminal(choices),
            10 => {
                numbers.barriers += 1;
                let (barrier, view) = (numbers.barriers, None);
                Input::Barrier { barrier, view }
            }
            11 => return self.goes_on(choices),
            _ => return Vec::new(),
        };
        vec![input]
    }

    /// Something that goes on after its turn. It does not name the turn, since it is not of it for long.
    fn goes_on(&mut self, choices: &mut Choices<'_>) -> Vec<Input> {
        self.names += 1;
        let turn = self.turn.map_or(0, |turn| turn.0);
        let id = format!("late-{}-{turn}-{}", self.life, self.names);
        let (entity, update) = if choices.percent(50) {
            let offers =
                v2::TerminalCapabilities::new().cancel(v2::TerminalCancelCapabilities::new());
            let update = v2::TerminalUpdate::new(id.clone()).capabilities(offers);
            let entity = Entity::Terminal(v2::TerminalId::new(id));
            (entity, v2::SessionUpdate::TerminalUpdate(update))
        } else {
            let offers =
                v2::ToolCallCapabilities::new().cancel(v2::ToolCallCancelCapabilities::new());
            let update = v2::ToolCallUpdate::new(id.clone())
                .title("Goes on")
                .status(v2::ToolCallStatus::InProgress)
                .capabilities(offers);
            let entity = Entity::ToolCall(v2::ToolCallId::new(id));
            (entity, v2::SessionUpdate::ToolCallUpdate(update))
        };
        let announced = self.update(update);
        let outlives = self.turn.map(|turn| Input::Outlive { turn, entity });
        [announced].into_iter().chain(outlives).collect()
    }

    /// Ends what a client wants to stop.
    fn stop(&self, entity: Entity) -> Input {
        self.update(match entity {
            Entity::Terminal(id) => {
                let ended = v2::TerminalExitStatus::new().signal("SIGTERM".to_owned());
                v2::SessionUpdate::TerminalUpdate(v2::TerminalUpdate::new(id).exit_status(ended))
            }
            Entity::ToolCall(id) => {
                let cancelled = v2::ToolCallStatus::Cancelled;
                v2::SessionUpdate::ToolCallUpdate(v2::ToolCallUpdate::new(id).status(cancelled))
            }
            _ => v2::SessionUpdate::SessionInfoUpdate(v2::SessionInfoUpdate::new()),
        })
    }

    fn end(&mut self, choices: &mut Choices<'_>) -> Vec<Input> {
        let Some(turn) = self.turn else {
            return Vec::new();
        };
        self.done = true;
        let outcome = match choices.weighted(&[8, 1, 1, 3, 2, 3]) {
            1 => Outcome::Stopped(Stop::MaxTokens),
            2 => Outcome::Stopped(Stop::MaxTurnRequests),
            3 => Outcome::Stopped(Stop::Refusal),
            4 => Outcome::Stopped(Stop::Cancelled),
            5 => Outcome::Failed(v2::Error::internal_error()),
            _ => Outcome::Stopped(Stop::EndTurn),
        };
        vec![Input::Ended { turn, outcome }]
    }

    fn say(&self, thought: bool, choices: &mut Choices<'_>) -> Input {
        Input::Say {
            turn: self.turn,
            thought,
            content: self.text(choices).into(),
        }
    }

    /// Words that name their turn, so that a client can tell where they belong.
    fn text(&self, choices: &mut Choices<'_>) -> String {
        let word = choices.below(30);
        // Long ones fill what is kept in memory; some have to be escaped.
        let more = match choices.weighted(&[20, 2, 1]) {
            1 => "x".repeat(usize::try_from(choices.below(3000)).unwrap_or(0)),
            2 => "\"\n\u{1}é\\ ".to_owned(),
            _ => String::new(),
        };
        match self.turn {
            Some(turn) => format!("[{}.{}] {word} {more}", self.life, turn.0),
            None => format!("{word} {more}"),
        }
    }

    /// Returns a name that tells which turn it belongs to.
    fn name(&mut self, what: &str) -> String {
        self.names += 1;
        match self.turn {
            Some(turn) => format!("{what}[{}.{}]{}", self.life, turn.0, self.names),
            None => format!("{what}-{}-{}", self.life, self.names),
        }
    }

    fn fresh_call(&mut self) -> v2::ToolCallId {
        let id = v2::ToolCallId::new(self.name("call"));
        self.calls.push(id.clone());
        id
    }

    /// A command that runs, says something, or ends.
    fn terminal(&mut self, choices: &mut Choices<'_>) -> Input {
        let known = choices.pick(&self.terminals).cloned();
        let Some(id) = known.filter(|_| choices.percent(60)) else {
            let id = v2::TerminalId::new(self.name("terminal"));
            self.terminals.push(id.clone());
            let update = v2::TerminalUpdate::new(id).command("make");
            return self.update(v2::SessionUpdate::TerminalUpdate(update));
        };
        self.update(if choices.percent(50) {
            let chunk = v2::TerminalOutputChunk::new(id, "aGk=");
            v2::SessionUpdate::TerminalOutputChunk(chunk)
        } else {
            let status = v2::TerminalExitStatus::new().exit_code(0);
            v2::SessionUpdate::TerminalUpdate(v2::TerminalUpdate::new(id).exit_status(status))
        })
    }

    fn announce(&mut self, choices: &mut Choices<'_>) -> Input {
        let title = self.text(choices);
        let update = v2::ToolCallUpdate::new(self.fresh_call())
            .title(title)
            .status(status(choices));
        self.update(v2::SessionUpdate::ToolCallUpdate(update))
    }

    fn change_call(&mut self, choices: &mut Choices<'_>) -> Input {
        let Some(id) = choices.pick(&self.calls).cloned() else {
            return self.report(choices);
        };
        let content = |text: String| {
            let content = v2::Content::new(v2::ContentBlock::from(text));
            v2::ToolCallContent::Content(Box::new(content))
        };
        let update = v2::ToolCallUpdate::new(id.clone());
        match choices.weighted(&[10, 4, 2, 3, 2]) {
            0 => self.update(v2::SessionUpdate::ToolCallUpdate(
                update.status(status(choices)),
            )),
            1 => {
                let chunk = v2::ToolCallContentChunk::new(id, content(self.text(choices)));
                self.update(v2::SessionUpdate::ToolCallContentChunk(chunk))
            }
            2 => self.update(v2::SessionUpdate::ToolCallUpdate(
                update.content(vec![content(self.text(choices))]),
            )),
            3 => {
                let (old, new) = (choices.below(4), choices.below(4));
                let old = (old > 0).then(|| format!("a\n{old}\nb\n"));
                let new = format!("a\n{new} new\nb\n");
                let path = PathBuf::from("/work/file");
                let shown = diff::edit(&path, old.as_deref(), Some(&new));
                let content = v2::ToolCallContent::Diff(shown);
                let edit = Edit {
                    path,
                    old,
                    new: Some(new),
                };
                Input::Update {
                    turn: self.turn,
                    update: v2::SessionUpdate::ToolCallUpdate(update.content(vec![content])),
                    edits: vec![edit],
                }
            }
            _ => self.update(v2::SessionUpdate::ToolCallUpdate(
                update
                    .title(self.text(choices))
                    .status(ply_wire::MaybeUndefined::Null),
            )),
        }
    }

    fn ask(&mut self, numbers: &mut Numbers, choices: &mut Choices<'_>) -> Input {
        numbers.asks += 1;
        let id = AskId(numbers.asks);
        self.waits_for.push(id);
        let question = match choices.weighted(&[8, 2]) {
            1 => elicitation(choices),
            _ => {
                let subject = match choices.weighted(&[4, 4, 4]) {
                    0 => None,
                    1 => Some(v2::ToolCallUpdate::new(self.fresh_call()).title("Asked")),
                    _ => choices
                        .pick(&self.calls)
                        .map(|call| v2::ToolCallUpdate::new(call.clone())),
                };
                // What is asked about may be said to be anything, also what it no longer is.
                let subject = subject.map(|call| match choices.percent(30) {
                    true => call.status(status(choices)).title(self.text(choices)),
                    false => call,
                });
                permission(subject, choices)
            }
        };
        Input::Ask(Ask {
            id,
            turn: self.turn,
            question,
        })
    }

    fn report(&self, choices: &mut Choices<'_>) -> Input {
        let number = choices.below(5);
        let update = match choices.weighted(&[3, 2, 1, 1, 2, 2, 1]) {
            0 => {
                let entry = v2::PlanEntry::new(
                    format!("step {number}"),
                    v2::PlanEntryPriority::Medium,
                    v2::PlanEntryStatus::Pending,
                );
                let plan =
                    v2::PlanUpdateContent::items(format!("plan-{}", number % 2), vec![entry]);
                v2::SessionUpdate::PlanUpdate(v2::PlanUpdate::new(plan))
            }
            1 => v2::SessionUpdate::UsageUpdate(v2::UsageUpdate::new(number, 10)),
            2 => v2::SessionUpdate::SessionInfoUpdate(
                v2::SessionInfoUpdate::new().title(format!("title {number}")),
            ),
            3 => v2::SessionUpdate::Notice(v2::Notice::new(v2::NoticeSeverity::Info, "notice")),
            4 => {
                // An agent behind this one names its messages itself.
                let chunk =
                    v2::ContentChunk::new(self.text(choices).into(), format!("own-{number}"));
                v2::SessionUpdate::AgentMessageChunk(chunk)
            }
            5 => v2::SessionUpdate::AgentMessage(
                v2::AgentMessage::new(format!("own-{number}"))
                    .content(vec![self.text(choices).into()]),
            ),
            _ => v2::SessionUpdate::TerminalOutputChunk(v2::TerminalOutputChunk::new(
                format!("terminal-{}", number % 2),
                "aGk=",
            )),
        };
        self.update(update)
    }

    /// An update that is not the agent's to make.
    fn forbidden(&self) -> Input {
        let idle = v2::StateUpdate::Idle(v2::IdleStateUpdate::new());
        self.update(v2::SessionUpdate::StateUpdate(idle))
    }

    fn update(&self, update: v2::SessionUpdate) -> Input {
        Input::Update {
            turn: self.turn,
            update,
            edits: Vec::new(),
        }
    }
}

fn status(choices: &mut Choices<'_>) -> v2::ToolCallStatus {
    match choices.weighted(&[3, 6, 3, 2, 1, 1]) {
        0 => v2::ToolCallStatus::Pending,
        1 => v2::ToolCallStatus::InProgress,
        2 => v2::ToolCallStatus::Completed,
        3 => v2::ToolCallStatus::Failed,
        4 => v2::ToolCallStatus::Cancelled,
        _ => v2::ToolCallStatus::Other("_odd".into()),
    }
}

pub(crate) fn permission(
    subject: Option<v2::ToolCallUpdate>,
    choices: &mut Choices<'_>,
) -> Question {
    let option = |id: &str, kind| v2::PermissionOption::new(id, id, kind);
    let options = match choices.weighted(&[8, 1, 1]) {
        0 => vec![
            option("yes", v2::PermissionOptionKind::AllowOnce),
            option("no", v2::PermissionOptionKind::RejectOnce),
        ],
        1 => vec![option(
            "odd",
            v2::PermissionOptionKind::Other("_odd".into()),
        )],
        _ => Vec::new(),
    };
    let subject = subject.map(v2::RequestPermissionSubject::from);
    let request = v2::RequestPermissionRequest::new("s", "Really?", options).subject(subject);
    Question::Permission(Box::new(request))
}

fn elicitation(choices: &mut Choices<'_>) -> Question {
    let scope = v2::ElicitationSessionScope::new("s");
    let mode: v2::ElicitationMode = match choices.percent(30) {
        true => v2::ElicitationUrlMode::new(scope, "e", "https://example.com").into(),
        false => v2::ElicitationFormMode::new(scope, v2::ElicitationSchema::new()).into(),
    };
    Question::Elicitation(Box::new(v2::CreateElicitationRequest::new(mode, "Which?")))
}

/// Returns the options that the agent offers when it is ready.
pub(crate) fn options() -> v2::SessionUpdate {
    let values = |names: &[&'static str]| -> Vec<_> {
        let option = |name: &&'static str| v2::SessionConfigSelectOption::new(*name, *name);
        names.iter().map(option).collect()
    };
    let mode = v2::SessionConfigOption::select("mode", "Mode", "ask", values(&["ask", "code"]))
        .category(v2::SessionConfigOptionCategory::Mode);
    let level = v2::SessionConfigOption::select("level", "Level", "low", values(&["low", "high"]));
    v2::SessionUpdate::ConfigOptionUpdate(v2::ConfigOptionUpdate::new(vec![mode, level]))
}
