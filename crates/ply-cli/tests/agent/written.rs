//! What users write for the agent: commands, skills, instructions and hooks, where the program looks for them.

use coder_tests::{ModelServer, Reply, Tell as _};
use ply_client::{Client, Supported};
use serde_json::json;

use crate::place::Place;

/// Writes a file in the home directory.
fn at_home(place: &Place, name: &str, text: &str) {
    let path = place.path("home").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[tokio::test]
async fn the_users_own_files_are_found_in_the_home_directory() {
    for version in [Supported::V1, Supported::V2] {
        let place = Place::new();
        let script = [
            Reply::say("One."),
            Reply::call("skill", json!({ "name": "pdf" })),
            Reply::say("Two."),
        ];
        let model = ModelServer::start(script).await;
        place.configure_model(&model, "");
        at_home(&place, ".config/ply/AGENTS.md", "Be brief.");
        at_home(&place, ".config/ply/commands/tidy.md", "Tidy $1 up.");
        at_home(&place, ".claude/commands/git/fix.md", "Fix it.");
        let skill = "---\ndescription: Reads PDFs\n---\nOpen it.";
        at_home(&place, ".agents/skills/pdf/SKILL.md", skill);
        at_home(&place, ".claude/skills/doc/SKILL.md", skill);
        let agent = place.agent().client(Client::new().versions(version)).await;
        let session = agent.new_session(place.project()).await.unwrap();
        let help = session.tell("/help").await.text;
        for name in ["`/tidy`", "`/git:fix`", "`/pdf`", "`/doc`"] {
            assert!(help.contains(name), "{name}: {help}");
        }
        let story = session.tell("/tidy src").await;
        assert_eq!(story.text, "One.", "{story:#?}");
        let seen = model.request(0).await;
        assert!(seen.body.to_string().contains("Tidy src up."));
        assert!(seen.system().contains("Be brief."));
        let story = session.tell("Read the PDF").await;
        assert!(story.told()[0].contains("Open it."), "{story:#?}");
    }
}

#[tokio::test]
async fn a_hook_of_the_configuration_has_no_keys_in_its_environment() {
    let place = Place::new();
    let script = [
        Reply::call("write_file", json!({ "path": "a.txt", "content": "a" })),
        Reply::say("Blocked."),
    ];
    let model = ModelServer::start(script).await;
    place.configure_model(&model, "");
    let config = place.path("home/.config/ply/config.toml");
    let mut text = std::fs::read_to_string(&config).unwrap();
    text.push_str(
        "[[hooks]]\nevent = \"before-tool\"\ntool = \"write_*\"\n\
         command = \"env > env.txt; echo not today >&2; exit 2\"\n",
    );
    std::fs::write(&config, text).unwrap();
    let session = place.session().await;
    let story = session.tell("Write it").await;
    assert!(story.told()[0].contains("not today"), "{story:#?}");
    let environment = place.read("env.txt");
    assert!(environment.contains("HOME=") && !environment.contains("test-key"));
    assert!(!place.project().join("a.txt").exists());
}
