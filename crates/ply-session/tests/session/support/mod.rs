//! A session driven by hand: every step is checked by the ledger, and everything is kept.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![allow(missing_docs, reason = "a module of tests only")]

pub mod ledger;

use self::ledger::Ledger;
use ply_session::engine::{Action, Engine, Input, Prompt};
use ply_session::{
    Answer, Answers, Ask, AskId, Event, History, Outcome, PromptId, Question, Refusal, Reply,
    Settings, Stop, TurnId, ViewId,
};
use ply_wire::v2;

pub const ALL_ANSWERS: Answers = Answers {
    form: true,
    url: true,
};

pub struct Session {
    pub engine: Engine,
    ledger: Ledger,
    /// Everything that was appended.
    pub journal: Vec<Event>,
    asks: u64,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    pub fn new() -> Self {
        let engine = Engine::new(Settings::default(), 1);
        let ledger = Ledger::new(&engine, &[]).unwrap();
        Self {
            engine,
            ledger,
            journal: Vec::new(),
            asks: 0,
        }
    }

    /// Opens a session from its journal; returns what was appended to close what was cut off.
    pub fn open(journal: &[Event]) -> (Self, Vec<Event>) {
        Self::open_as(2, journal)
    }

    /// Does the same as a later owner of the session.
    pub fn open_as(epoch: u64, journal: &[Event]) -> (Self, Vec<Event>) {
        let mut out = Vec::new();
        let engine = Engine::open(Settings::default(), epoch, journal.to_vec(), &mut out);
        let ledger = Ledger::new(&engine, &out).unwrap();
        let repair = appended(&out);
        let journal = journal.iter().chain(&repair).cloned().collect();
        let session = Self {
            engine,
            ledger,
            journal,
            asks: 0,
        };
        (session, repair)
    }

    /// Returns a session with one view attached, number 1.
    pub fn attached() -> Self {
        let mut session = Self::new();
        session.attach(1);
        session
    }

    /// Returns a session with one view and the turn of its first prompt.
    pub fn running() -> (Self, TurnId) {
        let mut session = Self::attached();
        let out = session.prompt(1, "one");
        let turn = started(&out).expect("the turn starts");
        (session, turn)
    }

    #[track_caller]
    pub fn step(&mut self, input: Input) -> Vec<Action> {
        let mut out = Vec::new();
        let checked = self.ledger.step(&mut self.engine, input, &mut out);
        checked.unwrap();
        self.journal.extend(appended(&out));
        out
    }

    #[track_caller]
    pub fn attach(&mut self, view: u64) -> Vec<Action> {
        let answers = ALL_ANSWERS;
        self.step(Input::Attach {
            view: ViewId(view),
            answers,
        })
    }

    #[track_caller]
    pub fn detach(&mut self, view: u64) -> Vec<Action> {
        self.step(Input::Detach { view: ViewId(view) })
    }

    /// Sends a prompt of view 1.
    #[track_caller]
    pub fn prompt(&mut self, id: u64, text: &str) -> Vec<Action> {
        self.prompt_of(1, id, text)
    }

    #[track_caller]
    pub fn prompt_of(&mut self, view: u64, id: u64, text: &str) -> Vec<Action> {
        self.step(Input::Prompt(Prompt {
            id: PromptId(id),
            view: ViewId(view),
            content: vec![text.into()],
            operation: None,
        }))
    }

    #[track_caller]
    pub fn begin(&mut self, id: u64) -> Vec<Action> {
        self.step(Input::Begin {
            prompt: PromptId(id),
        })
    }

    #[track_caller]
    pub fn withdraw(&mut self, id: u64) -> Vec<Action> {
        self.step(Input::Withdraw {
            prompt: PromptId(id),
        })
    }

    #[track_caller]
    pub fn cancel(&mut self) -> Vec<Action> {
        self.step(Input::Cancel)
    }

    #[track_caller]
    pub fn close(&mut self) -> Vec<Action> {
        self.step(Input::Close)
    }

    #[track_caller]
    pub fn end(&mut self, turn: TurnId) -> Vec<Action> {
        self.end_with(turn, Outcome::Stopped(Stop::EndTurn))
    }

    #[track_caller]
    pub fn end_with(&mut self, turn: TurnId, outcome: Outcome) -> Vec<Action> {
        self.step(Input::TurnEnded { turn, outcome })
    }

    #[track_caller]
    pub fn overdue(&mut self, turn: TurnId) -> Vec<Action> {
        self.step(Input::TurnOverdue { turn })
    }

    #[track_caller]
    pub fn say(&mut self, turn: Option<TurnId>, text: &str) -> Vec<Action> {
        self.step(Input::Say {
            turn,
            thought: false,
            content: text.into(),
        })
    }

    #[track_caller]
    pub fn update(&mut self, turn: Option<TurnId>, update: v2::SessionUpdate) -> Vec<Action> {
        self.step(Input::Update {
            turn,
            update,
            edits: Vec::new(),
        })
    }

    #[track_caller]
    pub fn call(
        &mut self,
        turn: Option<TurnId>,
        id: &str,
        status: v2::ToolCallStatus,
    ) -> Vec<Action> {
        self.update(turn, call(id, status))
    }

    /// Asks for permission with the options `yes` and `no`; returns the number of the question.
    #[track_caller]
    pub fn ask(&mut self, turn: Option<TurnId>, about: Option<v2::ToolCallUpdate>) -> AskId {
        self.asks += 1;
        let id = AskId(self.asks);
        self.step(Input::Ask(Ask {
            id,
            turn,
            question: permission(about),
        }));
        id
    }

    #[track_caller]
    pub fn answer(&mut self, ask: AskId, view: u64, reply: Reply) -> Vec<Action> {
        let view = ViewId(view);
        self.step(Input::Answer {
            ask,
            view,
            by: None,
            reply,
        })
    }

    pub fn status(&self, call: &str) -> v2::ToolCallStatus {
        let transcript = self.engine.history().transcript();
        let call = transcript.tool_call(&v2::ToolCallId::new(call));
        call.expect("the call is known").status.clone()
    }

    /// Returns the texts of the user's messages in order.
    pub fn prompts(&self) -> Vec<String> {
        user_texts(self.engine.history())
    }

    #[track_caller]
    pub fn assert_at_rest(&self) {
        self.ledger.at_rest().unwrap();
    }
}

pub fn user_texts(history: &History) -> Vec<String> {
    let messages = history.transcript().messages();
    let users = messages.filter(|m| m.kind == ply_wire::transcript::MessageKind::User);
    users.map(|message| message.text()).collect()
}

pub fn call(id: &str, status: v2::ToolCallStatus) -> v2::SessionUpdate {
    v2::SessionUpdate::ToolCallUpdate(v2::ToolCallUpdate::new(id.to_owned()).status(status))
}

pub fn permission(about: Option<v2::ToolCallUpdate>) -> Question {
    let option = |id: &str, kind| v2::PermissionOption::new(id.to_owned(), id, kind);
    let options = vec![
        option("yes", v2::PermissionOptionKind::AllowOnce),
        option("no", v2::PermissionOptionKind::RejectOnce),
    ];
    let request = v2::RequestPermissionRequest::new("s", "Really?", options)
        .subject(about.map(v2::RequestPermissionSubject::from));
    Question::Permission(Box::new(request))
}

pub fn form() -> Question {
    let scope = v2::ElicitationSessionScope::new("s");
    let mode = v2::ElicitationFormMode::new(scope, v2::ElicitationSchema::new());
    Question::Elicitation(Box::new(v2::CreateElicitationRequest::new(mode, "Which?")))
}

pub fn yes() -> Reply {
    Reply::Selected(v2::PermissionOptionId::new("yes"))
}

pub fn error() -> Outcome {
    Outcome::Failed(v2::Error::internal_error())
}

pub fn appended(out: &[Action]) -> Vec<Event> {
    let events = out.iter().filter_map(|action| match action {
        Action::Append(event) => Some(event.clone()),
        _ => None,
    });
    events.collect()
}

pub fn updates(out: &[Action]) -> Vec<v2::SessionUpdate> {
    let events = appended(out);
    events.iter().filter_map(|e| e.update().cloned()).collect()
}

/// Returns the names of the states that were reported.
pub fn states(out: &[Action]) -> Vec<&'static str> {
    let states = updates(out).into_iter().filter_map(|update| match update {
        v2::SessionUpdate::StateUpdate(state) => Some(match state {
            v2::StateUpdate::Running(_) => "running",
            v2::StateUpdate::RequiresAction(_) => "requires_action",
            v2::StateUpdate::Idle(_) => "idle",
            _ => "other",
        }),
        _ => None,
    });
    states.collect()
}

pub fn started(out: &[Action]) -> Option<TurnId> {
    out.iter().find_map(|action| match action {
        Action::StartTurn(start) => Some(start.turn),
        _ => None,
    })
}

pub fn settled(out: &[Action]) -> Vec<(u64, v2::StopReason)> {
    let settled = out.iter().filter_map(|action| match action {
        Action::Settle { prompt, stop } => Some((prompt.0, stop.clone())),
        _ => None,
    });
    settled.collect()
}

pub fn refused(out: &[Action]) -> Vec<(u64, Refusal)> {
    let refused = out.iter().filter_map(|action| match action {
        Action::Refuse {
            prompt, refusal, ..
        } => Some((prompt.0, *refusal)),
        _ => None,
    });
    refused.collect()
}

pub fn accepted(out: &[Action]) -> Option<(u64, v2::MessageId)> {
    out.iter().find_map(|action| match action {
        Action::Accept {
            prompt, message, ..
        } => Some((prompt.0, message.clone())),
        _ => None,
    })
}

pub fn resolved(out: &[Action]) -> Vec<(AskId, Answer)> {
    let resolved = out.iter().filter_map(|action| match action {
        Action::Resolve { ask, answer } => Some((*ask, answer.clone())),
        _ => None,
    });
    resolved.collect()
}

pub fn offers(out: &[Action]) -> Vec<(AskId, u64)> {
    let offers = out.iter().filter_map(|action| match action {
        Action::Offer { ask, view } => Some((*ask, view.0)),
        _ => None,
    });
    offers.collect()
}

pub fn retracts(out: &[Action]) -> Vec<(AskId, u64)> {
    let retracts = out.iter().filter_map(|action| match action {
        Action::Retract { ask, view } => Some((*ask, view.0)),
        _ => None,
    });
    retracts.collect()
}
