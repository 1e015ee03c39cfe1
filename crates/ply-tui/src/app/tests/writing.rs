use super::*;

#[test]
fn enter_sends_and_the_other_enters_begin_a_line() {
    let mut app = ready();
    let actions = press(&mut app, "one<a-enter>two<c-j>three<s-enter>four<enter>");
    assert_eq!(prompts(&actions), ["one\ntwo\nthree\nfour"]);
    assert_eq!(written(&app), "");
    assert!(actions.contains(&Action::Remember("one\ntwo\nthree\nfour".into())));
}

#[test]
fn earlier_prompts_are_found_with_up_and_by_words() {
    let mut app = ready();
    for prompt in ["fix the bug", "write tests"] {
        press(&mut app, prompt);
        press(&mut app, "<enter>");
        tell(&mut app, done(v2::StopReason::EndTurn));
    }
    press(&mut app, "<up>");
    assert_eq!(written(&app), "write tests");
    press(&mut app, "<up>");
    assert_eq!(written(&app), "fix the bug");
    press(&mut app, "<down><down>");
    assert_eq!(written(&app), "");
    press(&mut app, "<c-r>bug");
    assert_eq!(app.found(), Some("fix the bug"));
    assert!(hint(&app).starts_with("Enter takes it"), "{}", hint(&app));
    press(&mut app, "<enter>");
    assert_eq!(written(&app), "fix the bug");
}

#[test]
fn a_file_is_named_by_a_few_letters_and_sent_as_a_link() {
    let mut app = ready();
    let actions = press(&mut app, "see @ma");
    assert_eq!(actions, [Action::FindFiles(TabId(1))]);
    let files = ["README.md", "src/lib.rs", "src/main.rs"].map(str::to_owned);
    tell(&mut app, Event::Files(TabId(2), vec!["mask".into()]));
    tell(&mut app, Event::Files(TabId(1), files.into()));
    let popup = app.popup.as_ref().unwrap();
    assert_eq!(popup.entries[0].0, "src/main.rs");
    assert_eq!(hint(&app), "Enter inserts · Esc closes");
    let actions = press(&mut app, "<enter>please<enter>");
    let Some(Action::Prompt(_, sent)) = actions.first() else {
        panic!("{actions:?}");
    };
    assert_eq!(sent.blocks[1], Block::Link("src/main.rs".into()));
    // The turn may have made files, and another session may be elsewhere.
    tell(&mut app, done(v2::StopReason::EndTurn));
    assert_eq!(press(&mut app, "@ma"), [Action::FindFiles(TabId(1))]);
    press(&mut app, "<c-c><c-n>");
    open(&mut app, 2);
    assert_eq!(press(&mut app, "@m"), [Action::FindFiles(TabId(2))]);
}

#[test]
fn commands_of_the_agent_and_of_the_client_do_not_collide() {
    let mut app = ready();
    let compact = v2::Command::new("compact", "makes room");
    let commands = vec![v2::AvailableCommand::Command(compact)];
    tell(&mut app, Event::Commands(TabId(1), commands));
    press(&mut app, "/co");
    assert_eq!(app.popup.as_ref().unwrap().entries[0].0, "compact");
    press(&mut app, "<tab>");
    assert_eq!(written(&app), "/compact ");
    assert_eq!(prompts(&press(&mut app, "<enter>")), ["/compact"]);
    tell(&mut app, done(v2::StopReason::EndTurn));
    press(&mut app, ":hel<enter>");
    assert_eq!(written(&app), ":help ");
    let actions = press(&mut app, "<enter>");
    assert!(prompts(&actions).is_empty());
    assert!(matches!(app.overlay, Some(Overlay::Help { .. })));
}

#[test]
fn an_unknown_command_is_kept_and_enter_again_sends_it() {
    let mut app = ready();
    assert!(prompts(&press(&mut app, ":nope<enter>")).is_empty());
    assert!(app.notices[0].text.contains("unknown command `:nope`"));
    assert_eq!(written(&app), ":nope", "it is not lost");
    assert_eq!(prompts(&press(&mut app, "<enter>")), [":nope"]);
}

#[test]
fn the_first_esc_closes_the_popup_and_the_next_one_cancels() {
    let mut app = ready();
    press(&mut app, "go<enter>:");
    assert!(app.popup.is_some());
    assert_eq!(press(&mut app, "<esc>"), []);
    assert!(app.popup.is_none());
    assert_eq!(press(&mut app, "<esc>"), [Action::Cancel(TabId(1))]);
}

#[test]
fn a_large_paste_is_folded_and_sent_whole() {
    let mut app = ready();
    // Terminals send carriage returns for line ends.
    for end in ["\r", "\r\n", "\n"] {
        let lines = format!("x{end}").repeat(120);
        tell(&mut app, Event::Paste(lines));
        assert_eq!(written(&app).chars().count(), 1);
        let actions = press(&mut app, "<enter>");
        assert_eq!(prompts(&actions), ["x\n".repeat(120)]);
        tell(&mut app, done(v2::StopReason::EndTurn));
    }
}

#[test]
fn a_dropped_image_becomes_an_attachment_if_the_agent_takes_images() {
    for takes_images in [true, false] {
        let mut app = ready();
        let facts = Facts {
            takes_images,
            ..Facts::default()
        };
        tell(&mut app, Event::AgentStarted(AgentId(0), facts));
        let pasted = "/tmp/shot.png".to_owned();
        let actions = app.update(Event::Paste(pasted.clone()));
        assert_eq!(actions, [Action::CheckImage(TabId(1), pasted.clone())]);
        assert_eq!(written(&app), pasted, "it stands there at once");
        press(&mut app, " what is it");
        let image = Some(("/tmp/shot.png".into(), "image/png"));
        tell(&mut app, Event::Image(TabId(1), pasted.clone(), image));
        assert_eq!(written(&app).starts_with(&pasted), !takes_images);
        assert!(written(&app).ends_with(" what is it"), "{}", written(&app));
        assert_eq!(app.notices.is_empty(), takes_images);
    }
}

#[test]
fn the_editor_gets_the_text_and_gives_another() {
    let mut app = ready();
    let actions = press(&mut app, "draft<c-g>");
    assert_eq!(actions, [Action::Edit(TabId(1), "draft".into())]);
    tell(&mut app, Event::Edited(TabId(1), Ok("better\n".into())));
    assert_eq!(written(&app), "better");
    tell(&mut app, Event::Edited(TabId(1), Err("no editor".into())));
    assert_eq!(written(&app), "better");
}

#[test]
fn what_is_not_sent_is_saved_and_forgotten_when_it_is_sent() {
    let mut app = ready();
    press(&mut app, "half");
    assert!(app.wants_ticks());
    let saved = |text: &str| Action::SaveDraft {
        agent: AgentId(0),
        session: "s1".into(),
        text: text.into(),
    };
    assert_eq!(app.update(Event::Tick(5000)), [saved("half")]);
    assert_eq!(app.update(Event::Tick(9000)), []);
    assert!(!app.wants_ticks());
    let actions = press(&mut app, "<enter>");
    assert!(actions.contains(&saved("")));
}

#[test]
fn control_c_clears_first_then_cancels_and_twice_quits() {
    let mut app = ready();
    press(&mut app, "go<enter>more");
    let kept = Action::Remember("more".into());
    assert_eq!(press(&mut app, "<c-c>"), [kept], "it outlives the client");
    assert_eq!(written(&app), "");
    assert!(!hint(&app).contains("Ctrl-C"), "{}", hint(&app));
    press(&mut app, "<c-y>");
    assert_eq!(written(&app), "more", "it can be put back");
    press(&mut app, "<c-u><up>");
    assert_eq!(written(&app), "more", "from the history too");
    press(&mut app, "<c-u>");
    tell(&mut app, Event::Tick(QUIT_MS + 1));
    assert_eq!(press(&mut app, "<c-c>"), [Action::Cancel(TabId(1))]);
    assert_eq!(press(&mut app, "<c-c>"), [Action::Quit]);
}

#[test]
fn a_search_that_is_left_changes_nothing() {
    let mut app = ready();
    press(&mut app, "fix the bug<enter>");
    tell(&mut app, done(v2::StopReason::EndTurn));
    press(&mut app, "half<c-r>bug<left>");
    assert_eq!((written(&app), &app.search), ("half", &None));
    press(&mut app, "<c-r>bug<esc>");
    assert_eq!(written(&app), "half");
    press(&mut app, "<c-r>bug<enter>");
    assert_eq!(written(&app), "fix the bug");
    press(&mut app, "<c-c><up><up>");
    assert_eq!(
        written(&app),
        "half",
        "what it took the place of is not lost"
    );
}

#[test]
fn what_was_not_sent_is_kept_when_the_client_quits() {
    let mut app = ready();
    press(&mut app, "go<enter>one<enter>two<enter>half");
    let kept = Action::SaveDraft {
        agent: AgentId(0),
        session: "s1".into(),
        text: "one\n\ntwo\n\nhalf".into(),
    };
    let mut last = Vec::new();
    app.quit(&mut last);
    assert!(last.contains(&kept), "{last:?}");
    // A session that never was has no place of its own.
    let mut app = starting();
    press(&mut app, "early");
    let mut last = Vec::new();
    app.quit(&mut last);
    assert_eq!(last, [Action::Remember("early".into()), Action::Quit]);
}

#[test]
fn commands_of_this_client_and_of_the_agent_are_in_one_list() {
    let mut app = ready();
    let compact = v2::Command::new("compact", "shortens");
    let commands = vec![v2::AvailableCommand::Command(compact)];
    tell(&mut app, Event::Commands(TabId(1), commands));
    press(&mut app, "/c");
    let popup = app.popup.as_ref().unwrap();
    let names: Vec<&str> = popup
        .entries
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    for name in ["compact", "clear", "close"] {
        assert!(names.contains(&name), "{names:?}");
    }
    press(&mut app, "<c-u>");
    // The agent's commands are for the agent.
    assert_eq!(prompts(&press(&mut app, "/compact<enter>")), ["/compact"]);
    tell(&mut app, done(v2::StopReason::EndTurn));
    let actions = press(&mut app, "/clear<enter>");
    let new = Action::Open(TabId(2), AgentId(0), Target::New);
    assert!(actions.contains(&new), "{actions:?}");
    assert!(actions.contains(&Action::Close(TabId(1))), "{actions:?}");
    assert_eq!(app.tab().unwrap().id, TabId(2));
    assert_eq!(press(&mut app, "/quit<enter>").last(), Some(&Action::Quit));
}

#[test]
fn an_unknown_command_is_not_sent_unasked() {
    let mut app = ready();
    assert_eq!(prompts(&press(&mut app, "/zzz now<enter>")), [""; 0]);
    let notice = &app.notices.back().unwrap().text;
    assert!(notice.contains("unknown command `/zzz`"), "{notice}");
    assert_eq!(written(&app), "/zzz now");
    assert_eq!(prompts(&press(&mut app, "<enter>")), ["/zzz now"]);
    tell(&mut app, done(v2::StopReason::EndTurn));
    let path = "/etc/hosts what is this";
    assert_eq!(prompts(&press(&mut app, &format!("{path}<enter>"))), [path]);
    // An interrupt sends no command either.
    assert_eq!(prompts(&press(&mut app, "/zzz<a-i>")), [""; 0]);
}

#[test]
fn keys_for_help_for_the_end_and_for_a_fresh_screen() {
    let mut app = ready();
    press(&mut app, "?");
    assert!(matches!(app.overlay, Some(Overlay::Help { .. })));
    press(&mut app, "<esc>what?");
    assert_eq!(written(&app), "what?");
    assert_eq!(press(&mut app, "<c-l>"), [Action::Redraw]);
    press(&mut app, "<c-a><c-d>");
    assert_eq!(written(&app), "hat?", "with a text it deletes");
    press(&mut app, "<enter>");
    assert_eq!(press(&mut app, "<c-d>"), [], "something runs");
    assert!(hint(&app).contains("again quits"), "{}", hint(&app));
    assert_eq!(press(&mut app, "<c-d>").last(), Some(&Action::Quit));
    let mut app = ready();
    assert_eq!(press(&mut app, "<c-d>"), [Action::Quit]);
}

#[test]
fn the_wire_log_is_closed_before_a_turn_is_cancelled() {
    let mut app = ready();
    press(&mut app, "go<enter><a-l>");
    assert!(hint(&app).contains("Esc closes"));
    assert_eq!(press(&mut app, "<esc>"), []);
    assert_eq!(press(&mut app, "<esc>"), [Action::Cancel(TabId(1))]);
}

#[test]
fn a_line_of_the_wire_log_is_chosen_and_shown_whole() {
    let mut app = ready();
    for line in [r#"{"id":1,"method":"a"}"#, r#"{"id":2,"method":"b"}"#] {
        let direction = ply_client::Direction::ToAgent;
        app.log.push(0, AgentId(0), direction, line.as_bytes());
    }
    press(&mut app, "<a-l>");
    assert!(hint(&app).contains("Up, Down chooses a line"));
    press(&mut app, "<up><up>");
    assert_eq!(app.log_pane.chosen, Some(0));
    assert!(hint(&app).starts_with("Enter shows the line whole"));
    press(&mut app, "<enter><down>");
    assert_eq!(
        (app.log_pane.chosen, app.log_pane.whole),
        (Some(0), Some(1))
    );
    press(&mut app, "<esc>");
    assert!(app.log_pane.is_open && app.log_pane.whole.is_none());
    // What is written has its keys.
    assert_eq!(prompts(&press(&mut app, "hi<enter>")), ["hi"]);
}
