//! Every sampled message type, with its official JSON Schema and its samples.
//!
//! `v1/*.json` and `v2/*.json` map type names to named samples. Where a decoder fills in defaults,
//! `"<name> encoded"` is what a sample is encoded as; otherwise it is encoded as it stands.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) json: Value,
    pub(crate) encoded: Value,
}

pub(crate) struct MessageType {
    pub(crate) name: &'static str,
    pub(crate) schema: Value,
    pub(crate) validator: jsonschema::Validator,
    pub(crate) samples: Vec<Sample>,
    /// Decodes and encodes again; the error is the decoder's.
    pub(crate) recode: fn(&str) -> Result<Value, String>,
}

impl MessageType {
    pub(crate) fn is_valid(&self, json: &Value) -> bool {
        self.validator.is_valid(json)
    }

    #[track_caller]
    pub(crate) fn assert_valid(&self, what: &str, json: &Value) {
        let errors: Vec<_> = self
            .validator
            .iter_errors(json)
            .map(|e| e.to_string())
            .collect();
        assert!(
            errors.is_empty(),
            "{}: {what} breaks the schema: {errors:#?}",
            self.name
        );
    }
}

pub(crate) static V1: LazyLock<Vec<MessageType>> = LazyLock::new(|| load("v1", v1_types()));
pub(crate) static V2: LazyLock<Vec<MessageType>> = LazyLock::new(|| load("v2", v2_types()));

pub(crate) fn both() -> impl Iterator<Item = &'static MessageType> {
    V1.iter().chain(V2.iter())
}

pub(crate) fn find(types: &'static [MessageType], name: &str) -> &'static MessageType {
    types.iter().find(|message| message.name == name).unwrap()
}

fn load(version: &str, mut types: Vec<MessageType>) -> Vec<MessageType> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/wire/samples")
        .join(version);
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let families: BTreeMap<String, BTreeMap<String, Value>> =
            serde_json::from_str(&text).unwrap();
        for (name, samples) in families {
            let message = types.iter_mut().find(|message| message.name == name);
            message.unwrap_or_else(|| panic!("no type {name}")).samples = named(&samples);
        }
    }
    types
}

fn named(samples: &BTreeMap<String, Value>) -> Vec<Sample> {
    let inputs = samples
        .iter()
        .filter(|(name, _)| !name.ends_with(" encoded"));
    let samples = inputs.map(|(name, json)| {
        let encoded = samples.get(&format!("{name} encoded")).unwrap_or(json);
        Sample {
            name: name.clone(),
            json: json.clone(),
            encoded: encoded.clone(),
        }
    });
    samples.collect()
}

fn message<T>(name: &'static str) -> MessageType
where
    T: JsonSchema + Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let schema = schemars::schema_for!(T).to_value();
    let validator = jsonschema::validator_for(&schema).unwrap();
    MessageType {
        name,
        schema,
        validator,
        samples: Vec::new(),
        recode: recode::<T>,
    }
}

fn recode<T>(text: &str) -> Result<Value, String>
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let first: T = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let encoded = serde_json::to_string(&first).unwrap();
    let second: T = serde_json::from_str(&encoded).unwrap();
    assert_eq!(first, second, "what was encoded decodes to something else");
    Ok(serde_json::from_str(&encoded).unwrap())
}

macro_rules! types {
    ($function:ident, $version:ident: $($name:ident)*) => {
        fn $function() -> Vec<MessageType> {
            vec![$(message::<ply_wire::$version::$name>(stringify!($name))),*]
        }
    };
}

types! { v1_types, v1:
    InitializeRequest InitializeResponse AuthenticateRequest AuthenticateResponse
    LogoutRequest LogoutResponse CancelRequestNotification
    NewSessionRequest NewSessionResponse LoadSessionRequest LoadSessionResponse
    ResumeSessionRequest ResumeSessionResponse ListSessionsRequest ListSessionsResponse
    CloseSessionRequest CloseSessionResponse DeleteSessionRequest DeleteSessionResponse
    ForkSessionRequest ForkSessionResponse SessionStatusRequest SessionStatusResponse
    SetSessionTitleRequest SetSessionTitleResponse
    ArchiveSessionRequest ArchiveSessionResponse UnarchiveSessionRequest UnarchiveSessionResponse
    SetSessionModeRequest SetSessionModeResponse
    SetSessionConfigOptionRequest SetSessionConfigOptionResponse CancelNotification
    PromptRequest PromptResponse ContentBlock
    SessionNotification SessionUpdate ToolCallContent
    RequestPermissionRequest RequestPermissionResponse
    ReadTextFileRequest ReadTextFileResponse WriteTextFileRequest WriteTextFileResponse
    CreateTerminalRequest CreateTerminalResponse TerminalOutputRequest TerminalOutputResponse
    WaitForTerminalExitRequest WaitForTerminalExitResponse KillTerminalRequest KillTerminalResponse
    ReleaseTerminalRequest ReleaseTerminalResponse
    CreateElicitationRequest CreateElicitationResponse CompleteElicitationNotification
    Error
}

types! { v2_types, v2:
    InitializeRequest InitializeResponse LoginAuthRequest LoginAuthResponse
    LogoutAuthRequest LogoutAuthResponse CancelRequestNotification
    NewSessionRequest NewSessionResponse ResumeSessionRequest ResumeSessionResponse
    ListSessionsRequest ListSessionsResponse CloseSessionRequest CloseSessionResponse
    DeleteSessionRequest DeleteSessionResponse
    ForkSessionRequest ForkSessionResponse SessionStatusRequest SessionStatusResponse
    SetSessionTitleRequest SetSessionTitleResponse
    ArchiveSessionRequest ArchiveSessionResponse UnarchiveSessionRequest UnarchiveSessionResponse
    SetSessionConfigOptionRequest SetSessionConfigOptionResponse CancelSessionNotification
    CancelToolCallRequest CancelToolCallResponse CancelTerminalRequest CancelTerminalResponse
    PromptRequest PromptResponse ContentBlock
    UpdateSessionNotification SessionUpdate ToolCallContent
    RequestPermissionRequest RequestPermissionResponse
    CreateElicitationRequest CreateElicitationResponse CompleteElicitationNotification
    Error
}
