//! Commands of the user's own, keys of their own, and errors that stay.

use super::*;
use crate::app::shell::{ShellEnd, ShellId, ShellNews};
use crate::keymap::Keys;

fn end(app: &mut App, id: u64, end: ShellEnd) {
    tell(app, Event::Shell(ShellId(id), ShellNews::Ended(end)));
}

#[test]
fn a_line_behind_an_exclamation_mark_is_run_and_not_sent() {
    let mut app = ready();
    press(&mut app, "!git status");
    assert!(hint(&app).starts_with("Enter runs it in your shell"));
    let actions = press(&mut app, "<enter>");
    let run = Action::Shell(ShellId(1), TabId(1), "git status".to_owned());
    assert!(actions.contains(&run) && prompts(&actions).is_empty());
    assert_eq!(written(&app), "");
    // One at a time: the second stays where it is.
    press(&mut app, "!ls<enter>");
    assert_eq!(written(&app), "!ls");
    assert!(
        app.notices
            .iter()
            .any(|notice| notice.text.contains("still runs"))
    );
    press(&mut app, "<c-c>");
    assert_eq!(
        press(&mut app, "<esc>"),
        [Action::StopShell { is_forced: false }]
    );
    assert_eq!(
        press(&mut app, "<esc>"),
        [Action::StopShell { is_forced: true }]
    );
    end(&mut app, 1, ShellEnd::Signal(9));
    assert_eq!(written(&app), "");
    assert_eq!(press(&mut app, "<esc>"), []);
    assert!(app.shell.is_none());
}

#[test]
fn two_exclamation_marks_add_the_output_to_the_prompt() {
    let mut app = ready();
    press(&mut app, "!!echo hi<enter>why ");
    let output = ShellNews::Output(b"\x1b[31mhi\x1b[0m\n```\n".to_vec());
    tell(&mut app, Event::Shell(ShellId(1), output));
    end(&mut app, 1, ShellEnd::Exit(0));
    let plain = app.tab().unwrap().composer.plain();
    let expected = "why I ran this command (exit 0, 0.0 s):\n````\n$ echo hi\nhi\n```\n````\n";
    assert_eq!(plain, expected);
    // What comes of a command that is gone is for nobody.
    end(&mut app, 7, ShellEnd::Exit(1));
    assert_eq!(app.tab().unwrap().composer.plain(), expected);
}

#[test]
fn an_exclamation_mark_alone_is_words() {
    let mut app = ready();
    let actions = press(&mut app, "!<enter>");
    assert_eq!(prompts(&actions), ["!"]);
}

#[test]
fn errors_stay_until_somebody_does_something_about_them() {
    let mut app = ready();
    app.say("done");
    app.complain("wrong");
    tell(&mut app, Event::Tick(60_000));
    let texts: Vec<_> = app
        .notices
        .iter()
        .map(|notice| notice.text.as_str())
        .collect();
    assert_eq!(texts, ["wrong"]);
    assert!(!app.wants_ticks());
    press(&mut app, "<esc>");
    assert!(app.notices.is_empty());
    app.complain("wrong");
    press(&mut app, "hi<enter>");
    assert!(app.notices.is_empty());
}

#[test]
fn keys_of_the_users_own_do_what_the_usual_ones_did() {
    let mut app = ready();
    app.keys = Keys::new([
        ("wire-log", "F12"),
        ("interrupt", "Alt-Enter"),
        ("newline", "F9"),
    ])
    .unwrap();
    press(&mut app, "<a-l>");
    assert!(!app.log_pane.is_open);
    let f12 = KeyEvent::new(KeyCode::F(12), KeyModifiers::NONE);
    tell(&mut app, Event::Key(f12));
    assert!(app.log_pane.is_open);
    press(&mut app, "<esc>go<enter>now");
    assert!(
        hint(&app).contains("Alt-Enter interrupts and sends"),
        "{}",
        hint(&app)
    );
}

#[test]
fn a_session_is_exported_to_the_file_that_is_named() {
    let mut app = ready();
    let actions = press(&mut app, ":export talk.md<enter>");
    assert!(actions.contains(&Action::Export(TabId(1), "talk.md".to_owned())));
}
