//! What a client does of its own accord.

use std::sync::Arc;

use ply_session::{
    Answers, Attach, Close, Entity, How, Input, Keep, OptionChange, Prompt, Reply, RequestId,
    Rights, Setup, ViewId, Viewer,
};
use ply_wire::negotiate::Version;
use ply_wire::project::Shows;
use ply_wire::{v1, v2};

use super::{Away, Client, Link, Wanted};
use crate::agent::Numbers;
use crate::choice::Choices;

/// What a client wants done.
#[derive(Debug)]
pub(crate) enum Deed {
    Send(Vec<Input>),
    /// It leaves: these are its last words.
    Leave(Box<Input>),
    /// It dies, and its link with it.
    Crash,
}

impl Client {
    /// Returns a client of some character.
    pub(crate) fn random(name: String, choices: &mut Choices<'_>) -> Self {
        let version = match choices.percent(50) {
            true => Version::V1,
            false => Version::V2,
        };
        let mut client = Self::new(name, version);
        client.answers = Answers {
            form: choices.percent(50),
            url: choices.percent(30),
        };
        client.is_silent = choices.percent(10);
        client.rights.prompt = !choices.percent(5);
        client.rights.approve = !choices.percent(5);
        client.reads_every_ms = choices.percent(25).then(|| choices.below(800) + 1);
        client.away = choices.percent(40).then(Away::default);
        client
    }

    /// Connects and asks to see the session.
    pub(crate) fn connect(&mut self, how: How, numbers: &mut Numbers) -> Input {
        self.disconnect();
        numbers.views += 1;
        self.view = ViewId(numbers.views);
        self.attach(how, "/work", numbers)
    }

    pub(super) fn attach(&mut self, how: How, cwd: &str, numbers: &mut Numbers) -> Input {
        self.link = Link::Attaching;
        let mut viewer = Viewer::new(self.version, Shows::ALL, self.answers);
        viewer.rights = self.rights;
        viewer.principal = Some(self.name.as_str().into());
        viewer.cursors = self.away.is_some();
        self.attaches(how);
        Input::Attach(Box::new(Attach {
            request: self.request(Wanted::Attach(how), numbers),
            view: self.view,
            viewer,
            how,
            setup: Arc::new(Setup::new(cwd)),
            after: None,
        }))
    }

    pub(super) fn request(&mut self, wanted: Wanted, numbers: &mut Numbers) -> RequestId {
        numbers.requests += 1;
        let request = RequestId(numbers.requests);
        self.waiting.insert(request, wanted);
        request
    }

    /// Chooses what to do next; `exists` says whether the session was ever made.
    pub(crate) fn act(
        &mut self,
        exists: bool,
        numbers: &mut Numbers,
        choices: &mut Choices<'_>,
    ) -> Deed {
        match self.link {
            // What it asked for on its way out is answered first.
            Link::Down if !self.waiting.is_empty() => return Deed::Send(Vec::new()),
            Link::Down if self.is_away() => return Deed::Send(self.come_back(numbers)),
            Link::Down => {
                let how = match exists {
                    false => How::New,
                    true if choices.percent(10) => How::Resume,
                    true => How::Replay,
                };
                let mut first = vec![self.connect(how, numbers)];
                if choices.percent(3) {
                    first = vec![self.attach(how, "/elsewhere", numbers)];
                    self.waiting.pop_first();
                }
                // What comes right behind must find the session.
                if choices.percent(20) {
                    first.push(self.prompt(choices, numbers));
                }
                return Deed::Send(first);
            }
            // Nothing more comes from it.
            _ if self.has_hung_up => return Deed::Send(Vec::new()),
            Link::Attaching if choices.percent(5) => {
                return Deed::Send(self.withdraw(choices));
            }
            Link::Attaching => return Deed::Send(Vec::new()),
            Link::Attached => {}
        }
        let view = self.view;
        match choices.weighted(&[20, 30, 6, 8, 40, 6, 4, 4, 1, 6, 2, 2, 6, 3, 2]) {
            1 => Deed::Send(vec![self.prompt(choices, numbers)]),
            2 => Deed::Send((0..3).map(|_| self.prompt(choices, numbers)).collect()),
            3 => Deed::Send(vec![Input::Cancel { view: Some(view) }]),
            4 if self.is_silent => Deed::Send(Vec::new()),
            4 => Deed::Send(self.answer(choices)),
            5 => Deed::Send(self.withdraw(choices)),
            6 => {
                let gone = Input::Detach { view };
                self.disconnect();
                Deed::Leave(Box::new(gone))
            }
            7 => Deed::Crash,
            8 => Deed::Send(vec![self.close(choices, numbers)]),
            9 => Deed::Send(self.option(choices, numbers)),
            10 => {
                self.has_hung_up = true;
                Deed::Send(vec![Input::HungUp { view }])
            }
            11 if self.waiting.is_empty() => {
                self.forget();
                // What is still on its way belongs to what it saw before.
                self.epoch += 1;
                self.attached_again = true;
                Deed::Send(vec![self.attach(How::Replay, "/work", numbers)])
            }
            12 if self.version == Version::V2 => Deed::Send(vec![self.stop(choices, numbers)]),
            13 => {
                let request = self.request(Wanted::Unseen, numbers);
                let title = format!("named by {}", request.0);
                Deed::Send(vec![Input::SetTitle { request, title }])
            }
            14 => {
                let request = self.request(Wanted::Unseen, numbers);
                Deed::Send(vec![Input::Fork { request }])
            }
            _ => Deed::Send(Vec::new()),
        }
    }

    /// Wants one call or terminal to stop, sometimes one that cannot be stopped.
    fn stop(&mut self, choices: &mut Choices<'_>, numbers: &mut Numbers) -> Input {
        let calls = self.transcript.tool_calls();
        let calls = calls.filter(|call| call.can_be_cancelled());
        let calls = calls.map(|call| Entity::ToolCall(call.id.clone()));
        let terminals = self.transcript.open_terminals().cloned();
        let mut entities: Vec<_> = calls.chain(terminals.map(Entity::Terminal)).collect();
        entities.push(Entity::ToolCall(v2::ToolCallId::new("nobody's")));
        let entity = choices.pick(&entities).cloned();
        Input::CancelEntity {
            request: self.request(Wanted::Stop, numbers),
            view: self.view,
            entity: entity.unwrap_or(Entity::Terminal(v2::TerminalId::new("nobody's"))),
        }
    }

    fn withdraw(&self, choices: &mut Choices<'_>) -> Vec<Input> {
        let requests: Vec<RequestId> = self.waiting.keys().copied().collect();
        let request = choices.pick(&requests).copied();
        let withdraw = |request| Input::Withdraw { request };
        request.map(withdraw).into_iter().collect()
    }

    pub(crate) fn prompt(&mut self, choices: &mut Choices<'_>, numbers: &mut Numbers) -> Input {
        let request = self.request(Wanted::Prompt, numbers);
        let content = match choices.weighted(&[20, 1, 1]) {
            1 => Vec::new(),
            more => {
                let first = format!("{} asks {}", self.name, request.0);
                self.own.insert(first.clone());
                let image = v2::ImageContent::new("aGk=", "image/png");
                match more {
                    2 => vec![first.into(), v2::ContentBlock::Image(image)],
                    _ => vec![first.into(), "Please!".into()],
                }
            }
        };
        // Sometimes the name of an earlier one. Nobody else uses it: whoever does is taken to know what the prompt says.
        let mut operation = choices
            .percent(10)
            .then(|| format!("{} key {}", self.name, choices.below(4)));
        let steers = choices.percent(10);
        if self.away.is_some() {
            let key = format!("{} {}", self.name, request.0);
            self.keep(request, &key, &content);
            operation = Some(key);
        }
        Input::Prompt(Prompt {
            request,
            view: self.view,
            content,
            operation,
            steers,
        })
    }

    fn close(&mut self, choices: &mut Choices<'_>, numbers: &mut Numbers) -> Input {
        let request = self.request(Wanted::Close, numbers);
        let journal = match choices.weighted(&[8, 2, 1, 1]) {
            1 => Keep::IfUsed,
            2 => Keep::Nothing,
            3 => Keep::Archived,
            _ => Keep::All,
        };
        Input::Close(Close {
            request: Some(request),
            // A host deletes and archives whoever sees the session.
            view: matches!(journal, Keep::All | Keep::IfUsed).then_some(self.view),
            journal,
        })
    }

    /// Changes an option, and often says something right behind it.
    fn option(&mut self, choices: &mut Choices<'_>, numbers: &mut Numbers) -> Vec<Input> {
        let request = self.request(Wanted::Option, numbers);
        let value = if choices.percent(50) { "code" } else { "ask" };
        let change = match (self.version, choices.percent(50)) {
            (Version::V2, _) => OptionChange::V2(v2::SetSessionConfigOptionRequest::new(
                "s",
                "mode",
                v2::SessionConfigValueId::new(value),
            )),
            (Version::V1, true) => OptionChange::V1Mode(v1::SetSessionModeRequest::new("s", value)),
            (Version::V1, false) => OptionChange::V1(v1::SetSessionConfigOptionRequest::new(
                "s",
                "level",
                v1::SessionConfigValueId::new(if value == "ask" { "high" } else { "none" }),
            )),
        };
        let mut inputs = vec![Input::SetOption {
            request,
            view: self.view,
            change: Box::new(change),
        }];
        if choices.percent(60) {
            inputs.push(self.prompt(choices, numbers));
        }
        inputs
    }

    /// Answers a question rightly, wrongly, late, or twice.
    fn answer(&mut self, choices: &mut Choices<'_>) -> Vec<Input> {
        let open: Vec<_> = self.asks.keys().copied().collect();
        let late = open.is_empty() || choices.percent(10);
        let (ask, asked) = if late {
            let Some(old) = choices.pick(&self.old_asks) else {
                return Vec::new();
            };
            old.clone()
        } else {
            let Some(ask) = choices.pick(&open).copied() else {
                return Vec::new();
            };
            let Some(asked) = self.asks.remove(&ask) else {
                return Vec::new();
            };
            self.remember(ask, asked.clone());
            (ask, asked)
        };
        let dismissed = match self.version {
            Version::V1 if asked.is_permission => Reply::CancelTurn,
            _ => Reply::Dismissed,
        };
        let reply = match choices.weighted(&[12, 2, 2, 2]) {
            1 => Reply::Selected(v2::PermissionOptionId::new("never offered")),
            2 => dismissed,
            3 => Reply::Failed,
            _ if asked.is_permission => match choices.pick(&asked.options) {
                Some(option) => Reply::Selected(v2::PermissionOptionId::new(option.clone())),
                None => dismissed,
            },
            _ => Reply::Elicited(v2::ElicitationAction::Decline),
        };
        let view = self.view;
        let times = if choices.percent(10) { 2 } else { 1 };
        let answer = |_| Input::Answer {
            ask,
            view,
            reply: reply.clone(),
        };
        (0..times).map(answer).collect()
    }

    /// Makes a client that looks on from the beginning and does nothing.
    pub(crate) fn auditor(version: Version) -> Self {
        let mut client = Self::new(format!("auditor {version:?}"), version);
        client.rights = Rights::default();
        client.is_silent = true;
        client
    }
}
