//! What clients want.

use ply_rpc::{Peer, Responder, RpcError};
use ply_session::{Input, Prompt, PromptId, ViewId};
use ply_wire::negotiate::Version;
use ply_wire::{convert, v2};

use super::{Broken, Task};
use crate::Error;
use crate::error::no_such_session;
use crate::session::Session;
use crate::session::answer::Answer;
use crate::session::control::{Attach, Control, Done, How, OptionAnswer, OptionChange};
use crate::session::view::View;

impl Task {
    pub(super) async fn control(&mut self, control: Control) -> Result<(), Broken> {
        match control {
            Control::Attach(attach) => self.attach(*attach).await,
            Control::Detach(view) => {
                self.detach(view).await?;
                // Also if it never attached: whoever made the session is gone.
                self.was_seen = true;
                self.leave_if_abandoned().await
            }
            Control::HungUp(view) => {
                if let Some(view) = self.view(view) {
                    view.hung_up = true;
                }
                match self.views.iter().all(|view| view.hung_up) {
                    true => self.step(Input::Cancel).await,
                    false => Ok(()),
                }
            }
            Control::Prompt {
                view,
                content,
                responder,
            } => self.prompt(view, content, responder).await,
            Control::Withdraw { view, prompt } => self.withdraw(view, prompt).await,
            Control::Cancel => self.step(Input::Cancel).await,
            Control::Close { view, done } => {
                // What a client closes it may open again; what nobody spoke in goes with the server.
                if view.is_some()
                    && let Err(error) = self.host.keep(self.session.id()).await
                {
                    tracing::warn!(%error, "a session in which nothing was said is not kept");
                }
                self.closing.push((view, done));
                self.step(Input::Close).await
            }
            Control::SetOption {
                view,
                change,
                responder,
            } => {
                self.options.push_back((view, change, responder));
                self.set_next_option();
                Ok(())
            }
            Control::OptionSet {
                view,
                request,
                answer,
                outcome,
                responder,
            } => {
                let outcome = match outcome {
                    Ok(()) => self.option_set(*request).await?,
                    Err(error) => Err(error),
                };
                self.answer_option(view, answer, outcome, responder);
                self.option_is_set = false;
                self.set_next_option();
                Ok(())
            }
            Control::Answered { ask, view, reply } => {
                let answer = Input::Answer {
                    ask,
                    view,
                    reply: reply.clone(),
                };
                self.step(answer).await?;
                // Not before the answer is safe: this may tell the client what became of the call.
                if let Some(view) = self.view(view) {
                    view.answered(ask, &reply);
                }
                Ok(())
            }
        }
    }

    async fn detach(&mut self, view: ViewId) -> Result<(), Broken> {
        // While the view is there, since its held prompts are answered now.
        self.step(Input::Detach { view }).await?;
        self.views.retain_mut(|open| {
            let stays = open.id != view;
            if !stays {
                open.close();
                open.write_all();
            }
            stays
        });
        Ok(())
    }

    /// Cuts off a client that does not read; it can resume. It leaves at once, since a link that
    /// closes still takes what it is given.
    pub(super) async fn cut_off(&mut self, view: ViewId) -> Result<(), Broken> {
        tracing::warn!(view = view.0, "a client that does not read is cut off");
        let peer = self.view(view).map(|view| view.client.peer.clone());
        self.detach(view).await?;
        peer.inspect(Peer::close);
        Ok(())
    }

    async fn attach(&mut self, attach: Attach) -> Result<(), Broken> {
        if !self.engine.is_open() {
            self.late.push(attach);
            return Ok(());
        }
        let Attach {
            view: id,
            client,
            how,
            responder,
            ..
        } = attach;
        // A client that sees the session already starts anew.
        match self.view(id).map(|view| view.has_prompts()) {
            Some(true) => {
                let reason = "a prompt of this client is not answered yet; wait or cancel";
                if let Some(responder) = responder {
                    responder.respond::<()>(Err(RpcError::invalid_request(reason)));
                }
                return Ok(());
            }
            Some(false) => self.detach(id).await?,
            None => {}
        }
        self.was_seen = true;
        let answers = client.answers();
        let (session, history) = (self.session.id().clone(), self.engine.history());
        let mut view = View::attach(id, client, session, how, history, responder);
        if self.damaged > 0 && how == How::Replay {
            view.show(&damage_notice(self.damaged), history);
        }
        self.views.push(view);
        self.step(Input::Attach { view: id, answers }).await
    }

    async fn prompt(
        &mut self,
        view: ViewId,
        content: Vec<v2::ContentBlock>,
        responder: Responder,
    ) -> Result<(), Broken> {
        let id = self.prompts.next();
        let session = self.session.clone();
        let Some(open) = self.view(view) else {
            responder.respond::<()>(Err(no_such_session(session.id())));
            return Ok(());
        };
        responder.on_cancel({
            let session = session.clone();
            move || session.control_if_open(Control::Withdraw { view, prompt: id })
        });
        open.prompted(id, responder);
        let prompt = Prompt { id, view, content };
        self.step(Input::Prompt(prompt)).await
    }

    /// Takes back a prompt. A version 1 client that takes back the prompt whose turn runs means the
    /// turn; in version 2 it was answered already, and nothing comes of it (V2-PROMPT-16).
    async fn withdraw(&mut self, view: ViewId, prompt: PromptId) -> Result<(), Broken> {
        // A link that ended takes everything back, but a turn does not end with its client.
        let wants = |view: &mut View| {
            view.client.version == Version::V1 && view.client.peer.closed_reason().is_none()
        };
        let is_v1 = self.view(view).is_some_and(wants);
        let runs = self.engine.running_prompt() == Some(prompt);
        match is_v1 && runs {
            true => self.step(Input::CancelTurn).await,
            false => self.step(Input::Withdraw { prompt }).await,
        }
    }

    /// Tells the agent of the next change, one at a time, so that they come to it in order.
    fn set_next_option(&mut self) {
        while !self.option_is_set {
            let Some((view, change, responder)) = self.options.pop_front() else {
                return;
            };
            self.set_option(view, &change, responder);
        }
    }

    fn set_option(&mut self, view: ViewId, change: &OptionChange, responder: Responder) {
        let options = self.engine.history().transcript().config_options();
        let (request, answer) = match change {
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
        let checked = match request {
            Some(request) => changed(options, &request).map(|_| request),
            None => Err(RpcError::invalid_params("there is no such option")),
        };
        let request = match checked {
            Ok(request) => Box::new(request),
            Err(error) => return responder.respond::<()>(Err(error)),
        };
        let (session, agent) = (self.session.clone(), self.agent.clone());
        self.option_is_set = true;
        tokio::spawn(async move {
            let (option, value) = (request.config_id.clone(), request.value.clone());
            // In a task of its own, so that a panic does not hold up the next change.
            let taken = tokio::spawn(agent.set_option(session.clone(), option, value));
            let outcome = taken.await.unwrap_or_else(|_| Err(Error::broke_off()));
            let outcome = outcome.map_err(|error| error.to_rpc());
            let set = Control::OptionSet {
                view,
                request,
                answer,
                outcome,
                responder,
            };
            if let Err(control) = session.control(set) {
                refuse(control, &session);
            }
        });
    }

    /// Changes the option among those there are now, which may have changed meanwhile.
    async fn option_set(
        &mut self,
        request: v2::SetSessionConfigOptionRequest,
    ) -> Result<Result<(), RpcError>, Broken> {
        let options = self.engine.history().transcript().config_options();
        let changed = match changed(options, &request) {
            Ok(changed) => changed,
            Err(error) => return Ok(Err(error)),
        };
        let update = v2::ConfigOptionUpdate::new(changed);
        let update = v2::SessionUpdate::ConfigOptionUpdate(update);
        let (turn, edits) = (None, Vec::new());
        self.step(Input::Update {
            turn,
            update,
            edits,
        })
        .await?;
        Ok(Ok(()))
    }

    fn answer_option(
        &mut self,
        view: ViewId,
        kind: OptionAnswer,
        outcome: Result<(), RpcError>,
        responder: Responder,
    ) {
        let transcript = self.engine.history().transcript();
        let Some(view) = self.views.iter_mut().find(|open| open.id == view) else {
            return responder.respond::<()>(Err(no_such_session(self.session.id())));
        };
        let answer = match outcome {
            Ok(()) => Answer::options(kind, transcript, &view.client),
            Err(error) => Answer::Error(error),
        };
        view.answer(responder, answer);
    }
}

fn damage_notice(damaged: u64) -> v2::SessionUpdate {
    let records = match damaged {
        1 => "1 record".to_owned(),
        more => format!("{more} records"),
    };
    let message = format!(
        "{records} of this session cannot be read: the journal is damaged. Everything else is shown."
    );
    v2::SessionUpdate::Notice(v2::Notice::new(v2::NoticeSeverity::Warning, message))
}

/// Returns the options with one changed, or says why it cannot be (V2-CONF-04).
fn changed(
    options: &[v2::SessionConfigOption],
    request: &v2::SetSessionConfigOptionRequest,
) -> Result<Vec<v2::SessionConfigOption>, RpcError> {
    let mut options = options.to_vec();
    let mut found = options.iter_mut();
    let Some(option) = found.find(|option| option.config_id == request.config_id) else {
        return Err(RpcError::invalid_params("there is no such option"));
    };
    match (&mut option.kind, &request.value) {
        (v2::SessionConfigKind::Select(select), v2::SessionConfigOptionValue::Id { value }) => {
            if !offers(&select.options, value) {
                return Err(RpcError::invalid_params("the option has no such value"));
            }
            select.current_value = value.clone();
        }
        (
            v2::SessionConfigKind::Boolean(boolean),
            v2::SessionConfigOptionValue::Boolean { value },
        ) => boolean.current_value = *value,
        _ => return Err(RpcError::invalid_params("the option takes no such value")),
    }
    Ok(options)
}

fn offers(options: &v2::SessionConfigSelectOptions, value: &v2::SessionConfigValueId) -> bool {
    let is_it = |option: &v2::SessionConfigSelectOption| option.value == *value;
    match options {
        v2::SessionConfigSelectOptions::Ungrouped(options) => options.iter().any(is_it),
        v2::SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().any(|group| group.options.iter().any(is_it))
        }
        _ => false,
    }
}

/// Answers what a session that is over cannot serve.
pub(crate) fn refuse(control: Control, session: &Session) {
    match control {
        Control::Attach(attach) => attach.refuse(),
        Control::Prompt { responder, .. }
        | Control::SetOption { responder, .. }
        | Control::OptionSet { responder, .. } => {
            let failure = session.failure().cloned();
            let error = failure.unwrap_or_else(|| no_such_session(session.id()));
            responder.respond::<()>(Err(error));
        }
        Control::Close { done, .. } => match done {
            Done::Answer(responder) => Answer::Done.give(responder),
            // Whoever waited may have gone away.
            Done::Tell(tell) => drop(tell.send(())),
        },
        Control::Detach(_)
        | Control::HungUp(_)
        | Control::Withdraw { .. }
        | Control::Cancel
        | Control::Answered { .. } => {}
    }
}
