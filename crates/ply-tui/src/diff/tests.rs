use proptest::prelude::*;

use super::*;
use crate::wrap::columns_of;

const OLD: &str =
    "fn main() {\n    let a = 1;\n    let b = 2;\n    call(a);\n}\n\n\n\n\n\n\n// end\n";
const NEW: &str = "fn main() {\n    let a = 1;\n    let c = 2;\n    call(a, c);\n    done();\n}\n\n\n\n\n\n\n// End\n";

fn shown(lines: &[Line<'_>]) -> String {
    let lines = lines
        .iter()
        .map(|line| line.to_string().trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

fn of(
    old: Option<&str>,
    new: &str,
    width: u16,
    style: DiffStyle,
    rows_max: usize,
) -> Vec<Line<'static>> {
    let sheet = Sheet {
        width,
        style,
        theme: &Theme::dark(),
        paths: &Paths::default(),
        rows_max,
        line_bytes_max: LINE_BYTES_BRIEF,
    };
    diff_lines("src/main.rs", old, new, &sheet)
}

fn changed(diff: &v2::Diff, width: u16, rows_max: usize) -> Vec<Line<'static>> {
    let sheet = Sheet {
        width,
        style: DiffStyle::Unified,
        theme: &Theme::plain(),
        paths: &Paths::default(),
        rows_max,
        line_bytes_max: LINE_BYTES_BRIEF,
    };
    change_lines(diff, &sheet)
}

#[test]
fn one_column_has_numbers_and_signs() {
    insta::assert_snapshot!(shown(&of(Some(OLD), NEW, 40, DiffStyle::Unified, 100)));
}

#[test]
fn two_columns_stand_beside_each_other_where_there_is_room() {
    insta::assert_snapshot!(shown(&of(Some(OLD), NEW, 120, DiffStyle::SideBySide, 100)));
    let narrow = of(Some(OLD), NEW, 119, DiffStyle::SideBySide, 100);
    assert_eq!(narrow, of(Some(OLD), NEW, 119, DiffStyle::Unified, 100));
}

#[test]
fn words_that_differ_are_marked() {
    let theme = Theme::dark();
    let lines = of(
        Some("let a = one(1);\n"),
        "let a = two(1);\n",
        60,
        DiffStyle::Unified,
        10,
    );
    let marked = lines
        .iter()
        .flat_map(|line| &line.spans)
        .filter_map(|span| {
            let back = span.style.bg;
            (back == theme.added_word.bg || back == theme.removed_word.bg)
                .then_some(span.content.as_ref())
        });
    assert_eq!(marked.collect::<String>(), "one(1);two(1);");
}

#[test]
fn changed_lines_are_tinted_to_the_edge_and_code_keeps_its_colours() {
    crate::highlight::load();
    let theme = Theme::dark();
    let lines = of(
        Some("let a = 1;\n"),
        "let b = 1;\n",
        40,
        DiffStyle::Unified,
        10,
    );
    let added = lines.last().unwrap();
    assert_eq!(columns_of(&added.spans), 40);
    assert!(added.spans.iter().all(|span| span.style.bg.is_some()));
    let keyword = added.spans.iter().find(|span| span.content == "let");
    assert_eq!(keyword.unwrap().style.fg, theme.keyword.fg);
}

#[test]
fn what_is_too_much_is_counted() {
    let new: String = (0..50).map(|line| format!("line {line}\n")).collect();
    let lines = of(None, &new, 40, DiffStyle::Unified, 3);
    assert_eq!(
        shown(&lines),
        "src/main.rs +50 -0\n1 + line 0\n2 + line 1\n3 + line 2\n  … 47 more lines"
    );
}

#[test]
fn big_files_are_replaced_and_not_matched() {
    let text =
        |name: &str| -> String { (0..20_000).map(|line| format!("{name} {line}\n")).collect() };
    let old = format!("same\n{}last\n", text("old"));
    let new = format!("same\n{}last\n", text("new"));
    let lines = of(Some(&old), &new, 40, DiffStyle::Unified, 4);
    assert_eq!(
        lines.first().unwrap().to_string(),
        "src/main.rs +20000 -20000"
    );
    assert_eq!(lines.get(1).unwrap().to_string().trim_end(), "1   same");
    assert!(lines.len() <= 6);
}

fn change(patch: &str) -> v2::Diff {
    let mut diff = v2::Diff::new(vec![v2::DiffChange::modify("/work/src/a.rs")]);
    diff.patch = Some(v2::DiffPatch::new(patch));
    diff
}

#[test]
fn patches_are_read_with_their_line_numbers() {
    let patch = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -10,3 +10,3 @@ fn x()\n a\n-b\n+c\n d\n@@ -20 +20,2 @@\n-e\n\\ No newline at end of file\n+f\n+--- not a head\n";
    let lines = changed(&change(patch), 40, 100);
    insta::assert_snapshot!(shown(&lines));
}

#[test]
fn lines_that_a_patch_counted_wrong_are_shown_too() {
    let patch = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,1 +1,1 @@\n-a\n+b\n+c\n d\n-- \n2.39\n";
    let lines = changed(&change(patch), 40, 100);
    let shown = shown(&lines);
    assert!(shown.starts_with("/work/src/a.rs +2 -1\n"), "{shown}");
    assert!(
        shown.contains("2 + c") && !shown.contains("2.39"),
        "{shown}"
    );
}

#[test]
fn a_patch_that_is_too_long_to_be_read_says_how_much_more_there_is() {
    let added = "+some line\n".repeat(100_000);
    let patch = format!("--- a/src/a.rs\n+++ b/src/a.rs\n@@ -0,0 +1,100000 @@\n{added}");
    let lines = changed(&change(&patch), 40, 3);
    let last = lines.last().unwrap().to_string();
    assert!(last.starts_with("  … 9999"), "{last}");
}

#[test]
fn changes_without_a_patch_are_named() {
    let mut diff = change("");
    diff.patch = None;
    diff.changes.push(v2::DiffChange::delete("/work/b\x1b.rs"));
    let lines = changed(&diff, 40, 100);
    assert_eq!(
        shown(&lines),
        "Change /work/src/a.rs\nDelete /work/b\\u{1b}.rs"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_line_of_a_diff_is_too_wide(
        old in "([a-c]{0,3}( |\t|漢|\x1b)?[a-c]{0,60}\n){0,12}",
        new in "([a-c]{0,3}( |\t|漢|\x1b)?[a-c]{0,60}\n){0,12}",
        width in 1_u16..200,
        rows_max in 0_usize..30,
    ) {
        for style in [DiffStyle::Unified, DiffStyle::SideBySide] {
            let lines = of(Some(&old), &new, width, style, rows_max);
            prop_assert!(lines.len() <= rows_max + 2);
            for line in lines {
                prop_assert!(columns_of(&line.spans) <= usize::from(width), "{:?}", line);
            }
        }
    }

    #[test]
    fn any_patch_is_survived(patch in "((@@ -[0-9]{1,20}(,[0-9]{1,20})? \\+[0-9],[0-9] @@|\\+\\+\\+ b/x|--- a/x|[-+ \\\\]?[a-z]{0,9})\n){0,30}") {
        let lines = changed(&change(&patch), 30, 20);
        for line in lines {
            prop_assert!(columns_of(&line.spans) <= 30, "{:?}", line);
        }
    }
}
