//! A simulated client: what it has seen, what it waits for, and what it does next.

mod act;
mod away;

use std::collections::{BTreeMap, BTreeSet};

use ply_session::{Answers, AskId, Form, How, Json, Message, RequestId, Response, Rights, ViewId};
use ply_wire::lift::Lifter;
use ply_wire::negotiate::Version;
use ply_wire::transcript::{MessageKind, Transcript};
use ply_wire::{MaybeUndefined, convert, v1, v2};

pub(crate) use self::act::Deed;
use self::away::Away;
use crate::Broken;
use crate::message::Down;

/// Questions a client remembers after they were taken back, to answer them late.
const OLD_ASKS_MAX: usize = 4;

/// A life of the process, and a turn in it.
pub(crate) type Tag = (u64, u64);

#[derive(Debug)]
pub(crate) struct Client {
    name: String,
    pub(crate) version: Version,
    pub(crate) answers: Answers,
    pub(crate) rights: Rights,
    /// Whether it never answers a question.
    is_silent: bool,
    /// How often it takes what waits for it; none if at once.
    pub(crate) reads_every_ms: Option<u64>,
    /// Which connection this is; what belongs to an earlier one never arrives.
    pub(crate) epoch: u64,
    pub(crate) view: ViewId,
    pub(crate) link: Link,
    /// Whether it has said that it will send nothing more.
    has_hung_up: bool,
    /// Whether it was shown everything from the beginning.
    pub(crate) is_whole: bool,
    /// Whether the session was deleted before it had seen everything.
    pub(crate) is_cut: bool,
    pub(crate) transcript: Transcript,
    lifter: Option<Lifter>,
    /// Requests without an answer.
    pub(crate) waiting: BTreeMap<RequestId, Wanted>,
    asks: BTreeMap<AskId, Asked>,
    old_asks: Vec<(AskId, Asked)>,
    ever_asked: BTreeSet<AskId>,
    /// Whether it attached more than once over its link, so that questions may be taken back that it never saw.
    attached_again: bool,
    /// What it wrote, which version 1 is not shown again.
    pub(crate) own: BTreeSet<String>,
    /// The turn that was last heard of, and those of which nothing more may come.
    heard: BTreeSet<Tag>,
    over: BTreeSet<Tag>,
    /// What it needs to come back, if it does.
    away: Option<Away>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Down,
    /// The client has asked to attach.
    Attaching,
    Attached,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Attach(How),
    Prompt,
    Option,
    Stop,
    Close,
    /// A title or a copy of the session, for which nobody has to see it.
    Unseen,
}

/// A question, as far as a user has to know it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    options: Vec<String>,
    is_permission: bool,
}

impl Client {
    pub(crate) fn new(name: String, version: Version) -> Self {
        Self {
            name,
            version,
            answers: Answers::default(),
            rights: Rights::default(),
            is_silent: false,
            reads_every_ms: None,
            epoch: 0,
            view: ViewId(0),
            link: Link::Down,
            has_hung_up: false,
            is_whole: false,
            is_cut: false,
            transcript: Transcript::new(),
            lifter: None,
            waiting: BTreeMap::new(),
            asks: BTreeMap::new(),
            old_asks: Vec::new(),
            ever_asked: BTreeSet::new(),
            attached_again: false,
            own: BTreeSet::new(),
            heard: BTreeSet::new(),
            over: BTreeSet::new(),
            away: None,
        }
    }

    /// Forgets everything, as the link is gone; unless it means to come back.
    pub(crate) fn disconnect(&mut self) {
        let comes_back = self.can_come_back();
        self.epoch += 1;
        self.link = Link::Down;
        self.has_hung_up = false;
        self.attached_again = false;
        self.is_cut = false;
        self.waiting.clear();
        match comes_back {
            true => self.go_away(),
            false => self.forget(),
        }
    }

    /// Forgets what it has seen, to see it again.
    pub(crate) fn forget(&mut self) {
        if let Some(away) = &mut self.away {
            *away = Away::default();
        }
        self.transcript = Transcript::new();
        self.lifter = (self.version == Version::V1).then(|| Lifter::new("lifted-", ""));
        self.asks.clear();
        self.old_asks.clear();
        self.ever_asked.clear();
        self.heard.clear();
        self.over.clear();
        self.own.clear();
    }

    /// Checks that nothing is left to wait for.
    pub(crate) fn at_rest(&self) -> Result<(), Broken> {
        if let Some((request, wanted)) = self.waiting.first_key_value() {
            let name = &self.name;
            return Err(format!("{name} got no answer to {request:?} ({wanted:?})"));
        }
        Ok(())
    }

    /// Returns the questions that it shows.
    pub(crate) fn shown(&self) -> impl Iterator<Item = AskId> {
        self.asks.keys().copied()
    }

    /// Takes a message; `turn` is the one that an answer ends.
    pub(crate) fn receive(&mut self, message: Down, turn: Option<Tag>) -> Result<(), Broken> {
        match message {
            Down::Message(message, cursor) => {
                let tells = match &*message {
                    // What is refused meanwhile has no place.
                    Message::Respond { response, .. } => {
                        response.is_ok() && self.link == Link::Attaching
                    }
                    _ => true,
                };
                if tells {
                    self.got(cursor);
                }
                match *message {
                    Message::Update(json) => self.update(&json),
                    Message::UpdateV1(update) => self.update_v1(*update),
                    Message::Respond { request, response } => {
                        self.answered(request, response, turn)
                    }
                    Message::Ask { ask, form } => self.asked(ask, form),
                    _ => Ok(()),
                }
            }
            Down::Respond { request, response } => {
                // Who leaves is shown nothing more.
                self.is_whole &= self.waiting.get(&request) == Some(&Wanted::Unseen);
                self.answered(request, *response, turn)
            }
            Down::Retract { ask } => {
                let was_asked = self.ever_asked.contains(&ask) || self.attached_again;
                match self.asks.remove(&ask) {
                    Some(asked) => self.remember(ask, asked),
                    // Unless it has answered meanwhile.
                    None if was_asked => {}
                    None => return Err("a question was taken back that was not asked".into()),
                }
                Ok(())
            }
            Down::Over => {
                self.link = Link::Down;
                match self.asks.keys().next() {
                    Some(ask) => Err(format!("{} still shows {ask:?}, which is over", self.name)),
                    None => Ok(()),
                }
            }
        }
    }

    fn update(&mut self, json: &Json) -> Result<(), Broken> {
        let wrong = |error: serde_json::Error| {
            let json: String = json.as_str().chars().take(300).collect();
            format!("an update does not read: {error}: {json}")
        };
        match self.version {
            Version::V2 => self.update_v2(&serde_json::from_str(json.as_str()).map_err(wrong)?),
            Version::V1 => self.update_v1(serde_json::from_str(json.as_str()).map_err(wrong)?),
        }
    }

    fn update_v2(&mut self, update: &v2::SessionUpdate) -> Result<(), Broken> {
        self.check_tags(tags_of(update))?;
        if let v2::SessionUpdate::StateUpdate(v2::StateUpdate::Idle(idle)) = update
            && self.transcript.state().is_active()
        {
            let mut heard = std::mem::take(&mut self.heard);
            // When the journal failed, the rest comes as soon as it works again.
            if !matches!(idle.stop_reason, Some(v2::StopReason::Error(_))) {
                self.over.append(&mut heard);
            }
        }
        self.transcript.apply(update);
        Ok(())
    }

    fn update_v1(&mut self, update: v1::SessionUpdate) -> Result<(), Broken> {
        let mut lifted = Vec::new();
        if let Some(lifter) = &mut self.lifter {
            lifter.update(update, &mut lifted);
        }
        for update in &lifted {
            self.check_tags(tags_of(update))?;
            self.transcript.apply(update);
        }
        Ok(())
    }

    fn asked(&mut self, ask: AskId, form: Form) -> Result<(), Broken> {
        let (options, is_permission) = match form {
            Form::Permission(request) => {
                self.transcript.permission_requested(&request);
                let ids = request
                    .options
                    .iter()
                    .map(|option| option.option_id.to_string());
                (ids.collect(), true)
            }
            Form::PermissionV1(request) => {
                let ids = request
                    .options
                    .iter()
                    .map(|option| option.option_id.to_string());
                (ids.collect(), true)
            }
            _ => (Vec::new(), false),
        };
        let asked = Asked {
            options,
            is_permission,
        };
        self.asks.insert(ask, asked);
        if !self.ever_asked.insert(ask) {
            return Err(format!("{} was asked {ask:?} twice", self.name));
        }
        Ok(())
    }

    fn answered(
        &mut self,
        request: RequestId,
        response: Result<Response, v2::Error>,
        turn: Option<Tag>,
    ) -> Result<(), Broken> {
        let Some(wanted) = self.waiting.remove(&request) else {
            return Err(format!("{request:?} was answered twice"));
        };
        self.settled(request);
        match (wanted, response) {
            (Wanted::Attach(how), Ok(response)) => {
                self.link = Link::Attached;
                self.is_whole = !matches!(how, How::Resume | How::Fork) && !self.is_cut;
                if self.is_back() {
                    self.set_up(response);
                }
            }
            (Wanted::Attach(_), Err(error)) => {
                self.link = Link::Down;
                self.refused(&error)?;
            }
            (Wanted::Prompt, Ok(Response::Prompt(accepted))) => {
                let message = &accepted.message_id;
                let is_shown = self
                    .transcript
                    .message(MessageKind::User, message)
                    .is_some();
                // One that was sent before the client resumed is among what it did not see.
                if !is_shown && self.is_whole {
                    return Err("a prompt was accepted and its message not shown".into());
                }
            }
            // Its own change comes with the answer, and perhaps with nothing else (V1-CONF-09, V2-CONF-03).
            (Wanted::Option, Ok(Response::Options(answer))) => self.take(answer.config_options),
            (Wanted::Option, Ok(Response::OptionsV1(answer))) => {
                self.take(convert::config::options_up(&answer.config_options));
            }
            (Wanted::Close, Ok(_)) => self.link = Link::Down,
            (Wanted::Prompt, Ok(_)) => self.over.extend(turn),
            _ => {}
        }
        Ok(())
    }

    fn take(&mut self, options: Vec<v2::SessionConfigOption>) {
        let update = v2::ConfigOptionUpdate::new(options);
        self.transcript
            .apply(&v2::SessionUpdate::ConfigOptionUpdate(update));
    }

    /// Takes the options and commands that the answer to its attaching names.
    fn set_up(&mut self, response: Response) {
        let lifter = self.lifter.as_mut();
        let lift = |modes: Option<&v1::SessionModeState>,
                    options: Option<&[v1::SessionConfigOption]>| {
            lifter.map(|lifter| lifter.session_started(modes, options))
        };
        let options = match response {
            Response::New(new) => Some(new.config_options),
            Response::Resume(resumed) => Some(resumed.config_options),
            Response::NewV1(new) => lift(new.modes.as_ref(), new.config_options.as_deref()),
            Response::LoadV1(load) => lift(load.modes.as_ref(), load.config_options.as_deref()),
            Response::ResumeV1(old) => lift(old.modes.as_ref(), old.config_options.as_deref()),
            _ => None,
        };
        if let Some(options) = options.filter(|options| !options.is_empty()) {
            self.take(options);
        }
    }

    /// Checks that what the agent said does not belong to a turn that is over.
    fn check_tags(&mut self, tags: Vec<Tag>) -> Result<(), Broken> {
        for tag in tags {
            if self.over.contains(&tag) {
                return Err(format!(
                    "{} saw an update of {tag:?} after its end",
                    self.name
                ));
            }
            if self.transcript.state().is_active() {
                self.heard.insert(tag);
            }
        }
        Ok(())
    }

    fn remember(&mut self, ask: AskId, asked: Asked) {
        self.old_asks.push((ask, asked));
        if self.old_asks.len() > OLD_ASKS_MAX {
            self.old_asks.remove(0);
        }
    }
}

/// Returns the turns that an update names in its texts and ids.
fn tags_of(update: &v2::SessionUpdate) -> Vec<Tag> {
    let text = match update {
        v2::SessionUpdate::AgentMessageChunk(chunk)
        | v2::SessionUpdate::AgentThoughtChunk(chunk) => match &chunk.content {
            v2::ContentBlock::Text(text) => &*text.text,
            _ => "",
        },
        v2::SessionUpdate::ToolCallUpdate(update) => &update.tool_call_id.0,
        v2::SessionUpdate::ToolCallContentChunk(chunk) => &chunk.tool_call_id.0,
        v2::SessionUpdate::TerminalOutputChunk(chunk) => &chunk.terminal_id.0,
        // The end of a command that goes on in the background may come later.
        v2::SessionUpdate::TerminalUpdate(update)
            if matches!(update.exit_status, MaybeUndefined::Undefined) =>
        {
            &update.terminal_id.0
        }
        _ => "",
    };
    tag_of(text).into_iter().collect()
}

/// Returns the turn that a text or an id begins with, after a word.
pub(crate) fn tag_of(text: &str) -> Option<Tag> {
    // What stands in for a terminal in version 1 may outlive its turn.
    let (_, rest) = text
        .split_once('[')
        .filter(|(word, _)| !word.starts_with("ply/"))?;
    let (tag, _) = rest.split_once(']')?;
    let (life, turn) = tag.split_once('.')?;
    Some((life.parse().ok()?, turn.parse().ok()?))
}
