//! The options of a session, of which the mode is one.

use std::sync::Arc;

use ply_wire::convert;
use ply_wire::direct;
use ply_wire::negotiate::Version;
use ply_wire::{v1, v2};
use serde_json::value::RawValue;

use super::Session;
use super::cell::{SessionCell, State};
use crate::Error;
use crate::agent::read;
use crate::connection::Connection;

impl Session {
    /// Returns the options with their current values. The modes of a version 1 agent are one of them.
    #[must_use]
    pub fn config_options(&self) -> Vec<v2::SessionConfigOption> {
        self.cell
            .read(|transcript| transcript.config_options().to_vec())
    }

    /// Sets an option.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for an option that there is not, or a value of a kind that the agent's version does not have.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, the request is cancelled. The agent may set the option all the same; the session then shows it.
    pub async fn set_config_option(
        &self,
        option: impl Into<v2::SessionConfigId>,
        value: impl Into<v2::SessionConfigOptionValue>,
    ) -> Result<(), Error> {
        let (option, value) = (option.into(), value.into());
        let connection = self.attached_with(Some((&option, &value))).await?;
        let is_known = self.cell.read(|transcript| {
            let mut known = transcript.config_options().iter();
            known.any(|known| known.config_id == option)
        });
        if !is_known {
            let what = "the session has no such option; choose one of `config_options()`";
            return Err(Error::Invalid { what });
        }
        self.set_on(&connection, &option, value).await?;
        self.cell.set_here(option);
        Ok(())
    }

    /// Sets an option on a connection on which the session is open or about to be.
    pub(super) async fn set_on(
        &self,
        connection: &Connection,
        option: &v2::SessionConfigId,
        value: v2::SessionConfigOptionValue,
    ) -> Result<(), Error> {
        if self.cell.has_modes() {
            let mode = value.as_id().ok_or(wrong_value())?;
            let mode = v1::SessionModeId::new(Arc::clone(&mode.0));
            return self.set_v1_mode(connection, mode).await;
        }
        let request =
            v2::SetSessionConfigOptionRequest::new(self.id().clone(), option.clone(), value);
        let cell = Arc::clone(&self.cell);
        match connection.hello.version {
            Version::V1 => {
                let request = convert::config::set_option_down(&request).ok_or(wrong_value())?;
                let then = move |answer: &RawValue| {
                    let options = if let Some(options) = direct::config_options(answer.get()) {
                        options
                    } else {
                        let answer: v1::SetSessionConfigOptionResponse =
                            read("session/set_config_option", answer)?;
                        answer.config_options
                    };
                    cell.options_set(convert::config::options_up(&options));
                    Ok(())
                };
                connection.ask(&request, then).await
            }
            Version::V2 => {
                let then = move |answer: &_| {
                    let answer: v2::SetSessionConfigOptionResponse =
                        read("session/set_config_option", answer)?;
                    cell.options_set(answer.config_options);
                    Ok(())
                };
                connection.ask(&request, then).await
            }
        }
    }

    /// Sets the mode, which is the option of that category.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffered`] if the session has no modes, [`Error::Invalid`] if this is none of them.
    ///
    /// # Cancel safety
    ///
    /// As for [`set_config_option`](Self::set_config_option).
    pub async fn set_mode(&self, mode: impl Into<v1::SessionModeId>) -> Result<(), Error> {
        let value =
            v2::SessionConfigOptionValue::from(v2::SessionConfigValueId::new(mode.into().0));
        let option = self.mode_option(&value).ok();
        let instead = option.as_ref().map(|option| (option, &value));
        let connection = self.attached_with(instead).await?;
        // An agent that was started again may have others.
        let option = self.mode_option(&value)?;
        self.set_on(&connection, &option, value).await?;
        self.cell.set_here(option);
        Ok(())
    }

    /// Returns the option that the mode is, if it has this value.
    fn mode_option(
        &self,
        value: &v2::SessionConfigOptionValue,
    ) -> Result<v2::SessionConfigId, Error> {
        self.cell.read(|transcript| {
            let Some(option) = convert::config::mode_option(transcript.config_options()) else {
                return Err(Error::NotOffered {
                    what: "modes",
                    hint: "look at `config_options()` for what can be set",
                });
            };
            match convert::config::offers(option, value) {
                true => Ok(option.config_id.clone()),
                false => Err(Error::Invalid {
                    what: "the session has no such mode; choose a value of its mode option",
                }),
            }
        })
    }

    async fn set_v1_mode(
        &self,
        connection: &Connection,
        mode: v1::SessionModeId,
    ) -> Result<(), Error> {
        let request = v1::SetSessionModeRequest::new(Arc::clone(&self.id().0), mode.clone());
        let cell = Arc::clone(&self.cell);
        let then = move |_: &_| {
            cell.mode_set(&mode);
            Ok(())
        };
        connection.ask(&request, then).await
    }
}

fn wrong_value() -> Error {
    Error::Invalid {
        what: "the option does not take a value of this kind",
    }
}

impl State {
    /// Takes what a version 1 agent says when a session is opened.
    pub(crate) fn opened_v1(
        &mut self,
        modes: Option<&v1::SessionModeState>,
        options: Option<&[v1::SessionConfigOption]>,
    ) {
        let has_options = options.is_some_and(|options| !options.is_empty());
        if modes.is_none() && !has_options && self.by_modes {
            // It had modes before it was started again and says nothing of them now. Those that it had are needed to set one.
            let modes = convert::config::modes_down(self.transcript.config_options());
            if let Some(lifter) = &mut self.lifter {
                lifter.session_started(modes.as_ref(), None);
            }
            return;
        }
        self.by_modes = modes.is_some() && !has_options;
        let lifter = self.lifter.as_mut();
        let options = lifter.map(|lifter| lifter.session_started(modes, options));
        let options = options.unwrap_or_default();
        if !options.is_empty() {
            self.fold_options(options);
        }
    }

    /// Takes what a version 2 agent says when a session is opened.
    pub(crate) fn opened_v2(
        &mut self,
        options: Vec<v2::SessionConfigOption>,
        commands: Vec<v2::AvailableCommand>,
    ) {
        if !options.is_empty() {
            self.fold_options(options);
        }
        if !commands.is_empty() {
            let update = v2::AvailableCommandsUpdate::new(commands);
            self.fold(v2::SessionUpdate::AvailableCommandsUpdate(update), 0);
        }
    }

    /// Notes the metadata of the answer that opened the session.
    pub(crate) fn opened_meta(&mut self, meta: Option<v2::Meta>) {
        if let Some(meta) = meta.filter(|meta| !meta.is_empty()) {
            let update = v2::SessionInfoUpdate::new().meta(meta);
            self.fold(v2::SessionUpdate::SessionInfoUpdate(update), 0);
        }
    }

    fn fold_options(&mut self, options: Vec<v2::SessionConfigOption>) {
        let update = v2::ConfigOptionUpdate::new(options);
        self.fold(v2::SessionUpdate::ConfigOptionUpdate(update), 0);
    }
}

impl SessionCell {
    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn has_modes(&self) -> bool {
        self.lock().by_modes
    }

    fn options_set(&self, options: Vec<v2::SessionConfigOption>) {
        self.lock().fold_options(options);
    }

    fn mode_set(&self, mode: &v1::SessionModeId) {
        let mut state = self.lock();
        let lifter = state.lifter.as_mut();
        if let Some(options) = lifter.and_then(|lifter| lifter.mode_set(mode)) {
            state.fold_options(options);
        }
    }
}
