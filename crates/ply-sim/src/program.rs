//! A program that runs the turns of a session and outlives the session's owner: whoever comes next finds what it said meanwhile.
//!
//! It knows nothing of turns, views or journals. What it says are lines with numbers, all of which its holder keeps; what it is told
//! are wishes with numbers, each of which it is told once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ply_session::{Answer, Outcome, Question, Stop};
use ply_wire::v2;

use crate::Broken;
use crate::agent;
use crate::choice::Choices;

/// Lines after which it comes to the end of a prompt by itself.
const LINES_MAX: u64 = 30;

/// What a line says.
#[derive(Debug, Clone)]
pub(crate) enum Says {
    Update(Box<v2::SessionUpdate>),
    Asks(u64, Question),
    TakesBack(u64),
    Ends(Outcome),
}

/// A line.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The message of the prompt it belongs to; none between prompts.
    pub(crate) of: Option<String>,
    pub(crate) says: Says,
}

/// What the program is told.
#[derive(Debug, Clone)]
pub(crate) enum Wish {
    Prompt(String),
    Answer(u64, Answer),
    Cancel,
}

impl Wish {
    /// Returns it as the journal keeps it.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Prompt(message) => format!("prompt {message}"),
            Self::Answer(request, answer) => {
                let answer = serde_json::to_string(answer).unwrap_or_default();
                format!("answer {request} {answer}")
            }
            Self::Cancel => "cancel".to_owned(),
        }
    }

    pub(crate) fn read(text: &str) -> Result<Self, Broken> {
        let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
        let unread = || format!("a wish does not read: {text}");
        match kind {
            "prompt" => Ok(Self::Prompt(rest.to_owned())),
            "answer" => {
                let (request, answer) = rest.split_once(' ').ok_or_else(unread)?;
                let answer = serde_json::from_str(answer).map_err(|_| unread())?;
                Ok(Self::Answer(request.parse().map_err(|_| unread())?, answer))
            }
            _ => Ok(Self::Cancel),
        }
    }
}

/// The program, and what its holder keeps of it.
#[derive(Debug)]
pub(crate) struct Program {
    /// The name of its holder.
    pub(crate) name: String,
    number: u64,
    pub(crate) lines: Vec<Line>,
    /// Lines that came too late for their turn, so that nobody need see them.
    pub(crate) late: BTreeSet<u64>,
    /// The number of the last wish it was told.
    pub(crate) heard: u64,
    /// The prompt it works on, and how many lines that took.
    working: Option<(String, u64)>,
    is_cancelled: bool,
    /// Prompts that it was told while it worked.
    waiting: VecDeque<String>,
    /// Every prompt that it was told.
    pub(crate) prompts: BTreeSet<String>,
    /// Requests that wait for an answer, and whether they belong to the prompt.
    open: BTreeMap<u64, bool>,
    pub(crate) answers: BTreeMap<u64, Answer>,
    requests: u64,
    names: u64,
    calls: Vec<v2::ToolCallId>,
    /// Whether it says nothing until its questions are answered.
    is_patient: bool,
    /// Whether it takes no notice of a cancel.
    is_stubborn: bool,
}

impl Program {
    pub(crate) fn new(number: u64, choices: &mut Choices<'_>) -> Self {
        Self {
            name: format!("holder-{number}"),
            number,
            lines: Vec::new(),
            late: BTreeSet::new(),
            heard: 0,
            working: None,
            is_cancelled: false,
            waiting: VecDeque::new(),
            prompts: BTreeSet::new(),
            open: BTreeMap::new(),
            answers: BTreeMap::new(),
            requests: 0,
            names: 0,
            calls: Vec::new(),
            is_patient: choices.percent(60),
            is_stubborn: choices.percent(20),
        }
    }

    /// Takes a wish; one that it was told before is dropped by its holder.
    pub(crate) fn hear(&mut self, number: u64, wish: Wish) -> Result<(), Broken> {
        if number <= self.heard {
            return Ok(());
        }
        if number > self.heard + 1 {
            return Err(format!("wish {number} comes after {}", self.heard));
        }
        self.heard = number;
        match wish {
            Wish::Prompt(message) => {
                if !self.prompts.insert(message.clone()) {
                    return Err(format!("{message} is prompted twice"));
                }
                self.waiting.push_back(message);
            }
            Wish::Answer(request, answer) => {
                // It may have taken the question back meanwhile.
                let was_open = self.open.remove(&request).is_some();
                if self.answers.contains_key(&request) {
                    return Err(format!("request {request} is answered twice"));
                }
                if was_open {
                    self.answers.insert(request, answer);
                }
            }
            Wish::Cancel => {
                self.is_cancelled = self.working.is_some() || !self.waiting.is_empty();
                self.open.retain(|_, of_prompt| !*of_prompt);
            }
        }
        Ok(())
    }

    pub(crate) fn is_open(&self, request: u64) -> bool {
        self.open.contains_key(&request)
    }

    /// Returns whether it asked something about a prompt.
    pub(crate) fn asks_in_prompt(&self, request: u64) -> bool {
        let is_it = |line: &&Line| matches!(line.says, Says::Asks(of, _) if of == request);
        let line = self.lines.iter().find(is_it);
        line.is_some_and(|line| line.of.is_some())
    }

    /// Returns the prompt that it works on or is going to.
    pub(crate) fn prompt(&self) -> Option<&str> {
        let working = self.working.as_ref().map(|(message, _)| message);
        working.or(self.waiting.front()).map(String::as_str)
    }

    /// Says something, or nothing.
    pub(crate) fn act(&mut self, choices: &mut Choices<'_>) {
        if self.working.is_none()
            && let Some(message) = self.waiting.pop_front()
        {
            self.working = Some((message, 0));
        }
        let Some((message, lines)) = &mut self.working else {
            if choices.percent(5) {
                self.between_prompts(choices);
            }
            return;
        };
        *lines += 1;
        let (of, is_long) = (Some(message.clone()), *lines > LINES_MAX);
        let waits = self.open.values().any(|of_prompt| *of_prompt);
        if waits && !self.is_cancelled && (self.is_patient || is_long) {
            if choices.percent(2) {
                self.take_back(of);
            }
            return;
        }
        if is_long || (self.is_cancelled && !self.is_stubborn && choices.percent(50)) {
            return self.end(of, choices);
        }
        match choices.weighted(&[12, 4, 5, 2, 2, 4]) {
            1 => self.call(of),
            2 => self.ask(of, choices),
            3 => self.take_back(of),
            4 if !waits => self.end(of, choices),
            5 => {}
            _ => self.talk(of, choices),
        }
    }

    fn between_prompts(&mut self, choices: &mut Choices<'_>) {
        match choices.weighted(&[4, 1, 1]) {
            1 => self.ask(None, choices),
            2 => self.take_back(None),
            _ => self.talk(None, choices),
        }
    }

    /// Returns words that are said once, and that tell where they come from.
    fn mark(&self) -> String {
        format!("<{}.{}>", self.number, self.lines.len() + 1)
    }

    fn talk(&mut self, of: Option<String>, choices: &mut Choices<'_>) {
        let more = match choices.weighted(&[10, 1]) {
            1 => "x".repeat(usize::try_from(choices.below(3000)).unwrap_or(0)),
            _ => String::new(),
        };
        let text = format!("{}{more}", self.mark());
        let message = format!("said-{}-{}", self.number, choices.below(3));
        let chunk = v2::ContentChunk::new(text.into(), message);
        let says = Says::Update(Box::new(v2::SessionUpdate::AgentMessageChunk(chunk)));
        self.lines.push(Line { of, says });
    }

    fn call(&mut self, of: Option<String>) {
        self.names += 1;
        let id = v2::ToolCallId::new(format!("held-{}-{}", self.number, self.names));
        let status = v2::ToolCallStatus::InProgress;
        let update = v2::ToolCallUpdate::new(id.clone())
            .title(self.mark())
            .status(status);
        self.calls.push(id);
        let says = Says::Update(Box::new(v2::SessionUpdate::ToolCallUpdate(update)));
        self.lines.push(Line { of, says });
    }

    fn ask(&mut self, of: Option<String>, choices: &mut Choices<'_>) {
        self.requests += 1;
        self.open.insert(self.requests, of.is_some());
        let subject = match choices.percent(50) && of.is_some() {
            true => choices.pick(&self.calls).cloned(),
            false => None,
        };
        let subject = subject.map(v2::ToolCallUpdate::new);
        let question = agent::permission(subject, choices);
        let says = Says::Asks(self.requests, question);
        self.lines.push(Line { of, says });
    }

    fn take_back(&mut self, of: Option<String>) {
        let mut open = self.open.iter();
        let own = open.find(|(_, of_prompt)| **of_prompt == of.is_some());
        if let Some(request) = own.map(|(request, _)| *request) {
            self.open.remove(&request);
            let says = Says::TakesBack(request);
            self.lines.push(Line { of, says });
        }
    }

    fn end(&mut self, of: Option<String>, choices: &mut Choices<'_>) {
        self.working = None;
        self.calls.clear();
        self.open.retain(|_, of_prompt| !*of_prompt);
        let stop = match std::mem::take(&mut self.is_cancelled) {
            true => Stop::Cancelled,
            false if choices.percent(10) => Stop::Refusal,
            false => Stop::EndTurn,
        };
        let says = Says::Ends(Outcome::Stopped(stop));
        self.lines.push(Line { of, says });
    }
}
