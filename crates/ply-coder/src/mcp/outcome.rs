//! What a server answers to a call: as a model is told, and as the user is shown, which is as it came.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ply_agent::v2;
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents, ServerResult};
use serde_json::Value;

use super::words;
use crate::model::Content;
use crate::text::middle_cut;
use crate::tool::Outcome;

/// How much text of one answer a model is told.
pub(super) const TEXT_BYTES_MAX: usize = 64 * 1024;
/// How many images of one answer a model is shown.
const IMAGES_MAX: usize = 8;
/// How large an image may be, in base64.
const IMAGE_BYTES_MAX: usize = 5 * 1024 * 1024;
/// How much of one answer the user is shown besides its text, in bytes.
const SHOWN_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long a name, type or address inside an answer may be, in characters.
const LABEL_CHARS_MAX: usize = 300;

/// Makes an outcome of an answer.
pub(super) fn outcome(answer: ServerResult) -> Outcome {
    match answer {
        ServerResult::CallToolResult(result) => complete(result),
        // An answer with something odd in it; what makes sense is told all the same.
        ServerResult::CustomResult(result) => odd(&result.0),
        ServerResult::InputRequiredResult(_) => Outcome::failed(
            "The server wants to ask the user something in between, which this agent cannot do.",
        ),
        ServerResult::CreateTaskResult(_) | ServerResult::GetTaskResult(_) => Outcome::failed(
            "The server runs the call as a task of its own, which this agent cannot follow.",
        ),
        _ => Outcome::failed("The server's answer makes no sense."),
    }
}

fn complete(result: CallToolResult) -> Outcome {
    let mut answer = Answer::default();
    for block in result.content {
        answer.add(block);
    }
    if answer.is_wordless()
        && let Some(structured) = result.structured_content
    {
        answer.say(structured.to_string());
    }
    answer.finish(result.is_error == Some(true))
}

/// Makes an outcome of a resource that was read.
pub(super) fn resources(contents: Vec<ResourceContents>) -> Outcome {
    let mut answer = Answer::default();
    for resource in contents {
        answer.add(ContentBlock::resource(resource));
    }
    answer.finish(false)
}

fn odd(result: &Value) -> Outcome {
    let Some(blocks) = result.get("content").and_then(Value::as_array) else {
        return Outcome::failed("The server's answer makes no sense.");
    };
    let mut answer = Answer::default();
    for block in blocks {
        match serde_json::from_value(block.clone()) {
            Ok(block) => answer.add(block),
            Err(_) => answer.leave_out("something that is no known kind of content"),
        }
    }
    answer.finish(result.get("isError") == Some(&Value::Bool(true)))
}

/// An answer, as it comes together.
#[derive(Debug, Default)]
struct Answer {
    /// What the model is told.
    parts: Vec<String>,
    /// What the model is shown.
    images: Vec<Content>,
    /// What the user is shown.
    content: Vec<v2::ContentBlock>,
    has_text: bool,
    /// Whether there is more than text and images, which are shown without it.
    is_rich: bool,
    bytes: usize,
}

impl Answer {
    fn add(&mut self, block: ContentBlock) {
        let shown = as_it_came(&block);
        match block {
            ContentBlock::Text(text) => {
                self.has_text = true;
                match shown {
                    Some((block, bytes)) if bytes <= TEXT_BYTES_MAX => self.content.push(block),
                    _ => self.show(text.text.clone()),
                }
                return self.parts.push(text.text);
            }
            ContentBlock::Image(image) => {
                if let Err(what) = self.add_image(image.mime_type, image.data) {
                    return self.leave_out(what);
                }
            }
            ContentBlock::Audio(_) => self.note("sound, which you cannot hear"),
            ContentBlock::Resource(resource) => {
                if let Err(what) = self.add_resource(resource.resource) {
                    return self.leave_out(what);
                }
            }
            ContentBlock::ResourceLink(resource) => self.add_link(&resource),
            _ => return self.leave_out("something that is no known kind of content"),
        }
        self.is_rich |= !matches!(&shown, Some((v2::ContentBlock::Image(_), _)));
        match shown {
            Some((block, bytes)) if self.bytes + bytes <= SHOWN_BYTES_MAX => {
                self.bytes += bytes;
                self.content.push(block);
            }
            Some(_) => self.show("[left out: more than can be shown]".to_owned()),
            None => self.show("[left out: something that cannot be shown]".to_owned()),
        }
    }

    fn add_image(&mut self, mime_type: String, data: String) -> Result<(), &'static str> {
        let sound = mime_type.starts_with("image/") && mime_type.len() <= LABEL_CHARS_MAX;
        if self.images.len() >= IMAGES_MAX {
            return Err("another image");
        }
        if data.len() > IMAGE_BYTES_MAX {
            return Err("an image that is too large");
        }
        if !sound || STANDARD.decode(&data).is_err() {
            return Err("an image that is broken");
        }
        self.images.push(Content::Image { mime_type, data });
        Ok(())
    }

    fn add_resource(&mut self, resource: ResourceContents) -> Result<(), &'static str> {
        match resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                self.has_text = true;
                let uri = words::line(&uri, LABEL_CHARS_MAX);
                self.parts.push(format!("Resource {uri}:\n{text}"));
            }
            ResourceContents::BlobResourceContents {
                mime_type: Some(mime_type),
                blob,
                ..
            } if mime_type.starts_with("image/") => return self.add_image(mime_type, blob),
            ResourceContents::BlobResourceContents { uri, .. } => {
                let uri = words::line(&uri, LABEL_CHARS_MAX);
                self.note(&format!("resource {uri}, which is not text"));
            }
            _ => return Err("a resource of no known kind"),
        }
        Ok(())
    }

    fn add_link(&mut self, link: &Resource) {
        let name = words::line(&link.name, LABEL_CHARS_MAX);
        let uri = words::line(&link.uri, LABEL_CHARS_MAX);
        self.has_text = true;
        self.parts.push(format!("Resource {name}: {uri}"));
    }

    /// Tells both of them something.
    fn say(&mut self, text: String) {
        self.show(text.clone());
        self.parts.push(text);
    }

    fn show(&mut self, text: String) {
        let text = middle_cut(&text, TEXT_BYTES_MAX);
        self.content
            .push(v2::ContentBlock::Text(v2::TextContent::new(text)));
    }

    /// Tells the model that it does not get something which the user sees.
    fn note(&mut self, what: &str) {
        self.parts.push(format!("[left out: {what}]"));
    }

    /// Tells both of them that something was left out.
    fn leave_out(&mut self, what: &str) {
        self.say(format!("[left out: {what}]"));
    }

    fn is_wordless(&self) -> bool {
        !self.has_text
    }

    fn finish(self, failed: bool) -> Outcome {
        let mut text = middle_cut(&self.parts.join("\n"), TEXT_BYTES_MAX);
        if text.is_empty() && self.images.is_empty() {
            text = if failed {
                "The tool failed and said nothing."
            } else {
                "The tool said nothing."
            }
            .to_owned();
        }
        Outcome {
            text,
            images: self.images,
            failed,
            content: self.is_rich.then(|| self.content.into()),
            ..Outcome::default()
        }
    }
}

/// Returns a block in the protocol's own form, which is the same but for its types, and about how many bytes
/// it has.
fn as_it_came(block: &ContentBlock) -> Option<(v2::ContentBlock, usize)> {
    let value = serde_json::to_value(block).ok()?;
    let bytes = bytes_of(&value);
    Some((serde_json::from_value(value).ok()?, bytes))
}

fn bytes_of(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(bytes_of).sum(),
        Value::Object(fields) => fields.values().map(bytes_of).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::CustomResult;
    use serde_json::json;

    use super::*;

    fn told(result: Value) -> Outcome {
        outcome(ServerResult::CallToolResult(
            serde_json::from_value(result).unwrap(),
        ))
    }

    #[test]
    fn structured_content_is_told_where_there_is_no_text() {
        let outcome = told(json!({ "content": [], "structuredContent": { "sum": 3 } }));
        assert_eq!(outcome.text, r#"{"sum":3}"#);
        let outcome = told(json!({
            "content": [{ "type": "text", "text": "three" }], "structuredContent": { "sum": 3 }
        }));
        assert_eq!(outcome.text, "three");
    }

    #[test]
    fn resources_are_told_and_what_cannot_be_is_named() {
        let content = json!([
            { "type": "resource", "resource": { "uri": "file:///a", "text": "A" } },
            { "type": "resource", "resource": { "uri": "file:///b", "blob": "AAAA" } },
            { "type": "resource_link", "uri": "file:///c", "name": "c", "title": "C", "size": 3 },
            { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
            { "type": "text", "text": "D", "annotations": { "audience": ["user"], "priority": 1.0 } },
        ]);
        let outcome = told(json!({ "content": content }));
        let expected = "Resource file:///a:\nA\n[left out: resource file:///b, which is not text]\nResource c: file:///c\n[left out: sound, which you cannot hear]\nD";
        assert_eq!(outcome.text, expected);
        // The user's client gets all of it.
        assert_eq!(serde_json::to_value(outcome.content).unwrap(), content);
    }

    #[test]
    fn images_are_bounded_and_must_be_whole() {
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        let broken = json!({ "type": "image", "data": "%", "mimeType": "image/png" });
        let odd = json!({ "type": "image", "data": "AAAA", "mimeType": "text/html" });
        let mut content = vec![broken, odd];
        content.extend(vec![image; IMAGES_MAX + 1]);
        let outcome = told(json!({ "content": content }));
        assert_eq!(outcome.images.len(), IMAGES_MAX);
        let broken = "[left out: an image that is broken]";
        assert_eq!(
            outcome.text,
            format!("{broken}\n{broken}\n[left out: another image]")
        );
    }

    #[test]
    fn an_answer_with_something_odd_in_it_is_told_as_far_as_it_goes() {
        let odd = json!({ "content": [{ "type": "hologram" }, { "type": "text", "text": "hi" }], "isError": true });
        let outcome = outcome(ServerResult::CustomResult(CustomResult(odd)));
        assert!(outcome.failed);
        assert_eq!(
            outcome.text,
            "[left out: something that is no known kind of content]\nhi"
        );
    }
}
