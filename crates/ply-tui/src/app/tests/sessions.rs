use super::*;
use crate::app::event::Listed;
use crate::app::tab::Attention;

fn mode(current: &str) -> Vec<v2::SessionConfigOption> {
    let options = json!([{
        "configId": "mode", "name": "Mode", "category": "mode", "type": "select",
        "currentValue": current,
        "options": [{"value": "ask", "name": "Ask"}, {"value": "plan", "name": "Plan"}]
    }]);
    serde_json::from_value(options).unwrap()
}

fn set(value: &str) -> Action {
    Action::SetOption(TabId(1), "mode".to_owned().into(), value.into())
}

#[test]
fn several_sessions_are_open_at_once_and_keep_what_is_written() {
    let mut app = ready();
    press(&mut app, "first");
    let actions = press(&mut app, "<c-n>");
    assert!(actions.contains(&Action::Open(TabId(2), AgentId(0), Target::New)));
    open(&mut app, 2);
    press(&mut app, "second<a-1>");
    assert_eq!(written(&app), "first");
    press(&mut app, "<c-p>");
    assert_eq!(written(&app), "second");
}

#[test]
fn a_session_that_is_not_looked_at_is_marked() {
    let mut app = ready();
    press(&mut app, "work<enter><c-n>");
    open(&mut app, 2);
    tell(&mut app, done(v2::StopReason::EndTurn));
    assert_eq!(app.tabs[0].attention, Some(Attention::Finished));
    tell(&mut app, Event::Ask(TabId(1), AskId(1), command("Run?")));
    press(&mut app, "<a-1>");
    assert_eq!(app.tabs[0].attention, None);
}

#[test]
fn a_stored_session_is_found_by_a_few_letters_and_opened_once() {
    let mut app = ready();
    assert_eq!(press(&mut app, "<c-s>"), [Action::ListSessions(AgentId(0))]);
    let listed = |id: &str, title: &str, time: &str| Listed {
        id: id.into(),
        title: title.into(),
        cwd: "/project".into(),
        updated_at: time.into(),
    };
    let sessions = vec![
        listed("a", "Fix the parser", "2025-01-01T10:00:00Z"),
        listed("b", "Write the guide", "2025-01-02T10:00:00Z"),
    ];
    // What is typed before the list is there counts for it too.
    press(&mut app, "par");
    tell(&mut app, Event::Sessions(AgentId(0), Ok(sessions.clone())));
    let stored = Target::Stored {
        id: "a".into(),
        cwd: Some("/project".into()),
        title: "Fix the parser".into(),
    };
    let actions = press(&mut app, "ser<enter>");
    assert_eq!(actions, [Action::Open(TabId(2), AgentId(0), stored)]);
    let opened = Opened {
        session: "a".into(),
        how: How::Loaded,
        draft: "unsent".into(),
        told: None,
        refused: Vec::new(),
    };
    tell(&mut app, Event::Opened(TabId(2), opened));
    assert_eq!(written(&app), "unsent");
    let tab = app.tab().unwrap();
    assert_eq!(tab.name(), "Fix the parser");
    let end = tab.last_end.as_deref();
    assert_eq!(end, Some("session loaded with its history"));
    assert!(app.notices.is_empty(), "it is said once");
    press(&mut app, "<a-1><c-s>");
    tell(&mut app, Event::Sessions(AgentId(0), Ok(sessions)));
    press(&mut app, "parser<enter>");
    assert_eq!((app.tabs.len(), app.current), (2, 1));
}

#[test]
fn a_session_without_a_title_is_named_by_its_first_prompt() {
    let mut app = ready();
    press(&mut app, "why is the <enter>");
    assert_eq!(app.tab().unwrap().name(), "why is the");
    tell(&mut app, done(v2::StopReason::EndTurn));
    press(&mut app, "second<enter>");
    assert_eq!(app.tab().unwrap().name(), "why is the");
    tell(&mut app, Event::Title(TabId(1), "Red tests".into()));
    assert_eq!(app.tab().unwrap().name(), "Red tests");
}

#[test]
fn a_prompt_waits_when_an_option_given_with_it_cannot_be_set() {
    let mut options = options();
    options.prompt = Some("hello".into());
    let (mut app, _) = App::new(&options, Vec::new(), WireLog::default());
    let opened = Opened {
        session: "s1".into(),
        how: How::New,
        draft: String::new(),
        told: None,
        refused: vec!["mode cannot be set to x: no such value; there are: Ask".into()],
    };
    let actions = app.update(Event::Opened(TabId(1), opened));
    assert_eq!(prompts(&actions), [""; 0]);
    tell(&mut app, Event::Tick(60_000));
    let end = app.tab().unwrap().last_end.clone().unwrap();
    assert!(end.contains("there are: Ask"), "{end}");
    assert!(end.contains("Enter sends it anyway"), "{end}");
    assert!(hint(&app).contains("Enter sends the queued prompt"));
    assert_eq!(prompts(&press(&mut app, "<enter>")), ["hello"]);
}

#[test]
fn a_list_that_the_agent_does_not_have_is_told() {
    let mut app = ready();
    press(&mut app, "<c-s>");
    tell(&mut app, Event::Sessions(AgentId(0), Err("no list".into())));
    let Some(Overlay::Picker(picker)) = &app.overlay else {
        panic!("no list");
    };
    assert_eq!(picker.note, "no list");
}

#[test]
fn whoever_chooses_none_of_the_sessions_gets_a_new_one() {
    let mut options = options();
    options.open = Open::Picker;
    let (mut app, actions) = App::new(&options, Vec::new(), WireLog::default());
    assert_eq!(actions, [Action::ListSessions(AgentId(0))]);
    let actions = press(&mut app, "<esc>");
    assert_eq!(actions, [Action::Open(TabId(1), AgentId(0), Target::New)]);
}

#[test]
fn control_c_in_a_list_without_a_session_quits() {
    let mut options = options();
    options.open = Open::Picker;
    let (mut app, _) = App::new(&options, Vec::new(), WireLog::default());
    assert_eq!(press(&mut app, "<c-c>"), [Action::Quit]);
}

#[test]
fn another_session_does_not_get_what_was_looked_up_in_this_one() {
    let mut app = ready();
    press(&mut app, "old<enter>");
    tell(&mut app, done(v2::StopReason::EndTurn));
    press(&mut app, "<c-n>");
    open(&mut app, 2);
    press(&mut app, "mine<c-a><up>");
    assert_eq!(written(&app), "old");
    press(&mut app, "<a-1>other<down>");
    assert_eq!(written(&app), "other");
    press(&mut app, "<a-2>");
    assert_eq!(written(&app), "mine");
}

#[test]
fn the_title_of_the_terminal_is_bounded() {
    let mut app = ready();
    tell(&mut app, Event::Title(TabId(1), "x".repeat(10_000)));
    assert!(ply_client::text::columns(&app.title()) <= TITLE_COLUMNS_MAX);
}

#[test]
fn modes_go_round_and_options_can_be_set_by_words() {
    let mut app = ready();
    tell(&mut app, Event::Options(TabId(1), mode("ask")));
    assert_eq!(press(&mut app, "<s-tab>"), [set("plan")]);
    tell(&mut app, Event::Options(TabId(1), mode("plan")));
    assert_eq!(press(&mut app, "<s-tab>"), [set("ask")]);
    assert_eq!(press(&mut app, ":mode pl<enter>"), [set("plan")]);
    assert_eq!(press(&mut app, ":set mode=ask<enter>"), [set("ask")]);
    assert_eq!(press(&mut app, ":set nope 1<enter>"), []);
    assert!(app.notices.back().unwrap().text.contains("there are: mode"));
    assert_eq!(press(&mut app, "<c-o><enter><down><enter>"), [set("plan")]);
}

#[test]
fn the_mode_without_questions_is_not_one_key_away() {
    let of = |current: &str| {
        let options = json!([{
            "configId": "mode", "name": "Mode", "category": "mode", "type": "select",
            "currentValue": current,
            "options": [
                {"value": "ask", "name": "Ask"}, {"value": "auto-edit", "name": "Auto-edit"},
                {"value": "full", "name": "Full access"}
            ]
        }]);
        serde_json::from_value::<Vec<v2::SessionConfigOption>>(options).unwrap()
    };
    let mut app = ready();
    tell(&mut app, Event::Options(TabId(1), of("auto-edit")));
    assert_eq!(press(&mut app, "<s-tab>"), [set("ask")]);
    assert_eq!(press(&mut app, "/mode full<enter>"), [set("full")]);
    tell(&mut app, Event::Options(TabId(1), of("full")));
    assert_eq!(press(&mut app, "<s-tab>"), [set("ask")]);
}

#[test]
fn the_list_of_sessions_begins_at_the_latest() {
    let mut app = ready();
    press(&mut app, "<c-s>");
    let listed = |id: &str, at: &str| super::super::event::Listed {
        id: id.to_owned(),
        title: String::new(),
        cwd: "/project".into(),
        updated_at: at.to_owned(),
    };
    let sessions = vec![listed("old", "2025-01-01"), listed("new", "2025-02-01")];
    tell(&mut app, Event::Sessions(AgentId(0), Ok(sessions)));
    let actions = press(&mut app, "<enter>");
    let Some(Action::Open(_, _, Target::Stored { id, .. })) = actions.first() else {
        panic!("{actions:?}");
    };
    assert_eq!(id, "new");
}

#[test]
fn the_end_says_how_to_go_on() {
    let mut app = ready();
    assert_eq!(app.farewell(&options()), [""; 0], "nothing was said");
    press(&mut app, "hello<enter>");
    let expected = ["To continue:", "  ply chat -a ply --session s1"];
    assert_eq!(app.farewell(&options()), expected);
}

#[test]
fn closing_lets_go_of_the_session_and_the_last_one_quits() {
    let mut app = ready();
    press(&mut app, "<c-n>");
    assert_eq!(press(&mut app, "<a-w>"), [Action::Close(TabId(2))]);
    let actions = press(&mut app, ":close<enter>");
    assert_eq!(actions, [Action::Close(TabId(1)), Action::Quit]);
}

#[test]
fn a_session_with_another_agent_is_begun_by_name() {
    let mut app = ready();
    let actions = press(&mut app, ":new claude<enter>");
    assert!(actions.contains(&Action::Open(TabId(2), AgentId(1), Target::New)));
}
