//! What the schema calls unstable: the SDK's client over an agent made with Ply, on both versions.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

use interop_tests::{Error, SdkClient, Settings, Version};
use serde_json::{Value, json};

const AGENT: &str = env!("CARGO_BIN_EXE_ply_agent");
const CWD: &str = "/tmp";

fn ids(listed: &Value) -> Vec<&str> {
    let sessions = listed["sessions"].as_array().unwrap();
    let ids = sessions.iter().map(|session| &session["sessionId"]);
    ids.filter_map(Value::as_str).collect()
}

#[tokio::test]
async fn the_sdk_forks_names_and_archives_sessions_of_ply_and_reads_their_status() {
    for version in [Version::V1, Version::V2] {
        let client = SdkClient::start(version, AGENT, &["unstable"], Settings::default());
        let client = client.await.unwrap();
        client.initialize().await.unwrap();
        let session = client.new_session(CWD).await.unwrap();
        client.prompt(&session, "hello").await.unwrap();

        let fork = client.fork(&session, CWD).await.unwrap();
        assert_ne!(fork, session);
        client.prompt(&fork, "hello").await.unwrap();
        let status = client.status(&fork).await.unwrap();
        assert_eq!(status["status"], "open", "{status}");
        assert_eq!(status["state"]["state"] == "idle", version == Version::V2);

        let title = client.set_title(&fork, " Plums\n").await.unwrap();
        assert_eq!(title, json!({"title": "Plums"}));
        client.set_archived(&fork, true).await.unwrap();
        assert_eq!(ids(&client.list().await.unwrap()), [&session]);
        let archived = client.list_archived().await.unwrap();
        assert_eq!(ids(&archived), [&fork]);
        assert_eq!(archived["sessions"][0]["title"], "Plums");
        let status = client.status(&fork).await.unwrap();
        assert_eq!(status, json!({"status": "saved"}));
        client.set_archived(&fork, false).await.unwrap();
        assert_eq!(ids(&client.list().await.unwrap()).len(), 2);

        let unknown = client.status("sess-nope").await.unwrap_err();
        let Error::Refused { error, .. } = unknown else {
            panic!("{unknown}");
        };
        assert_eq!(error["code"], -32002);
    }
}
