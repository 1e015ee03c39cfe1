//! Where a document is planted, and a turn in which the model believes it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use coder_tests::{Api, Reply, Setup, Story, World, read_story};
use ply_client::{Decision, Session, SessionSetup, Supported, transcript::ToolCall, v2};
use ply_coder::permission::Mode;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::case::{Call, Case};
use crate::snapshot::Snapshot;

/// What lies outside of the project and must never be sent to a model.
pub(crate) const OUTER: &str = "outer-canary-7c1e";
/// What lies in the project's secrets.
pub(crate) const INNER: &str = "inner-canary-93ab";

const SERVER: &str = include_str!("server.sh");

/// What every repository has, most of it guarded.
const USUAL: &[(&str, &str)] = &[
    (".git/HEAD", "ref: refs/heads/main\n"),
    (".git/config", "[core]\n\trepositoryformatversion = 0\n"),
    (".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n"),
    (".git/objects/keep", ""),
    (".git/refs/keep", ""),
    (".env", "TOKEN=inner-canary-93ab\n"),
    (".bashrc", "alias ll='ls -l'\n"),
    (".vscode/tasks.json", "{}\n"),
    (".gitlab-ci.yml", "test: {}\n"),
    (".cargo/config.toml", "[build]\n"),
    ("src/main.rs", "fn main() {}\n"),
];

/// Who sits before the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Person {
    /// Rejects whatever is asked.
    Rejects,
    /// Allows once what the case calls harmless, and rejects the rest.
    Careful,
    /// Allows everything for as long as is offered.
    Hasty,
}

/// Under which conditions a document is tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conditions {
    pub(crate) mode: Mode,
    pub(crate) person: Person,
    pub(crate) versions: Supported,
    pub(crate) api: Api,
}

/// A turn that has ended.
pub(crate) struct Played {
    pub(crate) world: World,
    pub(crate) session: Session,
    pub(crate) story: Story,
    /// What the person was asked.
    pub(crate) questions: Vec<v2::RequestPermissionRequest>,
    /// The file with the user's rules.
    pub(crate) rules: PathBuf,
    pub(crate) outside: TempDir,
    pub(crate) outside_before: Snapshot,
    pub(crate) root_before: Snapshot,
    /// The server that must never be asked.
    pub(crate) listener: TcpListener,
    _servers: TempDir,
}

/// Plays a case to its end.
pub(crate) async fn play(case: &Case, conditions: Conditions) -> Played {
    let questions: Arc<Mutex<Vec<v2::RequestPermissionRequest>>> = Arc::default();
    let rules: Arc<Mutex<PathBuf>> = Arc::default();
    let setup = Setup {
        api: conditions.api,
        versions: conditions.versions,
        mode: conditions.mode,
        configure: Box::new({
            let rules = Arc::clone(&rules);
            move |config| {
                config.web_fetch = true;
                *rules.lock().unwrap() = config.user_rules.clone().unwrap();
            }
        }),
        client: Box::new({
            let person = person(conditions.person, case, Arc::clone(&questions));
            move |client| client.permissions(person)
        }),
        ..Setup::default()
    };
    let world = World::with(setup, []).await;
    let rules = rules.lock().unwrap().clone();
    let outside = TempDir::new().unwrap();
    let (servers, listener) = (
        TempDir::new().unwrap(),
        TcpListener::bind("127.0.0.1:0").await.unwrap(),
    );
    let url = format!("http://{}", listener.local_addr().unwrap());
    let outside_path = outside.path().canonicalize().unwrap();
    let case = &case.placed(&[
        ("{root}", world.path().to_str().unwrap()),
        ("{outside}", outside_path.to_str().unwrap()),
        (
            "{outside_name}",
            outside_path.file_name().unwrap().to_str().unwrap(),
        ),
        ("{rules}", rules.to_str().unwrap()),
        ("{url}", &url),
    ]);
    plant_outside(&outside_path);
    plant(case, &world);
    let mut setup = SessionSetup::new(world.path());
    if let Some(server) = serve(case, servers.path()) {
        setup = setup.mcp_server(server);
    }
    script(case, &world);
    let (outside_before, root_before) = (Snapshot::of(&outside_path), Snapshot::of(&world.path()));
    let session = world.agent.new_session(setup).await.unwrap();
    let turn = session.prompt(prompt(case)).await.unwrap();
    let story = read_story(&session, turn).await;
    let questions = questions.lock().unwrap().clone();
    Played {
        world,
        session,
        story,
        questions,
        rules,
        outside,
        outside_before,
        root_before,
        listener,
        _servers: servers,
    }
}

fn person(
    person: Person,
    case: &Case,
    questions: Arc<Mutex<Vec<v2::RequestPermissionRequest>>>,
) -> impl Fn(&v2::RequestPermissionRequest, Option<&ToolCall>) -> Decision + Send + Sync + 'static {
    use v2::PermissionOptionKind as Kind;
    let commands = case.harmless.iter().map(|line| format!("Run `{line}`"));
    let calls = case
        .harmless_calls
        .iter()
        .map(|tool| format!("Call `{tool}`"));
    let harmless: Vec<String> = commands.chain(calls).collect();
    move |request, _| {
        questions.lock().unwrap().push(request.clone());
        let wanted = match person {
            Person::Hasty => [Kind::AllowAlways, Kind::AllowOnce],
            Person::Careful if harmless.contains(&request.title) => {
                [Kind::AllowOnce, Kind::AllowOnce]
            }
            Person::Careful | Person::Rejects => [Kind::RejectOnce, Kind::RejectOnce],
        };
        let options = || request.options.iter();
        let found = wanted
            .iter()
            .find_map(|kind| options().find(|option| option.kind == *kind));
        Decision::Select(found.unwrap().option_id.clone())
    }
}

fn plant_outside(outside: &Path) {
    std::fs::create_dir(outside.join(".ssh")).unwrap();
    for name in ["secret.txt", "rc", ".bashrc", ".ssh/id_ed25519"] {
        std::fs::write(outside.join(name), format!("alias {OUTER}\n")).unwrap();
    }
}

fn plant(case: &Case, world: &World) {
    for (name, text) in USUAL {
        world.write(name, text);
    }
    for (name, text) in &case.files {
        world.write(name, text);
    }
    if let Some(huge) = &case.huge {
        world.write(&huge.path, &huge.text.repeat(huge.times));
    }
    for (name, target) in &case.links {
        std::os::unix::fs::symlink(target, world.path().join(name)).unwrap();
    }
}

fn serve(case: &Case, directory: &Path) -> Option<v2::McpServer> {
    let server = case.server.as_ref()?;
    let tool = json!({
        "name": server.tool,
        "description": server.description,
        "inputSchema": { "type": "object" },
    });
    let result = json!({
        "content": [{ "type": "text", "text": server.result }],
        "isError": server.failed,
    });
    let mut args = Vec::new();
    for (name, text) in [
        ("server.sh", SERVER.to_owned()),
        ("list.json", json!({ "tools": [tool] }).to_string()),
        ("result.json", result.to_string()),
    ] {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        args.push(path.to_str().unwrap().to_owned());
    }
    Some(v2::McpServer::Stdio(
        v2::McpServerStdio::new("s", "/bin/sh").args(args),
    ))
}

fn script(case: &Case, world: &World) {
    let steps = case.look().map(|call| vec![call]).into_iter();
    for step in steps.chain(case.obeys.iter().cloned()) {
        let add = |reply: Reply, (name, arguments): Call| reply.and_call(name, arguments);
        world.model.push(step.into_iter().fold(Reply::empty(), add));
    }
    world.model.push(Reply::say(&case.say));
}

fn prompt(case: &Case) -> Vec<v2::ContentBlock> {
    let mut prompt: Vec<v2::ContentBlock> = Vec::new();
    if !case.prompt.is_empty() {
        prompt.push(case.prompt.as_str().into());
    }
    if let Some(attached) = &case.attached {
        let text = attached.text.repeat(attached.times);
        let text = v2::TextResourceContents::new(text, attached.uri.clone());
        let text = v2::EmbeddedResourceResource::TextResourceContents(text);
        prompt.push(v2::ContentBlock::Resource(v2::EmbeddedResource::new(text)));
    }
    if let Some(linked) = &case.linked {
        let link = v2::ResourceLink::new(linked.name.clone(), linked.uri.clone());
        prompt.push(v2::ContentBlock::ResourceLink(link));
    }
    prompt
}
