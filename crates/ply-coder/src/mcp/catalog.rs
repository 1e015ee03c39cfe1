//! The tools a server lists: bounded, cleaned and named for models.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ring::digest::{Context, SHA256};
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult};
use rmcp::service::{Peer, ServiceError};
use serde_json::{Map, Value, json};

use super::words;
use crate::permission::VERSION_BYTES;

/// How many tools of one server are taken.
const TOOLS_MAX: usize = 256;
/// How many pages its list may have.
const PAGES_MAX: usize = 64;
/// How large the schema of one tool may be.
const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// How large all schemas of one server may be together.
const SCHEMAS_BYTES_MAX: usize = 512 * 1024;
/// How long the description of a tool may be.
const DESCRIPTION_BYTES_MAX: usize = 2 * 1024;
/// How long the name of a tool may be, as every service takes it.
const NAME_CHARS_MAX: usize = 64;
/// How long the name of a tool may be that a server gives it.
const OWN_NAME_BYTES_MAX: usize = 256;

/// A tool, as its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Listing {
    /// The name the server gives it.
    pub(super) name: String,
    /// What it does, in the server's words.
    pub(super) description: String,
    /// The schema of its arguments: always one of an object.
    pub(super) schema: Value,
    /// Whether the server says that it changes nothing. It decides what may run beside what, and no permission.
    pub(super) read_only: bool,
}

impl Listing {
    /// Returns what stands for all that the server says of it, in hexadecimal. A server cannot make two
    /// descriptions that have the same one.
    pub(super) fn version(&self) -> String {
        let mut digest = Context::new(&SHA256);
        let schema = self.schema.to_string();
        for part in [&self.name, &self.description, &schema] {
            digest.update(&part.len().to_le_bytes());
            digest.update(part.as_bytes());
        }
        let digest = digest.finish();
        let bytes = digest.as_ref().iter().take(VERSION_BYTES);
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What a server lists.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    pub(super) listings: Vec<Listing>,
    /// How many tools were left out.
    pub(super) left_out: usize,
    schemas_bytes: usize,
    names: HashSet<String>,
}

impl Catalog {
    /// Asks a server for all its tools.
    pub(super) async fn ask(peer: &Peer<RoleClient>) -> Result<Self, ServiceError> {
        let mut catalog = Self::default();
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let mut params = PaginatedRequestParams::default();
            params.cursor = cursor;
            let request = ListToolsRequest {
                params: Some(params),
                ..ListToolsRequest::default()
            };
            let page = peer.send_request(ClientRequest::ListToolsRequest(request));
            cursor = catalog.take(page.await?)?;
            if cursor.is_none() || catalog.listings.len() >= TOOLS_MAX {
                break;
            }
        }
        Ok(catalog)
    }

    /// Takes one page and returns where the next begins.
    fn take(&mut self, page: ServerResult) -> Result<Option<String>, ServiceError> {
        match page {
            ServerResult::ListToolsResult(page) => {
                for tool in page.tools {
                    let description = tool.description.unwrap_or_default();
                    let schema = Value::Object((*tool.input_schema).clone());
                    let annotations = tool.annotations.as_ref();
                    let read_only = annotations.and_then(|hints| hints.read_only_hint);
                    self.add(&tool.name, &description, schema, read_only == Some(true));
                }
                Ok(page.next_cursor)
            }
            // A page with something odd in it; what makes sense is taken all the same.
            ServerResult::CustomResult(page) => {
                let tools = page.0.get("tools").and_then(Value::as_array);
                for tool in tools.ok_or(ServiceError::UnexpectedResponse)? {
                    let text = |key| tool.get(key).and_then(Value::as_str).unwrap_or_default();
                    let schema = tool.get("inputSchema").cloned();
                    self.add(
                        text("name"),
                        text("description"),
                        schema.unwrap_or_default(),
                        tool.pointer("/annotations/readOnlyHint") == Some(&Value::Bool(true)),
                    );
                }
                let cursor = page.0.get("nextCursor").and_then(Value::as_str);
                Ok(cursor.map(str::to_owned))
            }
            _ => Err(ServiceError::UnexpectedResponse),
        }
    }

    fn add(&mut self, name: &str, description: &str, schema: Value, read_only: bool) {
        let schema = object_schema(schema);
        let bytes = schema.to_string().len();
        let fits = self.listings.len() < TOOLS_MAX
            && bytes <= SCHEMA_BYTES_MAX
            && self.schemas_bytes + bytes <= SCHEMAS_BYTES_MAX;
        // Of two with one name only one can be called.
        let sound =
            !name.is_empty() && name.len() <= OWN_NAME_BYTES_MAX && !self.names.contains(name);
        if !fits || !sound {
            self.left_out += 1;
            return;
        }
        self.schemas_bytes += bytes;
        self.names.insert(name.to_owned());
        self.listings.push(Listing {
            name: name.to_owned(),
            description: words::text(description, DESCRIPTION_BYTES_MAX),
            schema,
            read_only,
        });
    }
}

/// Makes a schema one of an object, which is all that models take.
fn object_schema(schema: Value) -> Value {
    let Value::Object(mut schema) = schema else {
        return json!({ "type": "object" });
    };
    match schema.get("type") {
        None => drop(schema.insert("type".to_owned(), json!("object"))),
        Some(Value::String(kind)) if kind == "object" => {}
        Some(_) => return json!({ "type": "object" }),
    }
    // Some services refuse an object without them.
    if !schema.get("properties").is_none_or(Value::is_object) {
        schema.remove("properties");
    }
    let entry = schema.entry("properties");
    entry.or_insert_with(|| Value::Object(Map::new()));
    let mut schema = Value::Object(schema);
    clean(&mut schema);
    schema
}

/// Cleans the texts of a schema that say something to models; others are data.
fn clean(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if matches!(key.as_str(), "description" | "title") => {
                        *text = words::text(text, DESCRIPTION_BYTES_MAX);
                    }
                    value => clean(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(clean),
        _ => {}
    }
}

/// Makes a name of what services take, without a promise that there is no other.
pub(super) fn plain_name(name: &str) -> String {
    let plain = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => c,
        _ => '_',
    };
    name.chars().map(plain).collect()
}

/// Returns the name under which models call a tool, different from all in `taken`, and takes it.
///
/// It depends on nothing but the names and those before it, so that it stays the same when the list is asked for anew.
pub(super) fn call_name(server: &str, tool: &str, taken: &mut HashSet<String>) -> String {
    let whole = format!("mcp__{server}__{}", plain_name(tool));
    let mut name = whole.clone();
    for round in 0_u32.. {
        if name.len() <= NAME_CHARS_MAX && taken.insert(name.clone()) {
            break;
        }
        let mut hasher = DefaultHasher::new();
        (server, tool, round).hash(&mut hasher);
        let suffix = format!("_{:08x}", hasher.finish() as u32);
        name = whole.chars().take(NAME_CHARS_MAX - suffix.len()).collect();
        name.push_str(&suffix);
    }
    name
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_are_what_services_take_and_differ(tools in prop::collection::vec((".{0,9}", ".{1,90}"), 1..40)) {
            let mut taken = HashSet::new();
            for (server, tool) in &tools {
                let name = call_name(&plain_name(server), tool, &mut taken);
                let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
                prop_assert!(plain && (1..=64).contains(&name.len()), "{name}");
            }
            prop_assert_eq!(taken.len(), tools.len());
        }
    }

    #[test]
    fn a_name_stays_the_same_when_the_list_is_asked_for_anew() {
        let names = || {
            let mut taken = HashSet::new();
            let mut name = |server, tool| call_name(server, tool, &mut taken);
            [
                name("a", "b__c"),
                name("a__b", "c"),
                name("a", &"x".repeat(80)),
            ]
        };
        assert_eq!(names(), names());
        assert_eq!(names()[0], "mcp__a__b__c");
        assert_ne!(names()[0], names()[1]);
    }

    #[test]
    fn what_is_no_schema_of_an_object_becomes_one() {
        let open = json!({ "type": "object" });
        assert_eq!(object_schema(Value::Null), open);
        assert_eq!(object_schema(json!({ "type": "string" })), open);
        let whole = json!({ "type": "object", "properties": {} });
        assert_eq!(object_schema(json!({})), whole);
        assert_eq!(object_schema(json!({ "properties": 7 })), whole);
    }

    #[test]
    fn texts_of_a_schema_are_cleaned_and_its_data_is_not() {
        let schema = json!({ "properties": { "description": {
            "description": "see\u{1b}\u{202e}", "default": "\u{1b}"
        } } });
        let cleaned = object_schema(schema);
        let property = &cleaned["properties"]["description"];
        assert_eq!(property["description"], "see");
        assert_eq!(property["default"], "\u{1b}");
    }

    #[test]
    fn h6_another_description_or_schema_is_another_version() {
        let listing = |name: &str, description: &str, schema: Value| Listing {
            name: name.to_owned(),
            description: description.to_owned(),
            schema,
            read_only: false,
        };
        let first = listing("send", "Sends", json!({ "type": "object" })).version();
        assert_eq!(first.len(), 2 * VERSION_BYTES);
        for other in [
            listing("send", "Sends all", json!({ "type": "object" })),
            listing(
                "send",
                "Sends",
                json!({ "type": "object", "properties": {} }),
            ),
            listing("sendS", "ends", json!({ "type": "object" })),
        ] {
            assert_ne!(other.version(), first, "{other:?}");
        }
    }
}
