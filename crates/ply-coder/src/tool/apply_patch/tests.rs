//! Patches as tables.

use super::parse::{Hunk, Section, parse};
use super::place::apply;

fn patch(lines: &str) -> String {
    format!("*** Begin Patch\n{lines}*** End Patch\n")
}

/// Applies the hunks of one file.
fn patched(text: &str, hunks: &str) -> Result<String, String> {
    let sections = parse(&patch(&format!("*** Update File: f\n{hunks}")))?;
    let [Section::Update { hunks, .. }] = sections.as_slice() else {
        panic!("{sections:?}");
    };
    apply(text, hunks).map(|applied| applied.text)
}

#[track_caller]
fn check(text: &str, hunks: &str, expected: &str) {
    assert_eq!(patched(text, hunks).as_deref(), Ok(expected), "{hunks}");
}

#[track_caller]
fn fails(text: &str, hunks: &str, part: &str) {
    let words = patched(text, hunks).unwrap_err();
    assert!(words.contains(part), "{words}");
}

#[test]
fn a_patch_says_what_becomes_of_each_file() {
    let text = patch(
        "*** Add File: new.txt\n+one\n+\n*** Update File: a b.rs\n*** Move to: c.rs\n@@ fn x()\n one\n-two\n+three\n\n\
         *** Delete File: d\n",
    );
    let hunk = Hunk {
        within: vec!["fn x()".to_owned()],
        old: "one\ntwo\n\n".to_owned(),
        new: "one\nthree\n\n".to_owned(),
        at_end: false,
    };
    let expected = [
        Section::Add {
            path: "new.txt".to_owned(),
            content: "one\n\n".to_owned(),
        },
        Section::Update {
            path: "a b.rs".to_owned(),
            move_to: Some("c.rs".to_owned()),
            hunks: vec![hunk],
        },
        Section::Delete {
            path: "d".to_owned(),
        },
    ];
    assert_eq!(parse(&text).as_deref(), Ok(&expected[..]));
}

#[test]
fn what_is_no_patch_is_told_with_its_line() {
    let check = |text: &str, part: &str| {
        let words = parse(text).unwrap_err();
        assert!(words.contains(part), "{text}: {words}");
    };
    check("", "`*** Begin Patch`");
    check("--- a\n+++ b\n", "`*** Begin Patch`");
    check("*** Begin Patch\n*** Delete File: a\n", "`*** End Patch`");
    check(&patch(""), "changes no file");
    check(&patch("+x\n"), "Line 2: a file begins with");
    check(
        &patch("*** Add File: a\n+x\ny\n"),
        "Line 4: each line of a new file",
    );
    check(
        &patch("*** Update File: a\n-x\ny\n"),
        "Line 4: each line of a change",
    );
    check(&patch("*** Update File: a\n"), "nothing to change in `a`");
    check(
        &patch("*** Update File: a\n x\n"),
        "nothing to change in `a`",
    );
}

#[test]
fn lines_are_replaced_where_their_context_is() {
    check("a\nb\nc\n", " a\n-b\n+x\n c\n", "a\nx\nc\n");
    check("a\nb\nc\n", "-b\n", "a\nc\n");
    // Several, one after the other.
    check("a\nb\nc\nd\n", "-a\n+x\n@@\n-d\n+y\n", "x\nb\nc\ny\n");
    // In another order.
    check("a\nb\nc\nd\n", "-d\n+y\n@@\n-a\n+x\n", "x\nb\nc\ny\n");
    // The last line has no end.
    check("a\nb", "-b\n+x\n", "a\nx");
    // Other line ends, and other spaces at the ends of lines.
    check("a\r\nb\r\n", "-b\n+x\n", "a\r\nx\r\n");
    check("a \nb\n", "-a\n+x\n", "x\nb\n");
    // All of it is indented further.
    check(
        "  if a {\n    b\n  }\n",
        " if a {\n-  b\n+  c\n }\n",
        "  if a {\n    c\n  }\n",
    );
}

#[test]
fn what_stands_behind_the_signs_says_which_place_is_meant() {
    let text = "fn a() {\n    x\n}\nfn b() {\n    x\n}\nfn c() {\n    x\n}\n";
    fails(text, "-    x\n+    y\n", "3 times, in lines 2, 5, 8");
    check(
        text,
        "@@ fn b() {\n-    x\n+    y\n",
        "fn a() {\n    x\n}\nfn b() {\n    y\n}\nfn c() {\n    x\n}\n",
    );
    fails(text, "@@ fn d() {\n-    x\n", "`fn d() {` behind `@@`");
    check(
        text,
        "-    x\n+    z\n }\n*** End of File\n",
        "fn a() {\n    x\n}\nfn b() {\n    x\n}\nfn c() {\n    z\n}\n",
    );
    // Numbers of lines are no place.
    check("a\nb\n", "@@ -1,2 +1,2 @@\n-b\n+x\n", "a\nx\n");
}

#[test]
fn lines_without_context_are_put_behind_what_is_named_or_at_the_end() {
    check("a\nb\n", "@@ a\n+x\n", "a\nx\nb\n");
    check("a\nb\n", "+x\n", "a\nb\nx\n");
    check("a\nb", "+x\n", "a\nb\nx\n");
    check("", "+x\n", "x\n");
}

#[test]
fn the_end_of_a_longer_line_is_not_the_line() {
    fails("a.b()\n", "-b()\n+c()\n", "not in the file");
    check("a.b()\nb()\n", "-b()\n+c()\n", "a.b()\nc()\n");
}

#[test]
fn lines_that_are_not_there_are_told_with_what_is_nearest() {
    let text = "one\ntwo words\nthree\n";
    fails(text, " one\n-two word\n+2\n three\n", "2\ttwo words");
    fails(text, "-four\n", "not in the file");
    fails(text, "-three\n+3\n@@\n-four\n", "Change 2 of 2");
}
