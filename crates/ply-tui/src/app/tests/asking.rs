use super::*;
use crate::app::event::Question;

fn ask(app: &mut App, id: u64, question: Question) -> Vec<Action> {
    app.update(Event::Ask(TabId(1), AskId(id), question))
}

fn selected(id: u64, option: &str) -> Action {
    Action::Select(AskId(id), option.to_owned().into())
}

#[test]
fn a_number_answers_when_nothing_is_written() {
    let mut app = ready();
    ask(&mut app, 1, command("Run the tests?"));
    look(&mut app);
    assert!(hint(&app).contains("1–9 answer"));
    assert_eq!(press(&mut app, "3"), [selected(1, "no")]);
    assert!(app.tab().unwrap().asks.is_empty());
    assert_eq!(press(&mut app, "3"), []);
    assert_eq!(written(&app), "3");
}

#[test]
fn a_number_is_text_while_something_is_written() {
    let mut app = ready();
    press(&mut app, "step ");
    ask(&mut app, 1, command("Run the tests?"));
    assert_eq!(press(&mut app, "1"), []);
    assert_eq!(written(&app), "step 1");
    look(&mut app);
    assert_eq!(press(&mut app, "<tab>1"), [selected(1, "yes")]);
    assert_eq!(app.focus, Focus::Composer, "nothing is left to answer");
}

#[test]
fn a_number_that_is_not_offered_is_text() {
    let mut app = ready();
    ask(&mut app, 1, command("Run the tests?"));
    look(&mut app);
    assert_eq!(press(&mut app, "7"), []);
    assert_eq!(written(&app), "7");
}

#[test]
fn several_questions_wait_side_by_side() {
    let mut app = ready();
    for id in 1..=3 {
        ask(&mut app, id, command("Run?"));
    }
    press(&mut app, "<tab><tab>");
    look(&mut app);
    assert_eq!(press(&mut app, "2"), [selected(2, "always")]);
    look(&mut app);
    assert_eq!(press(&mut app, "<right><enter>"), [selected(3, "always")]);
    look(&mut app);
    assert_eq!(press(&mut app, "1"), [selected(1, "yes")]);
}

#[test]
fn a_key_that_was_on_its_way_answers_nothing() {
    let mut app = ready();
    ask(&mut app, 1, command("Run?"));
    assert_eq!(press(&mut app, "1"), [], "nobody has seen it");
    assert_eq!(written(&app), "1");
    press(&mut app, "<back><tab><enter>1");
    assert_eq!(app.tab().unwrap().asks.len(), 1);
    app.asks_drawn(true);
    assert!(!hint(&app).contains("answer"), "{}", hint(&app));
    assert!(app.wants_ticks());
    tell(&mut app, Event::Tick(ASK_MS - 1));
    assert_eq!(press(&mut app, "<enter>1"), []);
    tell(&mut app, Event::Tick(ASK_MS));
    assert!(app.take_changed() && hint(&app).contains("1–9 answer"));
    // A screen that became too small for the answers takes them back.
    app.asks_drawn(false);
    assert_eq!(press(&mut app, "<enter>1"), []);
    look(&mut app);
    assert_eq!(press(&mut app, "<enter>"), [selected(1, "yes")]);
}

#[test]
fn the_key_for_a_question_that_vanished_is_for_nobody_else() {
    let mut app = ready();
    press(&mut app, "half a sentence");
    ask(&mut app, 1, command("Run?"));
    ask(&mut app, 2, command("Delete?"));
    press(&mut app, "<tab>");
    look(&mut app);
    tell(&mut app, Event::AskClosed(AskId(1)));
    assert_eq!(press(&mut app, "<enter>1"), []);
    look(&mut app);
    tell(&mut app, Event::AskClosed(AskId(2)));
    assert_eq!(app.focus, Focus::Composer);
    assert_eq!(press(&mut app, "<enter>"), [], "it is not sent either");
    assert_eq!(written(&app), "half a sentence");
    let later = app.now + ASK_MS;
    tell(&mut app, Event::Tick(later));
    assert_eq!(prompts(&press(&mut app, "<enter>")), ["half a sentence"]);
}

#[test]
fn a_question_that_is_taken_back_vanishes() {
    let mut app = ready();
    ask(&mut app, 1, command("Run?"));
    press(&mut app, "<tab>");
    tell(&mut app, Event::AskClosed(AskId(1)));
    assert!(app.tab().unwrap().asks.is_empty());
    assert_eq!(app.focus, Focus::Composer);
}

#[test]
fn a_form_is_filled_in_or_declined() {
    let request = json!({
        "mode": "form", "sessionId": "s1", "message": "Which branch?",
        "requestedSchema": {
            "type": "object", "properties": {"branch": {"type": "string"}}, "required": ["branch"]
        }
    });
    let form = || Question::Form(Box::new(serde_json::from_value(request.clone()).unwrap()));
    let mut app = ready();
    ask(&mut app, 1, form());
    look(&mut app);
    assert_eq!(press(&mut app, "<enter>"), [], "the branch is needed");
    let actions = press(&mut app, "main<enter>");
    let Some(Action::AnswerForm(AskId(1), v2::ElicitationAction::Accept(_))) = actions.first()
    else {
        panic!("{actions:?}");
    };
    ask(&mut app, 2, form());
    look(&mut app);
    let declined = Action::AnswerForm(AskId(2), v2::ElicitationAction::Decline);
    press(&mut app, "<tab>");
    assert_eq!(press(&mut app, "<c-d>"), [declined]);
}

fn form() -> Question {
    let request = json!({
        "mode": "form", "sessionId": "s1", "message": "The password?",
        "requestedSchema": {"type": "object", "properties": {"password": {"type": "string"}}}
    });
    Question::Form(Box::new(serde_json::from_value(request).unwrap()))
}

#[test]
fn what_is_typed_into_a_form_never_becomes_a_prompt() {
    let mut app = ready();
    tell(&mut app, Event::Tick(5000));
    ask(&mut app, 1, form());
    look(&mut app);
    // Nobody was writing, so that keys are for the form.
    press(&mut app, "hunter");
    tell(&mut app, Event::AskClosed(AskId(1)));
    let later = app.now + 60_000;
    tell(&mut app, Event::Tick(later));
    let actions = press(&mut app, "2<enter>");
    assert_eq!(prompts(&actions), [""; 0]);
    tell(&mut app, Event::Paste("hunter2".to_owned()));
    assert_eq!(written(&app), "");
    assert!(hint(&app).contains("Esc goes back"), "{}", hint(&app));
    press(&mut app, "<esc>");
    assert_eq!(prompts(&press(&mut app, "hello<enter>")), ["hello"]);
}

#[test]
fn a_form_does_not_take_the_keys_of_somebody_who_writes() {
    let mut app = ready();
    tell(&mut app, Event::Tick(5000));
    press(&mut app, "half");
    ask(&mut app, 1, form());
    press(&mut app, " a sentence");
    assert_eq!(written(&app), "half a sentence");
    let mut app = ready();
    tell(&mut app, Event::Tick(5000));
    press(&mut app, "x<back>");
    ask(&mut app, 1, form());
    assert_eq!(app.focus, Focus::Composer, "a key was pressed a moment ago");
}

#[test]
fn the_user_is_called_only_when_they_look_elsewhere() {
    let mut app = ready();
    assert_eq!(ask(&mut app, 1, command("Run?")), []);
    tell(&mut app, Event::Focus(false));
    let called = Action::Notify("ply needs you".into());
    assert_eq!(ask(&mut app, 2, command("Run?")), [called]);
    assert!(app.title().starts_with("! "));
}
