use super::*;

fn moved(text: &str, moves: &[Move]) -> usize {
    let mut composer = Composer::with_text(text);
    for to in moves {
        composer.go(*to);
    }
    composer.cursor()
}

#[test]
fn the_cursor_moves_by_what_a_person_sees_as_one() {
    assert_eq!(moved("aé", &[Move::Left]), 1);
    let family = "x👩\u{200d}👧";
    assert_eq!(moved(family, &[Move::Left]), 1);
    assert_eq!(
        moved(family, &[Move::Start, Move::Right, Move::Right]),
        family.len()
    );
    assert_eq!(moved("", &[Move::Left, Move::Right]), 0);
}

#[test]
fn words_and_lines_have_their_own_moves() {
    assert_eq!(moved("fix the bug", &[Move::WordLeft]), 8);
    assert_eq!(moved("fix the  ", &[Move::WordLeft]), 4);
    assert_eq!(moved("a::b", &[Move::WordLeft, Move::WordLeft]), 1);
    assert_eq!(moved("one two", &[Move::Start, Move::WordRight]), 3);
    assert_eq!(moved("one\ntwo", &[Move::LineStart]), 4);
    assert_eq!(moved("one\ntwo", &[Move::Start, Move::LineEnd]), 3);
}

#[test]
fn up_and_down_keep_the_column_and_stop_at_the_edges() {
    let mut composer = Composer::with_text("first line\nab\nthird line");
    assert!(composer.up());
    assert_eq!(composer.cursor(), 13);
    assert!(composer.up());
    assert_eq!(composer.cursor(), 10);
    assert!(!composer.up());
    assert!(composer.down() && composer.down() && !composer.down());
    assert_eq!(composer.cursor(), "first line\nab\nthird line".len());
}

#[test]
fn what_was_killed_can_be_put_back() {
    let mut composer = Composer::with_text("keep this");
    composer.delete(Move::WordLeft);
    assert_eq!(composer.text(), "keep ");
    composer.delete(Move::Left);
    composer.yank();
    assert_eq!(composer.text(), "keepthis");
}

#[test]
fn a_large_paste_is_one_character_and_is_sent_whole() {
    let lines = "line\n".repeat(120);
    let mut composer = Composer::with_text("see ");
    assert!(composer.paste(&lines));
    assert_eq!(composer.text().chars().count(), 5);
    let label = composer
        .text()
        .chars()
        .find_map(|char| composer.piece(char));
    assert_eq!(label.unwrap().label(), "[pasted 120 lines]");
    let sent = composer.outgoing();
    assert_eq!(sent.blocks, [Block::Text(format!("see {lines}"))]);
    composer.delete(Move::Left);
    assert_eq!(composer.text(), "see ");
}

#[test]
fn files_and_images_are_blocks_of_their_own() {
    let mut composer = Composer::with_text("look at @ma");
    let (start, word) = composer.word_with('@').unwrap();
    assert_eq!((start, word), (8, "ma"));
    composer.replace_with_piece(start, Piece::File("src/main.rs".into()));
    composer.insert("now");
    let blocks = composer.outgoing().blocks;
    let expected = [
        Block::Text("look at ".into()),
        Block::Link("src/main.rs".into()),
        Block::Text(" now".into()),
    ];
    assert_eq!(blocks, expected);
    assert_eq!(composer.plain(), "look at @src/main.rs now");
}

#[test]
fn marks_and_controls_cannot_be_pasted() {
    let composer = Composer::with_text("a\u{f0000}\x1b[2Jb\r\nc\td");
    assert_eq!(composer.text(), "a[2Jb\nc\td");
}

#[test]
fn history_goes_back_and_returns_to_what_was_being_written() {
    let mut history = History::new(["one".to_owned(), "two".to_owned(), "two".to_owned()]);
    assert_eq!(history.older("dra"), Some("two"));
    assert_eq!(history.older("two"), Some("one"));
    assert_eq!(history.older("one"), None);
    assert_eq!(history.newer(), Some("two"));
    assert_eq!(history.newer(), Some("dra"));
    assert_eq!(history.newer(), None);
    assert_eq!(history.find("O", 0), Some("two"));
    assert_eq!(history.find("o", 1), Some("one"));
}

#[test]
fn history_is_bounded() {
    let history = History::new((0..HISTORY_ENTRIES_MAX + 5).map(|n| format!("{n}.")));
    assert_eq!(history.find("", HISTORY_ENTRIES_MAX - 1), Some("5."));
    assert_eq!(history.find("", HISTORY_ENTRIES_MAX), None);
}

#[test]
fn what_was_killed_keeps_its_pieces() {
    let mut composer = Composer::with_text("see ");
    composer.add(Piece::File("a.rs".into()));
    composer.insert(" and ");
    composer.add(Piece::Paste("x\n".repeat(9)));
    let before = composer.outgoing();
    composer.delete(Move::LineStart);
    assert!(composer.is_empty());
    // Other pieces have their places now.
    composer.add(Piece::File("other.rs".into()));
    composer.clear();
    composer.yank();
    assert_eq!(composer.outgoing(), before);
    composer.kill();
    composer.yank();
    assert_eq!(composer.outgoing(), before);
}

#[test]
fn an_editor_leaves_pieces_where_their_words_still_stand() {
    let mut composer = Composer::with_text("look at ");
    composer.add(Piece::File("a.rs".into()));
    composer.insert(" with ");
    let paste = "line\n".repeat(9);
    composer.add(Piece::Paste(paste.clone()));
    let edited = format!("Please {}!", composer.plain().trim_end());
    let blocks = composer.rewritten(&edited).outgoing().blocks;
    let expected = [
        Block::Text("Please look at ".into()),
        Block::Link("a.rs".into()),
        Block::Text(format!(" with {paste}!")),
    ];
    assert_eq!(blocks, expected);
    let gone = composer.rewritten("nothing of it");
    assert_eq!(gone.text(), "nothing of it");
}

#[test]
fn a_pasted_path_becomes_a_piece_only_while_it_stands_there() {
    let piece = || Piece::Image {
        path: "/a.png".into(),
        mime: "image/png",
    };
    let mut composer = Composer::with_text("see /a.png and more");
    composer.go(Move::WordLeft);
    let cursor_after = "more";
    assert!(composer.put_piece_for("/a.png", piece()));
    assert!(composer.text()[composer.cursor()..].starts_with(cursor_after));
    assert_eq!(composer.plain(), "see /a.png and more");
    assert_eq!(composer.outgoing().blocks.len(), 3);
    let mut changed = Composer::with_text("see /a.pn");
    assert!(!changed.put_piece_for("/a.png", piece()));
    assert_eq!(changed.text(), "see /a.pn");
}
