//! What the core wants done.

use std::task::{Context, Waker};

use ply_session::{Close, Effect, Input, Keep, RequestId, Response, Start};
use ply_wire::link::rpc_error_v2;
use ply_wire::v2;

use super::Task;
use crate::session::control::{Attaching, Control, Heard, Waiter};
use crate::session::op::{Op, OwnWork};
use crate::session::run::{Running, guarded};
use crate::session::steering::Steered;
use crate::session::store::Then;
use crate::{Error, SessionSetup};

impl Task {
    /// Has the agent prepare the session.
    pub(super) fn prepare(&mut self, setup: SessionSetup) {
        let (agent, session) = (self.host.agent(), self.session.clone());
        let task = tokio::spawn(async move {
            let prepared = guarded(agent.open(session.clone(), setup)).await;
            let outcome = prepared.map_err(|error| error.to_v2());
            session.report_now(Op::Prepared(outcome));
        });
        self.preparing = Some(task.abort_handle());
    }

    /// Does what the core wants done, and what comes of that.
    pub(super) fn perform(&mut self) {
        while !self.effects.is_empty() {
            let mut effects = std::mem::take(&mut self.effects);
            for effect in effects.drain(..) {
                self.do_effect(effect);
            }
            if self.effects.is_empty() {
                // The buffer is used again.
                self.effects = effects;
            }
        }
    }

    fn do_effect(&mut self, effect: Effect) {
        match effect {
            Effect::Create => {
                let title = self.title();
                self.store.create(title);
            }
            Effect::Open { from } => self.store.reopen(from),
            Effect::Respond { request, response } => self.respond(request, response),
            Effect::Retract { ask, view } => {
                if let Some(call) = self.calls.remove(&(ask, view)) {
                    call.take_back();
                }
            }
            Effect::Start(start) => {
                self.heard(RequestId(start.prompt.0), Heard::StartedNewTurn);
                self.start_turn(start);
            }
            Effect::Steer {
                request,
                turn,
                message,
                content,
            } => {
                self.metas.remove(&request);
                self.session.steer(turn, Steered::new(message, content));
                self.heard(request, Heard::Injected);
            }
            Effect::Cancel { turn } => {
                if let Some(running) = self.running.as_ref().filter(|run| run.turn == turn) {
                    running.cancel();
                }
            }
            Effect::CancelEntity { entity } => self.session.stop(&entity),
            Effect::Abandon { turn } => {
                if let Some(running) = self.running.take_if(|running| running.turn == turn) {
                    running.abandon();
                }
            }
            Effect::Resolve { ask, answer } => {
                self.calls.retain(|(of, _), _| *of != ask);
                if let Some(waits) = self.asks.remove(&ask) {
                    // The code that asked may have gone away.
                    drop(waits.send(answer));
                } else if let Some(unclaimed) = self.unclaimed.get_mut(&ask) {
                    *unclaimed = Some(answer);
                }
            }
            Effect::Settled { request, stop } => {
                if let (Some(own), Some(stop)) = (self.own.remove(&request), stop) {
                    // Whoever waited may have gone away.
                    drop(own.ended.send(stop));
                }
            }
            Effect::SetOption {
                request,
                option,
                value,
            } => {
                let (agent, session) = (self.host.agent(), self.session.clone());
                at_once_or_spawned(async move {
                    let set = guarded(agent.set_option(session.clone(), option, value)).await;
                    let outcome = set.map_err(|error| error.to_v2());
                    session.report_now(Op::OptionSet(request, outcome));
                });
            }
            Effect::Passed { barrier, is_safe } => self.passed(barrier, is_safe),
            Effect::Unattended => self.host.unattended(&self.session),
            #[cfg(feature = "unstable_session_fork")]
            Effect::Fork { request, records } => self.fork(request, records),
            Effect::Release { delete, archive } => self.release(delete, archive),
            Effect::Over => self.over(),
            _ => {}
        }
    }

    pub(super) fn respond(&mut self, request: RequestId, response: Result<Response, v2::Error>) {
        self.has_sent = true;
        self.attaching.remove(&request);
        if response.is_err() {
            self.metas.remove(&request);
        }
        match self.waiters.remove(&request) {
            Some(Waiter::Client(responder) | Waiter::Prompter(responder, _)) => {
                responder.respond(response.map_err(|error| rpc_error_v2(&error)));
            }
            Some(Waiter::Leaver(responder, leaving)) => {
                // Before it is answered, so that what it sends next finds things as it was told.
                if response.is_ok() {
                    self.clients.remove(&leaving.view);
                    leaving.closed();
                } else {
                    leaving.refused();
                }
                responder.respond(response.map_err(|error| rpc_error_v2(&error)));
            }
            // Whoever waited may have gone away.
            Some(Waiter::Host(tell)) => drop(tell.send(())),
            Some(Waiter::Told(tell)) => drop(tell.send(response.map(|_| ()))),
            Some(Waiter::Steering(tell)) => {
                let prompt = self.core.engine().running_prompt();
                let heard = match prompt.is_some_and(|prompt| prompt.0 == request.0) {
                    true => Heard::StartedNewTurn,
                    false => Heard::Injected,
                };
                drop(tell.send(response.map(|_| heard)));
            }
            #[cfg(feature = "unstable_session_fork")]
            Some(Waiter::Fork(tell)) => {
                if let Err(error) = response {
                    drop(tell.send(Err(error)));
                }
            }
            None => {}
        }
    }

    /// Tells a client what became of its words for the turn, if it waits to hear that.
    fn heard(&mut self, request: RequestId, heard: Heard) {
        if let Some(Waiter::Steering(_)) = self.waiters.get(&request)
            && let Some(Waiter::Steering(tell)) = self.waiters.remove(&request)
        {
            // Whoever waited may have gone away.
            drop(tell.send(Ok(heard)));
        }
    }

    fn start_turn(&mut self, start: Start) {
        let client = start.view.and_then(|view| self.clients.get(&view));
        let client = client.cloned().zip(start.view);
        let request = RequestId(start.prompt.0);
        let own = self.own.get_mut(&request);
        let work = own.and_then(|own| own.work.take());
        let prefix = self.core.engine().id_prefix(start.turn);
        let agent = self.host.agent();
        let meta = self.metas.remove(&request).map(|(_, meta)| *meta);
        let counted = self.host.count_turn();
        let start = (start, meta);
        let (running, code) =
            Running::new(start, &self.session, prefix, client, agent, work, counted);
        self.running = Some(running);
        self.code = Some(code);
    }

    /// Runs the code of a turn that goes on in another program, and returns whether there is one.
    pub(super) fn adopt_turn(&mut self, work: OwnWork) -> bool {
        let start = self.core.engine().adopted();
        let Some(start) = start.filter(|_| self.running.is_none()) else {
            return false;
        };
        let prefix = self.core.engine().id_prefix(start.turn);
        let (agent, start) = (self.host.agent(), (start, None));
        let counted = self.host.count_turn();
        let (running, code) = Running::new(
            start,
            &self.session,
            prefix,
            None,
            agent,
            Some(work),
            counted,
        );
        self.running = Some(running);
        self.code = Some(code);
        true
    }

    /// Tells whoever copies the session how much of it is in the journal, once everybody can read that.
    #[cfg(feature = "unstable_session_fork")]
    fn fork(&mut self, request: RequestId, records: u64) {
        let (waiter, readable) = (self.waiters.remove(&request), self.store.readable(records));
        let Some(Waiter::Fork(tell)) = waiter else {
            return;
        };
        tokio::spawn(async move {
            let told = match readable.await {
                // What is damaged is there for everybody, and left out of the copy.
                Ok(_) | Err(ply_journal::Error::Damaged { .. }) => Ok(records),
                // A session that ends just then is looked for anew, and then is what its journal holds.
                Err(ply_journal::Error::Closed | ply_journal::Error::Deleted) => return,
                Err(error) => Err(Error::from(error).to_v2()),
            };
            // Whoever asked may have gone away.
            drop(tell.send(told));
        });
    }

    /// Takes the session out of the archive. One that is not in the journal is not in there either.
    #[cfg(feature = "unstable_session_archive")]
    pub(super) fn unarchive(&mut self, responder: ply_rpc::Responder) {
        if !self.core.engine().is_open() {
            // Its journal is being given back, and the end may put it into the archive.
            return self.late.push(Control::Unarchive(responder));
        }
        if self.core.has_failed() {
            let error = "the journal of the session failed; see the agent's log";
            return responder.respond::<()>(Err(ply_rpc::RpcError::internal(error)));
        }
        let changed = self.store.unarchive();
        tokio::spawn(async move {
            let changed = match changed {
                Some(changed) => changed.await.map(drop),
                None => Ok(()),
            };
            let changed = changed.map(|()| serde_json::Map::new());
            responder.respond(changed.map_err(|error| Error::from(error).to_rpc()));
        });
    }

    /// Ends everything that belongs to the session; its journal comes last.
    fn release(&mut self, delete: bool, archive: bool) {
        if let Some(running) = self.running.take() {
            running.abandon();
        }
        if let Some(preparing) = self.preparing.take() {
            preparing.abort();
        }
        self.session.stop_all();
        // Whoever waits for one of these hears that the session is over.
        self.own.clear();
        self.asks.clear();
        for op in self.session.0.inbox.close_ops() {
            if let Op::Then { then, .. } = op {
                then(false);
            }
        }
        for (_, then) in self.barriers.waiting.drain() {
            then(false);
        }
        let (agent, session) = (self.host.agent(), self.session.clone());
        let hook = async move {
            let closed = guarded(async move {
                agent.close(session).await;
                Ok::<(), Error>(())
            });
            if closed.await.is_err() {
                tracing::error!("closing a session broke off");
            }
        };
        let then = match (delete, archive) {
            (true, _) => Then::Delete,
            (false, true) => Then::Archive,
            (false, false) => Then::Nothing,
        };
        self.store.release(hook, then);
    }

    /// Ends the session in this process; requests that came too late are for its next life.
    fn over(&mut self) {
        self.is_over = true;
        let mut late: Vec<Control> = Vec::new();
        for input in self.core.take_waiting() {
            let waiter = input.request().and_then(|request| {
                let waiter = self.waiters.remove(&request)?;
                Some((request, waiter))
            });
            let Some((request, waiter)) = waiter else {
                continue;
            };
            late.push(match (input, self.attaching.remove(&request)) {
                (Input::Attach(attach), Some((client, views))) => {
                    Control::Attach(Box::new(Attaching {
                        attach: *attach,
                        client,
                        waiter,
                        views,
                    }))
                }
                (input, _) => {
                    let waiter = match (waiter, self.metas.remove(&request)) {
                        (Waiter::Client(responder), Some((_, meta))) => {
                            Waiter::Prompter(responder, meta)
                        }
                        (waiter, _) => waiter,
                    };
                    Control::Request(Box::new(input), waiter)
                }
            });
        }
        late.append(&mut self.late);
        late.extend(self.session.0.inbox.close());
        self.host.forget(&self.session);
        self.host.come_late(&self.session, late);
    }
}

/// Returns the input that closes a session for its host.
pub(crate) fn close_by_host(request: RequestId, journal: Keep) -> Box<Input> {
    Box::new(Input::Close(Close {
        request: Some(request),
        view: None,
        journal,
    }))
}

/// Does something now if it needs to wait for nothing, as most changes of options do, or else in a task of its own.
fn at_once_or_spawned(work: impl Future<Output = ()> + Send + 'static) {
    let mut work = Box::pin(work);
    let mut cx = Context::from_waker(Waker::noop());
    if work.as_mut().poll(&mut cx).is_pending() {
        // The first thing that the task does is to look again, so no wake is missed.
        tokio::spawn(work);
    }
}
