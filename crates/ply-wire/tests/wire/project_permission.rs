//! Permission requests of a v2 session as a v1 client sees them.
use ply_wire::{
    project::{AskId, Down, PermissionDown, Projector, Shows},
    v1, v2,
};
use serde_json::{Value, json};

fn request(mut fields: Value) -> v2::RequestPermissionRequest {
    fields["sessionId"] = json!("s");
    if fields.get("options").is_none() {
        fields["options"] = json!([
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
            {"optionId": "odd", "name": "Odd", "kind": "_maybe"},
        ]);
    }
    serde_json::from_value(fields).unwrap()
}

fn selected(option: &str) -> v1::RequestPermissionOutcome {
    v1::RequestPermissionOutcome::Selected(v1::SelectedPermissionOutcome::new(option.to_owned()))
}

fn updates(out: &mut Vec<Down>) -> Vec<Value> {
    let updates = std::mem::take(out)
        .into_iter()
        .filter_map(|down| match down {
            Down::Update(update) => Some(serde_json::to_value(update).unwrap()),
            _ => None,
        });
    updates.collect()
}

#[track_caller]
fn ask(
    projector: &mut Projector,
    request: &v2::RequestPermissionRequest,
    out: &mut Vec<Down>,
) -> (AskId, Value) {
    match projector.permission(request, &(), out) {
        PermissionDown::Ask(id, request) => (id, serde_json::to_value(*request).unwrap()),
        other @ PermissionDown::Answer(_) => panic!("{other:?}"),
    }
}

fn text(words: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": words}})
}

#[test]
fn a_call_is_shown_before_it_is_asked_about_and_looks_the_same_after_v2_perm_02_03() {
    let (mut projector, mut out) = (Projector::new(Shows::ALL, "v/"), Vec::new());
    let subject =
        json!({"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Delete x"}});
    let request =
        request(json!({"title": "Really?", "description": "It is gone then.", "subject": subject}));
    let (id, sent) = ask(&mut projector, &request, &mut out);
    assert_eq!(
        updates(&mut out),
        [json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Delete x"})]
    );
    assert_eq!(sent["toolCall"]["title"], "Delete x");
    assert_eq!(
        sent["toolCall"]["content"],
        json!([text("Really?\nIt is gone then.")])
    );
    assert_eq!(
        sent["_meta"]["ply/permission"],
        json!({"title": "Really?", "description": "It is gone then."})
    );
    let offered: Vec<_> = sent["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| option["optionId"].clone())
        .collect();
    assert_eq!(offered, ["yes", "no"]);
    let answer = projector.permission_answered(id, &selected("yes"), &mut out);
    assert_eq!(
        serde_json::to_value(answer).unwrap(),
        json!({"outcome": "selected", "optionId": "yes"})
    );
    let restored = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
        "title": "Delete x", "content": []});
    assert_eq!(updates(&mut out), [restored]);
}

#[test]
fn a_call_without_a_title_borrows_that_of_the_prompt() {
    let (mut projector, mut out) = (Projector::new(Shows::ALL, "v/"), Vec::new());
    let subject = json!({"type": "tool_call", "toolCall": {"toolCallId": "c", "kind": "edit"}});
    let (id, sent) = ask(
        &mut projector,
        &request(json!({"title": "Edit x?", "subject": subject})),
        &mut out,
    );
    assert_eq!(sent["toolCall"]["title"], "Edit x?");
    updates(&mut out);
    let _ = projector.permission_answered(id, &selected("no"), &mut out);
    assert_eq!(updates(&mut out)[0]["title"], "Edit");
}

#[test]
fn a_command_or_nothing_gets_a_call_of_its_own_that_ends_with_the_answer() {
    let command = json!({"type": "command", "command": "rm -r x", "cwd": "/w"});
    for (subject, chosen, content, status) in [
        (
            command.clone(),
            selected("yes"),
            json!([text("$ rm -r x\nin /w\nwhy")]),
            "completed",
        ),
        (
            command,
            selected("no"),
            json!([text("$ rm -r x\nin /w\nwhy")]),
            "failed",
        ),
        (
            json!(null),
            v1::RequestPermissionOutcome::Cancelled,
            json!([text("why")]),
            "failed",
        ),
        (
            json!({"type": "_x"}),
            selected("yes"),
            json!([text("[content of type _x]\nwhy")]),
            "completed",
        ),
    ] {
        let (mut projector, mut out) = (Projector::new(Shows::ALL, "v/"), Vec::new());
        let request = request(json!({"title": "Run?", "description": "why", "subject": subject}));
        let (id, sent) = ask(&mut projector, &request, &mut out);
        let shown = updates(&mut out);
        assert_eq!(
            (&shown[0]["sessionUpdate"], &shown[0]["content"]),
            (&json!("tool_call"), &content)
        );
        assert_eq!(sent["toolCall"]["toolCallId"], shown[0]["toolCallId"]);
        assert_eq!(sent["toolCall"]["title"], "Run?");
        let _ = projector.permission_answered(id, &chosen, &mut out);
        assert_eq!(updates(&mut out)[0]["status"], status);
    }
}

#[test]
fn nobody_is_asked_when_no_option_is_left() {
    let (mut projector, mut out) = (Projector::new(Shows::ALL, "v/"), Vec::new());
    let odd = json!([{"optionId": "odd", "name": "Odd", "kind": "_maybe"}]);
    let answer = projector.permission(
        &request(json!({"title": "?", "options": odd})),
        &(),
        &mut out,
    );
    let PermissionDown::Answer(outcome) = answer else {
        panic!("asked")
    };
    assert!(matches!(
        outcome,
        v2::RequestPermissionOutcome::Cancelled(_)
    ));
    assert!(out.is_empty());
}

#[test]
fn options_that_were_not_offered_and_second_answers_approve_nothing_v2_perm_07() {
    let (mut projector, mut out) = (Projector::new(Shows::ALL, "v/"), Vec::new());
    let (id, _) = ask(&mut projector, &request(json!({"title": "?"})), &mut out);
    for option in ["odd", "yes"] {
        let answer = projector.permission_answered(id, &selected(option), &mut out);
        assert!(
            matches!(answer, v2::RequestPermissionOutcome::Cancelled(_)),
            "{option}"
        );
    }
}

#[test]
fn a_question_still_open_when_the_work_ends_leaves_no_open_call() {
    let (mut projector, mut out) = (Projector::new(Shows::ALL, "v/"), Vec::new());
    let state = |name: &str| {
        serde_json::from_value(json!({"sessionUpdate": "state_update", "state": name})).unwrap()
    };
    projector.apply(&state("running"), &mut out);
    ask(&mut projector, &request(json!({"title": "?"})), &mut out);
    updates(&mut out);
    projector.apply(&state("idle"), &mut out);
    assert_eq!(updates(&mut out)[0]["status"], "failed");
}

#[test]
fn an_answer_after_idle_still_counts() {
    let state = |name: &str| {
        serde_json::from_value(json!({"sessionUpdate": "state_update", "state": name})).unwrap()
    };
    let call = json!({"type": "tool_call", "toolCall": {"toolCallId": "c", "title": "Delete x"}});
    for subject in [json!(null), call] {
        let (mut projector, mut out) = (Projector::new(Shows::ALL, "v/"), Vec::new());
        projector.apply(&state("running"), &mut out);
        let request = request(json!({"title": "Really?", "subject": subject}));
        let (id, _) = ask(&mut projector, &request, &mut out);
        projector.apply(&state("idle"), &mut out);
        updates(&mut out);
        let answer = projector.permission_answered(id, &selected("yes"), &mut out);
        assert_eq!(
            serde_json::to_value(answer).unwrap(),
            json!({"outcome": "selected", "optionId": "yes"})
        );
        assert!(out.is_empty(), "what was shown for it ended with the work");
        let again = projector.permission_answered(id, &selected("yes"), &mut out);
        assert!(matches!(again, v2::RequestPermissionOutcome::Cancelled(_)));
    }
}

#[test]
fn two_views_of_a_session_make_up_different_ids() {
    let shown = |prefix: &str| {
        let (mut projector, mut out) = (Projector::new(Shows::ALL, prefix), Vec::new());
        ask(&mut projector, &request(json!({"title": "?"})), &mut out);
        updates(&mut out)[0]["toolCallId"].clone()
    };
    assert_eq!(shown("a/"), "ply/permission/a/1");
    assert_ne!(shown("a/"), shown("b/"));
}
