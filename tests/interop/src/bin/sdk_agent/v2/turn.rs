//! One turn's words on version 2.

use std::sync::Arc;

use agent_client_protocol::v2::ConnectionTo;
use agent_client_protocol::v2::schema::{
    Content, ContentBlock, ContentChunk, Diff, DiffChange, PermissionOption, PermissionOptionKind,
    PlanEntry, PlanEntryPriority, PlanEntryStatus, PlanUpdate, PlanUpdateContent,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionSubject,
    RequiresActionStateUpdate, RunningStateUpdate, SessionUpdate, StateUpdate, ToolCallContent,
    ToolCallLocation, ToolCallPermissionSubject, ToolCallStatus, ToolCallUpdate, ToolKind,
    UserMessage,
};
use agent_client_protocol::{Client, Result};
use serde_json::json;
use tokio::sync::watch;

use super::Session;
use crate::script::{Step, Verdict, Voice};

pub(super) struct Turn {
    client: ConnectionTo<Client>,
    session: Arc<Session>,
    cancelled: watch::Receiver<()>,
    number: u32,
}

impl Turn {
    /// Begins a turn and returns it with the id of its user message.
    pub(super) fn begin(
        client: ConnectionTo<Client>,
        session: Arc<Session>,
        cancelled: watch::Receiver<()>,
    ) -> (Self, String) {
        let mut state = session.state();
        state.turns += 1;
        let number = state.turns;
        drop(state);
        let turn = Self {
            client,
            session,
            cancelled,
            number,
        };
        (turn, format!("user-{number}"))
    }

    /// Shows the inserted message and that the work runs.
    pub(super) fn start(&self, message: String, prompt: Vec<ContentBlock>) -> Result<()> {
        let title = super::text(&prompt);
        self.session.state().title.get_or_insert(title);
        let message = UserMessage::new(message).content(prompt);
        self.tell(SessionUpdate::UserMessage(message))?;
        self.running()
    }

    fn tell(&self, update: SessionUpdate) -> Result<()> {
        self.session.state().history.push(update.clone());
        super::tell(&self.client, &self.session, update)
    }

    /// Reports a state, which is no part of the history.
    fn state(&self, state: StateUpdate) -> Result<()> {
        super::tell(
            &self.client,
            &self.session,
            SessionUpdate::StateUpdate(state),
        )
    }

    fn running(&self) -> Result<()> {
        self.state(StateUpdate::Running(RunningStateUpdate::new()))
    }

    fn call(&self) -> ToolCallUpdate {
        ToolCallUpdate::new(format!("tool-{}", self.number))
    }

    fn chunk(&self, kind: &str, text: &str) -> ContentChunk {
        ContentChunk::new(text.into(), format!("{kind}-{}", self.number))
    }
}

impl Voice for Turn {
    fn think(&self, text: &str) -> Result<()> {
        self.tell(SessionUpdate::AgentThoughtChunk(
            self.chunk("thought", text),
        ))
    }

    fn say(&self, text: &str) -> Result<()> {
        self.tell(SessionUpdate::AgentMessageChunk(
            self.chunk("message", text),
        ))
    }

    fn plan(&self, done: usize) -> Result<()> {
        let entry = |(index, content): (usize, &str)| {
            let status = if index < done {
                PlanEntryStatus::Completed
            } else {
                PlanEntryStatus::Pending
            };
            PlanEntry::new(content, PlanEntryPriority::Medium, status)
        };
        let entries = ["Read", "Write", "Check"].into_iter().enumerate();
        let plan = PlanUpdateContent::items("main", entries.map(entry).collect());
        self.tell(SessionUpdate::PlanUpdate(PlanUpdate::new(plan)))
    }

    fn tool(&self, step: Step) -> Result<()> {
        let path = self.session.cwd.join("notes.txt");
        let call = match step {
            Step::Announced => self
                .call()
                .title("Edit notes.txt")
                .kind(ToolKind::Edit)
                .status(ToolCallStatus::Pending)
                .locations(vec![ToolCallLocation::new(path.as_path()).line(1)])
                .raw_input(json!({"path": "notes.txt", "text": "new\n"})),
            Step::Started => self.call().status(ToolCallStatus::InProgress),
            Step::Edited => {
                let name = path.display();
                let patch = format!(
                    "diff --git {name} {name}\n--- {name}\n+++ {name}\n@@ -1 +1 @@\n-old\n+new\n"
                );
                let change = DiffChange::modify(path.as_path());
                self.call().content(vec![
                    ToolCallContent::Content(Box::new(Content::new("edited one line"))),
                    ToolCallContent::Diff(Diff::patch(patch, vec![change])),
                ])
            }
            Step::Completed => self.call().status(ToolCallStatus::Completed),
            Step::Failed => self.call().status(ToolCallStatus::Failed),
            Step::Cancelled => self.call().status(ToolCallStatus::Cancelled),
        };
        self.tell(SessionUpdate::ToolCallUpdate(call))
    }

    async fn ask(&mut self) -> Result<Verdict> {
        let options = vec![
            PermissionOption::new("once", "Allow", PermissionOptionKind::AllowOnce),
            PermissionOption::new("always", "Always allow", PermissionOptionKind::AllowAlways),
            PermissionOption::new("no", "Reject", PermissionOptionKind::RejectOnce),
            PermissionOption::new("never", "Always reject", PermissionOptionKind::RejectAlways),
        ];
        let subject = ToolCallPermissionSubject::new(self.call());
        let request =
            RequestPermissionRequest::new(self.session.id.clone(), "Edit notes.txt?", options)
                .subject(RequestPermissionSubject::ToolCall(Box::new(subject)));
        self.state(StateUpdate::RequiresAction(RequiresActionStateUpdate::new()))?;
        let asked = self.client.send_request(request).block_task();
        // Dropping the request takes it back from the client with `$/cancel_request`.
        let answer = tokio::select! {
            _ = self.cancelled.changed() => return Ok(Verdict::Cancelled),
            answer = asked => answer?,
        };
        self.running()?;
        Ok(match answer.outcome {
            RequestPermissionOutcome::Selected(chosen) => match &*chosen.option_id.0 {
                "once" | "always" => Verdict::Allowed,
                _ => Verdict::Rejected,
            },
            _ => Verdict::Cancelled,
        })
    }

    async fn read(&mut self, _path: &str) -> Result<Option<String>> {
        Ok(None)
    }

    async fn run(&mut self, _command: &str) -> Result<Option<String>> {
        Ok(None)
    }

    async fn cancelled(&mut self) {
        // A session that is gone counts as cancelled.
        drop(self.cancelled.changed().await);
    }
}
