//! Pictures of screens can be read by others.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::time::Duration;

use insta::assert_snapshot;
use terminal_tests::pictures::{Frame, Palette, moving_svg, png, svg};
use terminal_tests::{Launch, Screen as _, Shot, Terminal};

/// Text in every style, wide and rare characters, and what XML takes for its own.
const EVERYTHING: &str = "plain \x1b[1mbold\x1b[0m \x1b[3mitalic\x1b[0m \x1b[4mline\x1b[0m \x1b[2mdim\x1b[0m \x1b[7mover\x1b[0m\r\n\
    \x1b[31mred\x1b[0m \x1b[38;5;208morange\x1b[0m \x1b[48;2;20;60;20m+ added \x1b[0m\r\n\
    ╭─ <a & b> ─╮ ✓ → ❯ ▶ ⠋ ● █▌\r\n\
    世界 👋 \u{e000} é e\u{301}";

fn everything() -> Shot {
    Shot::of_bytes(EVERYTHING.as_bytes(), 40, 5)
}

/// Checks that tags are closed in the order they were opened, that attributes have quotes, and that nothing needs escaping;
/// returns the texts.
fn well_formed(svg: &str) -> Vec<String> {
    let (mut open, mut texts) = (Vec::new(), Vec::new());
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        let before = &rest[..start];
        assert!(!before.contains('>'), "{before:?}");
        for (_, entity) in before.match_indices('&').map(|(at, _)| before.split_at(at)) {
            assert!(
                ["&amp;", "&lt;", "&gt;"]
                    .iter()
                    .any(|known| entity.starts_with(known)),
                "{entity:?}"
            );
        }
        if open.last() == Some(&"text") {
            texts.push(
                before
                    .replace("&lt;", "<")
                    .replace("&gt;", ">")
                    .replace("&amp;", "&"),
            );
        }
        let (tag, after) = rest[start + 1..].split_once('>').expect("a tag ends");
        rest = after;
        let name = tag.trim_matches('/').split(' ').next().unwrap();
        let quotes = tag.matches('"').count();
        assert!(
            quotes.is_multiple_of(2) && tag.matches("=\"").count() * 2 == quotes,
            "{tag:?}"
        );
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name), "{tag:?}"),
            (false, true) => {}
            (false, false) => open.push(name),
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?}");
    texts
}

/// Width, height, and the pixels as three bytes each.
fn decode(file: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    (info.width, info.height, pixels)
}

#[test]
fn an_svg_is_well_formed_and_has_every_text() {
    let svg = svg(&everything(), "a <title>", &Palette::dark());
    let texts = well_formed(&svg);
    for text in ["plain", "bold", "+ added", "世", "界", "👋", "e\u{301}"] {
        assert!(
            texts.iter().any(|known| known.contains(text)),
            "{text}: {texts:#?}"
        );
    }
    assert!(
        texts.iter().any(|text| text.contains("<a & b>")),
        "{texts:#?}"
    );
    assert!(svg.contains("<title>a &lt;title&gt;</title>"));
    assert!(!svg.contains("@keyframes"));
}

#[test]
fn an_svg_draws_runs_of_one_style() {
    let shot = Shot::of_bytes(b"a\x1b[1;32mb c\x1b[0m\x1b[?25l", 10, 1);
    let svg = svg(&shot, "t", &Palette::dark());
    let drawn: Vec<_> = svg.lines().filter(|line| line.starts_with("<g")).collect();
    assert_snapshot!(drawn.join("\n"), @r##"<g transform="translate(16 16)"><text x="0" y="14" fill="#d6dae3">a</text><text x="9" y="14" textLength="27" class="b" fill="#8fce7c">b c</text></g>"##);
}

#[test]
fn a_moving_svg_has_each_row_once_for_each_change() {
    let frames: Vec<_> = ["", "a", "ab", "abc"]
        .iter()
        .map(|typed| Frame {
            shot: Shot::of_bytes(format!("\x1b[?25lsame\r\n{typed}").as_bytes(), 10, 2),
            shown: Duration::from_millis(500),
        })
        .collect();
    let svg = moving_svg(&frames, "t", &Palette::light());
    let texts = well_formed(&svg);
    assert_eq!(texts, ["same", "a", "ab", "abc"]);
    let style = svg
        .split("<style>")
        .nth(1)
        .unwrap()
        .split("</style>")
        .next()
        .unwrap();
    assert_snapshot!(style.trim(), @r#"
    text{font:15px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
    .b{font-weight:bold}.i{font-style:italic}.u{text-decoration:underline}
    .m{visibility:hidden}.l{visibility:visible}
    @media(prefers-reduced-motion:no-preference){
    .m{animation:2s step-end infinite}
    .m0{animation-name:k0}@keyframes k0{0%{visibility:hidden}25.000%{visibility:visible}50.000%{visibility:hidden}}
    .m1{animation-name:k1}@keyframes k1{0%{visibility:hidden}50.000%{visibility:visible}75.000%{visibility:hidden}}
    .m2{animation-name:k2}@keyframes k2{0%{visibility:hidden}75.000%{visibility:visible}}
    }
    "#);
    let classes: Vec<_> = svg.lines().filter(|line| line.starts_with("<g")).collect();
    assert!(!classes[0].contains("class=\"m"), "{classes:?}");
    assert!(
        classes[3].contains(" l\""),
        "who wants no motion sees the last: {classes:?}"
    );
}

#[test]
fn a_png_decodes_and_shows_what_is_there() {
    let shot = Shot::of_bytes(b"\x1b[?25l\x1b[41m \x1b[0m \x1b[32mX", 4, 1);
    let palette = Palette::dark();
    let (width, height, pixels) = decode(&png(&shot, &palette).unwrap());
    assert_eq!((width, height), (4 * 12 + 40, 24 + 40));
    let pixel = |x: u32, y: u32| {
        let at = usize::try_from((y * width + x) * 3).unwrap();
        [pixels[at], pixels[at + 1], pixels[at + 2]]
    };
    let (ground, red) = (pixel(0, 0), pixel(20, 20));
    assert!(red[0] > 200 && ground[0] < 50);
    // The second cell is empty, the third is not.
    let colours = |column: u32| {
        let cell = (0..24).flat_map(move |y| (0..12).map(move |x| (20 + column * 12 + x, 20 + y)));
        cell.map(|(x, y)| pixel(x, y))
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(colours(0).len(), 1);
    assert_eq!(colours(1), [ground].into());
    assert_eq!(colours(2).len(), 2);
}

#[test]
fn a_png_has_something_for_every_character() {
    let palette = Palette::dark();
    let empty = png(&Shot::of_bytes(b"\x1b[?25l", 2, 1), &palette).unwrap();
    for char in "aß—→✓⠋▶■世👋\u{e000}".chars() {
        let shot = Shot::of_bytes(format!("\x1b[?25l{char}").as_bytes(), 2, 1);
        assert_ne!(png(&shot, &palette).unwrap(), empty, "{char}");
    }
    decode(&png(&everything(), &Palette::light()).unwrap());
}

#[test]
fn the_screen_of_a_program_becomes_a_picture() {
    let launch = Launch::new("sh").args([
        "-c",
        "printf '\\033[36mhello\\033[0m & goodbye'; sleep 1000",
    ]);
    let shot = Terminal::spawn(&launch).unwrap().wait_for_text("goodbye");
    assert!(well_formed(&svg(&shot, "t", &Palette::dark())).contains(&"hello".to_owned()));
    decode(&png(&shot, &Palette::dark()).unwrap());
}
