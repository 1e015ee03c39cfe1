//! What an agent advertises works, and nothing else does.

use ply_agent::{About, Accepts, Mcp};
use serde_json::{Value, json};

use crate::actor::Actor;
use crate::support::*;

const INVALID_PARAMS: i64 = -32602;

fn v2_params(version: i64) -> Value {
    json!({"protocolVersion": version, "info": {"name": "test", "version": "1"}, "capabilities": {}})
}

/// What an agent may say of itself, and whether the rest of the test needs it.
fn abouts() -> Vec<About> {
    let flags = |bits: u32, bit: u32| bits & (1 << bit) != 0;
    (0..64)
        .map(|bits| {
            let accepts = Accepts {
                image: flags(bits, 0),
                audio: flags(bits, 1),
                embedded_context: flags(bits, 2),
            };
            let mcp = Mcp {
                stdio: flags(bits, 3),
                http: flags(bits, 4),
            };
            let about = About::new("actor", "1").accepts(accepts).mcp(mcp);
            match flags(bits, 5) {
                true => about.additional_directories(),
                false => about,
            }
        })
        .collect()
}

// Also: V2-INIT-13, V1-INIT-15, V2-INIT-10, V2-ERR-02, V2-SESS-04.
#[tokio::test(start_paused = true)]
async fn v1_init_16_what_is_advertised_works_and_nothing_else_does() {
    for about in abouts() {
        let server = Actor::about_itself(about.clone()).serve();
        for version in [1, 2] {
            let mut client = connect(&server);
            let answer = client.ok("initialize", v2_params(version)).await;
            check_prompts(&mut client, &answer, &about, version).await;
            check_setup(&mut client, &answer, &about, version).await;
        }
    }
}

async fn check_prompts(client: &mut Client, answer: &Value, about: &About, version: i64) {
    let advertised = |name: &str| match version {
        1 => answer["agentCapabilities"]["promptCapabilities"][name] == true,
        _ => answer["capabilities"]["session"]["prompt"][name].is_object(),
    };
    let resource = json!({"uri": "file:///a", "text": "x"});
    let blocks = [
        (
            "image",
            json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}),
            about.accepts.image,
        ),
        (
            "audio",
            json!({"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}),
            about.accepts.audio,
        ),
        (
            "embeddedContext",
            json!({"type": "resource", "resource": resource}),
            about.accepts.embedded_context,
        ),
    ];
    let session = client.session().await;
    for (name, block, can) in blocks {
        assert_eq!(advertised(name), can, "{name} in {answer}");
        let params = json!({"sessionId": session, "prompt": [block]});
        let id = client.ask("session/prompt", params).await;
        let answer = client.answered(id).await.pop().unwrap();
        match can {
            true => assert!(answer.get("result").is_some(), "{name}: {answer}"),
            false => assert_eq!(answer["error"]["code"], INVALID_PARAMS, "{name}: {answer}"),
        }
    }
    let link = json!({"type": "resource_link", "name": "a", "uri": "file:///a"});
    let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": "look"}, link]});
    client.ok("session/prompt", params).await;
    client
        .ok("session/close", json!({"sessionId": session}))
        .await;
}

async fn check_setup(client: &mut Client, answer: &Value, about: &About, version: i64) {
    let session = match version {
        1 => &answer["agentCapabilities"]["sessionCapabilities"],
        _ => &answer["capabilities"]["session"],
    };
    if version == 1 {
        assert_eq!(answer["agentCapabilities"]["loadSession"], true);
        let markers = ["list", "resume", "close"];
        assert!(
            markers.iter().all(|marker| session[marker].is_object()),
            "{answer}"
        );
        let mcp = &answer["agentCapabilities"]["mcpCapabilities"];
        assert_eq!(mcp["http"] == true, about.mcp.http);
        assert!(mcp["sse"] != true);
    } else {
        assert_eq!(session["mcp"]["stdio"].is_object(), about.mcp.stdio);
        assert_eq!(session["mcp"]["http"].is_object(), about.mcp.http);
    }
    assert!(session["delete"].is_object());
    let roots = session["additionalDirectories"].is_object();
    assert_eq!(roots, about.additional_directories);
    let new = |servers: Value, roots: Value| json!({"cwd": "/work", "mcpServers": servers, "additionalDirectories": roots});
    let mut stdio = json!({"name": "s", "command": "/bin/s", "args": [], "env": []});
    let http = json!({"type": "http", "name": "h", "url": "https://h", "headers": []});
    if version == 2 {
        stdio["type"] = json!("stdio");
    }
    let stdio_works = about.mcp.stdio || version == 1;
    check(client, new(json!([stdio]), json!([])), stdio_works).await;
    check(client, new(json!([http]), json!([])), about.mcp.http).await;
    check(
        client,
        new(
            json!([{"type": "sse", "name": "e", "url": "https://e", "headers": []}]),
            json!([]),
        ),
        false,
    )
    .await;
    check(
        client,
        new(json!([{"type": "_x", "name": "e"}]), json!([])),
        false,
    )
    .await;
    check(
        client,
        new(json!([]), json!(["/more"])),
        about.additional_directories,
    )
    .await;
    check(client, new(json!([]), json!(["more"])), false).await;
}

async fn check(client: &mut Client, params: Value, works: bool) {
    let id = client.ask("session/new", params.clone()).await;
    let answer = client.answered(id).await.pop().unwrap();
    match works {
        true => assert!(answer.get("result").is_some(), "{params}: {answer}"),
        false => assert_eq!(
            answer["error"]["code"], INVALID_PARAMS,
            "{params}: {answer}"
        ),
    }
}
