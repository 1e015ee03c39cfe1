//! Logging in at a server on the web.

use std::path::Path;

use coder_tests::tasks::{self, Task};
use coder_tests::{Api, Reply, Setup, Story, Tell as _, User, World};
use ply_client::Session;
use ply_coder::mcp::{
    Configured, LoginClient, NewLogin, Settings, Variables, Way, is_logged_in, log_out,
};
use ply_coder::permission::Mode;
use ply_mcp_server::scratch::Scratch;
use ply_mcp_server::{Listening, soon};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::{SERVER, open};

fn named(server: &Listening) -> Configured {
    let way = Way::Url {
        url: server.url.clone(),
        headers: Vec::new(),
    };
    Configured::new("web", way)
}

fn setup(server: &Listening, place: &Scratch) -> Setup {
    let (server, tokens) = (named(server), place.path("tokens"));
    Setup {
        mode: Mode::Full,
        user: User::Allows,
        configure: Box::new(move |config| {
            config.mcp_servers = vec![server];
            config.mcp.tokens = Some(tokens);
        }),
        ..Setup::default()
    }
}

/// Does what a browser does with an address: asks, and follows where it is sent. Returns the last answer.
async fn browse(url: &str) -> String {
    let mut url = url.to_owned();
    loop {
        let rest = url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_once('/').unwrap();
        let mut stream = TcpStream::connect(host).await.unwrap();
        let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        match answer
            .lines()
            .find_map(|line| line.strip_prefix("location: "))
        {
            Some(next) => url = next.to_owned(),
            None => return answer,
        }
    }
}

fn address(story: &Story) -> String {
    let notice = story
        .notices
        .iter()
        .find(|notice| notice.contains("log in"));
    let notice = notice.unwrap_or_else(|| panic!("{:?}", story.notices));
    let (_, rest) = notice.split_once("open ").unwrap();
    rest.split(". ").next().unwrap().to_owned()
}

fn echo(text: &str) -> Reply {
    Reply::call("mcp__web__echo", json!({ "text": text }))
}

/// Prompts until the tools of the server are there, as it connects in the background.
async fn until_listed(world: &World, session: &Session) {
    soon(async {
        loop {
            world.model.push(Reply::say("Done."));
            session.tell("And now?").await;
            let last = world.model.requests().pop().unwrap();
            if last.tools().iter().any(|tool| tool == "mcp__web__echo") {
                return;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn the_user_is_told_where_to_log_in_and_tokens_are_renewed() {
    let place = Scratch::new();
    let web = Listening::start(SERVER, &["--oauth"]).await;
    let world = World::with(setup(&web, &place), [Reply::say("Done.")]).await;
    let session = open(&world, []).await;
    let story = soon(session.tell("Go")).await;
    assert_eq!(story.notices.len(), 1, "{:?}", story.notices);
    let answer = soon(browse(&address(&story))).await;
    assert!(answer.contains("You are logged in."), "{answer}");
    until_listed(&world, &session).await;
    // A token is good for a few requests, so that it has to be renewed in between.
    for number in 0..10 {
        world.model.push(echo(&number.to_string()));
        world.model.push(Reply::say("Done."));
        let story = soon(session.tell("Echo")).await;
        assert_eq!(
            story.told().last(),
            Some(&number.to_string().as_str()),
            "{story:#?}"
        );
    }
    // Another session needs no login.
    let script = [echo("again"), Reply::say("Done.")];
    let again = World::with(setup(&web, &place), script).await;
    let session = open(&again, []).await;
    let story = soon(session.tell("Echo")).await;
    assert_eq!(story.told().last(), Some(&"again"), "{story:#?}");
    assert_eq!(story.notices, [] as [&str; 0]);
}

#[tokio::test]
async fn a_program_logs_in_and_out_without_a_session() {
    let place = Scratch::new();
    let web = Listening::start(SERVER, &["--oauth"]).await;
    let (server, variables) = (named(&web), Variables::default());
    let mut settings = Settings::default();
    settings.tokens = Some(place.path("tokens"));
    assert!(!is_logged_in(&server, &settings, &variables));
    let login = soon(NewLogin::begin(&server, &settings, &variables))
        .await
        .unwrap();
    let url = login.url().to_owned();
    let (finished, _) = tokio::join!(soon(login.finish()), soon(browse(&url)));
    finished.unwrap();
    assert!(is_logged_in(&server, &settings, &variables));
    assert_eq!(log_out(&server, &settings, &variables), Ok(true));
    assert_eq!(log_out(&server, &settings, &variables), Ok(false));
}

#[tokio::test]
async fn a_server_that_wants_no_login_says_so() {
    let place = Scratch::new();
    let web = Listening::start(SERVER, &[]).await;
    let mut settings = Settings::default();
    settings.tokens = Some(place.path("tokens"));
    let (server, variables) = (named(&web), Variables::default());
    let login = NewLogin::begin(&server, &settings, &variables);
    let failed = soon(login).await.unwrap_err();
    assert!(
        failed.message.contains("does not ask for a login"),
        "{failed}"
    );
}

/// Names a server at which only a client that the user registered may log in.
fn registered(web: &Listening, id: &str) -> (Configured, Variables) {
    let mut client = LoginClient::new(id);
    client.secret_env = Some("CLIENT_SECRET".to_owned());
    let mut server = named(web);
    server.client = Some(client);
    let variables =
        Variables::new(|name| (name == "CLIENT_SECRET").then(|| "open sesame".to_owned()));
    (server, variables)
}

#[tokio::test]
async fn a_client_that_the_user_registered_logs_in_where_none_registers_itself() {
    let place = Scratch::new();
    let web = Listening::start(SERVER, &["--oauth", "--secret", "open sesame"]).await;
    let mut settings = Settings::default();
    settings.tokens = Some(place.path("tokens"));
    let (nobody, unset) = (named(&web), Variables::default());
    let failed = NewLogin::begin(&nobody, &settings, &unset);
    let failed = soon(failed).await.unwrap_err();
    assert!(failed.message.contains("set `client_id`"), "{failed}");
    let (unknown, variables) = registered(&web, "unknown");
    let login = soon(NewLogin::begin(&unknown, &settings, &variables));
    let login = login.await.unwrap();
    let url = login.url().to_owned();
    let (refused, _) = tokio::join!(soon(login.finish()), soon(browse(&url)));
    assert!(refused.unwrap_err().contains("refused"));
    let unset = NewLogin::begin(&unknown, &settings, &unset);
    let unset = soon(unset).await.unwrap_err();
    assert!(unset.message.contains("`CLIENT_SECRET`"), "{unset}");

    let (server, variables) = registered(&web, "known");
    let setup = Setup {
        configure: Box::new(move |config| {
            config.mcp_servers = vec![server];
            config.mcp = settings;
            config.variables = variables;
        }),
        ..setup(&web, &place)
    };
    let world = World::with(setup, [Reply::say("Done.")]).await;
    let session = open(&world, []).await;
    let story = soon(session.tell("Go")).await;
    let answer = soon(browse(&address(&story))).await;
    assert!(answer.contains("You are logged in."), "{answer}");
    until_listed(&world, &session).await;
    // Beyond what one token is good for: it is renewed with the secret.
    for number in 0..6 {
        world.model.push(echo(&number.to_string()));
        world.model.push(Reply::say("Done."));
        let story = soon(session.tell("Echo")).await;
        assert_eq!(story.told().last(), Some(&number.to_string().as_str()));
    }
}

#[tokio::test]
async fn a_task_is_done_with_a_server_that_wants_a_login_on_every_api() {
    let place = Scratch::new();
    let web = Listening::start(SERVER, &["--oauth"]).await;
    let (server, variables) = (named(&web), Variables::default());
    let mut settings = Settings::default();
    settings.tokens = Some(place.path("tokens"));
    let login = soon(NewLogin::begin(&server, &settings, &variables)).await;
    let login = login.unwrap();
    let url = login.url().to_owned();
    let (finished, _) = tokio::join!(soon(login.finish()), soon(browse(&url)));
    finished.unwrap();
    let tracker = Path::new(env!("CARGO_MANIFEST_DIR")).join("tasks/tracker");
    for api in Api::ALL {
        let mut task = Task::load(&tracker).unwrap();
        task.script.api = api;
        let (server, settings) = (server.clone(), settings.clone());
        let report = tasks::run_with(&task, None, move |config| {
            config.mcp_servers = vec![server];
            config.mcp = settings;
        });
        let report = soon(report).await;
        assert!(report.is_well(), "{api:?}: {report}");
    }
}
