//! Prompts and turns: one at a time, in the order they came.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::agent::{Agent, Refusal};
use crate::methods::{fitted, text};
use crate::script::{self, End};
use crate::sessions::{Held, Session, find};
use crate::voice::Moment;
use crate::{store, voice};

/// Takes a prompt: it is begun, or held until the turn before it is over.
pub(crate) fn prompt(agent: &Arc<Agent>, id: &Value, params: &Value) {
    let taken = take(agent, params);
    let (session, blocks) = match taken {
        Ok(taken) => taken,
        Err(_) if agent.is("prompts-unknown-sessions") && params.get("sessionId").is_some() => {
            return agent.answer(
                id,
                Ok(json!({"stopReason": "end_turn", "messageId": "none"})),
            );
        }
        Err(refusal) => return agent.answer(id, fitted(agent, Err(refusal))),
    };
    let mut prompt = Held {
        id: id.clone(),
        blocks,
        is_answered: false,
    };
    {
        let mut state = session.state();
        if state.running.is_some() {
            if agent.is("refuses-while-busy") {
                drop(state);
                return agent.answer(id, Err(Refusal::new(-32600, "A turn is running")));
            }
            if agent.is("answers-held-prompts") {
                prompt.is_answered = true;
                agent.answer(id, Ok(json!({"messageId": format!("held-{id}")})));
            }
            state.held.push_back(prompt);
            return;
        }
        state.running = Some(prompt.id.clone());
    }
    session.busy.send_replace(true);
    // Here and not in the task, so that a cancel that is read next is not missed.
    let cancels = session.cancels.subscribe();
    tokio::spawn(work(Arc::clone(agent), session, prompt, cancels));
}

fn take(agent: &Agent, params: &Value) -> Result<(Arc<Session>, Vec<Value>), Refusal> {
    let name = text(params, "sessionId")?;
    let blocks = params.get("prompt").and_then(Value::as_array);
    let blocks = blocks.ok_or_else(|| Refusal::params("`prompt` is no array"))?;
    let session = find(agent, name)?;
    if blocks.is_empty() {
        return Err(Refusal::params("The prompt is empty"));
    }
    let is_refused = blocks.iter().any(|block| !is_block(agent, block));
    if is_refused {
        if agent.is("refusals-make-idle") && session.state().running.is_some() {
            let idle = json!({"sessionUpdate": "state_update", "state": "idle"});
            agent.update(&session.id, &idle);
        }
        if agent.is("shows-refused-prompts") {
            let update = json!({"sessionUpdate": "user_message", "messageId": session.new_id("m"), "content": [{"type": "text", "text": "refused"}]});
            agent.update(&session.id, &update);
        }
        return Err(Refusal::params(
            "The prompt has a block that cannot be taken",
        ));
    }
    Ok((session, blocks.clone()))
}

/// Returns whether a block is one that the agent takes.
fn is_block(agent: &Agent, block: &Value) -> bool {
    let has = |pointer: &str| block.pointer(pointer).is_some_and(Value::is_string);
    match block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
    {
        "text" => {
            let is_whole = has("/text") || agent.is("skips-broken-blocks");
            is_whole && !agent.is("refuses-text")
        }
        "image" => has("/data") && has("/mimeType"),
        "resource_link" => has("/uri") && has("/name") && !agent.is("refuses-links"),
        "resource" => has("/resource/uri") && (has("/resource/text") || has("/resource/blob")),
        _ => agent.is("takes-any-block"),
    }
}

async fn work(
    agent: Arc<Agent>,
    session: Arc<Session>,
    first: Held,
    cancels: watch::Receiver<u64>,
) {
    let mut next = Some((first, cancels));
    while let Some((prompt, cancels)) = next {
        let turn = Turn::begin(Arc::clone(&agent), Arc::clone(&session), prompt, cancels);
        turn.run().await;
        let mut state = session.state();
        let prompt = state.held.pop_front();
        state.running = prompt.as_ref().map(|prompt| prompt.id.clone());
        next = prompt.map(|prompt| (prompt, session.cancels.subscribe()));
    }
    session.busy.send_replace(false);
}

/// A turn that runs.
pub(crate) struct Turn {
    pub(crate) agent: Arc<Agent>,
    pub(crate) session: Arc<Session>,
    prompt: Held,
    cancels: watch::Receiver<u64>,
    /// The tool call that is not over.
    pub(crate) open: Option<String>,
}

/// Returns the text of a prompt.
fn words(blocks: &[Value]) -> String {
    let words = blocks
        .iter()
        .filter_map(|block| block.get("text")?.as_str());
    words.collect::<Vec<_>>().join(" ")
}

/// What came of a question.
pub(crate) enum Told {
    Result(Value),
    Error,
    /// The turn was cancelled meanwhile.
    Stopped,
}

impl Turn {
    fn begin(
        agent: Arc<Agent>,
        session: Arc<Session>,
        prompt: Held,
        cancels: watch::Receiver<u64>,
    ) -> Self {
        Self {
            agent,
            session,
            prompt,
            cancels,
            open: None,
        }
    }

    async fn run(mut self) {
        let message = self.session.new_id("m");
        let user = json!({"kind": "user", "id": message, "blocks": self.prompt.blocks});
        let is_v2 = self.agent.is_v2();
        let answer = match self.agent.is("answers-with-another-id") {
            true => json!({"messageId": "another"}),
            false => json!({"messageId": message}),
        };
        let words = words(&self.prompt.blocks);
        let fails = self.agent.is("inserted-prompts-fail") && words == "fail";
        let is_late = self.agent.is("accepts-at-the-end") || fails;
        if is_v2 && !is_late && !self.prompt.is_answered {
            self.agent.answer(&self.prompt.id, Ok(answer.clone()));
        }
        match self.agent.is("hides-the-prompt") {
            true => self.session.state().history.push(user.clone()),
            false => self.show(user.clone()),
        }
        if self.agent.is("odd-shows-the-prompt-twice") {
            for update in voice::render(&self.agent, &user, Moment::Live) {
                self.tell(&update);
            }
        }
        if self.agent.is("odd-starts-with-a-question") {
            self.state("requires_action");
        }
        let is_hidden = self.agent.is("commands-are-no-work") && words.starts_with('/');
        if !is_hidden && !self.agent.is("never-running") {
            self.state("running");
        }
        if self.agent.is("states-of-its-own") {
            self.state("busy");
        }
        if self.agent.is("odd-repeats-states") {
            self.state("running");
        }
        if self.agent.is("odd-state-unknown") {
            self.state("unknown");
            self.state("running");
        }
        if self.agent.is("updates-of-version-2") {
            self.tell(&json!({"sessionUpdate": "state_update", "state": "running"}));
        }
        let is_poisoned = std::mem::take(&mut self.session.state().is_poisoned);
        let end = match is_poisoned {
            true => End::Cancelled,
            false if self.agent.is("odd-without-a-model") => End::Failed,
            false => script::perform(&mut self, &words).await,
        };
        let (agent, id) = (Arc::clone(&self.agent), self.prompt.id.clone());
        if is_v2 && fails {
            agent.answer(&id, Err(Refusal::new(-32603, "The turn failed")));
            return self.finish(end);
        }
        self.finish(end);
        if is_v2 && is_late {
            agent.answer(&id, Ok(answer));
        }
    }

    /// Keeps something, and tells it.
    pub(crate) fn show(&self, item: Value) {
        if self.agent.is("odd-empty-chunks") && item.get("kind") == Some(&json!("say")) {
            let empty = json!({"kind": "say", "id": item.get("id"), "text": ""});
            for update in voice::render(&self.agent, &empty, Moment::Live) {
                self.tell(&update);
            }
        }
        let is_late =
            self.agent.is("speaks-after-the-turn") && item.get("kind") == Some(&json!("say"));
        for update in voice::render(&self.agent, &item, Moment::Live) {
            match is_late {
                true => self.session.state().late.push(update),
                false => self.tell(&update),
            }
        }
        self.session.state().history.push(item);
    }

    /// Tells something that is not kept.
    pub(crate) fn tell(&self, update: &Value) {
        self.agent.update(&self.session.id, update);
        if self.agent.is("odd-usage-all-the-time") {
            tell_usage(&self.agent, &self.session);
        }
    }

    /// Tells the state, which only version 2 has.
    pub(crate) fn state(&self, state: &str) {
        if self.agent.is_v2() {
            let mut update = json!({"sessionUpdate": "state_update", "state": state});
            self.background(&mut update);
            self.tell(&update);
        }
    }

    /// Lists work in the background in a state, which only an agent with a fault does.
    fn background(&self, update: &mut Value) {
        let work = |id: &str| json!({"type": "tool_call", "toolCallId": id});
        let is_running = update.get("state") == Some(&json!("running"));
        let listed = match (self.agent.switches.fault.as_deref(), &self.open) {
            (Some("background-comes-and-goes"), _) if is_running => json!([]),
            (Some("background-from-nowhere"), _) => json!([work("call-of-nobody")]),
            (Some("background-twice"), Some(open)) => json!([work(open), work(open)]),
            (Some("background-twice"), None) => json!([]),
            _ => return,
        };
        if let Some(update) = update.as_object_mut() {
            update.insert("background".to_owned(), listed);
        }
    }

    /// Waits until the turn is cancelled.
    pub(crate) async fn stopped(&mut self) {
        // The sender lives in the session, which is held here.
        drop(self.cancels.changed().await);
        // Whoever asks again is told again.
        self.cancels.mark_changed();
    }

    /// Asks the client.
    pub(crate) async fn ask(&mut self, method: &str, params: &Value) -> Told {
        let (id, told) = self.agent.ask(method, params);
        let told = if self.agent.is("waits-for-lost-answers") {
            told.await.ok()
        } else {
            let agent = Arc::clone(&self.agent);
            tokio::select! {
                biased;
                () = self.stopped() => {
                    agent.withdraw(id);
                    return Told::Stopped;
                }
                told = told => told.ok(),
            }
        };
        match told.and_then(|message| message.get("result").cloned()) {
            Some(result) => Told::Result(result),
            None => Told::Error,
        }
    }

    fn finish(mut self, end: End) {
        let agent = Arc::clone(&self.agent);
        if let (Some(open), false) = (self.open.take(), agent.is("leaves-tool-calls-open")) {
            let fields = json!({"toolCallId": open, "status": "cancelled"});
            self.show(json!({"kind": "call", "fields": fields}));
        }
        self.tell_about_session();
        tell_usage(&agent, &self.session);
        store::write(&agent, &self.session);
        let is_cancelled = end == End::Cancelled;
        let is_withdrawn = std::mem::take(&mut self.session.state().is_withdrawn);
        let end = match (is_cancelled, end) {
            (true, _) if agent.is("cancelled-turns-end-well") => End::Finished,
            (true, _) if agent.is("cancelled-turns-fail") => End::Failed,
            (true, _) if agent.is("withdrawn-prompts-fail") && is_withdrawn => End::Failed,
            (_, End::Finished) if agent.is("finished-turns-are-cancelled") => End::Cancelled,
            (_, end) => end,
        };
        if is_cancelled && agent.is("cancels-end-the-session") {
            self.session.state().is_open = false;
        }
        let reason = match (end, agent.is("reasons-of-its-own")) {
            (End::Finished, true) => "done",
            (end, _) => end.reason(),
        };
        match agent.is_v2() {
            true => self.rest(end, reason),
            false => self.answer(end, reason),
        }
        let late = std::mem::take(&mut self.session.state().late);
        for update in late {
            self.tell(&update);
        }
        let is_talking = agent.is("talks-after-the-turn")
            || (is_cancelled && agent.is("talks-after-the-cancelled-turn"));
        if is_talking {
            self.show(
                json!({"kind": "say", "id": self.session.new_id("m"), "text": "One more thing."}),
            );
        }
    }

    /// Ends a turn of version 1.
    fn answer(&self, end: End, reason: &str) {
        let answer = match end {
            End::Failed => Err(Refusal::new(-32603, "The turn failed")),
            _ if self.agent.is("no-stop-reason") => Ok(json!({})),
            _ if self.agent.is("odd-usage-in-answers") => Ok(
                json!({"stopReason": reason, "usage": {"totalTokens": 2, "inputTokens": 1, "outputTokens": 1}}),
            ),
            _ => Ok(json!({"stopReason": reason})),
        };
        self.agent.answer(&self.prompt.id, answer.clone());
        if self.agent.is("answers-prompts-twice") {
            self.agent.answer(&self.prompt.id, answer);
        }
    }

    /// Ends a turn of version 2.
    fn rest(&self, end: End, reason: &str) {
        let mut state = json!({"sessionUpdate": "state_update", "state": "idle"});
        if let Some(state) = state.as_object_mut() {
            if !self.agent.is("idle-without-reason") {
                state.insert("stopReason".to_owned(), json!(reason));
            }
            if end == End::Failed {
                let error = Refusal::new(-32603, "The turn failed").json();
                state.insert("error".to_owned(), error);
            }
        }
        self.background(&mut state);
        if !self.agent.is("never-idle") {
            self.tell(&state);
        }
    }

    /// Gives the session a name after its first prompt.
    fn tell_about_session(&self) {
        let title = {
            let mut state = self.session.state();
            if state.title.is_some() {
                return;
            }
            let title = "A conversation".to_owned();
            state.title = Some(title.clone());
            title
        };
        let mut update = json!({"sessionUpdate": "session_info_update", "title": title});
        if let (true, Some(update)) = (
            self.agent.is("info-tells-the-directory"),
            update.as_object_mut(),
        ) {
            update.insert("cwd".to_owned(), json!(self.session.cwd));
        }
        self.tell(&update);
    }
}

/// Tells how full the context is, once something was said.
pub(crate) fn tell_usage(agent: &Agent, session: &Session) {
    let items = session.state().history.len();
    if items == 0 {
        return;
    }
    let mut update = json!({"sessionUpdate": "usage_update", "used": items * 100, "size": 100_000, "cost": {"amount": 0.01, "currency": "EUR"}});
    if let Some(update) = update.as_object_mut() {
        if agent.is("usage-without-size") {
            update.insert("size".to_owned(), Value::Null);
        }
        if agent.is("costs-without-currency") {
            update.insert("cost".to_owned(), json!({"amount": 0.01}));
        }
    }
    agent.update(&session.id, &update);
}
