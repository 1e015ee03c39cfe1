use proptest::prelude::*;

use super::*;

fn wrapped(text: &str, width: usize, breaks: Breaks) -> Vec<String> {
    let mut lines = Vec::new();
    let spans = [Span::raw(clean(text))];
    wrap(&spans, width, &Margin::default(), breaks, &mut lines);
    lines.iter().map(ToString::to_string).collect()
}

#[test]
fn words_stay_whole_where_they_fit() {
    let of = |text, width| wrapped(text, width, Breaks::Words);
    assert_eq!(of("the quick brown fox", 10), ["the quick", "brown fox"]);
    assert_eq!(of("the quick", 9), ["the quick"]);
    assert_eq!(of("unbelievable ox", 5), ["unbel", "ievab", "le ox"]);
    assert_eq!(of("a     b", 3), ["a", "b"]);
    assert_eq!(of("漢字漢字", 5), ["漢字", "漢字"]);
    assert_eq!(of("", 5), [""]);
    assert_eq!(of("漢", 1), ["\u{fffd}"]);
}

#[test]
fn code_breaks_at_the_edge_and_keeps_its_spaces() {
    let of = |text, width| wrapped(text, width, Breaks::Anywhere);
    assert_eq!(of("if a {  b }", 4), ["if a", " {  ", "b }"]);
    assert_eq!(of("\tx", 8), ["    x"]);
}

#[test]
fn j1_what_a_terminal_would_act_on_is_shown_and_tabs_are_spaces() {
    assert_eq!(clean("a\tb\x1b[2J\u{202e}"), "a   b\\u{1b}[2J\\u{202e}");
    let zalgo = format!("a{}b", "\u{301}".repeat(1_000));
    assert_eq!(clean(&zalgo).chars().count(), 2 + MARKS_MAX);
    let family = "👩\u{200d}❤\u{fe0f}\u{200d}💋\u{200d}👩";
    assert_eq!(clean(family), family);
}

#[test]
fn what_is_cut_says_so_and_keeps_its_style() {
    let red = Style::new().red();
    let line = cut(&[Span::raw("abc"), Span::styled("def", red)], 5);
    assert_eq!(line.to_string(), "abcd…");
    assert_eq!(line.spans.last().map(|span| span.style), Some(red));
    assert_eq!(cut(&[Span::raw("漢字")], 3).to_string(), "漢…");
}

proptest! {
    #[test]
    fn no_line_is_wider_than_it_may_be_and_no_letter_is_lost(
        text in "([a-z]{0,12}| |漢|👩\u{200d}👧|é|\u{301}|\t|\u{915}\u{94d}){0,60}",
        width in 1_usize..30,
        margin in "[>| ]{0,4}",
    ) {
        let text = clean(&text);
        let margin = Margin { first: vec![Span::raw(margin.clone())], rest: vec![Span::raw(margin)] };
        for breaks in [Breaks::Words, Breaks::Anywhere] {
            let mut lines = Vec::new();
            wrap(&[Span::raw(text.clone())], width, &margin, breaks, &mut lines);
            let mut letters = String::new();
            for line in &lines {
                prop_assert!(columns_of(&line.spans) <= width, "{line:?}");
                letters.extend(line.to_string().chars().filter(char::is_ascii_lowercase));
            }
            let expected: String = text.chars().filter(char::is_ascii_lowercase).collect();
            prop_assert_eq!(letters, expected);
        }
        prop_assert!(columns_of(&cut(&[Span::raw(text)], width).spans) <= width);
    }
}
