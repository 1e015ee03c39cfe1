//! Names a field that is missing deep inside of params.
//!
//! The official types read servers, content and values as one of several forms, and say no more of what fits none of
//! them than that. What most likely was meant can be told from the `type`.

use serde_json::Value;

/// Returns which field is missing where, for params that did not decode; none if nothing known is.
pub(super) fn missing(text: &str) -> Option<String> {
    let params: Value = serde_json::from_str(text).ok()?;
    let servers = list(&params, "mcpServers").map(|(place, server)| {
        let field = first_missing(server, server_fields(server))?;
        Some(format!("missing field `{field}` in `mcpServers[{place}]`"))
    });
    let blocks = list(&params, "prompt").map(|(place, block)| {
        let field = first_missing(block, content_fields(block)).or_else(|| in_resource(block))?;
        Some(format!("missing field `{field}` in `prompt[{place}]`"))
    });
    let is_option = params.get("configId").is_some() && params.get("value").is_none();
    let option = is_option.then(|| "missing field `value`".to_owned());
    servers.chain(blocks).flatten().next().or(option)
}

fn list<'v>(params: &'v Value, name: &str) -> impl Iterator<Item = (usize, &'v Value)> {
    let items = params.get(name).and_then(Value::as_array);
    items.into_iter().flatten().enumerate()
}

fn first_missing(object: &Value, fields: &[&'static str]) -> Option<&'static str> {
    let mut fields = fields.iter().copied();
    fields.find(|field| object.get(field).is_none())
}

/// Returns what a server must have. Version 1 has no type for those that are started.
fn server_fields(server: &Value) -> &'static [&'static str] {
    match server.get("type").and_then(Value::as_str) {
        Some("http" | "sse") => &["name", "url", "headers"],
        Some("stdio") => &["name", "command"],
        Some(_) => &[],
        None => &["name", "command", "args", "env"],
    }
}

fn content_fields(block: &Value) -> &'static [&'static str] {
    match block.get("type").and_then(Value::as_str) {
        Some("text") => &["text"],
        Some("image" | "audio") => &["data", "mimeType"],
        Some("resource_link") => &["name", "uri"],
        Some("resource") => &["resource"],
        Some(_) => &[],
        None => &["type"],
    }
}

/// Looks into an embedded resource, which has a text or a blob.
fn in_resource(block: &Value) -> Option<&'static str> {
    let resource = block.get("resource")?;
    let content = match resource.get("blob") {
        Some(_) => "blob",
        None => "text",
    };
    ["uri", content]
        .into_iter()
        .find(|field| resource.get(field).is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(params: &Value, expected: Option<&str>) {
        assert_eq!(
            missing(&params.to_string()).as_deref(),
            expected,
            "{params}"
        );
    }

    #[test]
    fn a_field_is_named_with_its_place() {
        let stdio = json!({ "name": "s", "command": "/bin/true", "args": [] });
        let whole = json!({ "name": "s", "command": "/bin/true", "args": [], "env": [] });
        check(
            &json!({ "mcpServers": [whole, stdio] }),
            Some("missing field `env` in `mcpServers[1]`"),
        );
        check(
            &json!({ "mcpServers": [{ "type": "http", "name": "s" }] }),
            Some("missing field `url` in `mcpServers[0]`"),
        );
        check(
            &json!({ "prompt": [{ "type": "image", "data": "AAAA" }] }),
            Some("missing field `mimeType` in `prompt[0]`"),
        );
        check(
            &json!({ "prompt": [{ "type": "resource", "resource": { "text": "a" } }] }),
            Some("missing field `uri` in `prompt[0]`"),
        );
        check(
            &json!({ "configId": "mode" }),
            Some("missing field `value`"),
        );
        check(&json!({ "prompt": [{ "type": "text", "text": 3 }] }), None);
        check(&json!([]), None);
    }
}
