//! Clients that read slowly: nobody is cut off, and nobody else waits.

use std::time::Duration;

use ply_session::{Edit, Input, Level, Message, Pull, Settings, ViewId, WINDOW_BYTES_MAX};
use ply_wire::v2;

use crate::world::{V1, V2, World};

/// Returns a session in which the clients 3 and 4 do not read.
fn with_slow_clients(settings: Settings) -> World {
    let mut world = World::with(settings);
    for (view, version) in [(1, V1), (2, V2), (3, V1), (4, V2)] {
        world.attach(view, version);
    }
    for view in [3, 4] {
        world.clients.get_mut(&view).unwrap().reads = false;
    }
    world.prompt(1, "one");
    world.forget();
    world
}

#[test]
fn c1_a_client_that_does_not_read_is_never_cut_off() {
    let mut world = with_slow_clients(Settings::default());
    let text = "word ".repeat(400);
    for number in 0..3000 {
        world.say(&format!("{number} \"{text}\"\n"));
        assert!(!world.core.is_paused(), "two clients read");
    }
    assert!(
        world.clients[&2].text().len() > 6_000_000,
        "nobody waits for the slow ones"
    );
    world.end();
    world.pull(3, usize::MAX);
    world.pull(4, usize::MAX);
    world.assert_same(&[1, 2, 3, 4]);
    world.clients[&3].assert_carries(world.core.history().transcript());
    assert!(world.journal.pages > 10);
    assert_eq!(world.seen(4).last().unwrap(), "idle end_turn");
    // They are at the head again.
    world.prompt(1, "two");
    for view in [3, 4] {
        world.pull(view, usize::MAX);
        assert!(world.seen(view).contains(&"user two".to_owned()));
    }
}

#[test]
fn c1_what_is_kept_for_slow_clients_is_bounded() {
    let mut world = with_slow_clients(Settings::default());
    let text = "x".repeat(10_000);
    for _ in 0..1000 {
        world.say(&text);
        let kept = world.core.window_bytes();
        assert!(kept < 2 * WINDOW_BYTES_MAX, "{kept} bytes are kept");
    }
}

#[test]
fn a_record_larger_than_what_is_kept_reaches_who_keeps_up_without_the_journal() {
    let large = "y".repeat(3 * WINDOW_BYTES_MAX);
    let mut world = World::with(Settings::default());
    world.attach(1, V1);
    world.attach(2, V2);
    world.prompt(1, &large);
    world.say(&large);
    world.say(" and more");
    assert_eq!(world.journal.pages, 0, "nobody is behind");
    assert!(world.clients[&2].text().ends_with(" and more"));
    world.end();
    world.assert_same(&[1, 2]);
    assert_eq!(world.journal.pages, 0);
}

#[test]
fn what_a_journal_has_made_safe_unasked_is_not_kept() {
    let mut world = World::running();
    let text = "z".repeat(10_000);
    for _ in 0..10 {
        world.say(&text);
    }
    assert!(
        world.core.window_bytes() > 100_000,
        "it was only accepted, and may be lost"
    );
    world.journal.reaches = Level::Written;
    world.say(&text);
    let kept = world.core.window_bytes();
    assert!(kept < 100_000, "{kept} bytes are kept");
}

#[test]
fn a_message_that_is_cut_in_the_middle_of_its_record_is_continued_exactly() {
    // A client stops after each number of messages, somewhere in records that are joined later.
    for stop in 1..12 {
        let mut world = with_slow_clients(Settings::default());
        world.journal.appends = crate::journal::Mode::Stuck;
        let chunk = |number| format!("{number} \"ä\\\n\u{1f600}\" ");
        for number in 0..10 {
            world.say(&chunk(number));
        }
        world.unstick();
        world.pull(3, stop);
        world.pull(4, stop);
        // Enough to push everything out of the window.
        let text = "y".repeat(100_000);
        for _ in 0..20 {
            world.say(&text);
        }
        world.end();
        world.pull(3, usize::MAX);
        world.pull(4, usize::MAX);
        world.assert_same(&[1, 2, 3, 4]);
    }
}

#[test]
fn a_notice_between_words_of_a_message_loses_none_of_them() {
    for stop in 0..8 {
        let mut world = with_slow_clients(Settings::default());
        world.journal.appends = crate::journal::Mode::Stuck;
        world.say("first");
        world.say(" a");
        let notice = v2::Notice::new(v2::NoticeSeverity::Info, "by the way");
        world.update(v2::SessionUpdate::Notice(notice));
        world.say(" b");
        world.say(" c");
        world.unstick();
        world.pull(4, stop);
        let text = "y".repeat(100_000);
        for _ in 0..20 {
            world.say(&text);
        }
        world.end();
        world.pull(3, usize::MAX);
        world.pull(4, usize::MAX);
        world.assert_same(&[1, 2, 3, 4]);
    }
}

#[test]
fn answers_come_in_their_place_also_to_clients_that_are_behind() {
    let mut world = with_slow_clients(Settings::default());
    world.end();
    let request = world.prompt(4, "two");
    let text = "z".repeat(100_000);
    for _ in 0..30 {
        world.say(&text);
    }
    world.end();
    let third = world.prompt(3, "three");
    world.say("short");
    world.end();
    world.pull(3, usize::MAX);
    world.pull(4, usize::MAX);
    world.assert_same(&[1, 2, 3, 4]);
    let seen = world.seen(4);
    let at = |what: &str| seen.iter().position(|seen| seen.starts_with(what));
    let answer = at(&format!("answer {request} ")).expect("it was answered");
    assert_eq!(seen[answer - 1], "user two");
    assert_eq!(seen[answer + 1], "running");
    let seen = world.seen(3);
    assert_eq!(seen.last().unwrap(), &format!("answer {third} end_turn"));
    assert!(seen[seen.len() - 2].ends_with("short"));
}

#[test]
fn an_answer_between_words_of_a_record_comes_between_them_also_from_the_journal() {
    let mut world = with_slow_clients(Settings::default());
    world.attach(5, V2);
    world.clients.get_mut(&5).unwrap().reads = false;
    world.journal.appends = crate::journal::Mode::Stuck;
    world.say("What comes while the journal is busy goes into one record: ");
    world.say("before");
    let request = world.attach(5, V2);
    world.say(" after");
    world.unstick();
    let text = "u".repeat(100_000);
    for _ in 0..20 {
        world.say(&text);
    }
    world.pull(5, usize::MAX);
    let seen = world.seen(5);
    let at = |what: &str| {
        seen.iter()
            .position(|seen| seen.contains(what))
            .expect(what)
    };
    assert!(at(&format!("answer {request}")) < at(" after"), "{seen:?}");
    world.assert_same(&[1, 2, 5]);
}

#[test]
fn a_client_that_loads_while_another_is_behind_sees_the_same() {
    let mut world = with_slow_clients(Settings::default());
    let text = "w".repeat(50_000);
    for number in 0..60 {
        world.say(&text);
        if number == 30 {
            world.attach(5, V2);
            world.attach(6, V1);
            world.clients.get_mut(&6).unwrap().reads = false;
        }
    }
    world.end();
    for view in [3, 4, 6] {
        world.pull(view, usize::MAX);
    }
    world.assert_same(&[1, 2, 3, 4, 5, 6]);
}

#[test]
fn the_window_is_bounded_also_if_something_is_always_on_its_way_to_the_disk() {
    let mut world = World::running();
    let text = "v".repeat(20_000);
    world.journal.appends = crate::journal::Mode::Stuck;
    for number in 0..300 {
        world.call(&format!("c{number}"), v2::ToolCallStatus::InProgress);
        world.say(&text);
        // What comes meanwhile is not safe when this is, so there is never a moment at which everything is.
        world.answer_append();
        let kept = world.core.window_bytes();
        assert!(kept < 2 * WINDOW_BYTES_MAX, "{kept} bytes are kept");
        if number == 200 {
            world.attach(3, V2);
        }
    }
    world.unstick();
    world.end();
    world.assert_same(&[1, 2, 3]);
}

#[test]
fn output_that_is_sent_less_often_wakes_nobody_for_a_client_that_does_not_read() {
    let mut world = with_slow_clients(Settings::default());
    world.call("c", v2::ToolCallStatus::InProgress);
    world.pull(3, usize::MAX);
    for number in 0..3 {
        let content = v2::Content::new(v2::ContentBlock::from(format!("line {number}\n")));
        let content = v2::ToolCallContent::Content(Box::new(content));
        let chunk = v2::ToolCallContentChunk::new("c", content);
        world.update(v2::SessionUpdate::ToolCallContentChunk(chunk));
        // It has taken note of this much, and then reads nothing more.
        world.pull(3, 1);
    }
    // Every deadline passes, or this does not return.
    world.pass(Duration::from_secs(10));
    assert_eq!(world.core.deadline(), None);
    world.end();
    world.pull(3, usize::MAX);
    let kept = world.core.history().transcript();
    world.clients[&3].assert_carries(kept);
}

#[test]
fn a_client_is_told_of_records_that_cannot_be_read() {
    let mut world = with_slow_clients(Settings::default());
    let text = "x".repeat(100_000);
    for _ in 0..20 {
        world.say(&text);
    }
    world.end();
    for view in [3, 4] {
        let mut out = Vec::new();
        let from = loop {
            match world.core.pull(world.now, ViewId(view), &mut out) {
                Pull::Read { from } => break from,
                Pull::Message(_) => {}
                other => panic!("{other:?}"),
            }
        };
        let (view_id, records, next) = (ViewId(view), Vec::new(), u64::MAX);
        world.step(Input::Page {
            view: view_id,
            from,
            records,
            next,
        });
        world.forget();
        world.pull(view, usize::MAX);
        // And then it goes on with what there is.
        let seen = world.seen(view);
        assert_eq!(seen, ["notice Part of what happene"]);
        world.prompt(1, "on");
        world.pull(view, usize::MAX);
        assert!(world.seen(view).contains(&"user on".to_owned()));
        world.end();
    }
}

#[test]
fn words_of_a_record_that_one_client_has_read_in_part_are_there_for_one_that_is_behind() {
    for stop in 1..12 {
        let mut world = with_slow_clients(Settings::default());
        world.clients.get_mut(&4).unwrap().reads = true;
        let text = "r".repeat(100_000);
        for _ in 0..20 {
            world.say(&text);
        }
        world.clients.get_mut(&4).unwrap().reads = false;
        world.journal.appends = crate::journal::Mode::Stuck;
        for number in 0..10 {
            world.say(&format!("{number} "));
        }
        world.unstick();
        // Now it is written, so that it need not be kept for the journal.
        world.call("c", v2::ToolCallStatus::InProgress);
        world.pull(4, stop);
        // What everybody has read is let go of, unless somebody may need it as a part of its record.
        world.pass(Duration::ZERO);
        world.pull(3, usize::MAX);
        world.pull(4, usize::MAX);
        world.assert_same(&[1, 2, 3, 4]);
    }
}

#[test]
fn a_page_that_was_read_before_a_client_loaded_anew_is_not_shown_to_it() {
    let mut world = with_slow_clients(Settings::default());
    let say = |world: &mut World, what: &str| {
        for number in 0..20 {
            let text = "p".repeat(100_000);
            world.say(&format!("{what} {number} {text}"));
        }
    };
    say(&mut world, "before");
    let from = loop {
        match world.core.pull(world.now, ViewId(4), &mut Vec::new()) {
            Pull::Message(_) => {}
            Pull::Read { from } => break from,
            other => panic!("it reads from the journal: {other:?}"),
        }
    };
    let late = world.journal.page(ViewId(4), from);
    world.attach(4, V2);
    say(&mut world, "after");
    world.step(late);
    world.end();
    world.pull(4, usize::MAX);
    world.assert_same(&[1, 2, 4]);
}

#[test]
fn version_1_is_shown_whole_files_also_from_the_journal() {
    let mut world = with_slow_clients(Settings::default());
    let (old, new) = ("a\n".repeat(50) + "b\n", "a\n".repeat(50) + "c\n");
    let before = serde_json::Value::from(old.as_str());
    let path = std::path::PathBuf::from("/work/file");
    let diff = ply_wire::convert::diff::edit(&path, Some(&old), Some(&new));
    let call = v2::ToolCallUpdate::new("c")
        .title("Edit")
        .content(vec![v2::ToolCallContent::Diff(diff)]);
    world.step(Input::Update {
        turn: world.turn,
        update: v2::SessionUpdate::ToolCallUpdate(call),
        edits: vec![Edit {
            path,
            old: Some(old),
            new: Some(new),
        }],
    });
    let text = "e".repeat(100_000);
    for _ in 0..20 {
        world.say(&text);
    }
    let mut diffs = Vec::new();
    loop {
        match world.core.pull(world.now, ViewId(3), &mut Vec::new()) {
            Pull::Message(Message::UpdateV1(update)) => {
                let update = serde_json::to_value(update).unwrap();
                diffs.extend(update.pointer("/content/0/oldText").cloned());
            }
            Pull::Message(_) => {}
            Pull::Read { from } => {
                let page = world.journal.page(ViewId(3), from);
                world.step(page);
            }
            _ => break,
        }
    }
    assert!(world.journal.pages > 0);
    assert_eq!(diffs, [before]);
}
