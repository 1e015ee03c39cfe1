//! Skills: instructions that a model reads when it has the task.

use coder_tests::{Reply, Setup, Tell as _, World};
use ply_coder::permission::Mode;
use serde_json::json;
use tempfile::TempDir;

#[tokio::test]
async fn a_model_knows_of_skills_reads_one_and_its_files_without_a_question() {
    let user = TempDir::new().unwrap();
    let directory = user.path().canonicalize().unwrap().join("pdf");
    std::fs::create_dir(&directory).unwrap();
    let text = "---\nname: pdf\ndescription: Reads PDF files\n---\nRun the steps in steps.md.";
    std::fs::write(directory.join("SKILL.md"), text).unwrap();
    std::fs::write(directory.join("steps.md"), "First, open it.").unwrap();
    let skills = vec![user.path().to_path_buf()];
    let setup = Setup {
        mode: Mode::Plan,
        configure: Box::new(move |config| config.skills = skills),
        ..Setup::default()
    };
    let steps = directory.join("steps.md");
    let script = [
        Reply::call("skill", json!({ "name": "pdf" })),
        Reply::call("read_file", json!({ "path": steps })),
        Reply::call("read_file", json!({ "path": ".ply/skills/ours/more.md" })),
        Reply::call("skill", json!({ "name": "nothing" })),
        Reply::say("ok"),
    ];
    let world = World::with(setup, script).await;
    world.write(
        ".ply/skills/ours/SKILL.md",
        "---\ndescription: Ours\n---\nDo.",
    );
    world.write(".ply/skills/ours/more.md", "More of ours.");
    let story = world.turn("Read the PDF").await;
    let system = world.model.request(0).await.system();
    assert!(
        system.contains("- ours: Ours\n- pdf: Reads PDF files"),
        "{system}"
    );
    let told = story.told();
    assert!(told[0].contains("Run the steps in steps.md."), "{told:?}");
    assert!(
        told[0].contains(&directory.display().to_string()),
        "{told:?}"
    );
    assert!(told[1].contains("First, open it."), "{told:?}");
    assert!(told[2].contains("More of ours."), "{told:?}");
    assert!(told[3].contains("There are: ours, pdf"), "{told:?}");
    assert!(world.asked().is_empty(), "{:?}", world.asked());
}

#[tokio::test]
async fn a_skill_is_a_command_too() {
    let world = World::new([Reply::say("ok")]).await;
    world.write(
        ".claude/skills/review/SKILL.md",
        "---\ndescription: Reviews\nargument-hint: <branch>\n---\nReview $1 well.",
    );
    let session = world.session().await;
    let help = session.tell("/help").await.text;
    assert!(help.contains("`/review <branch>`: Reviews"), "{help}");
    session.tell("/review main").await;
    let body = world.model.request(0).await.body.to_string();
    assert!(body.contains("Review main well."), "{body}");
    assert!(body.contains(".claude/skills/review"), "{body}");
}

#[tokio::test]
async fn without_skills_there_is_no_tool_for_them() {
    let world = World::new([Reply::say("ok")]).await;
    world.turn("Hi").await;
    let seen = world.model.request(0).await;
    assert!(!seen.system().contains("Skills."));
    assert!(!seen.body["tools"].to_string().contains("\"skill\""));
}
