//! A v1 agent behind a lifter: its updates go in as JSON, and what they mean comes out as JSON.

use ply_wire::{
    lift::{AskId, Cancelled, Lifter, PermissionUp},
    method::v1::lenient_permission_request,
    v1, v2,
};
use serde_json::{Value, json};

pub struct Agent {
    pub lifter: Lifter,
    pub out: Vec<v2::SessionUpdate>,
}

impl Agent {
    pub fn new() -> Self {
        Self {
            lifter: Lifter::new("made-", "/w"),
            out: Vec::new(),
        }
    }

    /// A turn with the prompt "hello" as message `p`, its opening updates taken off.
    pub fn in_turn() -> Self {
        let mut agent = Self::new();
        agent.lifter.begin_prompt(
            v2::MessageId::new("p"),
            vec!["hello".into()],
            &mut agent.out,
        );
        let opening = agent.lifted();
        assert_eq!(opening[0]["sessionUpdate"], "user_message");
        assert_eq!(opening[1], state("running"));
        agent
    }

    pub fn begin(&mut self, id: &str) {
        let prompt = ["more".into()];
        self.lifter
            .begin_prompt(v2::MessageId::new(id), prompt.to_vec(), &mut self.out);
        self.lifted();
    }

    pub fn send(&mut self, updates: impl IntoIterator<Item = Value>) -> &mut Self {
        for json in updates {
            let update: v1::SessionUpdate = serde_json::from_value(json).unwrap();
            self.lifter.update(update, &mut self.out);
        }
        self
    }

    pub fn lifted(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.out)
            .into_iter()
            .map(|update| serde_json::to_value(update).unwrap())
            .collect()
    }

    pub fn answer(
        &mut self,
        answer: Result<v1::StopReason, v1::Error>,
        cancelled: Cancelled,
    ) -> Vec<Value> {
        let answer = answer.map(|reason| v1::PromptResponse::new(reason).into());
        self.lifter
            .prompt_answered(&answer, cancelled, &mut self.out);
        self.lifted()
    }

    /// The states among what was lifted.
    pub fn states(&mut self) -> Vec<Value> {
        let lifted = self.lifted();
        let states = lifted
            .iter()
            .filter(|json| json["sessionUpdate"] == "state_update");
        states.map(|json| json["state"].clone()).collect()
    }

    #[track_caller]
    pub fn asked(&mut self, call: Value) -> AskId {
        match self.ask(call, option()) {
            PermissionUp::Ask(ask, _) => ask,
            PermissionUp::Answer(answer) => panic!("{answer:?}"),
        }
    }

    pub fn ask(&mut self, call: Value, options: Value) -> PermissionUp {
        let request = json!({"sessionId": "s", "toolCall": call, "options": options});
        let request = serde_json::value::to_raw_value(&request).unwrap();
        let request = lenient_permission_request(Some(&request)).unwrap();
        self.lifter.permission_asked(&request, &mut self.out)
    }
}

pub fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub fn chunk(who: &str, id: impl Into<Option<&'static str>>, words: &str) -> Value {
    let mut chunk = json!({"sessionUpdate": format!("{who}_chunk"), "content": text(words)});
    if let Some(id) = id.into() {
        chunk["messageId"] = json!(id);
    }
    chunk
}

pub fn call(id: &str, mut fields: Value) -> Value {
    fields["sessionUpdate"] = json!("tool_call_update");
    fields["toolCallId"] = json!(id);
    fields
}

pub fn state(name: &str) -> Value {
    json!({"sessionUpdate": "state_update", "state": name})
}

pub fn idle(reason: &str) -> Value {
    json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": reason})
}

pub fn option() -> Value {
    json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}])
}
