//! What is not offered is neither advertised nor served.

use ply_agent::About;
use serde_json::{Value, json};

use super::of;
use crate::actor::{Actor, run};
use crate::script::{BOTH, Version};
use crate::support::*;

/// Says hello and returns the markers of sessions.
async fn markers(client: &mut Client, version: Version) -> Value {
    match version {
        Version::V1 => {
            let answer = client.ok("initialize", json!({"protocolVersion": 1})).await;
            answer["agentCapabilities"]["sessionCapabilities"].clone()
        }
        Version::V2 => {
            let info = json!({"name": "test", "version": "1"});
            let params = json!({"protocolVersion": 2, "info": info, "capabilities": {}});
            let answer = client.ok("initialize", params).await;
            answer["capabilities"]["session"].clone()
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_unstable_method_is_served_if_and_only_if_it_is_advertised() {
    let about = || About::new("actor", "1");
    let offers = [
        ("", about()),
        ("fork", about().session_fork()),
        ("status", about().session_status()),
        ("title", about().session_set_title()),
        ("archive", about().session_archive()),
    ];
    let methods = [
        ("fork", "session/fork"),
        ("status", "session/status"),
        ("title", "session/set_title"),
        ("archive", "session/archive"),
        ("archive", "session/unarchive"),
    ];
    for (offer, about) in offers {
        for version in BOTH {
            let mut client = connect(&Actor::about_itself(about.clone()).serve());
            let markers = markers(&mut client, version).await;
            for (marker, method) in methods {
                assert_eq!(
                    markers[marker].is_object(),
                    marker == offer,
                    "{offer}: {markers}"
                );
                let session = client.session().await;
                run(&mut client, &session, "say words").await;
                let mut params = of(&session);
                params["title"] = json!("A name");
                let id = client.ask(method, params).await;
                let answer = client.answered(id).await.pop().unwrap();
                match marker == offer {
                    true => assert!(answer["result"].is_object(), "{method}: {answer}"),
                    false => assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}"),
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_without_archive_lists_every_session_and_says_nothing_of_archives() {
    for version in BOTH {
        let server = Actor::new().serve();
        let mut client = connect(&server);
        markers(&mut client, version).await;
        let session = client.session().await;
        for archived in ["only", "exclude", "_later"] {
            let answer = client
                .ok("session/list", json!({"archived": archived}))
                .await;
            assert_eq!(answer["sessions"][0]["sessionId"], session);
            assert!(answer["sessions"][0].get("archived").is_none(), "{answer}");
        }
    }
}
