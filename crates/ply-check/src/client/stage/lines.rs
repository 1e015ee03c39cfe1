//! What the scripted agent says, in the words of the version that is spoken.

use ply_wire::negotiate::Version;
use serde_json::{Value, json};

use super::Stage;
use crate::peer::{Call, Stopped};

impl Stage {
    /// Sends an update of the session of the prompt.
    pub(crate) async fn update(&mut self, update: Value) -> Result<usize, Stopped> {
        let session = self.session.clone();
        self.update_in(&session, update).await
    }

    /// Sends an update of a session.
    pub(crate) async fn update_in(
        &mut self,
        session: &str,
        update: Value,
    ) -> Result<usize, Stopped> {
        let params = json!({"sessionId": session, "update": update});
        self.notify("session/update", params).await
    }

    /// Says something.
    pub(crate) async fn say(&mut self, text: &str) -> Result<usize, Stopped> {
        let id = format!("said-{}", self.fresh());
        let content = json!({"type": "text", "text": text});
        let update =
            json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": content});
        self.update(update).await
    }

    /// Reports a state, which only version 2 has.
    pub(crate) async fn state(&mut self, state: &str) -> Result<usize, Stopped> {
        self.update(json!({"sessionUpdate": "state_update", "state": state}))
            .await
    }

    /// Announces a tool call with these members besides its id.
    pub(crate) async fn tool_call(&mut self, id: &str, members: Value) -> Result<usize, Stopped> {
        let kind = match self.version {
            Version::V1 => "tool_call",
            Version::V2 => "tool_call_update",
        };
        let mut update = json!({"sessionUpdate": kind, "toolCallId": id, "title": "Look around", "kind": "read"});
        super::merge(&mut update, &members);
        self.update(update).await
    }

    /// Changes a tool call.
    pub(crate) async fn tool_update(&mut self, id: &str, members: Value) -> Result<usize, Stopped> {
        let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id});
        super::merge(&mut update, &members);
        self.update(update).await
    }

    /// Returns a permission request about a tool call, with the usual options.
    pub(crate) fn permission(&self, tool_call: &str) -> Value {
        let options = json!([
            {"optionId": "once", "name": "Allow", "kind": "allow_once"},
            {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
            {"optionId": "never", "name": "Always reject", "kind": "reject_always"}
        ]);
        let call = json!({"toolCallId": tool_call, "title": "Change a file", "kind": "edit", "status": "pending"});
        match self.version {
            Version::V1 => json!({"sessionId": self.session, "toolCall": call, "options": options}),
            Version::V2 => json!({
                "sessionId": self.session,
                "title": "Change a file?",
                "subject": {"type": "tool_call", "toolCall": call},
                "options": options
            }),
        }
    }

    /// Announces a tool call and asks for permission.
    pub(crate) async fn ask_permission(&mut self, tool_call: &str) -> Result<Call, Stopped> {
        self.tool_call(tool_call, json!({"status": "pending"}))
            .await?;
        if self.version == Version::V2 {
            self.state("requires_action").await?;
        }
        let params = self.permission(tool_call);
        self.begin("session/request_permission", params).await
    }
}
