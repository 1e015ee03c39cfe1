//! Edits as tables, and as properties of all of them.

use proptest::prelude::*;

use super::apply::{Applied, apply};
use super::ladder::{Edit, Miss, find};
use super::words::explain;

fn edit(old: &str, new: &str) -> Edit {
    Edit {
        old: old.to_owned(),
        new: new.to_owned(),
        replace_all: false,
    }
}

fn all(old: &str, new: &str) -> Edit {
    Edit {
        replace_all: true,
        ..edit(old, new)
    }
}

#[track_caller]
fn check(text: &str, edits: &[Edit], expected: &str) -> Applied {
    let applied = apply(text, edits).unwrap();
    assert_eq!(applied.text, expected);
    applied
}

#[track_caller]
fn misses(text: &str, edit: &Edit, expected: Miss) {
    assert_eq!(find(text, edit).unwrap_err(), expected);
}

#[test]
fn text_that_is_there_once_is_replaced() {
    for (text, old, new, expected) in [
        ("a b c", "b", "x", "a x c"),
        ("a\nb\nc\n", "b\n", "", "a\nc\n"),
        ("a\nb\nc", "\nc", "", "a\nb"),
        ("\tif x {\n\t}\n", "if x {\n\t}", "y();", "\ty();\n"),
        ("häßlich ✓\n", "ß", "ss", "hässlich ✓\n"),
        ("x = 1\n", "x = 1", "  x = 2  \n\n", "  x = 2  \n\n\n"),
        ("$1 \\n", "$1", "$0", "$0 \\n"),
    ] {
        check(text, &[edit(old, new)], expected);
    }
}

#[test]
fn line_ends_of_the_file_are_kept() {
    for (text, old, new, expected) in [
        // Written with the other line ends.
        ("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n", "x\r\ny\r\nc\r\n"),
        ("a\nb\nc\n", "a\r\nb\r\n", "x\r\ny\r\n", "x\ny\nc\n"),
        // Found as it is, but the new text would bring other ones.
        ("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"),
        ("a\r\nb\r\n", "a", "x\r\ny", "x\r\ny\r\nb\r\n"),
        // At the edges of a line end.
        ("a\r\nb\r\nc", "\nb", "\nx", "a\r\nx\r\nc"),
        ("a\r\nb\r\nc", "b\n", "x\n", "a\r\nx\r\nc"),
        // Mixed: as the lines that are replaced have them.
        ("a\nb\r\nc\r\nd\n", "b\nc", "x\ny", "a\nx\r\ny\r\nd\n"),
        ("a\nb\r\nc\r\nd\n", "b\nc\n", "", "a\nd\n"),
        // Nothing says which they are.
        ("a", "a", "x\r\ny", "x\r\ny"),
    ] {
        check(text, &[edit(old, new)], expected);
    }
}

#[test]
fn space_at_the_ends_of_lines_does_not_matter() {
    for (text, old, new, expected) in [
        ("a  \nb\t\nc\n", "a\nb\n", "x\ny\n", "x\ny\nc\n"),
        ("a\nb\nc\n", "a \nb  ", "x\ny", "x\ny\nc\n"),
        ("a \r\nb\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n"),
        ("a\n   \nb\n", "a\n\nb", "x", "x\n"),
        // The last line of the file has no end, and gets none.
        ("a \nb", "a\nb\n", "x\ny\n", "x\ny"),
        ("a\nb", "b\n", "x\n", "a\nx"),
        ("a\nb", "b\n", "x\n\n", "a\nx\n"),
    ] {
        check(text, &[edit(old, new)], expected);
    }
}

#[test]
fn lines_that_are_all_indented_by_the_same_amount_are_found() {
    for (text, old, new, expected) in [
        (
            "fn f() {\n    if a {\n        b\n    }\n}\n",
            "if a {\n    b\n}\n",
            "if c {\n    d\n\n    e\n}\n",
            "fn f() {\n    if c {\n        d\n\n        e\n    }\n}\n",
        ),
        (
            "if a {\n    b\n}\n",
            "    if a {\n        b\n    }",
            "    if c {\n        d\n    }",
            "if c {\n    d\n}\n",
        ),
        (
            "\ta {\n\t\tb\n\t}\n",
            "a {\n\tb\n}",
            "c {\n\td\n}",
            "\tc {\n\t\td\n\t}\n",
        ),
        (
            "  a {\r\n    b\r\n",
            "a {\n  b\n",
            "c {\n  d\n",
            "  c {\r\n    d\r\n",
        ),
    ] {
        check(text, &[edit(old, new)], expected);
    }
}

#[test]
fn what_is_not_there_is_not_guessed() {
    for (text, old, new) in [
        ("a\nb\n", "c", "x"),
        ("let value = 1;\n", "let valu = 1;", "x"),
        // Not the same amount in every line.
        ("  a\n      b\n", "a\n  b", "x"),
        // Tabs are no spaces.
        ("\ta\n\t\tb\n", "    a\n        b", "x"),
        // A new line that cannot be moved out as far as the others.
        ("a\nb\n", "    a\n    b", "  x\n    y"),
        // Nothing but space is found as it is written or not at all.
        ("a\n\n\nb\n", "\n \n \n \n", "x"),
        ("A\n", "a", "x"),
        ("", "a", "x"),
    ] {
        misses(text, &edit(old, new), Miss::Nowhere);
    }
}

#[test]
fn an_edit_must_say_what_to_replace() {
    misses("a", &edit("", "x"), Miss::Empty);
    misses("a", &all("", "x"), Miss::Empty);
    misses("a", &edit("a", "a"), Miss::Same);
}

#[test]
fn text_that_is_there_several_times_is_a_question() {
    misses("a b a", &edit("a", "x"), Miss::Several(vec![0, 4]));
    // Also where the places overlap.
    misses("xaaax", &edit("aa", "b"), Miss::Several(vec![1, 2]));
    misses("ÄÄÄ", &edit("ÄÄ", "b"), Miss::Several(vec![0, 2]));
    misses(
        "a \nb\na  \nb\n",
        &edit("a\nb", "x"),
        Miss::Several(vec![0, 5]),
    );
    misses(
        " a\n b\n  a\n  b\n",
        &edit("a\nb", "x"),
        Miss::Several(vec![0, 6]),
    );
}

#[test]
fn all_places_are_replaced_on_demand() {
    check("a b a", &[all("a", "aa")], "aa b aa");
    check("aaaa", &[all("aa", "b")], "bb");
    check(
        "a\r\nb\r\na\r\nb\r\n",
        &[all("a\nb\n", "x\n")],
        "x\r\nx\r\n",
    );
    check("a \na \na \n", &[all("a\na", "x")], "x\na \n");
    check(" a\n b\n  a\n  b\n", &[all("a\nb\n", "c\n")], " c\n  c\n");
}

#[test]
fn edits_are_done_in_order_to_what_the_one_before_left() {
    check(
        "a\nb\nc\n",
        &[edit("a", "b2"), edit("b2", "x"), edit("c", "z")],
        "x\nb\nz\n",
    );
    let failed = apply("a\nb\n", &[edit("a", "x"), edit("a", "y")]).unwrap_err();
    assert_eq!((failed.edit, failed.miss), (1, Miss::Nowhere));
}

#[test]
fn an_empty_file_is_filled_by_an_empty_old_text() {
    check("", &[edit("", "a\nb\n"), edit("b", "c")], "a\nc\n");
    check("", &[edit("", "")], "");
}

#[test]
fn the_places_of_all_changes_are_known_afterwards() {
    #[track_caller]
    fn regions(text: &str, edits: &[Edit], expected: &[&str]) {
        let applied = apply(text, edits).unwrap();
        let regions: Vec<_> = applied
            .regions
            .iter()
            .map(|region| &applied.text[region.clone()])
            .collect();
        assert_eq!(regions, expected);
    }
    regions(
        "a b c d",
        &[edit("b", "XX"), edit("d", "YY")],
        &["XX", "YY"],
    );
    regions(
        "a b c d",
        &[edit("d", "YY"), edit("b", "XX")],
        &["XX", "YY"],
    );
    regions(
        "a b c d",
        &[edit("b", "X12"), edit("1", "long")],
        &["Xlong2"],
    );
    regions("a b c d", &[edit("b", "XX"), edit("a XX c", "Z")], &["Z"]);
    regions("a b c d", &[edit("b", "XX"), edit("X c", "Z")], &["XZ"]);
    regions("a-a-a", &[all("a", "bc"), edit("bc-bc-", "")], &["bc"]);
    regions("a b c", &[edit(" b", "")], &[""]);
}

#[test]
fn a_miss_shows_the_nearest_lines() {
    let text = "fn one() {\n    1\n}\n\nfn two() {\n    let x = 2;\n    x\n}\n";
    let edits = [edit("fn two() {\n    let y = 2;\n    x\n}", "x")];
    let words = explain(&apply(text, &edits).unwrap_err(), &edits);
    insta::assert_snapshot!(words, @r"
    `old` is not in the file. It must be the text as it is, without line numbers and with its indentation. The nearest text in the file is:
         5	fn two() {
         6	    let x = 2;
         7	    x
         8	}
    ");
    let edits = [edit("a", "b"), edit("nothing like it", "x")];
    let words = explain(&apply("a\n", &edits).unwrap_err(), &edits);
    insta::assert_snapshot!(words, @"Edit 2 of 2: `old` is not in the file. It must be the text as it is, without line numbers and with its indentation. None of the edits was done. No line of it is in the file; read the file again.");
}

#[test]
fn several_places_are_named() {
    let text = "x\n".repeat(30);
    let edits = [edit("x", "y")];
    let words = explain(&apply(&text, &edits).unwrap_err(), &edits);
    assert!(
        words.contains("30 times, in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …."),
        "{words}"
    );
    assert!(words.contains("replace_all = true"), "{words}");
}

/// A line with what makes trouble: tabs, spaces at both ends, letters of several bytes.
fn line() -> impl Strategy<Value = String> {
    "[ \t]{0,3}[abß✓{}]{0,3}[ \t]{0,2}"
}

fn end() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("\n"), Just("\r\n")]
}

fn text() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec((line(), end()), 0..12);
    (lines, prop::option::of(line())).prop_map(|(lines, last)| {
        let mut text: String = lines
            .into_iter()
            .flat_map(|(line, end)| [line, end.to_owned()])
            .collect();
        text.extend(last);
        text
    })
}

proptest! {
    #[test]
    fn what_is_outside_of_the_match_stays_byte_for_byte(
        text in text(), old in text(), new in text(), replace_all: bool
    ) {
        let edit = Edit { old, new, replace_all };
        if let Ok(splices) = find(&text, &edit) {
            let mut rest = String::new();
            let mut at = 0;
            for splice in &splices {
                prop_assert!(splice.range.start >= at);
                rest.push_str(&text[at..splice.range.start]);
                rest.push_str(&splice.new);
                at = splice.range.end;
            }
            rest.push_str(&text[at..]);
            let applied = apply(&text, std::slice::from_ref(&edit)).unwrap();
            prop_assert_eq!(&applied.text, &rest);
            for region in &applied.regions {
                prop_assert!(applied.text.get(region.clone()).is_some());
            }
            prop_assert!(replace_all || splices.len() == 1);
        }
    }

    #[test]
    fn a_part_of_the_text_is_found_whatever_its_line_ends(
        text in text(), from in 0_usize..200, length in 1_usize..60, crlf: bool
    ) {
        let boundary = |place: usize| {
            let place = place % (text.len() + 1);
            (0..=place).rev().find(|place| text.is_char_boundary(*place)).unwrap()
        };
        let (start, stop) = (boundary(from), boundary(from + length));
        let (start, stop) = (start.min(stop), start.max(stop));
        let part = &text[start..stop];
        prop_assume!(!part.is_empty() && !part.ends_with('\r') && !text[..start].ends_with('\r'));
        let folded = part.replace("\r\n", "\n");
        let old = if crlf { folded.replace('\n', "\r\n") } else { folded };
        match find(&text, &edit(&old, "✗")) {
            Ok(splices) => prop_assert_eq!(splices.len(), 1),
            Err(miss) => prop_assert!(matches!(miss, Miss::Several(_)), "{:?}", miss),
        }
    }

    #[test]
    fn an_edit_and_its_opposite_give_the_text_back(before in text(), after in text()) {
        let text = format!("{before}MARK{after}");
        let there = apply(&text, &[edit("MARK", "OTHER")]).unwrap();
        let back = apply(&there.text, &[edit("OTHER", "MARK")]).unwrap();
        prop_assert_eq!(back.text, text);
    }

    #[test]
    fn nothing_a_model_sends_breaks_it(text: String, edits: Vec<(String, String, bool)>) {
        let edits: Vec<_> = edits
            .into_iter()
            .map(|(old, new, replace_all)| Edit { old, new, replace_all })
            .collect();
        if let Err(failed) = apply(&text, &edits) {
            prop_assert!(!explain(&failed, &edits).is_empty());
        }
    }
}
