//! A simulated client: what it has seen, what it waits for, and what it does next.

use std::collections::{BTreeMap, BTreeSet};

use ply_session::{Answers, AskId, Question, Reply, TurnId};
use ply_wire::lift::Lifter;
use ply_wire::transcript::Transcript;
use ply_wire::{v1, v2};

use crate::choice::Choices;
use crate::ledger::Broken;
use crate::message::{Down, PromptOutcome, Up};

/// Questions a client remembers after they were taken back, to answer them late.
const OLD_ASKS_MAX: usize = 4;

/// Which protocol a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    V2,
}

#[derive(Debug)]
pub(crate) struct Client {
    name: String,
    pub(crate) version: Version,
    pub(crate) answers: Answers,
    /// Which connection this is; what belongs to an earlier one never arrives.
    pub(crate) epoch: u64,
    pub(crate) link: Link,
    pub(crate) transcript: Transcript,
    lifter: Option<Lifter>,
    /// Prompts without an answer.
    waiting: BTreeSet<u64>,
    requests: u64,
    asks: BTreeMap<AskId, Question>,
    old_asks: Vec<(AskId, Question)>,
    /// Turns of which nothing more may come.
    over: BTreeSet<(u64, TurnId)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Down,
    /// The client has asked to attach.
    Attaching,
    Attached,
}

/// What a client wants done.
#[derive(Debug)]
pub(crate) enum Deed {
    Send(Vec<Up>),
    /// It dies, and its link with it.
    Crash,
    Nothing,
}

impl Client {
    pub(crate) fn new(name: String, version: Version, answers: Answers) -> Self {
        Self {
            name,
            version,
            answers,
            epoch: 0,
            link: Link::Down,
            transcript: Transcript::new(),
            lifter: None,
            waiting: BTreeSet::new(),
            requests: 0,
            asks: BTreeMap::new(),
            old_asks: Vec::new(),
            over: BTreeSet::new(),
        }
    }

    /// Forgets everything, as the link is gone.
    pub(crate) fn disconnect(&mut self) {
        self.epoch += 1;
        self.link = Link::Down;
        self.transcript = Transcript::new();
        self.lifter = None;
        self.waiting.clear();
        self.asks.clear();
        self.old_asks.clear();
        self.over.clear();
    }

    pub(crate) fn connect(&mut self) {
        self.disconnect();
        self.link = Link::Attaching;
        self.lifter = (self.version == Version::V1).then(|| Lifter::new("lifted-", ""));
    }

    /// Checks that every prompt was answered.
    pub(crate) fn waits_for_prompts(&self) -> Result<(), Broken> {
        match self.waiting.first() {
            Some(request) => Err(format!("prompt {request} of a client got no answer")),
            None => Ok(()),
        }
    }

    /// Checks that nothing is left to wait for.
    pub(crate) fn at_rest(&self) -> Result<(), Broken> {
        match self.asks.is_empty() {
            true => self.waits_for_prompts(),
            false => Err("a client was not told that its question is over".into()),
        }
    }

    /// Takes a message.
    pub(crate) fn receive(&mut self, message: Down) -> Result<(), Broken> {
        match message {
            Down::Attached => self.link = Link::Attached,
            Down::V2(update) => {
                self.check_turn(text_of(&update))?;
                self.transcript.apply(&update);
            }
            Down::V1(update) => {
                self.check_turn(text_of_v1(&update))?;
                let mut lifted = Vec::new();
                if let Some(lifter) = &mut self.lifter {
                    lifter.update(update, &mut lifted);
                }
                for update in &lifted {
                    self.transcript.apply(update);
                }
            }
            Down::Answer { request, outcome } => self.answered(request, &outcome)?,
            Down::Ask { ask, question } => {
                if let (Version::V2, Question::Permission(request)) = (self.version, &question) {
                    self.transcript.permission_requested(request);
                }
                if self.asks.insert(ask, question).is_some() {
                    return Err("a client was asked the same twice".into());
                }
            }
            Down::Unask { ask } => {
                // Unless it has answered meanwhile.
                if let Some(question) = self.asks.remove(&ask) {
                    self.remember(ask, question);
                }
            }
            Down::TurnIsOver { life, turn } => {
                self.over.insert((life, turn));
            }
            Down::Closed => self.link = Link::Down,
        }
        Ok(())
    }

    fn answered(&mut self, request: u64, outcome: &PromptOutcome) -> Result<(), Broken> {
        if !self.waiting.remove(&request) {
            return Err(format!("prompt {request} was answered twice"));
        }
        if let PromptOutcome::Inserted(message) = outcome {
            let kind = ply_wire::transcript::MessageKind::User;
            if self.transcript.message(kind, message).is_none() {
                return Err("a prompt was accepted and its message not shown".into());
            }
        }
        Ok(())
    }

    /// Checks that what the agent said does not belong to a turn that is over.
    fn check_turn(&self, text: Option<&str>) -> Result<(), Broken> {
        let tag = text.and_then(|text| text.strip_prefix('[')?.split_once(']'));
        let Some((life, turn)) = tag.and_then(|(tag, _)| tag.split_once('.')) else {
            return Ok(());
        };
        let (Ok(life), Ok(turn)) = (life.parse(), turn.parse()) else {
            return Ok(());
        };
        match self.over.contains(&(life, TurnId(turn))) {
            true => Err(format!("an update of turn {turn} came after its end")),
            false => Ok(()),
        }
    }

    fn remember(&mut self, ask: AskId, question: Question) {
        self.old_asks.push((ask, question));
        if self.old_asks.len() > OLD_ASKS_MAX {
            self.old_asks.remove(0);
        }
    }

    /// Chooses what to do next.
    pub(crate) fn act(&mut self, choices: &mut Choices<'_>) -> Deed {
        match self.link {
            Link::Down => {
                self.connect();
                // A client that resumes has kept what it saw; this one has nothing.
                let resumes = choices.percent(10);
                return Deed::Send(vec![Up::Attach { resumes }]);
            }
            Link::Attaching => return Deed::Nothing,
            Link::Attached => {}
        }
        match choices.weighted(&[20, 30, 8, 8, 40, 6, 4, 4, 1, 2]) {
            1 => Deed::Send(vec![self.prompt(choices)]),
            2 => Deed::Send((0..3).map(|_| self.prompt(choices)).collect()),
            3 => Deed::Send(vec![Up::Cancel]),
            4 => Deed::Send(self.answer(choices)),
            5 => {
                let requests: Vec<u64> = self.waiting.iter().copied().collect();
                let request = choices.pick(&requests).copied();
                Deed::Send(
                    request
                        .map(|request| Up::Withdraw { request })
                        .into_iter()
                        .collect(),
                )
            }
            6 => {
                self.disconnect();
                Deed::Send(vec![Up::Detach])
            }
            7 => Deed::Crash,
            8 => Deed::Send(vec![Up::Close]),
            9 => Deed::Send(vec![Up::CancelTurn]),
            _ => Deed::Nothing,
        }
    }

    fn prompt(&mut self, choices: &mut Choices<'_>) -> Up {
        self.requests += 1;
        self.waiting.insert(self.requests);
        let content = match choices.weighted(&[16, 4, 1, 1]) {
            // The same words from several clients are not the same prompt.
            1 => vec!["go on".into()],
            2 => Vec::new(),
            3 => vec![v2::ContentBlock::Image(v2::ImageContent::new(
                "aGk=",
                "image/png",
            ))],
            _ => vec![
                format!("{}, part {}", self.name, self.epoch).into(),
                format!(" of {}!", self.requests).into(),
            ],
        };
        Up::Prompt {
            request: self.requests,
            content,
        }
    }

    /// Answers a question rightly, wrongly, late, or twice.
    fn answer(&mut self, choices: &mut Choices<'_>) -> Vec<Up> {
        let open: Vec<AskId> = self.asks.keys().copied().collect();
        let late = open.is_empty() || choices.percent(10);
        let (ask, question) = if late {
            let Some(old) = choices.pick(&self.old_asks) else {
                return Vec::new();
            };
            old.clone()
        } else {
            let Some(ask) = choices.pick(&open).copied() else {
                return Vec::new();
            };
            let Some(question) = self.asks.remove(&ask) else {
                return Vec::new();
            };
            self.remember(ask, question.clone());
            (ask, question)
        };
        let reply = match choices.weighted(&[10, 2, 2, 2, 2]) {
            1 => Reply::Selected(v2::PermissionOptionId::new("never offered")),
            2 => Reply::Dismissed,
            3 => Reply::CancelTurn,
            4 => Reply::Failed,
            _ => match &question {
                Question::Permission(request) => match choices.pick(&request.options) {
                    Some(option) => Reply::Selected(option.option_id.clone()),
                    None => Reply::Dismissed,
                },
                _ => Reply::Elicited(v2::ElicitationAction::Decline),
            },
        };
        let answer = Up::Answer { ask, reply };
        match choices.percent(10) {
            true => vec![answer.clone(), answer],
            false => vec![answer],
        }
    }
}

fn text_of(update: &v2::SessionUpdate) -> Option<&str> {
    match update {
        v2::SessionUpdate::AgentMessageChunk(chunk)
        | v2::SessionUpdate::AgentThoughtChunk(chunk) => match &chunk.content {
            v2::ContentBlock::Text(text) => Some(&text.text),
            _ => None,
        },
        v2::SessionUpdate::ToolCallUpdate(update) => match &update.title {
            ply_wire::MaybeUndefined::Value(title) => Some(title),
            _ => None,
        },
        _ => None,
    }
}

fn text_of_v1(update: &v1::SessionUpdate) -> Option<&str> {
    match update {
        v1::SessionUpdate::AgentMessageChunk(chunk)
        | v1::SessionUpdate::AgentThoughtChunk(chunk) => match &chunk.content {
            v1::ContentBlock::Text(text) => Some(&text.text),
            _ => None,
        },
        v1::SessionUpdate::ToolCall(call) => Some(&call.title),
        _ => None,
    }
}
