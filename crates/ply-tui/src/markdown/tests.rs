use proptest::prelude::*;
use ratatui::style::Style;

use super::*;
use crate::highlight;
use crate::wrap::columns_of;

const EVERYTHING: &str = "\
# Fixing the parser

The **old** code *never* checked `len()`; see [the docs](https://example.org/doc) and <https://example.org>.
This line is ~~wrong~~ part of the same paragraph.

1. First step, which is long enough to be broken over two lines of the screen
   - nested one
   - nested two with `code`
1. Second step:
   ```rust
   fn main() {
       println!(\"hi\");
   }
   ```
   and what follows it
1. Third step

- [x] done
- [ ] not done

> A quote with **strong** words
> over two lines
>
> - and a list in it

| Name | Size | Note |
|:-----|-----:|:----:|
| a.rs | 120 | small |
| longer_name.rs | 4 | a note that is too long for its column |

```
plain code\twith a tab
```

---

![logo](logo.png) Done.
";

fn text_of(lines: &[Line<'_>]) -> String {
    let lines = lines
        .iter()
        .map(|line| line.to_string().trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

fn shown(text: &str, width: u16) -> String {
    text_of(&markdown_lines(text, width, &Theme::plain()))
}

/// Returns every line with another below it that tells the styles of its characters apart.
fn styled(lines: &[Line<'_>], names: &[(char, Style)]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line.to_string().trim_end());
        text.push('\n');
        let marks = line.spans.iter().flat_map(|span| {
            let name = names.iter().find(|(_, style)| *style == span.style);
            let name = name.map_or(' ', |(name, _)| *name);
            std::iter::repeat_n(name, crate::wrap::columns(&span.content))
        });
        let marks: String = marks.collect();
        if !marks.trim().is_empty() {
            text.push_str(marks.trim_end());
            text.push('\n');
        }
    }
    text
}

#[test]
fn everything_that_markdown_has_is_shown() {
    highlight::load();
    insta::assert_snapshot!(shown(EVERYTHING, 50));
}

#[test]
fn everything_fits_a_narrow_screen_too() {
    insta::assert_snapshot!(shown(EVERYTHING, 16));
}

#[test]
fn words_and_code_have_their_styles() {
    highlight::load();
    let theme = Theme::dark();
    let text = "# Title\nA **b** and `c`.\n```rust\nlet x = \"s\"; // why\n```\n[a](b)\n";
    let names = [
        ('#', theme.heading),
        ('B', theme.text.patch(theme.strong)),
        ('`', theme.text.patch(theme.code)),
        ('k', theme.panel.patch(theme.keyword)),
        ('s', theme.panel.patch(theme.string)),
        ('c', theme.panel.patch(theme.comment)),
        ('l', theme.text.patch(theme.link)),
        ('-', theme.dim),
    ];
    insta::assert_snapshot!(styled(&markdown_lines(text, 40, &theme), &names));
}

#[test]
fn numbers_go_on_however_they_are_written() {
    assert_eq!(shown("3. a\n3. b\n\n3. c", 20), "3. a\n4. b\n\n5. c");
    assert_eq!(shown("1. a\n- b\n1. c", 20), "1. a\n• b\n1. c");
}

#[test]
fn what_means_nothing_here_is_shown_as_it_is() {
    assert_eq!(
        shown("[a]: https://example.org", 40),
        "[a]: https://example.org"
    );
    assert_eq!(
        shown("<details>\n<b>x</b>\n</details>", 40),
        "<details>\n<b>x</b>\n</details>"
    );
    assert_eq!(shown("Title\n=====\nafter", 40), "Title\n\nafter");
}

#[test]
fn j1_escapes_in_messages_are_shown_and_not_sent() {
    let text = "a \x1b[31mred\u{202e} `\x07` \n\n```\n\x1b]0;x\x07\n```\n\n|\x1b|\n|-|\n|b|";
    let shown = shown(text, 60);
    assert!(!shown.contains(|char: char| char != '\n' && !ply_client::text::is_harmless(char)));
    assert!(shown.contains("\\u{1b}[31mred\\u{202e} \\u{7}"), "{shown}");
    assert!(shown.contains("\\u{1b}]0;x\\u{7}"), "{shown}");
}

#[test]
fn hostile_texts_cost_no_more_than_others_and_stay_inside() {
    let texts = [
        ">".repeat(100_000),
        "> ".repeat(50_000) + "\n\nafter",
        "- ".repeat(50_000),
        "[".repeat(100_000),
        "*a_".repeat(40_000),
        format!(
            "{}\n{}\n{}",
            "|a".repeat(2_000),
            "|-".repeat(2_000),
            "|b".repeat(2_000)
        ),
        format!("|a|b|\n|-|-|\n{}", "|cell|cell|\n".repeat(5_000)),
        format!("```rust\n{}", "let a = [1, 2];\n".repeat(3_000)),
        format!("```json\n{}", "{\"a\":[1,2]},".repeat(10_000)),
        format!("a{}", "\u{301}".repeat(100_000)),
        "\u{202e}אבג ".repeat(10_000),
        format!("{}x", "  ".repeat(50_000)),
        "\u{915}\u{94d}".repeat(30_000),
        "<a ".repeat(30_000),
        "![".repeat(30_000),
    ];
    for text in texts {
        for width in [7, 80] {
            for line in markdown_lines(&text, width, &Theme::plain()) {
                assert!(columns_of(&line.spans) <= usize::from(width), "{line:?}");
            }
        }
    }
}

/// Feeds a text in chunks and looks at it in between, as a screen does.
fn chunked(text: &str, chunk: usize, width: usize) -> (Vec<Line<'static>>, Vec<usize>) {
    let theme = Theme::dark();
    let mut work = Work::unlimited();
    let mut document = Document::default();
    let mut costs = Vec::new();
    let mut lines = Vec::new();
    let mut end = 0;
    while end < text.len() || lines.is_empty() {
        end = text.ceil_char_boundary((end + chunk).min(text.len()));
        let so_far = &text[..end];
        let before = work.parsed_bytes;
        document.feed(so_far);
        let mut pen = Pen {
            width,
            theme: &theme,
            work: &mut work,
        };
        let last = document.len().saturating_sub(3);
        for place in last..document.len() {
            document.lines(place, so_far, &mut pen);
        }
        costs.push(work.parsed_bytes - before);
        if end == text.len() {
            let mut pen = Pen {
                width,
                theme: &theme,
                work: &mut work,
            };
            for place in 0..document.len() {
                lines.extend_from_slice(document.lines(place, text, &mut pen));
            }
            break;
        }
    }
    (lines, costs)
}

#[test]
fn a_chunk_costs_the_same_however_long_the_message_is() {
    highlight::load();
    let messages = [
        (
            "paragraphs",
            10_000,
            "Some words in a paragraph that goes on.\nAnd on.\n\n".repeat(2_000),
        ),
        ("one line", 1_000, "word ".repeat(20_000)),
        (
            "one block of code",
            5_000,
            format!("```rust\n{}", "let a = 1;\n".repeat(3_000)),
        ),
        ("one list", 5_000, "- an item of a list\n".repeat(2_500)),
        (
            "one table",
            1_000,
            format!("|a|b|\n|-|-|\n{}", "|some|cells|\n".repeat(4_000)),
        ),
    ];
    for (name, chunks, text) in messages {
        let (_, costs) = chunked(&text, text.len().div_ceil(chunks), 80);
        assert!(costs.len() > chunks * 9 / 10, "{name}");
        let (first, second) = costs.split_at(costs.len() / 2);
        let (first, second): (usize, usize) = (first.iter().sum(), second.iter().sum());
        assert!(
            second * 4 <= first * 5,
            "{name}: {first} bytes, then {second}"
        );
        let most = costs.iter().max().unwrap();
        assert!(
            *most <= 4 * scan::SEGMENT_BYTES_MAX,
            "{name}: {most} bytes for a chunk"
        );
    }
}

fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        "[a-z]{1,8}( [a-z]{1,8}){0,12}",
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\n- item ".to_owned()),
        Just("\n  - inner ".to_owned()),
        Just("\n1. item ".to_owned()),
        Just("\n   continued".to_owned()),
        Just("\n> quote ".to_owned()),
        Just("\n```rust\nfn a() { /* x */ }\n".to_owned()),
        Just("\n   ```\n   code\n".to_owned()),
        Just("\n```\n".to_owned()),
        Just("\n|a|b|\n|-|-|\n|c|d|\n".to_owned()),
        Just("\n# head\n".to_owned()),
        Just("\n---\n".to_owned()),
        Just("**bo".to_owned()),
        Just("ld** `co`".to_owned()),
        Just("[l](u)".to_owned()),
        Just("漢字👩\u{200d}👧é\t".to_owned()),
        Just("\x1b[0m\u{202e}\r\n".to_owned()),
        Just("x".repeat(5_000)),
        Just("\nlong words in a line ".repeat(400)),
    ];
    proptest::collection::vec(fragment, 0..40).prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_message_is_shown_the_same_however_it_was_cut(
        text in fragments(),
        chunk in 1_usize..200,
        width in 1_usize..100,
    ) {
        highlight::load();
        let whole = markdown_lines(&text, u16::try_from(width).unwrap(), &Theme::dark());
        let chunk = chunk.max(text.len() / 40);
        let (lines, _) = chunked(&text, chunk, width);
        prop_assert_eq!(text_of(&lines), text_of(&whole));
        prop_assert_eq!(&lines, &whole);
        for line in &lines {
            prop_assert!(columns_of(&line.spans) <= width, "{:?}", line);
        }
    }

    #[test]
    fn no_word_of_a_message_is_lost(text in fragments()) {
        let shown = shown(&text, 2_000);
        for word in text.split(|char: char| !char.is_ascii_lowercase()) {
            // A language is what the colours are chosen by.
            let is_known = word == "rust" || word.len() > 1_000 || shown.contains(word);
            prop_assert!(is_known, "{word:?} in {text:?}");
        }
    }
}
