//! A request that the server was sent.

use serde_json::Value;

use crate::Api;

/// A request that the server was sent.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Which API was asked.
    pub api: Api,
    /// The path and the query.
    pub path: String,
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
}

impl Seen {
    /// Returns a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find_map(|(key, value)| (key == name).then_some(value.as_str()))
    }

    /// Returns the messages as the API sends them.
    pub fn messages(&self) -> &[Value] {
        let key = match self.api {
            Api::Chat | Api::Anthropic | Api::Ollama => "messages",
            Api::Responses => "input",
            Api::Gemini => "contents",
        };
        self.body[key].as_array().map_or(&[], Vec::as_slice)
    }

    /// Returns the names of the tools.
    pub fn tools(&self) -> Vec<String> {
        let tools = match self.api {
            Api::Gemini => &self.body["tools"][0]["functionDeclarations"],
            _ => &self.body["tools"],
        };
        let tools = tools.as_array().map_or(&[] as &[Value], Vec::as_slice);
        tools
            .iter()
            .map(|tool| match self.api {
                Api::Chat | Api::Ollama => text(&tool["function"]["name"]),
                _ => text(&tool["name"]),
            })
            .collect()
    }

    /// Returns the results of all tools in the conversation: the call's id and the text.
    ///
    /// Gemini and Ollama may send no ids; the tool's name stands in for one at Gemini.
    pub fn tool_results(&self) -> Vec<(String, String)> {
        let messages = self.messages().iter();
        match self.api {
            Api::Chat | Api::Ollama => messages
                .filter(|message| message["role"] == "tool")
                .map(|message| (text(&message["tool_call_id"]), text(&message["content"])))
                .collect(),
            Api::Responses => messages
                .filter(|item| item["type"] == "function_call_output")
                .map(|item| (text(&item["call_id"]), text(&item["output"])))
                .collect(),
            Api::Anthropic => messages
                .flat_map(|message| blocks(&message["content"]))
                .filter(|block| block["type"] == "tool_result")
                .map(|block| (text(&block["tool_use_id"]), joined(&block["content"])))
                .collect(),
            Api::Gemini => messages
                .flat_map(|content| blocks(&content["parts"]))
                .filter_map(|part| part.get("functionResponse"))
                .map(|response| {
                    let id = response.get("id").unwrap_or(&response["name"]);
                    (text(id), text(&response["response"]["content"]))
                })
                .collect(),
        }
    }

    /// Returns what the user said last.
    pub fn last_user_text(&self) -> String {
        let spoken = |message: &&Value| match self.api {
            Api::Anthropic => blocks(&message["content"])
                .iter()
                .all(|block| block["type"] != "tool_result"),
            Api::Gemini => blocks(&message["parts"])
                .iter()
                .all(|part| part.get("functionResponse").is_none()),
            _ => true,
        };
        self.messages()
            .iter()
            .filter(|message| message["role"] == "user")
            .rfind(spoken)
            .map(|message| match self.api {
                Api::Gemini => joined(&message["parts"]),
                _ => joined(&message["content"]),
            })
            .unwrap_or_default()
    }

    /// Returns the instructions that come before the conversation.
    pub fn system(&self) -> String {
        match self.api {
            Api::Chat | Api::Ollama => self
                .messages()
                .iter()
                .filter(|message| message["role"] == "system")
                .map(|message| joined(&message["content"]))
                .collect(),
            Api::Responses => text(&self.body["instructions"]),
            Api::Anthropic => joined(&self.body["system"]),
            Api::Gemini => joined(&self.body["systemInstruction"]["parts"]),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn blocks(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns a text, or the texts of the parts one after the other.
fn joined(value: &Value) -> String {
    match value {
        Value::Array(parts) => parts.iter().map(|part| text(&part["text"])).collect(),
        value => text(value),
    }
}
