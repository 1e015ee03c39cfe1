//! Changes of options: one at a time, in order, and before the prompts behind them.

use std::time::Duration;

use ply_wire::{convert, v2};

use super::Core;
use super::effect::Effect;
use super::prompt::no_right;
use super::response::respond;
use super::response::{OptionAnswer, OptionChange};
use super::view::Apart;
use crate::engine;
use crate::{OPTION_TIME_MAX, RequestId, ViewId};

/// The change that the agent was told about.
#[derive(Debug, Default)]
pub(super) struct Options(Option<Change>);

#[derive(Debug)]
struct Change {
    request: RequestId,
    view: ViewId,
    change: v2::SetSessionConfigOptionRequest,
    answer: OptionAnswer,
    until: Duration,
}

impl Options {
    pub(super) fn is_busy(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        self.0.as_ref().map(|change| change.until)
    }
}

impl Core {
    pub(super) fn set_option(
        &mut self,
        request: RequestId,
        view: ViewId,
        change: &OptionChange,
        out: &mut Vec<Effect>,
    ) {
        let options = self.engine.history().transcript().config_options();
        let (wanted, answer) = match change {
            OptionChange::V1(request) => (
                convert::config::set_option_up(request, options),
                OptionAnswer::V1,
            ),
            OptionChange::V1Mode(request) => (
                convert::config::set_mode_up(request, options),
                OptionAnswer::V1Mode,
            ),
            OptionChange::V2(request) => (Some(request.clone()), OptionAnswer::V2),
        };
        let checked = match wanted {
            Some(wanted) => check(options, &wanted).map(|()| wanted),
            None => Err(invalid("there is no such option")),
        };
        if self.view(view).is_none() || self.store.is_gone() {
            let response = Err(self.no_such_session());
            return out.push(Effect::Respond { request, response });
        }
        if !self.may_prompt(view) {
            return respond(self.view(view), request, Err(no_right()), out);
        }
        let change = match checked {
            Ok(change) => change,
            Err(error) => return respond(self.view(view), request, Err(error), out),
        };
        out.push(Effect::SetOption {
            request,
            option: change.config_id.clone(),
            value: change.value.clone(),
        });
        self.options.0 = Some(Change {
            request,
            view,
            change,
            answer,
            until: self.now + OPTION_TIME_MAX,
        });
    }

    /// Changes the option among those there are now, which may have changed meanwhile.
    pub(super) fn option_set(
        &mut self,
        request: RequestId,
        outcome: Result<(), v2::Error>,
        out: &mut Vec<Effect>,
    ) {
        let Some(change) = self.options.0.take_if(|change| change.request == request) else {
            return;
        };
        let options = self.engine.history().transcript().config_options();
        let outcome = outcome.and_then(|()| changed(options, &change.change));
        match outcome {
            Ok(options) => {
                let update = v2::ConfigOptionUpdate::new(options);
                let update = v2::SessionUpdate::ConfigOptionUpdate(update);
                let (turn, edits) = (None, Vec::new());
                let update = engine::Input::Update {
                    turn,
                    update,
                    edits,
                };
                let place = self.window.head();
                self.converse(update, out);
                let head = self.window.head();
                let (window, engine) = (&self.window, &self.engine);
                let mut views = self.views.iter_mut();
                if let Some(view) = views.find(|view| view.id == change.view) {
                    let transcript = engine.history().transcript();
                    let response = change.answer.response(transcript, &view.viewer);
                    if change.answer.has_options() {
                        view.is_answered(place);
                    }
                    view.at(head, window, Apart::Respond(request, Ok(response)));
                } else {
                    let response = Err(self.no_such_session());
                    out.push(Effect::Respond { request, response });
                }
            }
            Err(error) => respond(self.view(change.view), request, Err(error), out),
        }
    }

    pub(super) fn option_overdue(&mut self, out: &mut Vec<Effect>) {
        let now = self.now;
        if let Some(change) = self.options.0.take_if(|change| change.until <= now) {
            let reason = "the agent took too long to change the option";
            let error = v2::Error::new(v2::ErrorCode::InternalError.into(), reason);
            respond(self.view(change.view), change.request, Err(error), out);
        }
    }

    pub(super) fn fail_options(&mut self, error: &v2::Error, out: &mut Vec<Effect>) {
        if let Some(change) = self.options.0.take() {
            let response = Err(error.clone());
            respond(self.view(change.view), change.request, response, out);
        }
    }
}

fn invalid(reason: &str) -> v2::Error {
    v2::Error::new(v2::ErrorCode::InvalidParams.into(), reason)
}

/// Says why an option cannot be changed as wanted, if it cannot (V2-CONF-04).
fn check(
    options: &[v2::SessionConfigOption],
    request: &v2::SetSessionConfigOptionRequest,
) -> Result<(), v2::Error> {
    let mut found = options.iter();
    let Some(option) = found.find(|option| option.config_id == request.config_id) else {
        return Err(invalid("there is no such option"));
    };
    let has_kind = matches!(
        (&option.kind, &request.value),
        (
            v2::SessionConfigKind::Select(_),
            v2::SessionConfigOptionValue::Id { .. }
        ) | (
            v2::SessionConfigKind::Boolean(_),
            v2::SessionConfigOptionValue::Boolean { .. }
        )
    );
    match (has_kind, convert::config::offers(option, &request.value)) {
        (_, true) => Ok(()),
        (true, false) => Err(invalid("the option has no such value")),
        (false, false) => Err(invalid("the option takes no such value")),
    }
}

/// Returns the options with one changed.
fn changed(
    options: &[v2::SessionConfigOption],
    request: &v2::SetSessionConfigOptionRequest,
) -> Result<Vec<v2::SessionConfigOption>, v2::Error> {
    check(options, request)?;
    let mut options = options.to_vec();
    let mut found = options.iter_mut();
    if let Some(option) = found.find(|option| option.config_id == request.config_id) {
        match (&mut option.kind, &request.value) {
            (v2::SessionConfigKind::Select(select), v2::SessionConfigOptionValue::Id { value }) => {
                select.current_value = value.clone();
            }
            (
                v2::SessionConfigKind::Boolean(boolean),
                v2::SessionConfigOptionValue::Boolean { value },
            ) => boolean.current_value = *value,
            _ => {}
        }
    }
    Ok(options)
}
