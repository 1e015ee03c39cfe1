//! What is shown before anything was said.

use super::*;

fn listed(title: &str, cwd: &str, time: &str) -> Listed {
    Listed {
        id: format!("sess-{title}"),
        title: title.to_owned(),
        cwd: cwd.into(),
        updated_at: time.to_owned(),
    }
}

fn started() -> App {
    let mut app = ready();
    app.start.branch = Some("main".to_owned());
    let recent = vec![
        listed("Elsewhere", "/other", "2026-07-03T10:00:00Z"),
        listed("Older", "/project", "2026-07-01T10:00:00Z"),
        listed("Fix the parser", "/project", "2026-07-02T10:00:00Z"),
    ];
    tell(&mut app, Event::Recent(recent));
    app
}

#[test]
fn the_start_has_facts_prompts_and_sessions_of_this_directory_first() {
    insta::assert_snapshot!(screen(&mut started(), &Told::default(), 80, 24));
}

#[test]
fn a_small_screen_starts_with_what_fits() {
    insta::assert_snapshot!(screen(&mut started(), &Told::default(), 40, 14));
    // Whatever the size is, nothing panics.
    for (columns, rows) in [(1, 1), (10, 4), (20, 6), (200, 60)] {
        screen(&mut started(), &Told::default(), columns, rows);
    }
}

#[test]
fn tab_takes_a_prompt_and_the_next_and_the_screen_goes_when_something_is_said() {
    let mut app = started();
    press(&mut app, "<tab>");
    assert_eq!(
        app.tab().unwrap().composer.text(),
        "explain this repository"
    );
    press(&mut app, "<tab>");
    assert_eq!(app.tab().unwrap().composer.text(), "what changed recently?");
    press(&mut app, "x<tab>");
    assert_eq!(
        app.tab().unwrap().composer.text(),
        "what changed recently?x"
    );
    press(&mut app, "<enter>");
    assert!(!screen(&mut app, &Told::default(), 80, 24).contains("Recent"));
}
