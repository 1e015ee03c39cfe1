use super::*;

fn numbered(screen: &mut Screen, count: usize) {
    for line in 0..count {
        screen.say(
            "agent_message",
            &format!("m{line}"),
            &format!("line {line}"),
        );
    }
}

#[test]
fn the_end_is_followed_until_the_reader_goes_up() {
    let mut screen = Screen::new(30, 5);
    numbered(&mut screen, 10);
    assert!(screen.text().ends_with("line 9"));
    screen.say("agent_message", "n", "new");
    assert!(screen.text().ends_with("new"));
    assert!(screen.view.is_at_end());

    screen.scroll(Scroll::Lines(-2));
    assert!(!screen.view.is_at_end());
    let before = screen.text();
    screen.say("agent_message", "n", " and more");
    screen.say("agent_message", "o", "another");
    assert_eq!(screen.text(), before);
    assert_eq!(screen.view.new_below(&screen.transcript), 2);

    screen.scroll(Scroll::End);
    assert!(screen.text().ends_with("another"));
    assert_eq!(screen.view.new_below(&screen.transcript), 0);
}

#[test]
fn the_end_of_the_last_turn_stands_below_what_was_said_in_it() {
    let end = || End {
        is_good: true,
        words: "1 s".to_owned(),
    };
    for (height, count) in [(5, 10), (12, 2)] {
        let mut screen = Screen::new(30, height);
        numbered(&mut screen, count);
        screen.frame();
        let entries = screen.transcript.entries().len();
        screen.view.turn_ended(entries, end());
        let text = screen.text();
        let last = format!("line {}\n\n✓ 1 s", count - 1);
        assert!(text.trim_end().ends_with(&last), "{text}");
        assert!(screen.view.is_at_end());
        screen.say("agent_message", "n", "new");
        assert!(screen.text().trim_end().ends_with("new"));
    }
    // A long one is cut, and says so.
    let mut screen = Screen::new(12, 6);
    numbered(&mut screen, 1);
    screen.frame();
    let long = End {
        is_good: false,
        words: "failed: the network is away".to_owned(),
    };
    screen
        .view
        .turn_ended(screen.transcript.entries().len(), long);
    assert!(screen.text().ends_with("✗ failed: t…"), "{}", screen.text());
    // It leaves the screen with the end.
    let mut screen = Screen::new(30, 5);
    numbered(&mut screen, 10);
    screen.frame();
    screen
        .view
        .turn_ended(screen.transcript.entries().len(), end());
    screen.frame();
    screen.scroll(Scroll::Lines(-4));
    assert!(!screen.text().contains('✓'));
    screen.scroll(Scroll::Lines(4));
    assert!(screen.view.is_at_end() && screen.text().contains('✓'));
}

#[test]
fn who_follows_the_end_goes_on_following_though_nothing_was_drawn_for_a_while() {
    let mut screen = Screen::new(30, 5);
    numbered(&mut screen, 2);
    screen.frame();
    // A question takes all the rows while more is said.
    screen.height = 0;
    for line in 0..20 {
        screen.say("agent_message", &format!("n{line}"), &format!("new {line}"));
    }
    screen.frame();
    screen.scroll(Scroll::Page(1));
    screen.height = 5;
    assert!(screen.text().ends_with("new 19"));
    assert!(screen.view.is_at_end());
}

#[test]
fn down_to_the_last_line_means_to_follow_again() {
    let mut screen = Screen::new(30, 5);
    numbered(&mut screen, 20);
    screen.frame();
    screen.scroll(Scroll::Lines(-7));
    screen.frame();
    screen.scroll(Scroll::Lines(6));
    assert!(!screen.view.is_at_end());
    screen.scroll(Scroll::Lines(100));
    assert!(screen.view.is_at_end());
    assert!(screen.text().ends_with("line 19"));
    screen.scroll(Scroll::Top);
    assert_eq!(screen.first_row(), "line 0");
    screen.scroll(Scroll::Page(1));
    assert_eq!(screen.first_row(), "line 2");
}

#[test]
fn a_transcript_that_fits_has_nothing_to_scroll() {
    let mut screen = Screen::new(30, 9);
    numbered(&mut screen, 3);
    let text = screen.text();
    for by in [
        Scroll::Lines(-1),
        Scroll::Top,
        Scroll::Page(-1),
        Scroll::PreviousPrompt,
    ] {
        screen.scroll(by);
        assert!(screen.view.is_at_end(), "{by:?}");
        assert_eq!(screen.text(), text);
    }
}

#[test]
fn prompts_are_found_one_after_the_other() {
    let mut screen = Screen::new(30, 4);
    for prompt in 0..3 {
        screen.say(
            "user_message",
            &format!("u{prompt}"),
            &format!("prompt {prompt}"),
        );
        let answer = "a line\n\n".repeat(9);
        screen.say("agent_message", &format!("m{prompt}"), &answer);
    }
    screen.frame();
    let mut seen = Vec::new();
    for _ in 0..4 {
        screen.scroll(Scroll::PreviousPrompt);
        seen.push(screen.first_row());
    }
    assert_eq!(
        seen,
        ["▌ prompt 2", "▌ prompt 1", "▌ prompt 0", "▌ prompt 0"]
    );
    screen.scroll(Scroll::NextPrompt);
    assert_eq!(screen.first_row(), "▌ prompt 1");
    screen.scroll(Scroll::NextPrompt);
    screen.scroll(Scroll::NextPrompt);
    assert!(screen.view.is_at_end());
}

#[test]
fn what_is_clicked_on_stays_where_it_is() {
    let mut screen = Screen::new(30, 6);
    numbered(&mut screen, 5);
    screen.say("agent_thought", "t", "one\n\ntwo\n\nthree\n\nfour\n\nfive");
    screen.say("agent_message", "z", "end");
    let text = screen.text();
    let row = text.lines().position(|line| line.contains("∴")).unwrap();
    assert!(
        screen
            .view
            .toggle_fold_at(&screen.transcript, u16::try_from(row).unwrap())
    );
    let opened = screen.text();
    assert_eq!(opened.lines().nth(row), Some("│ one"));
    assert!(!screen.view.is_at_end());
    assert!(
        screen
            .view
            .toggle_fold_at(&screen.transcript, u16::try_from(row).unwrap())
    );
    assert_eq!(screen.text(), text);
    assert!(screen.view.is_at_end());
}

#[test]
fn another_size_keeps_the_place() {
    let mut screen = Screen::new(30, 5);
    numbered(&mut screen, 30);
    screen.frame();
    screen.scroll(Scroll::Lines(-20));
    let first = screen.first_row();
    screen.width = 12;
    screen.height = 8;
    assert_eq!(screen.first_row(), first);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn going_up_and_down_as_far_leads_back(updates in updates(), lines in 1_i32..40, height in 1_u16..12) {
        let mut screen = Screen::new(40, height);
        for update in updates {
            screen.apply(update);
        }
        screen.settled();
        screen.scroll(Scroll::Lines(-1_000_000));
        let top = screen.view.top;
        screen.scroll(Scroll::Lines(lines));
        if !screen.view.is_at_end() {
            screen.settled();
            screen.scroll(Scroll::Lines(-lines));
            prop_assert_eq!(screen.view.top, top);
        }
    }
}
