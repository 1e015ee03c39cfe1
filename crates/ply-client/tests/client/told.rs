//! What an agent tells of a session beside its words: title, commands, options, message ids.

use crate::support::{SESSION, Script, prompt, v1_session, v1_with, v2_session, v2_with};
use ply_client::{Agent, Client, Event, Prompt, Session, v2};
use serde_json::{Value, json};

async fn opened(agent: &Agent, script: &mut Script, options: Value) -> Session {
    let answer = json!({ "sessionId": SESSION, "configOptions": options });
    let answering = async {
        let request = script.expect("session/new").await;
        script.answer(&request, answer).await;
    };
    let (session, ()) = tokio::join!(agent.new_session("/work"), answering);
    session.unwrap()
}

fn title(session: &Session) -> Option<String> {
    session.with_transcript(|transcript| transcript.info().title.clone())
}

#[tokio::test]
async fn v1_info_02_an_omitted_field_keeps_its_value_and_null_clears_it() {
    for (session, mut script) in [v1_session().await, v2_session().await] {
        let steps = [
            (json!({ "title": "Plums" }), Some("Plums")),
            (
                json!({ "updatedAt": "2026-01-01T00:00:00Z" }),
                Some("Plums"),
            ),
            (json!({ "title": null }), None),
            (json!({ "title": "Pears" }), Some("Pears")),
        ];
        for (mut update, expected) in steps {
            update["sessionUpdate"] = json!("session_info_update");
            script.update(update).await;
            script.silent().await;
            assert_eq!(title(&session).as_deref(), expected);
        }
        let time = session.with_transcript(|transcript| transcript.info().updated_at.clone());
        assert_eq!(time.as_deref(), Some("2026-01-01T00:00:00Z"));
    }
}

#[tokio::test]
async fn v1_msgid_02_ids_are_compared_as_they_are_and_null_is_none() {
    let (session, mut script) = v1_session().await;
    let (_turn, _) = prompt(&session, &mut script, "hi").await;
    let ids = [
        json!("1"),
        json!("01"),
        json!(" 1"),
        json!("1 "),
        json!("1"),
    ];
    for (number, id) in ids.iter().enumerate() {
        let mut chunk = crate::support::words(&number.to_string());
        chunk["messageId"] = id.clone();
        script.update(chunk).await;
    }
    // One that is null and one that is left out go on with the same message.
    let mut null = crate::support::words("a");
    null["messageId"] = Value::Null;
    script
        .update(json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "T" }))
        .await;
    script.update(null).await;
    script.say("b").await;
    script.silent().await;
    let texts: Vec<_> = session.with_transcript(|transcript| {
        let words = transcript.messages().skip(1);
        words.map(|message| message.text()).collect()
    });
    assert_eq!(texts, ["04", "1", "2", "3", "ab"]);
}

fn commands(names: &[&str], is_v2: bool) -> Value {
    let commands: Vec<_> = names
        .iter()
        .map(|name| {
            let mut command = json!({ "name": name, "description": "Does it" });
            if is_v2 {
                command["type"] = json!("command");
            }
            command
        })
        .collect();
    json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands })
}

#[tokio::test]
async fn v1_cmd_02_each_list_of_commands_replaces_the_one_before() {
    for is_v2 in [false, true] {
        let (session, mut script) = match is_v2 {
            false => v1_session().await,
            true => v2_session().await,
        };
        for names in [&["a", "b", "c"][..], &["b"], &[]] {
            script.update(commands(names, is_v2)).await;
            script.silent().await;
            let known: Vec<_> = session
                .commands()
                .into_iter()
                .filter_map(|command| match command {
                    v2::AvailableCommand::Command(command) => Some(command.name),
                    _ => None,
                })
                .collect();
            assert_eq!(known, names);
        }
    }
}

#[tokio::test]
async fn v1_cmd_04_a_command_is_sent_as_ordinary_text() {
    for (session, mut script) in [v1_session().await, v2_session().await] {
        let said = Prompt::command("web", "agent client protocol").link("file:///work/a.md");
        let _turn = session.prompt(said).await.unwrap();
        let request = script.expect("session/prompt").await;
        assert_eq!(
            request["params"]["prompt"],
            json!([
                { "type": "text", "text": "/web agent client protocol" },
                { "type": "resource_link", "name": "a.md", "uri": "file:///work/a.md" },
            ])
        );
        let _turn = session.prompt(Prompt::command("help", "")).await.unwrap();
    }
    let plain = Prompt::command("help", "");
    assert_eq!(plain, Prompt::new("/help"));
}

/// A select option, without a category unless there is one.
fn option(id: &str, current: &str, category: Option<&str>, is_v2: bool) -> Value {
    let value = |id: &&str| json!({ "value": id, "name": id });
    let values: Vec<_> = ["small", "large"].iter().map(value).collect();
    let mut option = json!({
        "name": id, "type": "select", "currentValue": current, "options": values,
    });
    option[if is_v2 { "configId" } else { "id" }] = json!(id);
    if let Some(category) = category {
        option["category"] = json!(category);
    }
    option
}

// Also: V1-CONF-08.
#[tokio::test]
async fn v1_conf_07_options_of_no_category_or_an_unknown_one_are_set_like_any_other() {
    for is_v2 in [false, true] {
        let (agent, mut script) = match is_v2 {
            false => v1_with(Client::new(), json!({})).await,
            true => v2_with(Client::new(), json!({})).await,
        };
        let list = |plain: &str, odd: &str, own: &str| {
            json!([
                option("plain", plain, None, is_v2),
                option("odd", odd, Some("zzz"), is_v2),
                option("own", own, Some("_mine"), is_v2),
            ])
        };
        let session = opened(&agent, &mut script, list("small", "small", "small")).await;
        assert_eq!(session.config_options().len(), 3);
        let answers = [
            ("plain", list("large", "small", "small")),
            ("odd", list("large", "large", "small")),
            ("own", list("large", "large", "large")),
        ];
        for (id, answer) in answers {
            let answering = async {
                let request = script.expect("session/set_config_option").await;
                assert_eq!(request["params"]["configId"], id);
                assert_eq!(request["params"]["value"], "large");
                script
                    .answer(&request, json!({ "configOptions": answer }))
                    .await;
            };
            let (set, ()) = tokio::join!(session.set_config_option(id, "large"), answering);
            set.unwrap();
        }
        let options = serde_json::to_value(session.config_options()).unwrap();
        assert!(
            options
                .as_array()
                .unwrap()
                .iter()
                .all(|option| option["currentValue"] == "large"),
            "{options}"
        );
    }
}

// Also: V2-CONF-02.
#[tokio::test]
async fn v1_conf_11_a_boolean_is_sent_with_its_type() {
    for (is_v2, field) in [(false, "id"), (true, "configId")] {
        let (agent, mut script) = match is_v2 {
            false => v1_with(Client::new(), json!({})).await,
            true => v2_with(Client::new(), json!({})).await,
        };
        let web = |on: bool| json!([{ field: "web", "name": "Web", "type": "boolean", "currentValue": on }]);
        let session = opened(&agent, &mut script, web(false)).await;
        let answering = async {
            let request = script.expect("session/set_config_option").await;
            assert_eq!(
                request["params"],
                json!({ "sessionId": SESSION, "configId": "web", "type": "boolean", "value": true })
            );
            script
                .answer(&request, json!({ "configOptions": web(true) }))
                .await;
        };
        let (set, ()) = tokio::join!(session.set_config_option("web", true), answering);
        set.unwrap();
    }
}

// Also: V2-EXT-02.
#[tokio::test]
async fn v2_content_01_a_block_of_an_unknown_type_is_kept_as_it_came() {
    let (session, mut script) = v2_session().await;
    let (mut turn, _) = prompt(&session, &mut script, "hi").await;
    let known = [
        json!({ "type": "text", "text": "a" }),
        json!({ "type": "image", "data": "YQ==", "mimeType": "image/png" }),
        json!({ "type": "audio", "data": "YQ==", "mimeType": "audio/wav" }),
        json!({ "type": "resource_link", "name": "a", "uri": "file:///a" }),
        json!({ "type": "resource", "resource": { "uri": "file:///a", "text": "b" } }),
    ];
    let odd = json!({ "type": "_x", "anything": [1, { "b": null }] });
    for block in known.iter().chain([&odd]) {
        let mut chunk = crate::support::words_of("m", "");
        chunk["content"] = block.clone();
        script.update(chunk).await;
        let message = loop {
            if let Event::Message(message) = turn.next().await.unwrap().unwrap() {
                break message;
            }
        };
        let told = serde_json::to_value(message.content()).unwrap();
        assert_eq!(told, json!([block]));
    }
    let kept = session.with_transcript(|transcript| {
        let message = transcript.messages().last().unwrap();
        serde_json::to_value(&message.content).unwrap()
    });
    assert_eq!(kept.as_array().unwrap().last(), Some(&odd));
}
