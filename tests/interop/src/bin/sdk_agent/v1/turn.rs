//! One turn's words on version 1.

use std::sync::Arc;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, Content, ContentBlock, ContentChunk, CreateTerminalRequest, Diff,
    PermissionOption, PermissionOptionKind, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus,
    ReadTextFileRequest, ReleaseTerminalRequest, RequestPermissionOutcome,
    RequestPermissionRequest, SessionNotification, SessionUpdate, Terminal, TerminalOutputRequest,
    ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind, WaitForTerminalExitRequest,
};
use agent_client_protocol::{Client, Result};
use serde_json::json;
use tokio::sync::watch;

use super::Session;
use crate::script::{Step, Verdict, Voice};

pub(super) struct Turn {
    client: ConnectionTo<Client>,
    session: Arc<Session>,
    services: ClientCapabilities,
    cancelled: watch::Receiver<()>,
    tool_call: String,
}

impl Turn {
    /// Begins a turn; the prompt goes into the history but not to the client, which has it.
    pub(super) fn begin(
        client: ConnectionTo<Client>,
        session: Arc<Session>,
        services: ClientCapabilities,
        cancelled: watch::Receiver<()>,
        prompt: Vec<ContentBlock>,
    ) -> Self {
        let mut state = session.state();
        state.turns += 1;
        let tool_call = format!("tool-{}", state.turns);
        if state.title.is_none() {
            state.title = Some(super::text(&prompt));
        }
        for block in prompt {
            let chunk = ContentChunk::new(block);
            state.history.push(SessionUpdate::UserMessageChunk(chunk));
        }
        drop(state);
        Self {
            client,
            session,
            services,
            cancelled,
            tool_call,
        }
    }

    fn tell(&self, update: SessionUpdate) -> Result<()> {
        self.session.state().history.push(update.clone());
        self.client
            .send_notification(SessionNotification::new(self.session.id.clone(), update))
    }

    fn update(&self, fields: ToolCallUpdateFields) -> Result<()> {
        let update = ToolCallUpdate::new(self.tool_call.clone(), fields);
        self.tell(SessionUpdate::ToolCallUpdate(update))
    }

    fn status(&self, status: ToolCallStatus) -> Result<()> {
        self.update(ToolCallUpdateFields::new().status(status))
    }
}

impl Voice for Turn {
    fn think(&self, text: &str) -> Result<()> {
        self.tell(SessionUpdate::AgentThoughtChunk(ContentChunk::new(
            text.into(),
        )))
    }

    fn say(&self, text: &str) -> Result<()> {
        self.tell(SessionUpdate::AgentMessageChunk(ContentChunk::new(
            text.into(),
        )))
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
        self.tell(SessionUpdate::Plan(Plan::new(entries.map(entry).collect())))
    }

    fn tool(&self, step: Step) -> Result<()> {
        let path = self.session.cwd.join("notes.txt");
        match step {
            Step::Announced => self.tell(SessionUpdate::ToolCall(
                ToolCall::new(self.tool_call.clone(), "Edit notes.txt")
                    .kind(ToolKind::Edit)
                    .status(ToolCallStatus::Pending)
                    .locations(vec![ToolCallLocation::new(path).line(1)])
                    .raw_input(json!({"path": "notes.txt", "text": "new\n"})),
            )),
            Step::Started => self.status(ToolCallStatus::InProgress),
            Step::Edited => self.update(ToolCallUpdateFields::new().content(vec![
                ToolCallContent::Content(Content::new("edited one line")),
                ToolCallContent::Diff(Diff::new(path, "new\n").old_text("old\n")),
            ])),
            Step::Completed => self.status(ToolCallStatus::Completed),
            // Version 1 has no status for a cancelled call.
            Step::Failed | Step::Cancelled => self.status(ToolCallStatus::Failed),
        }
    }

    async fn ask(&mut self) -> Result<Verdict> {
        let call = ToolCallUpdate::new(self.tool_call.clone(), ToolCallUpdateFields::new());
        let options = vec![
            PermissionOption::new("once", "Allow", PermissionOptionKind::AllowOnce),
            PermissionOption::new("always", "Always allow", PermissionOptionKind::AllowAlways),
            PermissionOption::new("no", "Reject", PermissionOptionKind::RejectOnce),
            PermissionOption::new("never", "Always reject", PermissionOptionKind::RejectAlways),
        ];
        let request = RequestPermissionRequest::new(self.session.id.clone(), call, options);
        // Waits for the answer after a cancel too: a client of version 1 owes it.
        let answer = self.client.send_request(request).block_task().await?;
        Ok(match answer.outcome {
            RequestPermissionOutcome::Selected(chosen) => match &*chosen.option_id.0 {
                "once" | "always" => Verdict::Allowed,
                _ => Verdict::Rejected,
            },
            _ => Verdict::Cancelled,
        })
    }

    async fn read(&mut self, path: &str) -> Result<Option<String>> {
        if !self.services.fs.read_text_file {
            return Ok(None);
        }
        let request = ReadTextFileRequest::new(self.session.id.clone(), path);
        let answer = self.client.send_request(request).block_task().await;
        Ok(Some(match answer {
            Ok(file) => file.content,
            Err(error) => format!("read failed: {}", i32::from(error.code)),
        }))
    }

    async fn run(&mut self, command: &str) -> Result<Option<String>> {
        let mut words = command.split_whitespace().map(str::to_owned);
        let Some(program) = words.next().filter(|_| self.services.terminal) else {
            return Ok(None);
        };
        let session = self.session.id.clone();
        let create = CreateTerminalRequest::new(session.clone(), program)
            .args(words.collect())
            .cwd(self.session.cwd.clone());
        let terminal = self.client.send_request(create).block_task().await?;
        let terminal = terminal.terminal_id;
        self.tell(SessionUpdate::ToolCall(
            ToolCall::new(self.tool_call.clone(), command)
                .kind(ToolKind::Execute)
                .status(ToolCallStatus::InProgress)
                .content(vec![ToolCallContent::Terminal(Terminal::new(
                    terminal.clone(),
                ))]),
        ))?;
        let wait = WaitForTerminalExitRequest::new(session.clone(), terminal.clone());
        let exit = self.client.send_request(wait).block_task().await?;
        let output = TerminalOutputRequest::new(session.clone(), terminal.clone());
        let output = self.client.send_request(output).block_task().await?;
        let release = ReleaseTerminalRequest::new(session, terminal);
        self.client.send_request(release).block_task().await?;
        self.status(ToolCallStatus::Completed)?;
        let code = exit.exit_status.exit_code.unwrap_or(u32::MAX);
        Ok(Some(format!("{code}: {}", output.output)))
    }

    async fn cancelled(&mut self) {
        // A session that is gone counts as cancelled.
        drop(self.cancelled.changed().await);
    }
}
