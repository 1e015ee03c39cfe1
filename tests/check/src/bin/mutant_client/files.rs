//! Files for the agent.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Client;

impl Client {
    /// Returns the path of a request if it lies in the session's directory.
    fn path(&self, params: &Value) -> Option<PathBuf> {
        let path = Path::new(params.get("path")?.as_str()?);
        if self.has("reads-anything") {
            return Some(path.to_owned());
        }
        let root = Path::new(&self.cwd).canonicalize().ok()?;
        let parent = path.parent()?.canonicalize().ok()?;
        let real = path
            .canonicalize()
            .unwrap_or_else(|_| parent.join(path.file_name().unwrap_or_default()));
        (path.is_absolute() && real.starts_with(root)).then_some(real)
    }

    pub(super) fn read_file(&self, id: &Value, params: &Value) {
        if self.has("offers-but-refuses") {
            return self.fail(id, -32601, "Method not found");
        }
        let number = |key: &str| match params.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or(()),
        };
        let (line, limit) = match (number("line"), number("limit")) {
            (Ok(line), Ok(limit)) => (line, limit),
            _ if self.has("loose-types") => (None, None),
            _ => return self.fail(id, -32602, "Invalid params"),
        };
        let Some(path) = self.path(params) else {
            return self.fail(id, -32602, "The path is outside of the session's directory");
        };
        let Ok(content) = std::fs::read_to_string(path) else {
            let code = match self.has("missing-is-internal") {
                true => -32603,
                false => -32002,
            };
            return self.fail(id, code, "The file cannot be read");
        };
        let first = match (line, self.has("lines-from-0")) {
            (Some(line), true) => line,
            (line, _) => line.unwrap_or(1).max(1) - 1,
        };
        let limit = limit
            .filter(|_| !self.has("ignores-limit"))
            .unwrap_or(u64::MAX);
        let lines = content
            .split_inclusive('\n')
            .skip(usize::try_from(first).unwrap_or(usize::MAX));
        let content: String = lines
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .collect();
        match content.is_empty() && self.has("empty-files-are-null") {
            true => self.respond(id, json!({"content": null})),
            false => self.respond(id, json!({"content": content})),
        }
    }

    pub(super) fn write_file(&self, id: &Value, params: &Value) {
        let (Some(path), Some(content)) = (
            self.path(params),
            params.get("content").and_then(Value::as_str),
        ) else {
            return self.fail(id, -32602, "The path is outside of the session's directory");
        };
        if self.has("creates-no-files") && !path.exists() {
            return self.fail(id, -32002, "There is no such file");
        }
        if !self.has("writes-nothing") && std::fs::write(path, content).is_err() {
            return self.fail(id, -32603, "The file cannot be written");
        }
        match self.has("writes-answer-text") {
            true => self.respond(id, json!("written")),
            false => self.respond(id, json!({})),
        }
    }
}
