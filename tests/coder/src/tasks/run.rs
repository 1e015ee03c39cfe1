//! One task, from the repository as it is found to what is left of it.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ply_client::{Decision, Session, transcript::ToolCall, v2};
use ply_coder::Config;
use ply_model_server::Gate;
use serde_json::{Value, json};

use super::check::{Checked, check};
use super::script::HookLines;
use super::{Answer, Report, Task, Tree, conversation};
use crate::{Setup, Story, Tell as _, World};

/// How long a turn may take, on a machine that does much else.
const TURN_TIME_MAX: Duration = Duration::from_secs(120);

/// Runs a task. With `keep`, the tree that it left is put into the directory of its name there.
///
/// # Panics
///
/// The machine has no room for the files, or no port.
///
/// # Cancel safety
///
/// Dropped, it ends what it started and leaves no files but kept ones.
pub async fn run(task: &Task, keep: Option<&Path>) -> Report {
    run_with(task, keep, |_| {}).await
}

/// Runs a task like [`run`], with a configuration that is changed.
///
/// # Panics
///
/// The machine has no room for the files, or no port.
///
/// # Cancel safety
///
/// As for [`run`].
pub async fn run_with(
    task: &Task,
    keep: Option<&Path>,
    configure: impl FnOnce(&mut Config) + 'static,
) -> Report {
    let mut problems = Vec::new();
    if let Some(line) = &task.script.check {
        match check(&task.before, line).await {
            Checked::Bad(_) => {}
            Checked::Good => problems.push("the check succeeds before anything is done".to_owned()),
            Checked::Useless(why) => problems.push(format!("the check cannot be used: {why}")),
        }
    }
    let questions = Arc::default();
    let gate = Gate::new();
    let world = World::with(
        setup(task, &questions, configure),
        task.script.replies(&gate),
    )
    .await;
    task.before.write(&world.path()).unwrap();
    let mut session = world.session().await;
    let prompts = std::iter::once(&task.script.prompt).chain(&task.script.then);
    let mut calls = Vec::new();
    for (place, prompt) in prompts.enumerate() {
        if place == 1 && task.script.fork {
            session = session.fork().await.unwrap();
        }
        let turn = async {
            let steering = async {
                let told = match &task.script.steer {
                    // It is said once.
                    Some(steer) if place == 0 => steered(&world, &session, &gate, &steer.say).await,
                    _ => None,
                };
                problems.extend(told);
                std::future::pending::<Story>().await
            };
            tokio::select! {
                story = session.tell(prompt) => story,
                story = steering => story,
            }
        };
        let told = tokio::time::timeout(TURN_TIME_MAX, turn).await;
        match told {
            Ok(mut story) => {
                calls.append(&mut story.calls);
                if place == task.script.then.len() {
                    story.calls.clone_from(&calls);
                    problems.extend(story_problems(task, &story));
                }
            }
            Err(_) => problems.push("the turn does not end".to_owned()),
        }
    }
    let questions = questions.lock().unwrap().clone();
    if questions.len() != task.script.user.len() {
        problems.push(format!(
            "the user has {} answers and was asked {} times: {questions:?}",
            task.script.user.len(),
            questions.len()
        ));
    }
    let requests = world.model.requests();
    problems.extend(conversation::problems(&task.script, &requests));
    let found = Tree::read(&world.path(), &task.script.ignore).unwrap();
    if let Some(keep) = keep {
        let kept = found.write(&keep.join(&task.name));
        problems.extend(kept.err().map(|error| format!("it was not kept: {error}")));
    }
    let difference = task.after.difference(&found);
    if !difference.is_empty() {
        problems.push(difference);
    }
    if let Some(line) = &task.script.check {
        match check(&found, line).await {
            Checked::Good => {}
            Checked::Bad(why) => problems.push(format!("the check fails afterwards:\n{why}")),
            Checked::Useless(why) => problems.push(format!("the check cannot be used: {why}")),
        }
    }
    Report {
        name: task.name.clone(),
        api: task.script.api_name(),
        requests: requests.len(),
        calls: calls.len(),
        changed: task.before.changed(&found).len(),
        problems,
    }
}

/// Says something to the turn that runs, once the model is at the gate. Returns what is wrong with what came of it.
async fn steered(world: &World, session: &Session, gate: &Gate, say: &str) -> Option<String> {
    gate.reached().await;
    let prompt = [json!({ "type": "text", "text": say })];
    let params = json!({ "sessionId": session.id(), "prompt": prompt });
    let told = world.agent.call::<Value>("_session/steering", params).await;
    gate.open();
    match told {
        Ok(told) if told["outcome"] == "injected" => None,
        told => Some(format!("the turn was not steered: {told:?}")),
    }
}

fn setup(
    task: &Task,
    questions: &Arc<Mutex<Vec<String>>>,
    configure: impl FnOnce(&mut Config) + 'static,
) -> Setup {
    let (window, patches) = (task.script.window_tokens, task.script.patches);
    let hooks: Vec<_> = task.script.hooks.iter().map(HookLines::hook).collect();
    let policy = answers(task.script.user.clone(), Arc::clone(questions));
    Setup {
        api: task.script.api,
        mode: task.script.mode,
        facts: Box::new(move |facts| {
            facts.images = true;
            facts.patches = patches;
            if let Some(window) = window {
                facts.window_tokens = window;
            }
        }),
        configure: Box::new(|config| {
            config.hooks = hooks;
            configure(config);
        }),
        client: Box::new(|client| client.permissions(policy)),
        ..Setup::default()
    }
}

/// Answers one question after the other. What the task did not foresee, and what cannot be answered as it
/// says, is rejected, and then the model is not told what the task expects.
fn answers(
    answers: Vec<Answer>,
    questions: Arc<Mutex<Vec<String>>>,
) -> impl Fn(&v2::RequestPermissionRequest, Option<&ToolCall>) -> Decision + Send + Sync + 'static {
    use v2::PermissionOptionKind as Kind;
    move |request, _| {
        let mut questions = questions.lock().unwrap();
        let answer = answers.get(questions.len()).unwrap_or(&Answer::Reject);
        questions.push(request.title.clone());
        let kind = match answer {
            Answer::Allow => Kind::AllowOnce,
            Answer::Always => Kind::AllowAlways,
            Answer::Reject => Kind::RejectOnce,
        };
        let option = |kind| request.options.iter().find(|option| option.kind == kind);
        let option = option(kind).or_else(|| option(Kind::RejectOnce));
        let option = option.expect("everything can be rejected");
        Decision::Select(option.option_id.clone())
    }
}

fn story_problems(task: &Task, story: &Story) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some(error) = &story.error {
        problems.push(format!("the turn failed: {error}"));
    } else if story.stop != Some(v2::StopReason::EndTurn) {
        problems.push(format!("the turn ended with {:?}", story.stop));
    }
    let calls: usize = task
        .script
        .replies
        .iter()
        .map(|said| said.calls.len())
        .sum();
    // Cards without a name are none of the model's.
    let seen = story.calls.iter().filter(|call| call.name.is_some());
    let seen = seen.count();
    if seen != calls {
        problems.push(format!(
            "the model makes {calls} calls, and the user saw {seen}"
        ));
    }
    let status = |status: &v2::PlanEntryStatus| {
        let value = serde_json::to_value(status).unwrap_or_default();
        value.as_str().unwrap_or_default().to_owned()
    };
    let plan = story.plan.iter();
    let plan: Vec<_> = plan
        .map(|(step, state)| (step.clone(), status(state)))
        .collect();
    if plan != task.script.plan {
        problems.push(format!("the user saw the plan {plan:?}"));
    }
    problems
}
