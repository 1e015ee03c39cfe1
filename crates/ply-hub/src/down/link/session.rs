//! The session of a connection: how it is opened, its options, and what the agent tells of it.

use std::path::{Path, PathBuf};

use ply_rpc::RpcError;
use ply_session::Edit;
use ply_wire::lift::Lifter;
use ply_wire::method::decode_result;
use ply_wire::negotiate::Version;
use ply_wire::{convert, v1, v2};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::turn::Turn;
use super::{Call, Done, Failure, How, Link, Opening, Output, Told};

/// The id of the option that stands for the modes of version 1.
const MODE_OPTION: &str = "mode";

/// The session as the agent has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Session {
    /// None until the agent has made it.
    pub(super) id: Option<v2::SessionId>,
    cwd: PathBuf,
    /// For version 1.
    pub(super) lifter: Option<Lifter>,
    /// Whether the modes of version 1 stand for its options.
    has_modes: bool,
    /// Whether the agent ever told of options.
    has_options: bool,
    /// Whether the agent tells the past again.
    is_replaying: bool,
    /// Updates that came before the agent said which id the session has.
    pub(super) early: Vec<Early>,
    pub(super) turn: Option<Turn>,
    /// Whether the agent works by itself.
    pub(super) is_own: bool,
}

/// An update that waits for the id of its session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Early {
    pub(super) session: v2::SessionId,
    pub(super) update: Raw,
}

/// An update in the words of its version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Raw {
    V1(v1::SessionUpdate),
    UnknownV1(v2::OtherSessionUpdate),
    V2(v2::SessionUpdate),
}

impl Link {
    pub(super) fn open(&mut self, opening: Opening, out: &mut Vec<Output>) -> Option<i64> {
        let version = self.version()?;
        let Opening {
            how,
            session,
            cwd,
            additional_directories,
            prefix,
            mcp_servers,
        } = opening;
        let lifter = (version == Version::V1).then(|| Lifter::new(prefix, cwd.clone()));
        self.session = Some(Session {
            id: session.clone(),
            cwd: cwd.clone(),
            lifter,
            has_modes: false,
            has_options: false,
            is_replaying: how == How::Load,
            early: Vec::new(),
            turn: None,
            is_own: false,
        });
        let directories = additional_directories.into_iter();
        let directories: Vec<_> = directories.map(v2::AbsolutePath::new).collect();
        let call = Call::Open { how };
        let Some(session) = session else {
            let request = v2::NewSessionRequest::new(cwd)
                .additional_directories(directories)
                .mcp_servers(mcp_servers);
            return match version {
                Version::V1 => match convert::session::new_down(&request) {
                    Ok(request) => self.ask(call, &request, out),
                    Err(_) => self.cannot_open(call, out),
                },
                Version::V2 => self.ask(call, &request, out),
            };
        };
        let replay = (how == How::Load).then(|| v2::ReplayFrom::Start(v2::ReplayFromStart::new()));
        let request = v2::ResumeSessionRequest::new(session, cwd)
            .additional_directories(directories)
            .mcp_servers(mcp_servers)
            .replay_from(replay);
        match (version, how) {
            (Version::V2, _) => self.ask(call, &request, out),
            (Version::V1, How::Load) => match convert::session::load_down(&request) {
                Ok(request) => self.ask(call, &request, out),
                Err(_) => self.cannot_open(call, out),
            },
            (Version::V1, _) => match convert::session::resume_down(&request) {
                Ok(request) => self.ask(call, &request, out),
                Err(_) => self.cannot_open(call, out),
            },
        }
    }

    /// Fails an attempt that cannot be sent. It has a number all the same, so that whoever waits is told.
    fn cannot_open(&mut self, call: Call, out: &mut Vec<Output>) -> Option<i64> {
        self.last_call += 1;
        let words = "an MCP server has a transport that this agent does not know; open the session without it";
        let outcome = Err(Failure::Refused {
            method: call.method(self.version()),
            error: RpcError::invalid_params(words),
        });
        let call = self.last_call;
        out.push(Output::Answered { call, outcome });
        Some(call)
    }

    pub(super) fn opened(
        &mut self,
        how: How,
        result: Result<&RawValue, Failure>,
        out: &mut Vec<Output>,
    ) -> Result<Done, Failure> {
        let version = self.version();
        let Some(session) = &mut self.session else {
            return Ok(Done::Other);
        };
        session.is_replaying = false;
        let early = std::mem::take(&mut session.early);
        let result = result?;
        match (version, how) {
            (Some(Version::V2), How::New) => {
                let answer: v2::NewSessionResponse = read("session/new", result)?;
                session.id = Some(answer.session_id);
                session.begins_v2(answer.config_options, answer.available_commands, out);
            }
            (Some(Version::V2), _) => {
                let answer: v2::ResumeSessionResponse = read("session/resume", result)?;
                session.begins_v2(answer.config_options, answer.available_commands, out);
            }
            (_, How::New) => {
                let answer: v1::NewSessionResponse = read("session/new", result)?;
                session.id = Some(v2::SessionId::new(answer.session_id.0));
                session.begins_v1(answer.modes.as_ref(), answer.config_options.as_deref(), out);
            }
            (_, How::Resume) => {
                let answer: v1::ResumeSessionResponse = read("session/resume", result)?;
                session.begins_v1(answer.modes.as_ref(), answer.config_options.as_deref(), out);
            }
            (_, How::Load) => {
                let answer: v1::LoadSessionResponse = read("session/load", result)?;
                session.begins_v1(answer.modes.as_ref(), answer.config_options.as_deref(), out);
            }
        }
        let id = session.id.clone();
        for Early { session, update } in early {
            if Some(&session) == id.as_ref() {
                self.update(update, out);
            } else {
                out.push(Output::Odd("an update names another session".to_owned()));
            }
        }
        id.map(Done::Opened).ok_or(Failure::Unreadable {
            method: "session/new",
            reason: "the session has no id".to_owned(),
        })
    }

    pub(super) fn set_option(
        &mut self,
        option: v2::SessionConfigId,
        value: v2::SessionConfigOptionValue,
        out: &mut Vec<Output>,
    ) -> Option<i64> {
        let (version, session) = (self.version()?, self.session.as_ref()?);
        let by_mode = session.has_modes || (!session.has_options && &*option.0 == MODE_OPTION);
        let id = session.id.clone()?;
        let request = v2::SetSessionConfigOptionRequest::new(id, option, value);
        match version {
            Version::V2 => self.ask(Call::SetOption, &request, out),
            Version::V1 if by_mode => {
                let request = convert::config::set_mode_down(&request)?;
                let mode = request.mode_id.clone();
                self.ask(Call::SetMode { mode }, &request, out)
            }
            Version::V1 => {
                let request = convert::config::set_option_down(&request)?;
                self.ask(Call::SetOption, &request, out)
            }
        }
    }

    pub(super) fn option_set(
        &mut self,
        result: &RawValue,
        out: &mut Vec<Output>,
    ) -> Result<Done, Failure> {
        const METHOD: &str = "session/set_config_option";
        let options = match self.version() {
            Some(Version::V1) => {
                let answer: v1::SetSessionConfigOptionResponse = read(METHOD, result)?;
                convert::config::options_up(&answer.config_options)
            }
            _ => {
                let answer: v2::SetSessionConfigOptionResponse = read(METHOD, result)?;
                answer.config_options
            }
        };
        if let Some(session) = &mut self.session {
            session.options(options, out);
        }
        Ok(Done::Other)
    }

    pub(super) fn mode_set(&mut self, mode: &v1::SessionModeId, out: &mut Vec<Output>) {
        let Some(session) = &mut self.session else {
            return;
        };
        let lifter = session.lifter.as_mut();
        if let Some(options) = lifter.and_then(|lifter| lifter.mode_set(mode)) {
            session.options(options, out);
        }
    }

    /// Takes an update of the session.
    pub(super) fn update(&mut self, update: Raw, out: &mut Vec<Output>) {
        let Some(session) = &mut self.session else {
            return out.push(Output::Odd("an update came before the session".to_owned()));
        };
        match update {
            Raw::V1(update) => {
                let edits = session.edits_of(&update);
                if let v1::SessionUpdate::ConfigOptionUpdate(_) = &update {
                    (session.has_modes, session.has_options) = (false, true);
                }
                session.lift(edits, out, |lifter, lifted| lifter.update(update, lifted));
            }
            Raw::UnknownV1(other) => {
                session.lift(Vec::new(), out, |lifter, lifted| {
                    lifter.unknown_update(&other, lifted);
                });
            }
            Raw::V2(update) => {
                if let v2::SessionUpdate::StateUpdate(state) = &update
                    && let Some(work) = state.background()
                    && !work.is_empty()
                {
                    out.push(Output::Background(work.to_vec()));
                }
                self.work_of(&update, out);
                if let Some(session) = &mut self.session {
                    session.show(update, Vec::new(), out);
                }
            }
        }
    }
}

impl Session {
    /// Runs the lifter, and shows what it makes of it.
    pub(super) fn lift(
        &mut self,
        edits: Vec<Edit>,
        out: &mut Vec<Output>,
        lift: impl FnOnce(&mut Lifter, &mut Vec<v2::SessionUpdate>),
    ) {
        let Some(lifter) = &mut self.lifter else {
            return;
        };
        let mut lifted = Vec::new();
        lift(lifter, &mut lifted);
        let mut edits = Some(edits);
        for update in lifted {
            let edits = match &update {
                v2::SessionUpdate::ToolCallUpdate(_) => edits.take().unwrap_or_default(),
                _ => Vec::new(),
            };
            self.show(update, edits, out);
        }
    }

    /// Passes an update on. What the user said and what the session does is known better on this side, but for the past.
    pub(super) fn show(
        &mut self,
        update: v2::SessionUpdate,
        edits: Vec<Edit>,
        out: &mut Vec<Output>,
    ) {
        use v2::SessionUpdate as Update;
        self.has_options |= matches!(update, Update::ConfigOptionUpdate(_));
        if self.is_replaying && is_past(&update) {
            return out.push(Output::Replayed(Box::new(update)));
        }
        let is_ours = matches!(
            update,
            Update::UserMessage(_) | Update::UserMessageChunk(_) | Update::StateUpdate(_)
        );
        if !is_ours {
            out.push(Output::Update(Box::new(Told { update, edits })));
        }
    }

    fn begins_v1(
        &mut self,
        modes: Option<&v1::SessionModeState>,
        options: Option<&[v1::SessionConfigOption]>,
        out: &mut Vec<Output>,
    ) {
        let has_options = options.is_some_and(|options| !options.is_empty());
        self.has_modes = modes.is_some() && !has_options;
        let lifter = self.lifter.as_mut();
        let options = lifter.map(|lifter| lifter.session_started(modes, options));
        self.options(options.unwrap_or_default(), out);
    }

    fn begins_v2(
        &mut self,
        options: Vec<v2::SessionConfigOption>,
        commands: Vec<v2::AvailableCommand>,
        out: &mut Vec<Output>,
    ) {
        self.options(options, out);
        if !commands.is_empty() {
            let update = v2::AvailableCommandsUpdate::new(commands);
            let update = v2::SessionUpdate::AvailableCommandsUpdate(update);
            self.show(update, Vec::new(), out);
        }
    }

    fn options(&mut self, options: Vec<v2::SessionConfigOption>, out: &mut Vec<Output>) {
        if !options.is_empty() {
            let update = v2::ConfigOptionUpdate::new(options);
            let update = v2::SessionUpdate::ConfigOptionUpdate(update);
            self.show(update, Vec::new(), out);
        }
    }

    /// Returns the texts of the files that an update of version 1 shows as edited.
    fn edits_of(&self, update: &v1::SessionUpdate) -> Vec<Edit> {
        match update {
            v1::SessionUpdate::ToolCall(call) => edits(&self.cwd, &call.content),
            v1::SessionUpdate::ToolCallUpdate(call) => self.edits_of_call(call),
            _ => Vec::new(),
        }
    }

    pub(super) fn edits_of_call(&self, call: &v1::ToolCallUpdate) -> Vec<Edit> {
        let content = call.fields.content.as_deref();
        edits(&self.cwd, content.unwrap_or_default())
    }
}

fn edits(cwd: &Path, content: &[v1::ToolCallContent]) -> Vec<Edit> {
    let diffs = content.iter().filter_map(|item| match item {
        v1::ToolCallContent::Diff(diff) => Some(diff),
        _ => None,
    });
    let edits = diffs.map(|diff| Edit {
        path: cwd.join(&diff.path),
        old: diff.old_text.clone(),
        new: Some(diff.new_text.clone()),
    });
    edits.collect()
}

/// Returns whether an update tells what was said and done, rather than how things are now.
fn is_past(update: &v2::SessionUpdate) -> bool {
    use v2::SessionUpdate as Update;
    !matches!(
        update,
        Update::ConfigOptionUpdate(_)
            | Update::AvailableCommandsUpdate(_)
            | Update::SessionInfoUpdate(_)
            | Update::UsageUpdate(_)
            | Update::Notice(_)
            | Update::StateUpdate(_)
    )
}

pub(super) fn read<T: DeserializeOwned>(
    method: &'static str,
    result: &RawValue,
) -> Result<T, Failure> {
    decode_result(result).map_err(|error| Failure::Unreadable {
        method,
        reason: error.to_string(),
    })
}
