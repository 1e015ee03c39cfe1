//! Work is counted, not timed.

use super::*;

#[test]
fn a_long_session_opens_for_the_price_of_a_screen() {
    let mut screen = Screen::new(80, 40);
    for entry in 0..50_000 {
        screen.say(
            "agent_message",
            &format!("m{entry}"),
            "some **words** to be shown",
        );
        screen.apply(call(
            &format!("c{entry}"),
            json!({ "title": "Look", "kind": "read", "status": "completed" }),
        ));
    }
    screen.frame();
    let lines = screen.view.store.work.laid_out_lines;
    assert!(
        lines < 100,
        "{lines} lines were laid out for a screen of 40"
    );
    screen.scroll(Scroll::Page(-1));
    screen.frame();
    let lines = screen.view.store.work.laid_out_lines;
    assert!(
        lines < 200,
        "{lines} lines were laid out for two screens of 40"
    );
}

#[test]
fn a_frame_without_changes_lays_out_nothing() {
    let mut screen = Screen::new(80, 40);
    conversation(&mut screen);
    screen.settled();
    let before = screen.view.store.work.laid_out_lines;
    screen.look.tick += 1;
    screen.frame();
    assert_eq!(screen.view.store.work.laid_out_lines, before);
}

#[test]
fn ten_thousand_chunks_cost_ten_thousand_times_one() {
    let mut screen = Screen::new(60, 8);
    let chunks = ["A paragraph ", "of words.\n\n", "- item\n", "  more\n\n"];
    let mut halves = [(0, 0); 2];
    for half in &mut halves {
        let work = &screen.view.store.work;
        let before = (work.parsed_bytes, work.laid_out_lines);
        for chunk in 0..5_000 {
            screen.say("agent_message", "m", chunks[chunk % chunks.len()]);
            screen.frame();
        }
        let work = &screen.view.store.work;
        *half = (work.parsed_bytes - before.0, work.laid_out_lines - before.1);
    }
    let [first, second] = halves;
    assert!(second.0 * 4 <= first.0 * 5, "{first:?}, then {second:?}");
    assert!(second.1 * 4 <= first.1 * 5, "{first:?}, then {second:?}");
    assert!(first.0 < 5_000 * 100, "{} bytes for 5,000 chunks", first.0);
}

#[test]
fn scrolling_through_everything_keeps_a_bounded_number_of_blocks() {
    let mut screen = Screen::new(40, 20);
    for entry in 0..3_000 {
        screen.say("agent_message", &format!("m{entry}"), "words");
    }
    screen.frame();
    for _ in 0..200 {
        screen.scroll(Scroll::Page(-1));
        screen.frame();
        assert!(screen.view.store.kept() <= 300);
    }
}

#[test]
fn a_frame_highlights_so_much_and_the_next_one_goes_on() {
    let mut screen = Screen::new(80, 400);
    let code = "let number = \"text\"; // why\n".repeat(390);
    screen.say("agent_message", "m", &format!("```rust\n{code}```\n"));
    let theme = Theme::dark();
    let comments = |buf: &Buffer| {
        let comment = buf
            .content
            .iter()
            .filter(|cell| cell.fg == theme.comment.fg.unwrap());
        comment.count()
    };
    let first = comments(&screen.frame());
    assert!(screen.view.is_unfinished());
    let second = comments(&screen.frame());
    assert!(second > first, "{first}, then {second}");
    assert_eq!(comments(&screen.settled()), 390 * "// why".len());
}
